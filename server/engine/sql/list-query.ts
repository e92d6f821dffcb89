// Turns the query string of a list into a statement. It pages by keyset: every page costs the same.
import { isDay } from '../../../core/calendar-days.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLimit } from '../../http/conventions.ts';
import {
  type Column,
  columnsOf,
  type Definition,
  type Reference,
  referencesOf,
  sqlType,
  startColumn,
  startLength,
  tableOf,
} from '../definition/definition.ts';
import { externalIdSchema } from '../definition/fields.ts';
import { isUuid } from '../definition/formats.ts';
import { jsonBytes, selectWithinPage, textBytes } from './page-size.ts';

export interface ListRequest {
  limit: number;
  sort: Sort;
  /** Filters as SQL conditions; $1 is the tenant, and these begin with $2. */
  conditions: string[];
  values: unknown[];
  cursor: Position | undefined;
  wantsTotal: boolean;
  withExternalIds: boolean;
}

interface Sort {
  /** As in the query string: "name" or "-name". */
  name: string;
  column: string;
  type: string;
  isDescending: boolean;
}

type Position = [sortValue: string, id: string];

export interface Filter {
  readonly name: string;
  readonly column: Column;
}

/** References, choices, flags, unique values, and texts that say so; each by the last step of its path. */
export function filtersOf(definition: Definition): Filter[] {
  return columnsOf(definition.fields)
    .filter(({ path, field }) => field.filter || definition.uniqueFields.includes(path.join('.')))
    .map((column) => ({ name: column.path.at(-1)!, column }));
}

type ReadParameter = (value: string, reading: Reading) => void;

const knownFilters = new WeakMap<Definition, ReadonlyMap<string, ReadParameter>>();

/** Worked out once for each definition, and not for each list. */
function filtersByName(definition: Definition): ReadonlyMap<string, ReadParameter> {
  const known = knownFilters.get(definition);
  if (known) return known;
  const filters = new Map<string, ReadParameter>([
    ...filtersOf(definition).map((filter): [string, ReadParameter] => [
      filter.name,
      (value, reading) => readFilter(filter, value, reading),
    ]),
    ...referencesOf(definition).map((reference): [string, ReadParameter] => [
      reference.externalName,
      (value, reading) => readReference(reference, value, reading),
    ]),
    ['externalId', readExternalIds],
  ]);
  knownFilters.set(definition, filters);
  return filters;
}

const sortColumns: Record<string, { column: string; type: string }> = {
  // Ids are made in the order of time, so that they sort like the creation.
  createdAt: { column: 'id', type: 'uuid' },
  updatedAt: { column: 'updated_at', type: 'timestamptz' },
  name: { column: 'sort_name', type: 'text' },
};

export const sortNames = Object.keys(sortColumns).flatMap((name) => [name, `-${name}`]);

export const defaultLimit = 50;
export const maxLimit = 500;

/** How many external ids one list may name. */
export const maxExternalIds = 100;

export const inclusions = ['externalIds'];

export const searchParameters = ['sort', 'q', 'updatedSince', 'include'];
const listParameters = [...searchParameters, 'limit', 'cursor', 'count'];

export type Query = Record<string, unknown>;

/** A row of what `buildListQuery` finds. */
export interface ListedRow {
  id: string;
  sort_value: string;
  /** Null where the row is beyond the bound of a page. */
  json: string | null;
}

/** Reads a query string; throws one error that names every invalid parameter. */
export function parseListRequest(definition: Definition, query: Query): ListRequest {
  const fieldErrors: FieldError[] = [];
  const request = readParameters(definition, query, listParameters, fieldErrors);
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return request;
}

interface Reading {
  definition: Definition;
  request: ListRequest;
  reject(code: FieldError['code'], params?: FieldError['params']): void;
}

