// Removes objects from the bin for good, inside the transaction of the erasure.
import type pg from 'pg';
import { type Definition, dependantsOf, ownersOf } from '../../engine/definition/definition.ts';

export interface Removed {
  resource: string;
  ids: readonly string[];
}

/**
 * Removes objects from the bin for good, with everything in it that belongs to them. Answers with all of them, the
 * objects themselves first.
 */
export async function removeFromBin(
  client: pg.ClientBase,
  tenantId: string,
  definition: Definition,
  ids: readonly string[],
  all: readonly Definition[],
): Promise<Removed[]> {
  const removed: Removed[] = [{ resource: definition.name, ids }];
  await client.query('DELETE FROM deleted_object WHERE tenant_id = $1 AND resource = $2 AND id = ANY ($3)', [
    tenantId,
    definition.name,
    ids,
  ]);
  for (const dependant of dependantsOf(definition, all)) {
    const owners = ownersOf(dependant).filter(({ resource }) => resource === definition.name);
    const belongs = owners.map(({ column }) => `(content->>'${column.name}')::uuid = ANY ($3)`);
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM deleted_object WHERE tenant_id = $1 AND resource = $2 AND (${belongs.join(' OR ')})`,
      [tenantId, dependant.name, ids],
    );
    if (rows.length === 0) continue;
    const belonging = rows.map(({ id }) => id);
    removed.push(...(await removeFromBin(client, tenantId, dependant, belonging, all)));
  }
  return removed;
}
