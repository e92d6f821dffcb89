// Deletes expired data. Each process does it once an hour, in small pieces that hold up nobody.
import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { binDays } from '../../engine/bin/bin.ts';

export type RetentionConfig = Pick<Config, 'AUDIT_RETENTION_DAYS' | 'JOURNAL_CHANGES_RETENTION_DAYS'>;

const rowsPerPiece = 1000;
const dayMs = 24 * 3_600_000;

/** By what each forgets. They run one after the other, each even if another one fails. */
export function retentionSteps(
  database: Database,
  config: RetentionConfig,
): Record<string, () => Promise<void>> {
  return {
    journal: () => forgetInPieces(database, 'forget_journal_content', config.JOURNAL_CHANGES_RETENTION_DAYS),
    audit: () => forgetInPieces(database, 'forget_audit_entries', config.AUDIT_RETENTION_DAYS),
    bin: () => forgetInPieces(database, 'forget_deleted_objects', binDays),
    // The bin restores what an import deleted.
    import_runs: () => forgetInPieces(database, 'forget_import_runs', binDays),
  };
}

/** Each piece is a transaction of its own: its locks end with it, and an interruption loses no finished one. */
async function forgetInPieces(
  database: Database,
  functionName:
    | 'forget_journal_content'
    | 'forget_audit_entries'
    | 'forget_deleted_objects'
    | 'forget_import_runs',
  days: number,
): Promise<void> {
  const oldest = new Date(Date.now() - days * dayMs);
  for (let count = rowsPerPiece; count === rowsPerPiece; ) {
    const { rows } = await database.pool.query<{ count: number }>(`SELECT ${functionName}($1, $2) AS count`, [
      oldest,
      rowsPerPiece,
    ]);
    count = rows[0]!.count;
  }
}
