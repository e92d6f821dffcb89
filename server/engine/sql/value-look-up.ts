// Finds the objects that hold given values, for rows of any tenants in one statement.
import type pg from 'pg';
import { tableOf } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { formerHolder } from './former-names.ts';

/** The ids of the objects whose `column` holds the value that a row has in `member`; former names count. Locks nothing. */
export async function findHolders<Sought extends Row>(
  client: pg.ClientBase,
  { resource, column, type }: { resource: string; column: string; type: string },
  rows: readonly Sought[],
  member: string,
): Promise<Map<Sought, string>> {
  if (rows.length === 0) return new Map();
  const table = tableOf(resource);
  const former = ['id', 'external_id'].includes(column)
    ? `UNION ALL ${formerHolder(resource, column as 'id', 'sought.value', 'sought.tenant_id')}`
    : '';
  // LIMIT prevents a join: each value is one index look-up, independent of statistics.
  const { rows: found } = await client.query<{ place: string; id: string }>(
    `SELECT sought.place, holder.id
     FROM unnest($1::uuid[], $2::${type}[]) WITH ORDINALITY AS sought (tenant_id, value, place),
       LATERAL (SELECT id FROM ${table}
         WHERE ${table}.tenant_id = sought.tenant_id AND ${table}.${column} = sought.value ${former} LIMIT 1) AS holder`,
    [rows.map((row) => row.tenant_id), rows.map((row) => row[member])],
  );
  return new Map(found.map(({ place, id }) => [rows[Number(place) - 1]!, id]));
}
