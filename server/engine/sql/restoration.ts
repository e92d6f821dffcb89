// Moves a deletion out of the bin, back or away for good, inside a transaction that the caller opens.
import type pg from 'pg';
import { ApiError } from '../../errors.ts';
import { type Author, authorColumns } from '../../http/conventions.ts';
import { type Definition, dependantsOf, ownersOf } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { buildRestore, isRestorable, missingOwnerQuery, takenValueQuery } from './bin.ts';
import { buildLinks } from './links.ts';

export interface Restored {
  resource: string;
  ids: readonly string[];
}

type RestoredRow = Row & { tenant_id: string; id: string; version: number };

/** `all` stand in an order in which owners come before what they own. */
export function buildRestoration(all: readonly Definition[]) {
  const kinds = all.map((definition) => ({
    definition,
    restore: buildRestore(definition),
    takenValues: takenValueQuery(definition),
    owners: ownersOf(definition).map((owner) => ({ owner, missing: missingOwnerQuery(definition, owner) })),
    ...buildLinks(definition, all),
  }));
  type Kind = (typeof kinds)[number];

  /** Restores an object with everything that its deletion took along. Undefined if the bin does not have it. */
  async function restore(
    client: pg.ClientBase,
    tenantId: string,
    { resource, id }: { resource: string; id: string },
    author: Author,
  ): Promise<Restored[] | undefined> {
    const rootId = await findRoot(client, tenantId, resource, id);
    if (rootId === undefined) return undefined;
    const parts = await lockDeletion(client, tenantId, rootId);
    // Somebody else has restored or erased it since.
    if (!parts.get(resource)?.includes(id)) return undefined;
    const deletion = [tenantId, rootId];
    const own = kinds.filter(({ definition }) => parts.has(definition.name));
    // All rows are locked before the journal's head, as everywhere.
    for (const kind of own) await demandOwners(client, kind, deletion);
    for (const kind of own) await demandFreeValues(client, kind, deletion);
    const { actor, actor_id, request_id, origin } = authorColumns(author);
    // A merged object that comes back has its names for itself again.
    await forgetFormerNames(client, deletion);
    for (const kind of own) {
      const values = [...deletion, actor, actor_id, request_id, origin];
      const { rows } = await client.query<RestoredRow>({ ...kind.restore, values });
      const written = rows.map((row) => ({ ...withoutNulls(row), ...authorColumns(author) }));
      await kind.link(client, written as RestoredRow[]);
    }
    await client.query('DELETE FROM deleted_object WHERE tenant_id = $1 AND root_id = $2', deletion);
    return own.map(({ definition }) => ({ resource: definition.name, ids: parts.get(definition.name)! }));
  }

  async function demandOwners(client: pg.ClientBase, kind: Kind, deletion: readonly string[]): Promise<void> {
    for (const { owner, missing } of kind.owners) {
      const { rows } = await client.query<{ owner_id: string }>(missing, [...deletion]);
      if (!rows[0]) continue;
      const { resource } = owner;
      const id = rows[0].owner_id;
      const restorable = (await findRoot(client, deletion[0]!, resource, id)) !== undefined;
      const details = { field: owner.column.path.join('.'), resource, id, restorable };
      throw new ApiError('owner_deleted', { details });
    }
  }

  return { restore };
}

/** References that are not there count as absent, as in a row that was sent. */
function withoutNulls(row: RestoredRow): Partial<RestoredRow> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

async function forgetFormerNames(client: pg.ClientBase, deletion: readonly string[]): Promise<void> {
  await client.query(
    `DELETE FROM former_id WHERE tenant_id = $1 AND former_id IN (
       SELECT id FROM deleted_object WHERE tenant_id = $1 AND root_id = $2)`,
    [...deletion],
  );
  await client.query(
    `DELETE FROM former_external_id AS former USING deleted_object AS bin
     WHERE former.tenant_id = $1 AND bin.tenant_id = $1 AND bin.root_id = $2
       AND former.resource = bin.resource AND former.external_id = bin.content->>'external_id'`,
    [...deletion],
  );
}

async function demandFreeValues(
  client: pg.ClientBase,
  { definition, takenValues }: { definition: Definition; takenValues: string },
  deletion: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ field: string; id: string }>(takenValues, [...deletion]);
  if (rows[0]) throw new ApiError('conflict', { details: { ...rows[0], resource: definition.name } });
}

async function findRoot(
  client: pg.ClientBase,
  tenantId: string,
  resource: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ root_id: string }>(
    `SELECT root_id FROM deleted_object AS bin
     WHERE tenant_id = $1 AND resource = $2 AND id = $3 AND ${isRestorable('bin')}`,
    [tenantId, resource, id],
  );
  return rows[0]?.root_id;
}

async function lockDeletion(
  client: pg.ClientBase,
  tenantId: string,
  rootId: string,
): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ resource: string; id: string }>(
    `SELECT resource, id FROM deleted_object WHERE tenant_id = $1 AND root_id = $2
     ORDER BY resource, id FOR UPDATE`,
    [tenantId, rootId],
  );
  const parts = Map.groupBy(rows, ({ resource }) => resource);
  return new Map([...parts].map(([resource, members]) => [resource, members.map(({ id }) => id)]));
}

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
