// Finds stored objects by id or by external id, inside a transaction.
import type pg from 'pg';
import type { Definition } from '../definition/definition.ts';
import { findCurrentIds } from './former-names.ts';
import { representation } from './representation.ts';
import type { Stored } from './rows.ts';

export function buildObjectLookUp(definition: Definition) {
  const selected = `id, version, ${representation(definition, definition.table)} AS json FROM ${definition.table}`;

  async function find(
    client: pg.ClientBase,
    tenantId: string,
    key: { id: string } | { externalId: string },
    lock: '' | 'FOR UPDATE' | 'FOR NO KEY UPDATE' = '',
  ): Promise<Stored | undefined> {
    const [column, value] =
      'id' in key ? (['id', key.id.toLowerCase()] as const) : (['external_id', key.externalId] as const);
    const { rows } = await client.query<Stored>({
      name: `find ${definition.name} by ${column} ${lock}`,
      text: `SELECT ${selected} WHERE tenant_id = $1 AND ${column} = $2 ${lock}`,
      values: [tenantId, value],
    });
    if (rows[0]) return rows[0];
    const current = await findCurrentIds(client, tenantId, definition.name, column, [value]);
    if (current.size === 0) return undefined;
    const { rows: found } = await client.query<Stored>(
      `SELECT ${selected} WHERE tenant_id = $1 AND id = $2 ${lock}`,
      [tenantId, current.get(value)],
    );
    return found[0] && { ...found[0], isFormerName: true };
  }

  /** Locks the objects with these names, in one order to avoid deadlocks. */
  async function findAll(
    client: pg.ClientBase,
    tenantId: string,
    column: 'id' | 'external_id',
    names: readonly string[],
  ): Promise<Map<string, Stored>> {
    if (names.length === 0) return new Map();
    // An unnamed statement gets a plan for the current size of the table.
    const { rows } = await client.query<Stored & { name: string }>(
      `SELECT ${column} AS name, ${selected}
       WHERE tenant_id = $1 AND ${column} = ANY ($2) ORDER BY id FOR UPDATE`,
      [tenantId, names],
    );
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** The same, former names included. */
  async function findAllCurrent(
    client: pg.ClientBase,
    tenantId: string,
    column: 'id' | 'external_id',
    names: readonly string[],
  ): Promise<Map<string, Stored>> {
    const found = await findAll(client, tenantId, column, names);
    const missing = names.filter((name) => !found.has(name));
    const current = await findCurrentIds(client, tenantId, definition.name, column, missing);
    if (current.size === 0) return found;
    const objects = await findAll(client, tenantId, 'id', [...new Set(current.values())]);
    for (const [name, id] of current) {
      const object = objects.get(id);
      if (object) found.set(name, { ...object, isFormerName: true });
    }
    return found;
  }

  return { find, findAll, findAllCurrent };
}