const readers: Record<string, ReadParameter> = {
  limit(value, { request, reject }) {
    const limit = readLimit(value, maxLimit);
    if (limit !== undefined) request.limit = limit;
    else reject('out_of_range', { min: 1, max: maxLimit });
  },
  sort(value, { request, reject }) {
    if (sortNames.includes(value)) request.sort = toSort(value);
    else reject('invalid_choice', { choices: sortNames });
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
    if (inclusions.includes(value)) request.withExternalIds = true;
    else reject('invalid_choice', { choices: inclusions });
  },
  q(value, { definition, request }) {
    const words = searchWords(value);
    if (words.length > 0) addCondition(request, words, (parameter) => searchCondition(definition, parameter));
  },
};

/** Ids separated by commas. One that holds commas itself is found too. */
function readExternalIds(value: string, { request, reject }: Reading): void {
  const ids = value.split(',').filter(Boolean);
  const max = externalIdSchema.maxLength;
  if (!isStorable(value)) reject('invalid_text');
  else if (ids.length > maxExternalIds) reject('too_many_items', { max: maxExternalIds });
  else if (ids.some((id) => [...id].length > max)) reject('too_long', { max });
  else
    addCondition(request, [value, ...ids], (parameter) => `subject.external_id = ANY (${parameter}::text[])`);
}

