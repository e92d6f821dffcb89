// Finds everything that belongs to an object, directly or through other objects.
import type pg from 'pg';
import { type Definition, dependantsOf, ownersOf } from '../definition/definition.ts';

/** The most objects that one deletion removes. */
const maxDependants = 10_000;

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
): Promise<Map<Definition, string[]> | undefined> {
  const found = new Map<Definition, string[]>();
  let count = 0;

  async function lockBelow(owner: Definition, ownerIds: readonly string[]): Promise<void> {
    for (const dependant of dependantsOf(owner, all)) {
      const columns = ownersOf(dependant).filter(({ resource }) => resource === owner.name);
      const belongs = columns.map(({ column }) => `${column.name} = ANY ($2)`).join(' OR ');
      const { rows } = await client.query<{ id: string }>(
        `SELECT id FROM ${dependant.table} WHERE tenant_id = $1 AND (${belongs})
         ORDER BY id LIMIT ${maxDependants + 1} FOR UPDATE`,
        [tenantId, ownerIds],
      );
      count += rows.length;
      if (rows.length === 0 || count > maxDependants) continue;
      const dependantIds = rows.map(({ id }) => id);
      await lockBelow(dependant, dependantIds);
      found.set(dependant, [...new Set([...(found.get(dependant) ?? []), ...dependantIds])]);
    }
  }

  await lockBelow(definition, ids);
  return count > maxDependants ? undefined : found;
}
