// Imports, bulk changes and merges as rows that the office sees.
import { binDays } from '../../engine/bin/bin.ts';
import { actorTypeOf } from '../../engine/write/journal.ts';

export interface RunRow {
  id: string;
  isOpen: boolean;
}

export const isUndoable = `run.written_at > now() - interval '${binDays} days'`;

export const runColumns = `run.id, run.file_name AS "fileName", run.resource, run.object_id AS "objectId", run.started_at AS "startedAt", run.actor,
  ${actorTypeOf('run')} AS "actorType", run.actor_id AS "actorId", run.created, run.changed, run.deleted, run.settled, run.kept,
  run.undo_started_at AS "undoStartedAt", run.undo_actor AS "undoActor",
  run.written_at + interval '${binDays} days' AS "undoableUntil",
  EXISTS (SELECT FROM import_chunk AS chunk WHERE chunk.tenant_id = $1 AND chunk.import_id = run.id
    AND chunk.open_until >= chunk.first_position) AS "isOpen"`;
