// One step of undoing an import: as many entries as fit into the time of a request, in one transaction. The next step goes on
// from there, on any process.
import type pg from 'pg';
import { noteOwnEntries, readJournalHead } from '../../engine/write/undo-log.ts';
import type { Author } from '../../http/conventions.ts';
import type { Entry, Kept, UndoEntries, Undoing } from './undo.ts';

/** Entries that are read together; those of one kind are written together. */
const readEntries = 200;

interface Chunk {
  first_position: string;
  open_until: string;
}

export interface Step extends Undoing {
  /** A time of performance.now(): the rest waits for the next step. */
  until: number;
}

/** Answers whether another step of the same import is under way. */
export async function takeTurn(client: pg.ClientBase, importId: string): Promise<boolean> {
  const { rows } = await client.query<{ is_free: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7882011)) AS is_free',
    [importId],
  );
  return rows[0]!.is_free;
}

/** Not locked: an import that still runs locks the journal's head before this row. */
export async function undoStep(undoEntries: UndoEntries, step: Step): Promise<void> {
  const { client, tenantId, importId, author } = step;
  const head = await readJournalHead(client, tenantId);
  let settled = 0;
  let kept = 0;
  do {
    const chunk = await findOpenChunk(step);
    if (!chunk) break;
    const entries = await readChunk(step, chunk);
    const group = firstOfOneKind(entries);
    const left = group.length > 0 ? await undoEntries(step, group) : [];
    kept += await noteKept(step, left);
    settled += group.length;
    const nextOpen =
      group.length > 0 ? BigInt(group.at(-1)!.position) - 1n : BigInt(chunk.first_position) - 1n;
    await client.query(
      'UPDATE import_chunk SET open_until = $4 WHERE tenant_id = $1 AND import_id = $2 AND first_position = $3',
      [tenantId, importId, chunk.first_position, nextOpen],
    );
  } while (performance.now() < step.until);
  // Changes that the undo itself made are no changes by others.
  const { requestId } = author;
  await noteOwnEntries(client, { tenantId, runId: importId, head, requestId, isUndoable: false });
  await noteProgress(step, author, settled, kept);
}

async function findOpenChunk({ client, tenantId, importId }: Step): Promise<Chunk | undefined> {
  const { rows } = await client.query<Chunk>(
    `SELECT first_position, open_until FROM import_chunk
     WHERE tenant_id = $1 AND import_id = $2 AND open_until >= first_position ORDER BY first_position DESC LIMIT 1`,
    [tenantId, importId],
  );
  return rows[0];
}

async function readChunk({ client, tenantId }: Step, chunk: Chunk): Promise<Entry[]> {
  const { rows } = await client.query<Entry>(
    `SELECT position, resource, resource_id, action, changes::text AS changes FROM journal
     WHERE tenant_id = $1 AND position BETWEEN $2 AND $3 ORDER BY position DESC LIMIT ${readEntries}`,
    [tenantId, chunk.first_position, chunk.open_until],
  );
  return rows;
}

/** As many as can be written together: entries of one kind and action, of different objects. */
function firstOfOneKind(entries: readonly Entry[]): Entry[] {
  const [first] = entries;
  const seen = new Set<string>();
  const end = entries.findIndex(({ resource, action, resource_id: id }) => {
    const fits = resource === first!.resource && action === first!.action && !seen.has(id);
    seen.add(id);
    return !fits;
  });
  return entries.slice(0, end < 0 ? entries.length : end);
}

async function noteKept({ client, tenantId, importId }: Step, kept: readonly Kept[]): Promise<number> {
  if (kept.length === 0) return 0;
  const rows = kept.map(({ entry, reason, by }) => ({
    resource: entry.resource,
    object_id: entry.resource_id,
    reason,
    ...by,
  }));
  const { rowCount } = await client.query(
    `INSERT INTO import_kept (tenant_id, import_id, resource, object_id, reason, at, actor, actor_id)
     SELECT $1, $2, resource, object_id, reason, at, actor, actor_id FROM json_to_recordset($3)
       AS left_out (resource text, object_id uuid, reason text, at timestamptz, actor text, actor_id uuid)
     ON CONFLICT DO NOTHING`,
    [tenantId, importId, JSON.stringify(rows)],
  );
  return rowCount ?? 0;
}

async function noteProgress(
  { client, tenantId, importId }: Step,
  { actor, actorId }: Author,
  settled: number,
  kept: number,
): Promise<void> {
  await client.query(
    `UPDATE import_run SET settled = settled + $3, kept = kept + $4, undo_started_at = coalesce(undo_started_at, now()),
       undo_actor = coalesce(undo_actor, $5), undo_actor_id = coalesce(undo_actor_id, $6)
     WHERE tenant_id = $1 AND id = $2`,
    [tenantId, importId, settled, kept, actor, actorId ?? null],
  );
}
