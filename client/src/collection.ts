// The calls of one resource.
import type { components } from './api-types.ts';
import { StammError } from './error.ts';
import { type CallOptions, type Http, makeIdempotencyKey } from './http.ts';

/** What a resource is created, changed, read and listed with. */
export interface Kind {
  item: object;
  new: object;
  patch: object;
  query: object | undefined;
}

/** The id of an object, or your own id of it. */
export type Reference = string | { externalId: string };

export interface GetOptions extends CallOptions {
  /** Adds your own ids of the objects that are referred to. */
  include?: 'externalIds';
}

export interface WriteOptions extends CallOptions {
  /** Checks everything and stores nothing. */
  dryRun?: boolean;
}

export interface CreateOptions extends WriteOptions {
  /** Made by the client if absent. Pass your own to repeat a creation after a restart of your program. */
  idempotencyKey?: string;
}

export interface ChangeOptions extends WriteOptions {
  /** Changes only this version; another one fails with 412 `version_mismatch`. */
  ifVersion?: number;
}

export interface MergeOptions extends ChangeOptions {
  /** Whether a complete body of an unknown external id creates the object, as it does by default. */
  create?: boolean;
}

export interface DeleteOptions extends ChangeOptions {
  /** Deletes everything that belongs to the object too. */
  cascade?: boolean;
}

export type Deletion = components['schemas']['Deletion'];
type DryRun = components['schemas']['DryRun'];
type IdResponse = components['schemas']['IdResponse'];
type UpsertResponse = components['schemas']['UpsertResponse'];

export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
  /** With `count: true`; null if `truncated`. */
  total?: number | null;
  /** Whether a search has too many matches: the pages hold some of them. */
  truncated?: true;
}

export interface Collection<Of extends Kind> {
  create(body: Of['new'], options: CreateOptions & { dryRun: true }): Promise<DryRun>;
  create(body: Of['new'], options?: CreateOptions): Promise<IdResponse>;
  get(reference: Reference, options?: GetOptions): Promise<Of['item']>;
  /**
   * Every object that the query finds. Reads the next page when the loop gets there. A search with too many matches
   * fails with `too_many_matches`.
   */
  list(query?: Of['query'], options?: CallOptions): AsyncGenerator<Of['item'], void, undefined>;
  /** One page, for tables that page themselves. */
  page(query?: Of['query'], options?: CallOptions): Promise<Page<Of['item']>>;
  /** Changes the fields that are sent; `null` clears a field. */
  merge(reference: Reference, patch: Of['patch'], options: MergeOptions & { dryRun: true }): Promise<DryRun>;
  merge(reference: Reference, patch: Of['patch'], options?: MergeOptions): Promise<Of['item']>;
  /** Creates or replaces by your own id. Fields that are not sent are cleared. */
  replace(externalId: string, body: Of['new'], options: ChangeOptions & { dryRun: true }): Promise<DryRun>;
  replace(externalId: string, body: Of['new'], options?: ChangeOptions): Promise<UpsertResponse>;
  /** Lists everything that is gone. The list is empty if a deletion succeeded, but its answer was lost. */
  delete(reference: Reference, options: DeleteOptions & { cascade: true }): Promise<Deletion>;
  delete(reference: Reference, options?: DeleteOptions): Promise<void>;
}

/** The items of all pages. `read` is given the cursor of the next page as part of its query. */
export async function* listPages<Item>(
  read: (cursor: { cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null | undefined;
  do {
    const found: Page<Item> = await read(cursor ? { cursor } : {});
    if (found.truncated)
      throw new StammError(200, {
        code: 'too_many_matches',
        message: 'Too many matches. Add a word, or use a filter instead.',
      });
    yield* found.data;
    cursor = found.nextCursor;
  } while (cursor !== null);
}

export function openCollection<Of extends Kind>(
  http: Http,
  collection: string,
  creationPath: string,
): Collection<Of> {
  type Item = Of['item'];

  const pathOf = (reference: Reference) =>
    typeof reference === 'string'
      ? `/${collection}/${encodeURIComponent(reference)}`
      : `/${collection}/by-external-id/${encodeURIComponent(reference.externalId)}`;

  const page = (query?: Of['query'], { signal }: CallOptions = {}) =>
    http.read<Page<Item>>({ method: 'GET', path: `/${collection}`, query, signal });

  return {
    // The overloads say which answer belongs to which options.
    // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    async create(body: Of['new'], { dryRun, idempotencyKey, signal }: CreateOptions = {}): Promise<any> {
      const headers = { 'Idempotency-Key': idempotencyKey ?? makeIdempotencyKey() };
      const query = { dryRun };
      const call = { method: 'POST', path: creationPath, query, headers, body, signal } as const;
      return http.read(call);
    },
    get: (reference, { include, signal } = {}) =>
      http.read<Item>({ method: 'GET', path: pathOf(reference), query: { include }, signal }),
    list: (query, options) => listPages((cursor) => page({ ...query, ...cursor }, options)),
    page,
    async merge(
      reference: Reference,
      patch: Of['patch'],
      { dryRun, create, ifVersion, signal }: MergeOptions = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      return http.read({
        method: 'PATCH',
        path: pathOf(reference),
        query: { dryRun, create },
        headers: condition(ifVersion),
        contentType: 'application/merge-patch+json',
        body: patch,
        isUnsafe: ifVersion !== undefined,
        signal,
      });
    },
    async replace(
      externalId: string,
      body: Of['new'],
      { dryRun, ifVersion, signal }: ChangeOptions = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      return http.read({
        method: 'PUT',
        path: pathOf({ externalId }),
        query: { dryRun },
        headers: condition(ifVersion),
        body,
        isUnsafe: ifVersion !== undefined,
        signal,
      });
    },
    async delete(
      reference: Reference,
      { dryRun, cascade, ifVersion, signal }: DeleteOptions = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      const response = await http.send({
        method: 'DELETE',
        path: pathOf(reference),
        query: { dryRun, cascade },
        headers: condition(ifVersion),
        signal,
      });
      if (cascade) return response.status === 204 ? { deleted: [] } : response.json();
    },
  };
}

function condition(version: number | undefined): Record<string, string | undefined> {
  return { 'If-Match': version === undefined ? undefined : `"${version}"` };
}
