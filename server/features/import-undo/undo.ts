// Undoes what an import wrote, the newest entry first, inside a transaction that the caller opens and commits. Objects that
// somebody else wrote since are left as they are.
import type pg from 'pg';
import type { Definition } from '../../engine/definition/definition.ts';
import { buildCheck, type Checked } from '../../engine/definition/validation.ts';
import { parseStored } from '../../engine/http/merge-patch.ts';
import { buildReplacement } from '../../engine/sql/replacement.ts';
import { buildRestoration } from '../../engine/sql/restoration.ts';
import { buildWrites } from '../../engine/sql/row-store.ts';
import type { NewRow, Stored, Update } from '../../engine/sql/rows.ts';
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
  const { restore } = buildRestoration(resources);
  const kinds = new Map(resources.map((definition) => [definition.name, buildKind(definition, resources)]));

  async function bringBack(
    { client, tenantId, author }: Undoing,
    entries: readonly Entry[],
  ): Promise<Kept[]> {
    const kept: Kept[] = [];
    for (const entry of entries) {
      try {
        const object = { resource: entry.resource, id: entry.resource_id };
        const restored = await restore(client, tenantId, object, author);
        if (!restored && !(await exists(entry))) kept.push({ entry, reason: 'gone' });
      } catch (error) {
        // Thrown before anything was written.
        if (!(error instanceof ApiError)) throw error;
        kept.push({ entry, reason: reasonOf(error) });
      }
    }
    return kept;

    /** It came back with its owner. */
    async function exists({ resource, resource_id: id }: Entry): Promise<boolean> {
      return (await kinds.get(resource)!.writes.find(client, tenantId, { id })) !== undefined;
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
    const kind = kinds.get(resource);
    // Of a resource that this version does not know.
    if (!kind) return [...kept, ...untouched.map((entry): Kept => ({ entry, reason: 'gone' }))];
    if (action === 'CREATED') return [...kept, ...(await remove(undoing, kind, untouched))];
    if (action === 'DELETED') return [...kept, ...(await bringBack(undoing, untouched))];
    return [...kept, ...(await revert(undoing, kind, untouched))];
  };
}

type Kind = ReturnType<typeof buildKind>;

function buildKind(definition: Definition, resources: readonly Definition[]) {
  const check = buildCheck(definition);
  const writes = buildWrites(definition, resources);
  return { check, writes, replacement: buildReplacement(definition, check, writes) };
}

async function remove(
  { client, tenantId, author }: Undoing,
  { writes }: Kind,
  entries: readonly Entry[],
): Promise<Kept[]> {
  const found = await writes.findAll(client, tenantId, 'id', idsOf(entries));
  const deletions = [...found.keys()].map((id) => ({ id, isCascade: false }));
  const deleted = await writes.deleteRows(client, tenantId, deletions, author);
  return entries.flatMap((entry) => {
    const outcome = deleted.get(entry.resource_id);
    return outcome instanceof ApiError ? [{ entry, reason: reasonOf(outcome) }] : [];
  });
}

async function revert(undoing: Undoing, kind: Kind, entries: readonly Entry[]): Promise<Kept[]> {
  const { client, tenantId, author } = undoing;
  const { check, writes, replacement } = kind;
  const found = await writes.findAll(client, tenantId, 'id', idsOf(entries));
  const kept: Kept[] = [];
  const prepared: { entry: Entry; current: Stored; checked: Checked; row: NewRow }[] = [];
  for (const entry of entries) {
    const current = found.get(entry.resource_id);
    if (!current || entry.changes === null) kept.push({ entry, reason: 'gone' });
    else {
      const checked = check(withFormerValues(current, entry.changes));
      if (checked.fieldErrors.length > 0) kept.push({ entry, reason: 'invalid' });
      else
        prepared.push({
          entry,
          current,
          checked,
          row: { ...checked.row, tenant_id: tenantId, id: current.id },
        });
    }
  }
  const ownerErrors = await writes.resolveReferencesOfAll(
    client,
    tenantId,
    prepared.map(({ row }) => row),
  );
  const updates: (Update & { entry: Entry })[] = [];
  prepared.forEach(({ entry, current, checked, row }, index) => {
    if (ownerErrors[index]!.length > 0) kept.push({ entry, reason: 'owner_deleted' });
    else updates.push({ entry, current, row, changes: replacement.findChanges(current, checked, row) });
  });
  const changed = updates.filter(({ changes }) => Object.keys(changes).length > 0);
  const conflicts = await writes.findUpdateConflicts(client, changed);
  for (const { entry, row } of changed) if (conflicts.has(row)) kept.push({ entry, reason: 'conflict' });
  const sound = changed.filter(({ row }) => !conflicts.has(row));
  if (sound.length > 0) await writes.updateRows(client, sound, author);
  return kept;
}

function idsOf(entries: readonly Entry[]): string[] {
  return entries.map(({ resource_id: id }) => id);
}

function reasonOf({ code }: ApiError): KeptReason {
  return code === 'has_dependants' || code === 'conflict' || code === 'owner_deleted' ? code : 'invalid';
}

/** Whole fields are put back: a merge would keep members of a group that were not there before. */
function withFormerValues(current: Stored, changes: string): JsonBody {
  const stored = parseStored(current.json);
  const former = parseJson(Buffer.from(changes));
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
