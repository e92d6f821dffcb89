// Undoes what an import wrote, the newest entry first, inside a transaction that the caller opens and commits. Objects that
// somebody else wrote since are left as they are.
import type pg from 'pg';
import { type Definition, tableOf } from '../../engine/definition/definition.ts';
import type { Intent } from '../../engine/write/intent.ts';
import { parseStored } from '../../engine/write/merge-patch.ts';
import { prepareWriting, type WrittenResource } from '../../engine/write/resource.ts';
import { restoreObject } from '../../engine/write/restoration.ts';
import { writeObjects } from '../../engine/write/write.ts';
import { ApiError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import { type JsonBody, parseJson } from '../../http/json-body.ts';

/** An entry of the journal that the import wrote. */
export interface Entry {
  position: string;
  resource: string;
  resource_id: string;
  action: 'CREATED' | 'CHANGED' | 'DELETED';
  /** As JSON; null where the journal has forgotten it. */
  changes: string | null;
}

/** Why an entry was not undone. */
export interface Kept {
  entry: Entry;
  reason: KeptReason;
  /** Who wrote the object since. */
  by?: Pick<LaterEntry, 'at' | 'actor' | 'actor_id'>;
}

/** `changed`: somebody wrote the object since. `gone`: the bin has lost it, or the journal its values. */
export type KeptReason = 'changed' | 'has_dependants' | 'conflict' | 'owner_deleted' | 'invalid' | 'gone';

interface LaterEntry {
  resource_id: string;
  at: string;
  actor: string;
  actor_id: string | null;
}

export interface Undoing {
  client: pg.ClientBase;
  tenantId: string;
  importId: string;
  author: Author;
}

export type UndoEntries = (undoing: Undoing, entries: readonly Entry[]) => Promise<Kept[]>;

/** The entries must be of one kind and action, and of different objects. */
export function buildUndo(resources: readonly Definition[]): UndoEntries {
  const writing = prepareWriting(resources);

  /** As few statements as one of them takes. */
  async function write(undoing: Undoing, kind: WrittenResource, entries: readonly Entry[]): Promise<Kept[]> {
    const intents = new Map(entries.map((entry) => [toIntent(undoing, kind, entry), entry]));
    const outcomes = await writeObjects(undoing.client, writing, [...intents.keys()]);
    return [...outcomes].flatMap(([intent, outcome]) => {
      const reason = outcome instanceof ApiError ? reasonOf(outcome) : undefined;
      // Gone already, as undoing its creation wants.
      const isDone = !reason || (intent.deletion && reason === 'gone');
      return isDone ? [] : [{ entry: intents.get(intent)!, reason }];
    });
  }

  async function bringBack({ client, tenantId, author }: Undoing, entry: Entry): Promise<Kept[]> {
    const { resource, resource_id: id } = entry;
    try {
      const restored = await restoreObject(client, writing, tenantId, { resource, id }, author);
      // It may have come back with its owner.
      const isThere = restored || (await exists(client, tenantId, tableOf(resource), id));
      return isThere ? [] : [{ entry, reason: 'gone' }];
    } catch (error) {
      // Thrown before anything was written.
      if (!(error instanceof ApiError)) throw error;
      return [{ entry, reason: reasonOf(error) }];
    }
  }

  return async function undoEntries(undoing, entries) {
    const later = await findLaterEntries(undoing, entries);
    const touched = entries.filter(({ resource_id: id }) => later.has(id));
    const untouched = entries.filter(({ resource_id: id }) => !later.has(id));
    const kept: Kept[] = touched.map((entry) => ({
      entry,
      reason: 'changed',
      by: later.get(entry.resource_id)!,
    }));
    if (untouched.length === 0) return kept;
    const { action, resource } = untouched[0]!;
    const kind = writing.resources.find(({ definition }) => definition.name === resource);
    // This version does not know the resource.
    if (!kind) return [...kept, ...untouched.map((entry): Kept => ({ entry, reason: 'gone' }))];
    if (action !== 'DELETED') return [...kept, ...(await write(undoing, kind, untouched))];
    for (const entry of untouched) kept.push(...(await bringBack(undoing, entry)));
    return kept;
  };
}

/** Takes back a creation by a deletion, and a change by another one. */
function toIntent({ tenantId, author }: Undoing, resource: WrittenResource, entry: Entry): Intent {
  const { changes } = entry;
  const isCreation = entry.action === 'CREATED';
  const former = changes === null || isCreation ? undefined : parseJson(Buffer.from(changes));
  return {
    resource,
    tenantId,
    author,
    name: { id: entry.resource_id },
    sent: former ? resource.check(withFormerValues(emptyBody, former)).row : {},
    deletion: isCreation ? { isCascade: false } : undefined,
    mayRevive: true,
    mayWait: false,
    decide(current) {
      const isGone = !current || current.isFormerName || (!isCreation && !former);
      if (isGone) throw new ApiError('not_found');
      return former && resource.check(withFormerValues(parseStored(current.json), former));
    },
  };
}

async function exists(client: pg.ClientBase, tenantId: string, table: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM ${table} WHERE tenant_id = $1 AND id = $2`, [
    tenantId,
    id,
  ]);
  return rowCount === 1;
}

function reasonOf({ code, fieldErrors }: ApiError): KeptReason {
  if (code === 'not_found') return 'gone';
  if (code === 'has_dependants' || code === 'conflict' || code === 'owner_deleted') return code;
  const isOwnerMissing =
    fieldErrors.length > 0 && fieldErrors.every((one) => one.code === 'reference_not_found');
  return isOwnerMissing ? 'owner_deleted' : 'invalid';
}

const emptyBody: JsonBody = { bytes: Buffer.of(), value: {}, exact: undefined, fieldErrors: [] };

/** Whole fields are put back: a merge would keep members of a group that were not there before. */
function withFormerValues(stored: JsonBody, former: JsonBody): JsonBody {
  const apply = (target: unknown, source: unknown) => {
    const fields = { ...(target as Record<string, unknown>) };
    for (const [name, { from }] of Object.entries(source as Record<string, { from?: unknown }>)) {
      if (from === undefined || from === null) delete fields[name];
      else fields[name] = from;
    }
    return fields;
  };
  return {
    ...stored,
    value: apply(stored.value, former.value),
    exact:
      (stored.exact ?? former.exact) && apply(stored.exact ?? stored.value, former.exact ?? former.value),
  };
}

/**
 * The last entry of each object that somebody else wrote behind the entry that is undone. Entries of an undone import
 * and of its undo cancel each other. They count only for objects left as they were.
 */
async function findLaterEntries(
  { client, tenantId, importId, author }: Undoing,
  entries: readonly Entry[],
): Promise<Map<string, LaterEntry>> {
  const { rows } = await client.query<LaterEntry>(
    `WITH undone_run AS MATERIALIZED (
       SELECT run.id FROM import_run AS run WHERE run.tenant_id = $1 AND (run.id = $2
         OR (run.undo_started_at IS NOT NULL AND NOT EXISTS (SELECT FROM import_chunk AS chunk
           WHERE chunk.tenant_id = $1 AND chunk.import_id = run.id AND chunk.open_until >= chunk.first_position)))
     )
     SELECT DISTINCT ON (later.resource_id) later.resource_id, later.at, later.actor, later.actor_id
     FROM json_to_recordset($3) AS undone (resource_id uuid, position bigint)
     JOIN journal AS later ON later.tenant_id = $1 AND later.resource_id = undone.resource_id
       AND later.position > undone.position AND later.request_id IS DISTINCT FROM $4
     WHERE NOT EXISTS (
       SELECT FROM undone_run, LATERAL (SELECT chunk.last_position FROM import_chunk AS chunk
         WHERE chunk.tenant_id = $1 AND chunk.import_id = undone_run.id AND chunk.first_position <= later.position
         ORDER BY chunk.first_position DESC LIMIT 1) AS own
       WHERE own.last_position >= later.position AND (undone_run.id = $2 OR NOT EXISTS (
         SELECT FROM import_kept AS kept WHERE kept.tenant_id = $1 AND kept.import_id = undone_run.id
           AND kept.resource = later.resource AND kept.object_id = later.resource_id)))
     ORDER BY later.resource_id, later.position DESC`,
    [tenantId, importId, JSON.stringify(entries), author.requestId],
  );
  return new Map(rows.map((row) => [row.resource_id, row]));
}
