// The visits that follow from the master data.
import type { components, operations } from './api-types.ts';
import { listPages, type Page } from './collection.ts';
import type { CallOptions, Http } from './http.ts';

export type Visit = components['schemas']['Visit'];
export type VisitQuery = operations['listVisits']['parameters']['query'];

export interface Visits {
  /** Every visit of at most 92 days, in the order of days. Reads the next page when the loop gets there. */
  list(query: VisitQuery, options?: CallOptions): AsyncGenerator<Visit, void, undefined>;
  /** One page, for tables that page themselves. */
  page(query: VisitQuery, options?: CallOptions): Promise<Page<Visit>>;
}

export function openVisits(http: Http): Visits {
  const page: Visits['page'] = (query, { signal } = {}) =>
    http.read<Page<Visit>>({ method: 'GET', path: '/visits', query, signal });
  return {
    list: (query, options) => listPages((cursor) => page({ ...query, ...cursor }, options)),
    page,
  };
}
