// Lists beside the resources, and the search over all of them.
import type { components, operations } from './api-types.ts';
import { StammError } from './error.ts';
import type { Chosen, FieldPath, FieldQuery } from './fields.ts';
import type { CallOptions, Http } from './http.ts';

type Schemas = components['schemas'];

export type Visit = Schemas['Visit'];
export type AttentionEntry = Schemas['AttentionEntry'];
export type DeletedObject = Schemas['DeletedObject'];
export type SearchResults = Schemas['SearchResults'];
export type VisitQuery = QueryOf<'listVisits'>;
export type AttentionQuery = QueryOf<'listAttention'>;
export type DeletedQuery = QueryOf<'listDeleted'>;
export type SearchQuery = QueryOf<'search'>;

export type QueryOf<Operation extends keyof operations> = operations[Operation] extends {
  parameters: { query?: infer Query };
}
  ? Parts<NonNullable<Query>>
  : never;

/** One value needs no list. */
type Parts<Query> = {
  [Name in keyof Query as Exclude<Name, 'fields'>]: NonNullable<Query[Name]> extends (infer Value)[]
    ? Value | readonly Value[]
    : Query[Name];
};

export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
  /** Present with `count: true`; null if `truncated`. */
  total?: number | null;
  /** Whether a search has too many matches: the pages hold some of them. */
  truncated?: true;
}

export interface List<Item, Query> {
  /**
   * Everything that the query finds. Reads the next page when the loop gets there. A search with too many matches fails
   * with `too_many_matches`.
   */
  list(query?: Query, options?: CallOptions): AsyncGenerator<Item, void, undefined>;
  /** One page, for tables that page themselves. */
  page(query?: Query, options?: CallOptions): Promise<Page<Item>>;
}

/** Values that `include` of a query takes. */
export type IncludeOf<Query> = Extract<
  NonNullable<Query> extends { include?: infer Name } ? Name : never,
  string
>;

/** A list whose objects can be asked for in part, and with those that they refer to. */
export interface ObjectList<Item extends object, Query> extends List<Item, Query> {
  list<const Path extends FieldPath<Item>, const Inclusion extends IncludeOf<Query> = never>(
    query: Omit<NonNullable<Query>, 'fields' | 'include'> & FieldQuery<Path, Inclusion>,
    options?: CallOptions,
  ): AsyncGenerator<Chosen<Item, Path | Inclusion>, void, undefined>;
  list(query?: Query, options?: CallOptions): AsyncGenerator<Item, void, undefined>;
  page<const Path extends FieldPath<Item>, const Inclusion extends IncludeOf<Query> = never>(
    query: Omit<NonNullable<Query>, 'fields' | 'include'> & FieldQuery<Path, Inclusion>,
    options?: CallOptions,
  ): Promise<Page<Chosen<Item, Path | Inclusion>>>;
  page(query?: Query, options?: CallOptions): Promise<Page<Item>>;
}

export interface Visits {
  /** Every visit of at most 92 days, in the order of days. Reads the next page when the loop gets there. */
  list(query: VisitQuery, options?: CallOptions): AsyncGenerator<Visit, void, undefined>;
  /** One page, for tables that page themselves. */
  page(query: VisitQuery, options?: CallOptions): Promise<Page<Visit>>;
}

/** The best matches of all types. */
export type Search = (query: SearchQuery, options?: CallOptions) => Promise<SearchResults>;

export function openList<Item, Query>(http: Http, path: string): List<Item, Query> {
  const page: List<Item, Query>['page'] = (query, { signal } = {}) =>
    http.read<Page<Item>>({ method: 'GET', path, query: query as object, signal });
  return {
    page,
    async *list(query, options) {
      let cursor: string | null | undefined;
      do {
        const asked = { ...query, ...(cursor && { cursor }) } as Query;
        const found: Page<Item> = await page(asked, options);
        if (found.truncated)
          throw new StammError(200, {
            code: 'too_many_matches',
            message: 'Too many matches. Add a word, or use a filter instead.',
          });
        yield* found.data;
        cursor = found.nextCursor;
      } while (cursor !== null);
    },
  };
}

export function openSearch(http: Http): Search {
  return (query, { signal } = {}) => http.read({ method: 'GET', path: '/search', query, signal });
}
