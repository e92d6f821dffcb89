// Parts of the statements that write a resource. Rows come as JSON: one parameter for any number.
import { bareName, columnsOf, type Definition, shapeColumnsOf, sqlType } from '../definition/definition.ts';

export interface Statement {
  name: string;
  text: string;
}

/** Columns for the author of a row. */
export const authorNames = ['actor', 'actor_id', 'request_id', 'origin'] as const;
export const authorRecord = 'actor text, actor_id uuid, request_id uuid, origin text';

/** Each column that a write fills, with its type. */
export function writtenColumns(definition: Definition): { name: string; type: string }[] {
  return [
    ...columnsOf(definition.fields).map((column) => ({ name: column.name, type: sqlType(column) })),
    ...shapeColumnsOf(definition).map(({ name }) => ({ name, type: 'boolean' })),
  ];
}

/** The records that $1 holds: the row, the version that it gets, and who writes it. */
export function sentRecord(definition: Definition): string {
  const columns = writtenColumns(definition).map(({ name, type }) => `${bareName(name)} ${type}`);
  return `tenant_id uuid, id uuid, ${columns.join(', ')}, version integer, ${authorRecord}, changes json`;
}

/**
 * Rows by their place. A statement that writes looks its rows up one by one, under a LIMIT, and then writes to their
 * places. A join by id is planned for the average tenant, and may read all rows of a large one.
 */
export function placeOf(alias: string): string {
  return `${alias}.ctid AS place`;
}

export function isAtPlace(table: string, found: string): string {
  return `${table}.ctid = ${found}.place`;
}
