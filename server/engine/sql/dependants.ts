// Finds everything that belongs to an object, directly or through other objects.
import type pg from 'pg';
import { type Definition, dependantsOf, ownersOf } from '../definition/definition.ts';

/** The most objects that one deletion removes. */
const maxDependants = 10_000;

export interface Dependant {
  id: string;
  /** The object that the deletion names. */
  rootId: string;
}

/**
 * Locks everything that belongs to locked objects; nobody can add to a locked object. Dependants come before their owners.
 * Undefined if there are too many for one deletion.
 */
export async function lockDependants(
  client: pg.ClientBase,
  tenantId: string,
  definition: Definition,
  ids: readonly string[],
  all: readonly Definition[],
): Promise<{ definition: Definition; objects: Dependant[] }[] | undefined> {
  const found = new Map<Definition, Map<string, Dependant>>();
  let count = 0;

  async function lockBelow(owner: Definition, owners: ReadonlyMap<string, Dependant>): Promise<void> {
    for (const dependant of dependantsOf(owner, all)) {
      const columns = ownersOf(dependant).filter(({ resource }) => resource === owner.name);
      const belongs = columns.map(({ column }) => `${column.name} = ANY ($2)`).join(' OR ');
      const ownerIds = columns.map(
        ({ column }) => `CASE WHEN ${column.name} = ANY ($2) THEN ${column.name} END`,
      );
      const { rows } = await client.query<{ id: string; owner_id: string }>(
        `SELECT id, coalesce(${ownerIds.join(', ')}) AS owner_id FROM ${dependant.table}
         WHERE tenant_id = $1 AND (${belongs}) ORDER BY id LIMIT ${maxDependants + 1} FOR UPDATE`,
        [tenantId, [...owners.keys()]],
      );
      count += rows.length;
      if (rows.length === 0 || count > maxDependants) continue;
      const below = new Map(
        rows.map(({ id, owner_id: ownerId }) => [id, { id, rootId: owners.get(ownerId)!.rootId }]),
      );
      await lockBelow(dependant, below);
      found.set(dependant, new Map([...(found.get(dependant) ?? []), ...below]));
    }
  }

  await lockBelow(definition, new Map(ids.map((id) => [id, { id, rootId: id }])));
  if (count > maxDependants) return undefined;
  return [...found].map(([kind, objects]) => ({ definition: kind, objects: [...objects.values()] }));
}
