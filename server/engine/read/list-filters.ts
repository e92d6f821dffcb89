// The filters and the sort orders that a list has because of its definition.
import { isDay } from '../../../core/calendar/calendar-days.ts';
import type { FieldError } from '../../errors.ts';
import {
  bareName,
  type Column,
  columnsOf,
  type Definition,
  isAlwaysStored,
  type Reference,
  referencesOf,
  sqlType,
  startColumn,
  startLength,
  tableOf,
  uniqueColumnsOf,
} from '../definition/definition.ts';
import { externalIdSchema } from '../definition/fields.ts';
import { isUuid } from '../definition/formats.ts';

export interface Conditions {
  /** Filters as SQL conditions; $1 is the tenant, and these begin with $2. */
  conditions: string[];
  values: unknown[];
}

export interface Reading {
  request: Conditions;
  reject(code: FieldError['code'], params?: FieldError['params']): void;
}

export type ReadParameter = (value: string, reading: Reading) => void;

export interface Filter {
  readonly name: string;
  readonly column: Column;
}

/** Maximum number of values in one filter. */
export const maxListed = 100;

/** References, choices, flags, unique values, and texts that say so; each by the last step of its path. */
export function filtersOf(definition: Definition): Filter[] {
  return columnsOf(definition.fields)
    .filter(
      ({ path, field }) =>
        (field.filter && field.filter !== 'range') || definition.uniqueFields.includes(path.join('.')),
    )
    .map(toFilter);
}

/** Days and numbers that a list narrows by a first and a last value, and sorts by. */
export function rangesOf(definition: Definition): Filter[] {
  return columnsOf(definition.fields)
    .filter(({ field }) => field.filter === 'range')
    .map(toFilter);
}

/** Fields that an object can lack. */
export function emptiableOf(definition: Definition): Filter[] {
  return [...filtersOf(definition), ...rangesOf(definition)].filter(
    ({ column }) => !isAlwaysStored(definition, column),
  );
}

/** Whether several values of a filter can be separated by commas: those of a text may hold some. */
export function takesSeveral({ column: { field } }: Filter): boolean {
  return field.kind === 'uuid' || field.schema.enum !== undefined;
}

function toFilter(column: Column): Filter {
  return { name: column.path.at(-1)!, column };
}

export interface SortOrder {
  name: string;
  expression: string;
  type: string;
}

/** Orders beside those that every list has. */
export function sortsOf(definition: Definition): SortOrder[] {
  const ranges = rangesOf(definition).map(({ name, column }) => ({
    name,
    expression: rangeKey(definition, column, 'subject.'),
    type: sqlType(column),
  }));
  const starts = filtersOf(definition)
    .filter(({ column }) => column.field.filter === 'start' && isAlwaysStored(definition, column))
    .map(({ name, column }) => ({ name, expression: `subject.${startColumn(column)}`, type: 'text' }));
  const numbers = numbersOf(definition).map((column) => ({
    name: column.path.join('.'),
    expression: numberKey(column, 'subject.'),
    type: 'text',
  }));
  return [...ranges, ...starts, ...numbers];
}

/** Numbers that people give, such as that of a customer. The name has an order of its own; external ids are for programs. */
export function numbersOf(definition: Definition): Column[] {
  return uniqueColumnsOf(definition).filter(
    ({ path }) => !['externalId', definition.nameField].includes(path.join('.')),
  );
}

/** Works like `rangeKey`: the last Unicode character sorts behind all numbers. */
export function numberKey({ name }: Column, prefix = ''): string {
  return `COALESCE(${prefix}${name}, '\u{10FFFF}'::text) COLLATE "C"`;
}

/** The indexed expression. A missing value sorts behind everything else: a comparison with NULL finds nothing. */
export function rangeKey(definition: Definition, column: Column, prefix = ''): string {
  const name = `${prefix}${prefix ? column.name : bareName(column.name)}`;
  if (isAlwaysStored(definition, column)) return name;
  const last = sqlType(column) === 'date' ? "'infinity'::date" : "'Infinity'::numeric";
  return `COALESCE(${name}, ${last})`;
}

const knownReaders = new WeakMap<Definition, ReadonlyMap<string, ReadParameter>>();

