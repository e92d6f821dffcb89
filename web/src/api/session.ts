import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { call } from './client.ts';

export type Role = 'VERWALTUNG' | 'PFLEGE';

export interface Me {
  person: { id: string; name: string; email: string; role: Role };
  business: { id: string; name: string };
  /** The business requires a passkey and this person has none: nothing else is possible. */
  needsPasskey?: boolean;
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call<Me>('GET', '/session', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** Inside the office, where somebody is signed in. */
export function useMe(): Me {
  return useSuspenseQuery(sessionQuery).data;
}

export function useIsAdministrator(): boolean {
  return useMe().person.role === 'VERWALTUNG';
}

export interface State {
  hasPeople: boolean;
  /** Where somebody is signed in. */
  version?: string;
  /** The address that the operator published, where one is set. */
  publicUrl?: string;
  /** Whether the service can send mail. */
  hasMail: boolean;
  /** Whether commands begin with "stamm" instead of npm's way to it. */
  isRelease: boolean;
  /** null where nobody is signed in. */
  me: Me | null;
}

export const stateQuery = queryOptions({
  queryKey: ['state'],
  queryFn: ({ signal }) => call<State>('GET', '/state', { signal }),
});