/** Those that name the object, and those that wait for it. */
function readReference(
  { column, externalColumn, resources, isOwner }: Reference,
  value: string,
  { request, reject }: Reading,
): void {
  if (!isStorable(value)) {
    reject('invalid_text');
    return;
  }
  addCondition(request, value, (parameter) => {
    const ids = resources.map(
      (name) => `SELECT id FROM ${tableOf(name)} WHERE tenant_id = $1 AND external_id = ${parameter}`,
    );
    const named = `subject.${column.name} = ANY (ARRAY(${ids.join(' UNION ALL ')}))`;
    return isOwner ? named : `(${named} OR subject.${externalColumn} = ${parameter})`;
  });
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function readFilter(filter: Filter, value: string, { request, reject }: Reading): void {
  const code = findFilterError(filter, value);
  if (!code) addCondition(request, value, (parameter) => filterCondition(filter, parameter, value));
  else reject(code, code === 'invalid_choice' ? { choices: choicesOf(filter) } : undefined);
}

function addCondition(request: ListRequest, value: unknown, toCondition: (parameter: string) => string) {
  request.values.push(value);
  request.conditions.push(toCondition(`$${request.values.length + 1}`));
}

/** Reads the filters and the other parameters that are `allowed`; adds one entry per invalid one to `fieldErrors`. */
export function readParameters(
  definition: Definition,
  query: Query,
  allowed: readonly string[],
  fieldErrors: FieldError[],
): ListRequest {
  const filters = filtersByName(definition);
  const request: ListRequest = {
    limit: defaultLimit,
    sort: toSort('createdAt'),
    conditions: [],
    values: [],
    cursor: undefined,
    wantsTotal: false,
    withExternalIds: false,
  };
  for (const [name, value] of Object.entries(query)) {
    const reject: Reading['reject'] = (code, params) => fieldErrors.push({ path: [name], code, params });
    const filter = filters.get(name);
    if (typeof value !== 'string') reject('repeated_parameter');
    else if (allowed.includes(name)) readers[name]?.(value, { definition, request, reject });
    else if (filter) filter(value, { definition, request, reject });
    else reject('unknown_parameter', { known: [...allowed, ...filters.keys()] });
  }
  // Last, because a cursor belongs to a sort order.
  if (typeof query.cursor === 'string' && allowed.includes('cursor')) {
    request.cursor = decodeCursor(query.cursor, request.sort);
    if (!request.cursor) fieldErrors.push({ path: ['cursor'], code: 'invalid_cursor' });
  }
  return request;
}

function toSort(name: string): Sort {
  const isDescending = name.startsWith('-');
  return { name, isDescending, ...sortColumns[isDescending ? name.slice(1) : name]! };
}

/** A moment with its zone; a time without one would mean something else in every office. */
export function isTimestamp(text: string): boolean {
  return (
    /^[\d-]{10}T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/.test(text) &&
    isDay(text.slice(0, 10))
  );
}

function searchWords(text: string): string[] {
  return text.slice(0, 200).replaceAll('\0', ' ').toWellFormed().split(/\s+/).filter(Boolean);
}

const maxMatches = 1000;

/** As an array, which is looked up id by id; in a sub-select, or else the planner would search too, to see how many there are. */
function searchCondition(definition: Definition, parameter: string): string {
  return `subject.id = ANY ((SELECT search($1, '${definition.table}', ${parameter}, ${maxMatches}))::uuid[])`;
}

function findFilterError({ column: { field } }: Filter, value: string): FieldError['code'] | undefined {
  if (field.kind === 'uuid') return isUuid(value) ? undefined : 'invalid_uuid';
  if (field.kind === 'flag' || field.schema.enum) {
    return choicesOf({ name: '', column: { name: '', path: [], field } }).includes(value)
      ? undefined
      : 'invalid_choice';
  }
  return isStorable(value) ? undefined : 'invalid_text';
}

function choicesOf({ column: { field } }: Filter): readonly string[] {
  return field.kind === 'flag' ? ['true', 'false'] : (field.schema.enum as readonly string[]);
}

/** A value shorter than a start is all of it: with a second condition the planner would expect far too few rows. */
function filterCondition({ column }: Filter, parameter: string, value: string): string {
  const condition = `subject.${column.name} = ${parameter}::${sqlType(column)}`;
  if (column.field.filter !== 'start') return condition;
  const start = `subject.${startColumn(column)} = left(${parameter}, ${startLength})`;
  return value.length < startLength ? start : `${start} AND ${condition}`;
}

function isUnlimitedText({ field: { kind, schema } }: Column): boolean {
  return kind === 'text' && !schema.maxLength && !schema.enum;
}

/** Of all columns that are not limited, over the table named "subject". */
export function sizesOf(definition: Definition): string[] {
  return columnsOf(definition.fields).flatMap((column) => {
    if (column.field.kind === 'list') return [jsonBytes(`subject.${column.name}`)];
    return isUnlimitedText(column) ? [textBytes(`subject.${column.name}`)] : [];
  });
}

/** `selection` (an SQL expression) of one row more than the page, which tells whether there is a next one. */
export function buildListQuery(
  definition: Definition,
  tenantId: string,
  request: ListRequest,
  selection: string,
  maxBytes?: number,
) {
  const { sort, limit, cursor } = request;
  const values = [tenantId, ...request.values];
  const conditions = ['subject.tenant_id = $1', ...request.conditions];
  const [order, beyond] = sort.isDescending ? ['DESC', '<'] : ['ASC', '>'];
  const isById = sort.column === 'id';
  if (cursor) {
    values.push(...(isById ? [cursor[1]] : cursor));
    const last = values.length;
    conditions.push(
      isById
        ? `subject.id ${beyond} $${last}`
        : `(subject.${sort.column}, subject.id) ${beyond} ($${last - 1}::${sort.type}, $${last}::uuid)`,
    );
  }
  values.push(limit + 1);
  const orderBy = isById ? `subject.id ${order}` : `subject.${sort.column} ${order}, subject.id ${order}`;
  const json = selectWithinPage(selection, { sizes: sizesOf(definition), order: orderBy, maxBytes });
  return {
    text: `SELECT subject.id, ${sortValue(sort)} AS sort_value, ${json} AS json FROM (
        SELECT * FROM ${definition.table} AS subject
        WHERE ${conditions.join(' AND ')} ORDER BY ${orderBy} LIMIT $${values.length}
      ) AS subject ORDER BY ${orderBy}`,
    values,
  };
}

export function buildCountQuery(definition: Definition, tenantId: string, request: ListRequest) {
  const conditions = ['subject.tenant_id = $1', ...request.conditions];
  return {
    text: `SELECT count(*)::integer AS total FROM ${definition.table} AS subject WHERE ${conditions.join(' AND ')}`,
    values: [tenantId, ...request.values],
  };
}

/** As text that PostgreSQL reads the same way under all settings. */
function sortValue({ column, type }: Sort): string {
  return type === 'timestamptz'
    ? `to_char(subject.${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
    : `subject.${column}::text`;
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
      (sort.type !== 'timestamptz' || isTimestamp(value));
    return isSound ? [value, id] : undefined;
  } catch {
    return undefined;
  }
}