/** The parameters by name. Worked out once for each definition, and not for each list. */
export function filterReaders(definition: Definition): ReadonlyMap<string, ReadParameter> {
  const known = knownReaders.get(definition);
  if (known) return known;
  const emptiable = new Map(emptiableOf(definition).map((filter) => [filter.name, filter]));
  const readers = new Map<string, ReadParameter>([
    ...filtersOf(definition).map((filter): [string, ReadParameter] => [
      filter.name,
      (value, reading) => readFilter(filter, value, reading),
    ]),
    ...rangesOf(definition).flatMap(({ name, column }): [string, ReadParameter][] => {
      const key = rangeKey(definition, column, 'subject.');
      return [
        [`${name}From`, (value, reading) => readBound(column, `${key} >=`, value, reading)],
        [
          `${name}Until`,
          (value, reading) =>
            readBound(column, `subject.${column.name} IS NOT NULL AND ${key} <=`, value, reading),
        ],
      ];
    }),
    ...referencesOf(definition).map((reference): [string, ReadParameter] => [
      reference.externalName,
      (value, reading) => readReference(reference, value, reading),
    ]),
    ['id', readIds],
    ['externalId', readExternalIds],
    ['empty', (value, reading) => readPresence(emptiable, 'IS NULL', value, reading)],
    ['filled', (value, reading) => readPresence(emptiable, 'IS NOT NULL', value, reading)],
  ]);
  knownReaders.set(definition, readers);
  return readers;
}

export function addCondition(
  request: Conditions,
  value: unknown,
  toCondition: (parameter: string) => string,
): void {
  request.values.push(value);
  request.conditions.push(toCondition(`$${request.values.length + 1}`));
}

function readFilter(filter: Filter, value: string, reading: Reading): void {
  const { request, reject } = reading;
  const values = takesSeveral(filter) ? value.split(',') : [value];
  const code = values.map((one) => findFilterError(filter, one)).find(Boolean);
  if (values.length > maxListed) reject('too_many_items', { max: maxListed });
  else if (code) reject(code, code === 'invalid_choice' ? { choices: choicesOf(filter) } : undefined);
  else if (values.length === 1)
    addCondition(request, value, (parameter) => filterCondition(filter, parameter, value));
  else {
    const { name } = filter.column;
    addCondition(
      request,
      values,
      (parameter) => `subject.${name} = ANY (${parameter}::${sqlType(filter.column)}[])`,
    );
  }
}

function readBound(column: Column, comparison: string, value: string, { request, reject }: Reading): void {
  const isDate = column.field.kind === 'date';
  if (isDate && !isDay(value)) reject('invalid_date');
  else if (!isDate && !/^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i.test(value)) reject('type', { type: 'number' });
  else if (!isDate && value.startsWith('-') && Number(value) !== 0) reject('too_small', { min: 0 });
  else addCondition(request, value, (parameter) => `${comparison} ${parameter}::${sqlType(column)}`);
}

function readPresence(
  emptiable: ReadonlyMap<string, Filter>,
  test: string,
  value: string,
  { request, reject }: Reading,
): void {
  const names = value.split(',');
  if (names.every((name) => emptiable.has(name)))
    request.conditions.push(...names.map((name) => `subject.${emptiable.get(name)!.column.name} ${test}`));
  else reject('invalid_choice', { choices: [...emptiable.keys()] });
}

/** The address of a request holds no more. */
export const maxIds = 300;

function readIds(value: string, { request, reject }: Reading): void {
  const ids = value.split(',');
  if (ids.length > maxIds) reject('too_many_items', { max: maxIds });
  else if (!ids.every(isUuid)) reject('invalid_uuid');
  else addCondition(request, ids, (parameter) => `subject.id = ANY (${parameter}::uuid[])`);
}

/** Ids separated by commas. One that holds commas itself is found too. */
function readExternalIds(value: string, { request, reject }: Reading): void {
  const ids = value.split(',').filter(Boolean);
  const max = externalIdSchema.maxLength;
  if (!isStorable(value)) reject('invalid_text');
  else if (ids.length > maxListed) reject('too_many_items', { max: maxListed });
  else if (ids.some((id) => [...id].length > max)) reject('too_long', { max });
  else
    addCondition(request, [value, ...ids], (parameter) => `subject.external_id = ANY (${parameter}::text[])`);
}

/** Finds rows that refer to the named object, and rows that wait for it. */
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

function findFilterError(filter: Filter, value: string): FieldError['code'] | undefined {
  const { field } = filter.column;
  if (field.kind === 'uuid') return isUuid(value) ? undefined : 'invalid_uuid';
  if (field.kind === 'flag' || field.schema.enum)
    return choicesOf(filter).includes(value) ? undefined : 'invalid_choice';
  return isStorable(value) ? undefined : 'invalid_text';
}

function choicesOf({ column: { field } }: Filter): readonly string[] {
  return field.kind === 'flag' ? ['true', 'false'] : (field.schema.enum as readonly string[]);
}

/** A value shorter than a start is all of it: with a second condition the planner expects too few rows. */
function filterCondition({ column }: Filter, parameter: string, value: string): string {
  const condition = `subject.${column.name} = ${parameter}::${sqlType(column)}`;
  if (column.field.filter !== 'start') return condition;
  const start = `subject.${startColumn(column)} = left(${parameter}, ${startLength})`;
  return value.length < startLength ? start : `${start} AND ${condition}`;
}
