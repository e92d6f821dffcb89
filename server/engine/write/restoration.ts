// Brings a deletion back from the bin, inside a transaction that the caller opens.
import type pg from 'pg';
import { ApiError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import { binRepresentation, isRestorable } from '../bin/bin.ts';
import type { Intent } from './intent.ts';
import { parseStored } from './merge-patch.ts';
import type { Writing, WrittenResource } from './resource.ts';
import type { Deleted, Stored } from './rows.ts';
import { writeWhole } from './write.ts';

interface Named {
  resource: string;
  id: string;
}

/**
 * Restores an object with everything that its deletion took along. Undefined if the bin does not have it. If it throws,
 * nothing is written.
 */
export async function restoreObject(
  client: pg.ClientBase,
  writing: Writing,
  tenantId: string,
  named: Named,
  author: Author,
): Promise<Deleted[] | undefined> {
  const parts = await lockDeletion(client, tenantId, named);
  // Somebody else has restored or erased it since.
  if (!parts.some(({ id }) => id === named.id)) return undefined;
  const restored: Deleted[] = [];
  await client.query('SAVEPOINT restoration');
  for (const resource of writing.resources) {
    const own = parts.filter((part) => part.resource === resource.definition.name);
    for (let start = 0; start < own.length; start += partsPerStatement) {
      const ids = own.slice(start, start + partsPerStatement).map(({ id }) => id);
      const stored = await readParts(client, resource, tenantId, ids);
      const intents = stored.map((part) => toIntent(resource, part, tenantId, author));
      for (const [intent, outcome] of await writeWhole(client, writing, intents)) {
        if (!(outcome instanceof ApiError)) continue;
        await client.query('ROLLBACK TO SAVEPOINT restoration');
        throw await explain(client, intent, outcome);
      }
    }
    if (own.length > 0) restored.push({ resource: resource.definition.name, ids: own.map(({ id }) => id) });
  }
  return restored;
}

/** More parts would hold up other requests while they are decided. */
const partsPerStatement = 100;

/** It comes back as the bin has it: the rules for its fields may have changed since. */
function toIntent(resource: WrittenResource, part: Stored, tenantId: string, author: Author): Intent {
  const checked = resource.check(parseStored(part.json));
  return {
    resource,
    tenantId,
    author,
    name: undefined,
    sent: checked.row,
    restored: part,
    mayRevive: true,
    mayWait: false,
    decide: () => ({ ...checked, fieldErrors: [] }),
  };
}

async function lockDeletion(
  client: pg.ClientBase,
  tenantId: string,
  { resource, id }: Named,
): Promise<Named[]> {
  const rootId = await findRoot(client, tenantId, resource, id);
  if (rootId === undefined) return [];
  const { rows } = await client.query<Named>(
    `SELECT resource, id FROM deleted_object WHERE tenant_id = $1 AND root_id = $2 ORDER BY resource, id FOR UPDATE`,
    [tenantId, rootId],
  );
  return rows;
}

async function readParts(
  client: pg.ClientBase,
  { definition }: WrittenResource,
  tenantId: string,
  ids: readonly string[],
): Promise<Stored[]> {
  const { rows } = await client.query<Stored>(
    `SELECT bin.id, bin.version, ${binRepresentation([definition])} AS json FROM deleted_object AS bin
     WHERE bin.tenant_id = $1 AND bin.resource = '${definition.name}' AND bin.id = ANY ($2) ORDER BY bin.id`,
    [tenantId, ids],
  );
  return rows;
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

/** Explains what stands in the way of an object in the bin. */
async function explain(client: pg.ClientBase, intent: Intent, error: ApiError): Promise<ApiError> {
  const { resource, tenantId, sent } = intent;
  if (error.code === 'conflict')
    return new ApiError('conflict', { details: { ...error.details, resource: resource.definition.name } });
  const missing = resource.owners.find(({ column }) =>
    error.fieldErrors.some(({ path }) => path[0] === column.path[0]),
  );
  if (!missing) return error;
  const id = String(sent[missing.column.name]);
  const restorable = (await findRoot(client, tenantId, missing.resource, id)) !== undefined;
  const details = { field: missing.column.path.join('.'), resource: missing.resource, id, restorable };
  return new ApiError('owner_deleted', { details });
}
