// The SQL of a resource, built once from its definition.
import { type Column, columnName, columnsOf, type Definition, sqlType } from './definition.ts';

export interface InsertStatement {
  name: string;
  text: string;
}

/** The owners that a row of this resource must have: column of the id, field and table. */
export function ownersOf(definition: Definition) {
  return columnsOf(definition.fields)
    .filter((column) => column.field.reference?.isOwner)
    .map((column) => ({
      column,
      table: columnName([column.field.reference!.resource.replaceAll('-', '_')]),
    }));
}

/**
 * Inserts any number of rows, of any tenants, given as one JSON array, and returns the ids of those that were written.
 * A row without its owner, or with a unique value that is taken, is left out and does not touch its neighbours.
 */
export function buildInsert(definition: Definition): InsertStatement {
  const columns = columnsOf(definition.fields);
  const names = ['tenant_id', 'id', ...columns.map((column) => column.name)];
  const record = [
    'tenant_id uuid',
    'id uuid',
    ...columns.map((column) => `${column.name} ${sqlType(column)}`),
  ];
  const ownersExist = ownersOf(definition).map(
    ({ column, table }) =>
      `EXISTS (SELECT FROM ${table} WHERE ${table}.tenant_id = new.tenant_id AND ${table}.id = new.${column.name})`,
  );
  return {
    name: `insert ${definition.name}`,
    text: `
      INSERT INTO ${definition.table} (${names.join(', ')})
      SELECT ${names.map((name) => `new.${name}`).join(', ')}
      FROM json_to_recordset($1) AS new (${record.join(', ')})
      ${ownersExist.length > 0 ? `WHERE ${ownersExist.join(' AND ')}` : ''}
      ON CONFLICT DO NOTHING
      RETURNING id`,
  };
}

/** Asks whether an owner exists: $1 tenant, $2 id. */
export function buildOwnerExists(table: string): string {
  return `SELECT FROM ${table} WHERE tenant_id = $1 AND id = $2`;
}

/** Finds who holds a unique value: $1 tenant, $2 value. */
export function buildFindHolder(definition: Definition, column: Column): string {
  return `SELECT id FROM ${definition.table} WHERE tenant_id = $1 AND ${column.name} = $2`;
}
