// Finds stored objects by id, inside a transaction.
import type pg from 'pg';
import type { Definition } from '../definition/definition.ts';
import { RaceError } from './races.ts';
import type { Stored } from './rows.ts';
import { buildRead } from './statements.ts';

export type FindObjects = ReturnType<typeof buildObjectLookUp>;

export function buildObjectLookUp(definition: Definition) {
  const statements = { '': buildRead(definition), 'FOR UPDATE': buildRead(definition, 'FOR UPDATE') };

  /** Finds objects by the sought ids, which can be former ones. Locks them in one order to avoid deadlocks. */
  return async function findObjects(
    client: pg.ClientBase,
    tenantId: string,
    ids: readonly string[],
    lock: keyof typeof statements,
  ): Promise<Map<string, Stored>> {
    if (ids.length === 0) return new Map();
    const sought = ids.map((id, place) => ({ place, tenant_id: tenantId, id }));
    const { rows } = await client.query<Stored & { place: number }>({
      ...statements[lock],
      values: [JSON.stringify(sought)],
    });
    if (rows.some(({ id }) => id === null))
      throw new RaceError('An object was deleted, or merged into another one.');
    return new Map(rows.map(({ place, id, version, json }) => [ids[place]!, { id, version, json }]));
  };
}
