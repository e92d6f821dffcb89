// Notes a merge, so that the office can undo it like an import.
import type pg from 'pg';
import { noteOwnEntries } from '../../engine/write/undo-log.ts';
import type { Author } from '../../http/conventions.ts';

interface MergeRun {
  tenantId: string;
  resource: string;
  id: string;
  formerIds: readonly string[];
  /** The journal's head before the merge. */
  head: string;
  author: Author;
  movedCount: number;
}

/** Before the names move on: names of earlier merges lead to the merged objects. */
export async function noteMerge(
  client: pg.ClientBase,
  { tenantId, resource, id, formerIds, head, author, movedCount }: MergeRun,
): Promise<void> {
  const { actor, actorId, requestId } = author;
  if (requestId === undefined) return;
  const { rows } = await client.query<object>(
    `SELECT former.former_id, NULL AS external_id, former.id FROM former_id AS former
       WHERE former.tenant_id = $1 AND former.id = ANY ($2)
     UNION ALL SELECT NULL, former.external_id, former.id FROM former_external_id AS former
       WHERE former.tenant_id = $1 AND former.resource = $3 AND former.id = ANY ($2)`,
    [tenantId, formerIds, resource],
  );
  await client.query(
    `INSERT INTO import_run (tenant_id, id, resource, object_id, former_names, actor, actor_id, changed, deleted)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[tenantId, requestId, resource, id, rows.length > 0 ? JSON.stringify(rows) : null],
      ...[actor, actorId ?? null, movedCount + 1, formerIds.length],
    ],
  );
  await noteOwnEntries(client, { tenantId, runId: requestId, head, requestId, isUndoable: true });
}
