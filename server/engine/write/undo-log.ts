// Notes which entries of the journal were written together and can be undone together. (Decisions 66 and 123.)
import type pg from 'pg';

/** Before a write, call it first: the write makes the transaction hold the journal's head. */
export async function readJournalHead(client: pg.ClientBase, tenantId: string): Promise<string> {
  const { rows } = await client.query<{ last_position: string }>(
    'SELECT last_position FROM journal_head WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.last_position ?? '0';
}

interface OwnEntries {
  tenantId: string;
  runId: string;
  /** The journal's head before the writes. */
  head: string;
  requestId: string | undefined;
  /** Whether they can be undone: undoing notes its own entries, too. */
  isUndoable: boolean;
}

/** Notes what this transaction has written. Its entries have no gaps. */
export async function noteOwnEntries(
  client: pg.ClientBase,
  { tenantId, runId, head, requestId, isUndoable }: OwnEntries,
): Promise<void> {
  await client.query(
    `INSERT INTO import_chunk (tenant_id, import_id, first_position, last_position, open_until)
     SELECT $1, $2, min(position), max(position), CASE WHEN $5 THEN max(position) ELSE min(position) - 1 END
     FROM journal WHERE tenant_id = $1 AND position > $3 AND request_id = $4 HAVING count(*) > 0`,
    [tenantId, runId, head, requestId, isUndoable],
  );
}
