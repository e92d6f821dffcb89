import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

export interface Webhook {
  id: string;
  url: string;
  resources: string[] | null;
  actions: ('CREATED' | 'CHANGED' | 'DELETED')[] | null;
  excludeOrigin: string | null;
  pausedAt: string | null;
  pausedBecause: 'ASKED' | 'GONE' | 'FAILED' | null;
  failingSince: string | null;
  nextAttemptAt: string | null;
  waitingEntries: number;
  previousSecretEndsAt: string | null;
}

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => call<{ data: Webhook[]; most: number }>('GET', '/webhooks', { signal }),
});
