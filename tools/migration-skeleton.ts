// "npm run generate -- migration NAME": the table of a resource, from its definition.
import {
  bareName,
  type Column,
  columnsOf,
  type Definition,
  isAlwaysStored,
  looseReferencesOf,
  ownersOf,
  shapeColumnsOf,
  sqlType,
  startColumn,
  startLength,
  uniqueColumnsOf,
  uniqueGroupsOf,
} from '../server/engine/definition/definition.ts';
import { filtersOf, numberKey, numbersOf, rangeKey, rangesOf } from '../server/engine/read/list-filters.ts';
import { escapeLastCharacter } from './schema-document.ts';

interface TableColumn {
  name: string;
  type: string;
  isRequired: boolean;
}

/** The columns that the definition itself asks for, without those that every resource has. */
export function expectedColumns(definition: Definition): TableColumn[] {
  const columns = columnsOf(definition.fields).map((column) => ({
    name: column.name,
    type: sqlType(column),
    isRequired: isAlwaysStored(definition, column),
  }));
  const shapes = shapeColumnsOf(definition).map(({ name, list }) => ({
    name,
    type: 'boolean',
    isRequired: isAlwaysStored(definition, list),
  }));
  return [...columns, ...shapes];
}

export interface ExpectedIndex {
  name: string;
  /** A column, or an expression on one. */
  column: string;
  /** Leaves rows without a value out of the index if few have one. */
  isPartial: boolean;
}

/** One index per filter and range. Choices and flags have few values, and unique values have an index already. */
export function expectedIndexes(definition: Definition): ExpectedIndex[] {
  const unique = uniqueColumnsOf(definition).map(({ name }) => name);
  const ranges = rangesOf(definition).map(({ column }) => ({
    name: `${definition.table}_by_${column.name}`,
    column: rangeKey(definition, column),
    isPartial: false,
  }));
  const filters = filtersOf(definition)
    .map(({ column }) => column)
    .filter(({ name, field }) => field.kind !== 'flag' && !field.schema.enum && !unique.includes(name))
    .map((column) => ({
      name: `${definition.table}_by_${column.name.replace(/_id$/, '')}`,
      column: column.field.filter === 'start' ? startColumn(column) : column.name,
      isPartial: !isAlwaysStored(definition, column),
    }));
  const numbers = numbersOf(definition).map((column) => ({
    name: `${definition.table}_by_${column.name}`,
    column: numberKey(column),
    isPartial: false,
  }));
  return [...filters, ...ranges, ...numbers];
}

export function migrationSkeleton(definition: Definition): string {
  const { table } = definition;
  return `CREATE TABLE ${table} (
${tableMembers(definition)
  .map((line) => `  ${line}`)
  .join(',\n')}
);
COMMENT ON TABLE ${table} IS ${quote(definition.description)};
SELECT prepare_resource('${table}', ${quote(sortExpression(definition))}, ${quote(searchExpression(definition))});
${expectedIndexes(definition)
  .map(
    ({ name, column, isPartial }) =>
      `CREATE INDEX ${name} ON ${table} (tenant_id, ${escapeLastCharacter(column)}, id)${isPartial ? ` WHERE ${column} IS NOT NULL` : ''};\n`,
  )
  .join('')}${keptReferences(definition)}`;
}

function keptReferences(definition: Definition): string {
  const columns = looseReferencesOf(definition).map(({ column }) => quote(column.name));
  return columns.length > 0
    ? `SELECT keep_external_ids('${definition.table}', ARRAY[${columns.join(', ')}]);\n`
    : '';
}

function tableMembers(definition: Definition): string[] {
  const { table, fields } = definition;
  // keep_external_ids() adds them.
  const twins = looseReferencesOf(definition).map(({ externalColumn }) => externalColumn);
  const columns = [
    ['tenant_id', 'uuid NOT NULL'],
    ['id', 'uuid NOT NULL'],
    ['external_id', 'text'],
    ['version', 'integer NOT NULL DEFAULT 1'],
    ['created_at', 'timestamptz NOT NULL DEFAULT now()'],
    ['updated_at', 'timestamptz NOT NULL DEFAULT now()'],
    ...expectedColumns(definition)
      .filter(({ name }) => name !== 'external_id' && !twins.includes(name))
      .map(({ name, type, isRequired }) => [bareName(name), isRequired ? `${type} NOT NULL` : type]),
    ...columnsOf(fields)
      .filter(({ field }) => field.filter === 'start')
      .map((column) => [
        startColumn(column),
        `text GENERATED ALWAYS AS (left(${column.name}, ${startLength})) STORED`,
      ]),
  ];
  const width = Math.max(...columns.map(([name]) => name!.length));
  return [
    ...columns.map(([name, type]) => `${name!.padEnd(width)} ${type}`),
    'PRIMARY KEY (tenant_id, id)',
    ...uniqueColumnsOf(definition)
      .filter(({ name }) => name !== 'external_id')
      .map(({ name }) => `CONSTRAINT ${table}_${name}_unique UNIQUE (tenant_id, ${name})`),
    ...uniqueGroupsOf(definition).map((group) => {
      const names = group.map(({ name }) => name);
      return `CONSTRAINT ${table}_${names.join('_')}_unique UNIQUE (tenant_id, ${names.map(bareName).join(', ')})`;
    }),
    ...ownersOf(definition).map(
      ({ column, table: owner }) => `FOREIGN KEY (tenant_id, ${column.name}) REFERENCES ${owner}`,
    ),
  ];
}

function sortExpression(definition: Definition): string {
  const name = columnsOf(definition.fields).find(({ path }) => path.join('.') === definition.nameField)!;
  return orEmpty(definition, name);
}

/** The name and the unique values: what people type to find it. */
function searchExpression(definition: Definition): string {
  const unique = uniqueColumnsOf(definition)
    .filter(({ name, path }) => name !== 'external_id' && path.join('.') !== definition.nameField)
    .map((column) => orEmpty(definition, column));
  return [sortExpression(definition), ...unique].join(` || ' ' || `);
}

function orEmpty(definition: Definition, column: Column): string {
  const name = column.field.kind === 'date' ? `day_text(${bareName(column.name)})` : bareName(column.name);
  return isAlwaysStored(definition, column) ? name : `coalesce(${name}, '')`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
