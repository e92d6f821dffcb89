// Parts of the statements that write a resource. Rows come as JSON: one parameter for any number.
import { bareName, columnsOf, type Definition, shapeColumnsOf, sqlType } from '../definition/definition.ts';

export interface Statement {
  name: string;
  text: string;
}

/** Who writes a row. */
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
