// The calls of one resource.
import type { components } from './api-types.ts';
import type { Chosen, FieldPath, FieldQuery } from './fields.ts';
import { type CallOptions, type Http, makeIdempotencyKey, streamOf } from './http.ts';
import { type IncludeOf, type ObjectList, openList } from './lists.ts';

/** Types of a resource for creating, changing, reading and listing it. */
export interface Kind {
  item: object;
  new: object;
  patch: object;
  query: object | undefined;
}

/** The id of an object, or your own id of it. */
export type Reference = string | { externalId: string };

export interface GetOptions<Inclusion extends string = string> extends CallOptions {
  /** Adds objects that are referred to; `externalIds` adds your own ids of them. */
  include?: Inclusion | readonly Inclusion[];
}

export interface WriteOptions extends CallOptions {
  /** Checks everything and stores nothing. */
  dryRun?: boolean;
}

export interface CreateOptions extends WriteOptions {
  /** The client makes one if absent. Pass your own to repeat a creation after a restart of your program. */
  idempotencyKey?: string;
}

export interface ChangeOptions extends WriteOptions {
  /** Changes only this version; another one fails with 412 `version_mismatch`. */
  ifVersion?: number;
}

export interface UpsertOptions extends ChangeOptions {
  /** `false` fails with 409 `deleted` if the external id is in the bin. Nightly runs should say so. */
  revive?: boolean;
}

export interface MergeOptions extends UpsertOptions {
  /** Whether a complete body of an unknown external id creates the object, as it does by default. */
  create?: boolean;
}

export interface DeleteOptions extends ChangeOptions {
  /** Deletes everything that belongs to the object too. */
  cascade?: boolean;
}

type Schemas = components['schemas'];
export type Deletion = Schemas['Deletion'];
export type Restoration = Schemas['Restoration'];
export type MergeRequest = Schemas['MergeRequest'];
export type DuplicatesMerge = Schemas['Merge'];
export type DryRun = Schemas['DryRun'];
type IdResponse = Schemas['IdResponse'];
type UpsertResponse = Schemas['UpsertResponse'];

export type ExportFormat = 'csv' | 'xlsx' | 'ndjson';

export interface Collection<Of extends Kind> extends ObjectList<Of['item'], Of['query']> {
  create(body: Of['new'], options: CreateOptions & { dryRun: true }): Promise<DryRun>;
  create(body: Of['new'], options?: CreateOptions): Promise<IdResponse>;
  get<const Path extends FieldPath<Of['item']>, const Inclusion extends IncludeOf<Of['query']> = never>(
    reference: Reference,
    options: CallOptions & FieldQuery<Path, Inclusion>,
  ): Promise<Chosen<Of['item'], Path | Inclusion>>;
  get(reference: Reference, options?: GetOptions<IncludeOf<Of['query']>>): Promise<Of['item']>;
  /** Changes the fields that are sent; `null` clears a field. */
  merge(
    reference: Reference,
    patch: Of['patch'],
    options: MergeOptions & { dryRun: true },
  ): Promise<Partial<Of['item']> & DryRun>;
  merge(reference: Reference, patch: Of['patch'], options?: MergeOptions): Promise<Of['item']>;
  /** Creates or replaces by your own id. Fields that are not sent are cleared. */
  replace(externalId: string, body: Of['new'], options: UpsertOptions & { dryRun: true }): Promise<DryRun>;
  replace(externalId: string, body: Of['new'], options?: UpsertOptions): Promise<UpsertResponse>;
  /** Lists everything that would go. */
  delete(reference: Reference, options: DeleteOptions & { dryRun: true }): Promise<Deletion & DryRun>;
  /** Lists everything that is gone. The list is empty if a deletion succeeded, but its answer was lost. */
  delete(reference: Reference, options: DeleteOptions & { cascade: true }): Promise<Deletion>;
  delete(reference: Reference, options?: DeleteOptions): Promise<void>;
  /** Brings back a deleted object, with everything that was deleted with it. */
  restore(id: string, options: WriteOptions & { dryRun: true }): Promise<Restoration & DryRun>;
  restore(id: string, options?: WriteOptions): Promise<Restoration>;
  /** Merges duplicates into the object with this id. Their ids and external ids then lead to it. */
  mergeDuplicates(
    id: string,
    request: MergeRequest,
    options: ChangeOptions & { dryRun: true },
  ): Promise<DuplicatesMerge & DryRun>;
  mergeDuplicates(id: string, request: MergeRequest, options?: ChangeOptions): Promise<DuplicatesMerge>;
  /** Everything that the query finds, as one file. The stream fails if the file is not complete. */
  export(
    format: ExportFormat,
    query?: ExportQuery<Of['query']>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>>;
}

type ExportQuery<Query> = Omit<NonNullable<Query>, 'limit' | 'cursor' | 'count' | 'fields' | 'include'> & {
  include?: 'externalIds';
  /** Language of titles and numbers in CSV and Excel. */
  locale?: 'de' | 'en';
};

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

  return {
    // The cast is safe: with `fields`, the service returns the members that the types choose.
    ...(openList(http, `/${collection}`) as ObjectList<Item, Of['query']>),
    // The overloads say which answer belongs to which options.
    // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    async create(body: Of['new'], { dryRun, idempotencyKey, signal }: CreateOptions = {}): Promise<any> {
      const headers = { 'Idempotency-Key': idempotencyKey ?? makeIdempotencyKey() };
      const query = { dryRun };
      const call = { method: 'POST', path: creationPath, query, headers, body, signal } as const;
      return http.read(call);
    },
    async get(
      reference: Reference,
      { include, fields, signal }: GetOptions & { fields?: readonly string[] } = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      return http.read({ method: 'GET', path: pathOf(reference), query: { include, fields }, signal });
    },
    async merge(
      reference: Reference,
      patch: Of['patch'],
      { dryRun, create, revive, ifVersion, signal }: MergeOptions = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      return http.read({
        method: 'PATCH',
        path: pathOf(reference),
        query: { dryRun, create, revive },
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
      { dryRun, revive, ifVersion, signal }: UpsertOptions = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      return http.read({
        method: 'PUT',
        path: pathOf({ externalId }),
        query: { dryRun, revive },
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
      // A repeated deletion finds nothing more.
      if (cascade || dryRun) return response.status === 204 ? { deleted: [] } : response.json();
    },
    // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    async restore(id: string, { dryRun, signal }: WriteOptions = {}): Promise<any> {
      return http.read({ method: 'POST', path: `${pathOf(id)}/restore`, query: { dryRun }, signal });
    },
    async mergeDuplicates(
      id: string,
      request: MergeRequest,
      { dryRun, ifVersion, signal }: ChangeOptions = {},
      // biome-ignore lint/suspicious/noExplicitAny: one function serves both overloads
    ): Promise<any> {
      return http.read({
        method: 'POST',
        path: `${pathOf(id)}/merge`,
        query: { dryRun },
        headers: condition(ifVersion),
        body: request,
        isUnsafe: ifVersion !== undefined,
        signal,
      });
    },
    async export(format, query, { signal } = {}) {
      const path = `/${collection}.${format}`;
      const headers = { Accept: '*/*' };
      return streamOf(await http.send({ method: 'GET', path, query, headers, isStream: true, signal }));
    },
  };
}

function condition(version: number | undefined): Record<string, string | undefined> {
  return { 'If-Match': version === undefined ? undefined : `"${version}"` };
}
