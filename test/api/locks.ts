import type pg from 'pg';
import { until } from '../waiting.ts';

/** Waits until so many statements of the database wait for a lock, each of them for at least so long. */
export async function untilLocked(owner: pg.Client, count = 1, sinceMs = 0): Promise<void> {
  await until(`${count} statements wait for a lock`, async () => {
    // In a transaction PostgreSQL would show the same sessions again and again.
    await owner.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await owner.query(
      `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE NOT granted AND datname = current_database()
         AND clock_timestamp() - waitstart >= $1 * interval '1 millisecond'`,
      [sinceMs],
    );
    return rowCount! >= count;
  });
}
