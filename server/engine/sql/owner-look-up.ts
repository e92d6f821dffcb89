// Finding the owners that rows name, by their ids or by their external ids.
import type pg from 'pg';
import type { FieldError } from '../../errors.ts';
import { type Definition, ownersOf } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { findHolders } from './value-look-up.ts';

type OwnerKey = 'id' | 'external_id';

/** The ids of the owners that exist, of those that rows name in `member`. */
type FindOwners = (
  table: string,
  key: OwnerKey,
  rows: readonly Row[],
  member: string,
) => Promise<Map<Row, string>>;

export function buildOwnerLookUp(definition: Definition) {
  const owners = ownersOf(definition);

  async function resolve(rows: readonly Row[], findOwners: FindOwners): Promise<FieldError[][]> {
    const faults = new Map<Row, FieldError[]>(rows.map((row) => [row, []]));
    for (const { column, externalColumn, externalName, table, resource } of owners) {
      const fault = { code: 'reference_not_found', params: { resource } } as const;
      const external = rows.filter((row) => row[externalColumn] !== undefined);
      const known = await findOwners(table, 'external_id', external, externalColumn);
      for (const row of external) {
        const id = known.get(row);
        if (id) row[column.name] = id;
        else faults.get(row)!.push({ ...fault, path: [externalName] });
      }
      const direct = rows.filter(
        (row) => row[externalColumn] === undefined && row[column.name] !== undefined,
      );
      const existing = await findOwners(table, 'id', direct, column.name);
      for (const row of direct) {
        if (!existing.has(row)) faults.get(row)!.push({ ...fault, path: column.path });
      }
    }
    return rows.map((row) => faults.get(row)!);
  }

  /** Puts the ids of owners that were named externally into the row, and tells which owners do not exist. */
  async function resolveOwners(client: pg.ClientBase, row: Row): Promise<FieldError[]> {
    const [faults] = await resolveOwnersOfAll(client, String(row.tenant_id), [row]);
    return faults!;
  }

  /** The same for many rows of a tenant; answers with the faults of each. */
  function resolveOwnersOfAll(
    client: pg.ClientBase,
    tenantId: string,
    rows: readonly Row[],
  ): Promise<FieldError[][]> {
    return resolve(rows, (table, key, some, member) =>
      lockOwners(client, tenantId, table, key, some, member),
    );
  }

  /** The owners that rows of any tenants name and that do not exist. For rows that are not written: it locks nothing. */
  function findOwnerFaults(client: pg.ClientBase, rows: readonly Row[]): Promise<FieldError[][]> {
    const copies = rows.map((row) => ({ ...row }));
    return resolve(copies, (table, key, some, member) => {
      const type = key === 'id' ? 'uuid' : 'text';
      return findHolders(client, { table, column: key, type }, some, member);
    });
  }

  return { resolveOwners, resolveOwnersOfAll, findOwnerFaults };
}

/** Nobody can delete the owners found before the transaction ends. */
async function lockOwners(
  client: pg.ClientBase,
  tenantId: string,
  table: string,
  key: OwnerKey,
  rows: readonly Row[],
  member: string,
): Promise<Map<Row, string>> {
  if (rows.length === 0) return new Map();
  const { rows: found } = await client.query<{ id: string; name: string }>(
    `SELECT id, ${key} AS name FROM ${table} WHERE tenant_id = $1 AND ${key} = ANY ($2)
     ORDER BY id FOR KEY SHARE`,
    [tenantId, [...new Set(rows.map((row) => row[member]))]],
  );
  const ids = new Map(found.map(({ id, name }) => [name, id]));
  return new Map(
    rows.flatMap((row) => {
      const id = ids.get(String(row[member]));
      return id ? [[row, id] as const] : [];
    }),
  );
}
