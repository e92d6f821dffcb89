// Recorded API calls: their shape, and the queries for them.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, type FieldError, queryString } from '../api/client.ts';
import { type Definition, type Field, leavesOf, titleOf } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';

export interface RecordedRequest {
  id: string;
  at: string;
  method: string;
  path: string;
  status: number;
  durationMs: number;
  userAgent: string;
  address: string;
  code: string | null;
  message: string | null;
  errors: FieldError[];
  ignoredFields: string[];
  hasBody: boolean;
  isCorrected: boolean;
}

export interface RequestCorrection {
  resource: string;
  id: string;
  at: string;
  /** null for somebody who has left the business. */
  person: string | null;
}

export interface ErrorGroup {
  method: string;
  /** Path of the route: "/api/v1/sites/:id". */
  path: string;
  field: string | null;
  code: string | null;
  message: string | null;
  params: Record<string, unknown>;
  count: number;
  lastAt: string;
}

export interface HourCount {
  hour: string;
  requests: number;
  refusals: number;
  failures: number;
  /** Number of calls that are counted, but not in the list. */
  unrecorded: number;
}

export const filterNames = ['status', 'method', 'path', 'field', 'code'] as const;
export type Filters = Partial<Record<(typeof filterNames)[number], string>>;

export const periods = ['1', '7', '30'] as const;
export type Period = (typeof periods)[number];

/** Full hours: the same query stays cached for a while. */
export function startOf(period: Period, now = Date.now()): string {
  const hour = 3_600_000;
  return new Date((Math.floor(now / hour) + 1 - Number(period) * 24) * hour).toISOString();
}

export function requestsQuery(filters: Filters, from: string) {
  return infiniteQueryOptions({
    queryKey: ['requests', 'list', filters, from],
    queryFn: ({ pageParam, signal }) =>
      call<Page<RecordedRequest>>(
        'GET',
        `/requests${queryString({ ...filters, from, cursor: pageParam, limit: 50 })}`,
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** The query polls, so calls appear as they arrive. */
export const newestQuery = queryOptions({
  queryKey: ['requests', 'newest'],
  queryFn: ({ signal }) => call<Page<RecordedRequest>>('GET', '/requests?limit=50', { signal }),
  refetchInterval: 2000,
});

export function groupsQuery(from: string) {
  return queryOptions({
    queryKey: ['requests', 'groups', from],
    queryFn: ({ signal }) =>
      call<{ data: ErrorGroup[] }>('GET', `/requests/groups${queryString({ from })}`, { signal }),
    placeholderData: keepPreviousData,
  });
}

export function hoursQuery(from: string) {
  return queryOptions({
    queryKey: ['requests', 'hours', from],
    queryFn: ({ signal }) =>
      call<{ data: HourCount[] }>('GET', `/requests/hours${queryString({ from })}`, { signal }),
    placeholderData: keepPreviousData,
  });
}

export type RequestWithBody = RecordedRequest & {
  body: string | null;
  correction: RequestCorrection | null;
};

/** The body with personal data only where somebody has asked for it, which the service writes down. */
export function requestQuery(id: string, isRevealed: boolean) {
  return queryOptions({
    queryKey: ['requests', 'one', id, isRevealed],
    queryFn: ({ signal }) =>
      call<RequestWithBody>('GET', `/requests/${id}${isRevealed ? '?reveal=true' : ''}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

const prefix = '/api/v1';

/** The resource that a path is about. */
export function definitionAt(definitions: readonly Definition[], path: string): Definition | undefined {
  const below = path.replace(prefix, '').replace(/[?#].*$/, '');
  return definitions.find(
    ({ path: own, collection }) =>
      below === own || below === `/${collection}` || below.startsWith(`/${collection}/`),
  );
}

export function isCreation({ method, path }: RecordedRequest, definition: Definition | undefined): boolean {
  return (
    method === 'POST' && definition !== undefined && path.replace(/[?#].*$/, '') === prefix + definition.path
  );
}

/** An error inside a list belongs to the list. */
export function fieldAt(definition: Definition | undefined, path: string): Field | undefined {
  const all = [...(definition ? leavesOf(definition.fields) : []), ...(definition?.fields ?? [])];
  return all.find((field) => path === field.path || path.startsWith(`${field.path}.`));
}

export function fieldTitle(definition: Definition | undefined, path: string): string {
  const field = fieldAt(definition, path);
  return field ? titleOf(field) : path;
}
