// Turns the query string of a list into a statement. It pages by keyset: every page costs the same.
import { isDay } from '../../../core/calendar/calendar-days.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLimit } from '../../http/conventions.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { addCondition, type Conditions, filterReaders, type Reading, sortsOf } from './list-filters.ts';
import { type ObjectForm, readForms } from './object-form.ts';
import { selectWithinPage } from './page-size.ts';
import type { Selection } from './representation.ts';
import { allMatches, matchingIds, searchTokens } from './search.ts';

export interface ListRequest extends Conditions {
  limit: number;
  sort: Sort;
  cursor: Position | undefined;
  wantsTotal: boolean;
  /** Applies to files. */
  withExternalIds: boolean;
  /** SQL for FROM, as `matchingIds` makes it. */
  search: string | undefined;
}

interface Sort {
  /** Name as in the query string: "name" or "-name". */
  name: string;
  /** SQL over the table named "subject". */
  expression: string;
  type: string;
  isDescending: boolean;
}

type Position = [sortValue: string, id: string];

interface SortKey {
  expression: string;
  type: string;
}

const commonSorts: Record<string, SortKey> = {
  // Ids are made in the order of time, so they sort like the creation.
  createdAt: { expression: 'subject.id', type: 'uuid' },
  updatedAt: { expression: 'subject.updated_at', type: 'timestamptz' },
  name: { expression: 'subject.sort_name', type: 'text' },
};

const knownSorts = new WeakMap<Definition, Record<string, SortKey>>();

function sortKeysOf(definition: Definition): Record<string, SortKey> {
  const keys = knownSorts.get(definition) ?? {
    ...commonSorts,
    ...Object.fromEntries(sortsOf(definition).map(({ name, ...key }) => [name, key])),
  };
  knownSorts.set(definition, keys);
  return keys;
}

export function sortNamesOf(definition: Definition): string[] {
  return Object.keys(sortKeysOf(definition)).flatMap((name) => [name, `-${name}`]);
}

export const defaultLimit = 50;
export const maxLimit = 500;

export const searchParameters = ['sort', 'q', 'updatedSince', 'include'];
const listParameters = [...searchParameters, 'fields', 'limit', 'cursor', 'count'];

/** Members of files. Lists and reads embed objects, too. */
export const fileInclusions = ['externalIds'];

export type Query = Record<string, unknown>;

/** A row of what `buildListQuery` finds. */
export interface ListedRow {
  id: string;
  sort_value: string;
  /** Null where the row is beyond the bound of a page. */
  json: string | null;
}

/** The last row of a search. */
interface SearchEnd {
  id: null;
  is_whole: boolean;
  total: number | null;
}

interface Listed {
  rows: ListedRow[];
  /** Whether a search found all that match; a list without a search always does. */
  isWhole: boolean;
  total: number | null;
}

/** The rows, and what the search says about them. */
export function readListed(found: readonly (ListedRow | SearchEnd)[]): Listed {
  const rows = found.filter((row): row is ListedRow => row.id !== null);
  const end = found.find((row): row is SearchEnd => row.id === null);
  return { rows, isWhole: end?.is_whole ?? true, total: end?.total ?? null };
}

/** Reads a query string; throws one error that names every invalid parameter. */
export function parseListRequest(
  definition: Definition,
  all: readonly Definition[],
  { fields, include, ...query }: Query,
): { list: ListRequest; form: ObjectForm } {
  const fieldErrors: FieldError[] = [];
  const list = readParameters(definition, query, listParameters, fieldErrors);
  const form = readForms([definition], all, { fields, include }, fieldErrors).get(definition.name)!;
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { list, form };
}

type ListReading = Reading & { definition: Definition; request: ListRequest };

const readers: Record<string, (value: string, reading: ListReading) => void> = {
  limit(value, { request, reject }) {
    const limit = readLimit(value, maxLimit);
    if (limit !== undefined) request.limit = limit;
    else reject('out_of_range', { min: 1, max: maxLimit });
  },
  sort(value, { definition, request, reject }) {
    const choices = sortNamesOf(definition);
    if (choices.includes(value)) request.sort = toSort(definition, value);
    else reject('invalid_choice', { choices });
  },
  count(value, { request, reject }) {
    if (value === 'true' || value === 'false') request.wantsTotal = value === 'true';
    else reject('invalid_choice', { choices: ['true', 'false'] });
  },
  updatedSince(value, { request, reject }) {
    if (!isTimestamp(value)) reject('invalid_timestamp');
    else addCondition(request, value, (parameter) => `subject.updated_at >= ${parameter}::timestamptz`);
  },
  include(value, { request, reject }) {
    if (fileInclusions.includes(value)) request.withExternalIds = true;
    else reject('invalid_choice', { choices: fileInclusions });
  },
  q(value, { definition, request }) {
    const tokens = searchTokens(value);
    if (tokens.length === 0) return;
    addCondition(request, tokens, (parameter) => {
      request.search = matchingIds(definition, parameter, { wanted: allMatches, isTolerant: true });
      // Use an array in a sub-select: otherwise the planner runs the search too, to estimate its rows.
      return 'subject.id = ANY ((SELECT ids FROM found)::uuid[])';
    });
  },
};

