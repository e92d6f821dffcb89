// Queries for master data. Every write makes everything that was read before stale.
import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  queryOptions,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback } from 'react';
import type { components } from '../../../client/src/api-types.ts';
import { call, queryString } from './client.ts';
import type { Entity } from './definitions.ts';

export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
  /** Null if `truncated`. */
  total?: number | null;
  /** Whether a search has more matches than the pages hold. */
  truncated?: true;
}

type Parameters = Record<string, string | undefined>;

export function listQuery(
  collection: string,
  parameters: Parameters,
  limit = 100,
  onPage?: (page: Page<Entity>, client: QueryClient) => void,
) {
  return infiniteQueryOptions({
    queryKey: ['list', collection, parameters, limit],
    queryFn: async ({ pageParam, signal, client }) => {
      const query = { ...parameters, limit, cursor: pageParam, count: pageParam ? undefined : true };
      const page = await call<Page<Entity>>('GET', `/${collection}${queryString(query)}`, { signal });
      onPage?.(page, client);
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** A few objects, such as those that belong to another or that a search finds. */
export function fewQuery(collection: string, parameters: Parameters, limit: number) {
  return queryOptions({
    queryKey: ['few', collection, parameters, limit],
    queryFn: ({ signal }) =>
      call<Page<Entity>>('GET', `/${collection}${queryString({ ...parameters, limit, count: true })}`, {
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

/** Number of objects in each collection. */
export const countsQuery = queryOptions({
  queryKey: ['counts'],
  queryFn: ({ signal }) => call<Record<string, number>>('GET', '/counts', { signal }),
});

export function recordQuery(collection: string, id: string) {
  return queryOptions({
    queryKey: ['record', collection, id],
    queryFn: ({ signal }) => call<Entity>('GET', `/${collection}/${id}`, { signal }),
    retry: false,
  });
}

type Schemas = components['schemas'];

/** A change as the API has it, with the present address of the person who acted. */
export type Change = Schemas['Change'] & { actorEmail?: string };

export function historyQuery(resource: string, id: string) {
  return queryOptions({
    queryKey: ['history', resource, id],
    queryFn: ({ signal }) => call<{ data: Change[] }>('GET', `/history/${resource}/${id}`, { signal }),
  });
}

export const latestChangesQuery = queryOptions({
  queryKey: ['latest'],
  queryFn: ({ signal }) => call<{ data: Change[] }>('GET', '/history?limit=8', { signal }),
});

export type AttentionEntry = Schemas['AttentionEntry'];

interface AttentionCount {
  resource: string;
  code: string;
  count: number;
}

export const attentionCountsQuery = queryOptions({
  queryKey: ['attention', 'counts'],
  queryFn: async ({ signal }) =>
    (await call<{ data: AttentionCount[] }>('GET', '/attention/counts', { signal })).data,
  staleTime: 60_000,
});

/** The first entries, and how many there are. The service counts to 100 and looks at a part of a very large business. */
export interface AttentionOverview {
  data: AttentionEntry[];
  count: number;
  isComplete: boolean;
}

/** One request for the badge of the navigation and the card of the start. */
export const attentionOverviewQuery = queryOptions({
  queryKey: ['attention', 'overview'],
  queryFn: ({ signal }) => call<AttentionOverview>('GET', '/attention/overview', { signal }),
  staleTime: 60_000,
});

/** "7", "99+", "7+" where only a part was counted, and "…" where that part has none. Undefined for no entry at all. */
export function countOfEntries(overview: AttentionOverview | undefined): string | undefined {
  if (!overview || (overview.count === 0 && overview.isComplete)) return undefined;
  const { count, isComplete } = overview;
  if (count === 0) return '…';
  return isComplete ? String(count) : `${Math.min(count, 99)}+`;
}

/** Returns a function that makes all queries stale, or those that `isMeant` selects. */
export function useForgetReadings(): (isMeant?: (query: { queryKey: QueryKey }) => boolean) => Promise<void> {
  const client = useQueryClient();
  return useCallback(
    async (isMeant) => {
      // Names that somebody assigns stay in their list, also when one of them is created there.
      const kept = ['session', 'definitions', 'import choices', 'import names'];
      await client.invalidateQueries({
        predicate: (query) => !kept.includes(String(query.queryKey[0])) && (isMeant?.(query) ?? true),
      });
    },
    [client],
  );
}
