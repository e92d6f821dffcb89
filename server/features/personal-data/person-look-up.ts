// Finds a person: its record, also in the bin or only in the journal, and its former ids.
import type pg from 'pg';
import { binRepresentation } from '../../engine/bin/bin.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { timestamp } from '../../engine/read/representation.ts';
import type { FindObjects } from '../../engine/write/object-look-up.ts';
import type { Stored } from '../../engine/write/rows.ts';
import { ApiError } from '../../errors.ts';

/** A resource whose objects can be people. */
export interface Kind {
  definition: Definition;
  findObjects: FindObjects;
}

interface Found extends Kind {
  /** Undefined if deleted already, and only in the journal. */
  person: Stored | undefined;
}

export async function findPerson(
  client: pg.ClientBase,
  kinds: readonly Kind[],
  tenantId: string,
  id: string,
  lock: '' | 'FOR UPDATE',
): Promise<Found> {
  for (const kind of kinds) {
    const person = (await kind.findObjects(client, tenantId, [id], lock)).get(id);
    if (person) return { ...kind, person };
  }
  const { rows } = await client.query<{ resource: string }>(
    'SELECT resource FROM journal WHERE tenant_id = $1 AND resource_id = $2 LIMIT 1',
    [tenantId, id],
  );
  const kind = kinds.find(({ definition }) => definition.name === rows[0]?.resource);
  if (!kind) throw new ApiError('not_found');
  return { ...kind, person: undefined };
}

/** The id and those of records that were merged into this one. */
export async function findAllIds(client: pg.ClientBase, tenantId: string, id: string): Promise<string[]> {
  const { rows } = await client.query<{ former_id: string }>(
    'SELECT former_id FROM former_id WHERE tenant_id = $1 AND id = $2',
    [tenantId, id],
  );
  return [id, ...rows.map((row) => row.former_id)];
}

export async function findInBin(
  client: pg.ClientBase,
  tenantId: string,
  definition: Definition,
  id: string,
): Promise<{ json: string; deleted_at: string } | undefined> {
  const { rows } = await client.query<{ json: string; deleted_at: string }>(
    `SELECT ${binRepresentation([definition])} AS json, ${timestamp('bin.deleted_at')} AS deleted_at
     FROM deleted_object AS bin WHERE bin.tenant_id = $1 AND bin.resource = $2 AND bin.id = $3`,
    [tenantId, definition.name, id],
  );
  return rows[0];
}