/** Reads the filters and the other parameters that are `allowed`; adds one entry per invalid one to `fieldErrors`. */
export function readParameters(
  definition: Definition,
  query: Query,
  allowed: readonly string[],
  fieldErrors: FieldError[],
): ListRequest {
  const filters = filterReaders(definition);
  const request: ListRequest = {
    limit: defaultLimit,
    sort: toSort(definition, 'createdAt'),
    conditions: [],
    values: [],
    cursor: undefined,
    wantsTotal: false,
    withExternalIds: false,
    search: undefined,
  };
  for (const [name, value] of Object.entries(query)) {
    const reject: Reading['reject'] = (code, params) => fieldErrors.push({ path: [name], code, params });
    const filter = filters.get(name);
    if (typeof value !== 'string') reject('repeated_parameter');
    else if (allowed.includes(name)) readers[name]?.(value, { definition, request, reject });
    else if (filter) filter(value, { request, reject });
    else reject('unknown_parameter', { known: [...allowed, ...filters.keys()] });
  }
  // Read the cursor last, because it belongs to a sort order.
  if (typeof query.cursor === 'string' && allowed.includes('cursor')) {
    request.cursor = decodeCursor(query.cursor, request.sort);
    if (!request.cursor) fieldErrors.push({ path: ['cursor'], code: 'invalid_cursor' });
  }
  return request;
}

function toSort(definition: Definition, name: string): Sort {
  const isDescending = name.startsWith('-');
  return { name, isDescending, ...sortKeysOf(definition)[isDescending ? name.slice(1) : name]! };
}

/** A moment with its zone; a time without one would mean something else in every office. */
export function isTimestamp(text: string): boolean {
  return (
    /^[\d-]{10}T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/.test(text) &&
    isDay(text.slice(0, 10))
  );
}

/** Reads one row more than the page, which reveals whether there is a next page. */
export function buildListQuery(
  definition: Definition,
  tenantId: string,
  request: ListRequest,
  selection: Selection,
  maxBytes?: number,
) {
  const { sort, limit, cursor } = request;
  const values = [tenantId, ...request.values];
  const conditions = ['subject.tenant_id = $1', ...request.conditions];
  const [order, beyond] = sort.isDescending ? ['DESC', '<'] : ['ASC', '>'];
  const isById = sort.expression === 'subject.id';
  if (cursor) {
    values.push(...(isById ? [cursor[1]] : cursor));
    const last = values.length;
    conditions.push(
      isById
        ? `subject.id ${beyond} $${last}`
        : `(${sort.expression}, subject.id) ${beyond} ($${last - 1}::${sort.type}, $${last}::uuid)`,
    );
  }
  values.push(limit + 1);
  const orderBy = isById ? `subject.id ${order}` : `${sort.expression} ${order}, subject.id ${order}`;
  const { joins, sizes } = selection;
  const json = selectWithinPage(selection.json, { sizes, order: orderBy, maxBytes });
  const ends = request.search ? ', NULL::boolean AS is_whole, NULL::integer AS total' : '';
  const page = `SELECT subject.id, ${sortValue(sort)} AS sort_value, ${json} AS json${ends} FROM (
        SELECT * FROM ${definition.table} AS subject
        WHERE ${conditions.join(' AND ')} ORDER BY ${orderBy} LIMIT $${values.length}
      ) AS subject ${joins} ORDER BY ${orderBy}`;
  return { text: request.search ? withSearch(definition, request, page) : page, values };
}

/** Page and total of one search, which is run once. Its last row says whether it is whole. */
function withSearch(definition: Definition, request: ListRequest, page: string): string {
  const total = request.wantsTotal ? `(${countMatches(definition, request)})` : 'NULL::integer';
  return `WITH found AS MATERIALIZED (SELECT * FROM ${request.search}) (${page})
    UNION ALL SELECT NULL, NULL, NULL, is_whole, CASE WHEN is_whole THEN ${total} END FROM found`;
}

function countMatches({ table }: Definition, { conditions }: ListRequest): string {
  const all = ['subject.tenant_id = $1', ...conditions];
  return `SELECT count(*)::integer AS total FROM ${table} AS subject WHERE ${all.join(' AND ')}`;
}

/** Counts a list without a search; a search counts by itself. */
export function buildCountQuery(definition: Definition, tenantId: string, request: ListRequest) {
  return { text: countMatches(definition, request), values: [tenantId, ...request.values] };
}

/** Casts the value to a text that PostgreSQL reads the same way under all settings. */
function sortValue({ expression, type }: Sort): string {
  if (type === 'timestamptz')
    return `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return `(${expression})::text`;
}

/** A cursor names its order, because a place in one order says nothing in another. */
export function encodeCursor(sort: Sort, row: { id: string; sort_value: string }): string {
  return Buffer.from(JSON.stringify([sort.name, row.sort_value, row.id])).toString('base64url');
}

function decodeCursor(text: string, sort: Sort): Position | undefined {
  try {
    const [name, value, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const isSound =
      name === sort.name &&
      typeof value === 'string' &&
      value.isWellFormed() &&
      !value.includes('\0') &&
      typeof id === 'string' &&
      isUuid(id) &&
      isSortValue(sort.type, value);
    return isSound ? [value, id] : undefined;
  } catch {
    return undefined;
  }
}

/** Another value would fail in PostgreSQL. */
function isSortValue(type: string, value: string): boolean {
  if (type === 'timestamptz') return isTimestamp(value);
  if (type === 'date') return value === 'infinity' || isDay(value);
  if (type === 'numeric') return value === 'Infinity' || /^\d{1,400}(\.\d{1,400})?$/.test(value);
  return true;
}
