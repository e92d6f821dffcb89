// The audit record: its shape, its filters in the address, and the queries for it.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, queryString } from '../../api/client.ts';
import type { Page } from '../../api/records.ts';
import type { ActorNames } from '../../records/actor.tsx';
import { isDay } from '../../texts/format.ts';

export interface AuditEntry extends ActorNames {
  id: string;
  at: string;
  event: string;
  title: string;
  subjectId: string | null;
  subject: string | null;
  address: string | null;
  userAgent: string | null;
  details: Record<string, unknown> | null;
}

export const filterNames = ['event', 'actorId', 'from', 'until'] as const;
/** Filters as in the address: events with commas between them, days without a time. */
export type Filters = Partial<Record<(typeof filterNames)[number], string>>;

/** Days are whole days here, as the person at the screen counts them; the last one is included. */
export function toParameters({ event, actorId, from, until }: Filters): Record<string, string | undefined> {
  return { event, actorId, from: startOfDay(from, 0), until: startOfDay(until, 1) };
}

function startOfDay(day: string | undefined, later: number): string | undefined {
  if (!day || !isDay(day)) return undefined;
  const [year, month, date] = day.split('-').map(Number);
  return new Date(year!, month! - 1, date! + later).toISOString();
}

export function auditQuery(filters: Filters) {
  const parameters = toParameters(filters);
  return infiniteQueryOptions({
    queryKey: ['audit', parameters],
    queryFn: ({ pageParam, signal }) =>
      call<Page<AuditEntry>>('GET', `/audit${queryString({ ...parameters, cursor: pageParam, limit: 50 })}`, {
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

export function auditEventsQuery(language: string) {
  return queryOptions({
    queryKey: ['audit', 'events', language],
    queryFn: ({ signal }) =>
      call<{ data: { event: string; title: string }[] }>('GET', '/audit/events', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export const auditPeopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: () => call<{ data: { id: string; name: string; email: string }[] }>('GET', '/people'),
});
