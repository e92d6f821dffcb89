// Finding the owners that rows name, by their ids or by their external ids.
import type pg from 'pg';
import type { Fault } from '../errors.ts';
import { type Definition, ownersOf } from './definition.ts';
import type { Row } from './validation.ts';

export function buildOwnerLookUp(definition: Definition) {
  const owners = ownersOf(definition);

  /** Puts the ids of owners that were named externally into the row, and tells which owners do not exist. */
  async function resolveOwners(client: pg.ClientBase, row: Row): Promise<Fault[]> {
    const [faults] = await resolveOwnersOfAll(client, String(row.tenant_id), [row]);
    return faults!;
  }

  /** The same for many rows of a tenant; answers with the faults of each. */
  async function resolveOwnersOfAll(
    client: pg.ClientBase,
    tenantId: string,
    rows: readonly Row[],
  ): Promise<Fault[][]> {
    const faults = new Map<Row, Fault[]>(rows.map((row) => [row, []]));
    for (const { column, externalColumn, externalName, table, resource } of owners) {
      const fault = { code: 'reference_not_found', params: { resource } } as const;
      const external = rows.filter((row) => row[externalColumn] !== undefined);
      const known = await findOwners(client, tenantId, table, 'external_id', external, externalColumn);
      for (const row of external) {
        const id = known.get(String(row[externalColumn]));
        if (id) row[column.name] = id;
        else faults.get(row)!.push({ ...fault, path: [externalName] });
      }
      const direct = rows.filter(
        (row) => row[externalColumn] === undefined && row[column.name] !== undefined,
      );
      const existing = await findOwners(client, tenantId, table, 'id', direct, column.name);
      for (const row of direct) {
        if (!existing.has(String(row[column.name]))) faults.get(row)!.push({ ...fault, path: column.path });
      }
    }
    return rows.map((row) => faults.get(row)!);
  }

  return { resolveOwners, resolveOwnersOfAll };
}

/** The ids of those that exist, under what names them. Nobody can delete them before the transaction ends. */
async function findOwners(
  client: pg.ClientBase,
  tenantId: string,
  table: string,
  column: 'id' | 'external_id',
  rows: readonly Row[],
  member: string,
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const { rows: found } = await client.query<{ id: string; name: string }>(
    `SELECT id, ${column} AS name FROM ${table} WHERE tenant_id = $1 AND ${column} = ANY ($2)
     ORDER BY id FOR KEY SHARE`,
    [tenantId, [...new Set(rows.map((row) => row[member]))]],
  );
  return new Map(found.map(({ id, name }) => [name, id]));
}
