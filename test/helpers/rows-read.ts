// Rows that PostgreSQL reads. A plan that does not fit reads far too many, on any machine and under any load.
import type pg from 'pg';
import type { TestService } from './service.ts';
import { until } from './waiting.ts';

/** By index, or by table for a sequential scan; the largest first. */
export type RowsRead = ReadonlyMap<string, number>;

/** Returns a function that counts what has been read since the last count. Call it while no request is under way. */
export async function countRowsRead({ owner, database }: TestService): Promise<() => Promise<RowsRead>> {
  let before: RowsRead = new Map();
  async function count(): Promise<RowsRead> {
    await collectCounts(owner, database.pool);
    const after = await readCounts(owner);
    const differences = [...after].map(([name, rows]) => [name, rows - (before.get(name) ?? 0)] as const);
    before = after;
    return new Map(differences.filter(([, rows]) => rows > 0).sort((one, other) => other[1] - one[1]));
  }
  await count();
  return count;
}

/** The record of requests is left out: the service reads it now and then, to keep it short. */
async function readCounts(owner: pg.Client): Promise<RowsRead> {
  const { rows } = await owner.query<{ name: string; count: string }>(
    `SELECT indexrelname AS name, idx_tup_read AS count FROM pg_stat_user_indexes WHERE relname <> 'recorded_request'
     UNION ALL SELECT 'all of ' || relname, seq_tup_read FROM pg_stat_user_tables`,
  );
  return new Map(rows.map(({ name, count }) => [name, Number(count)]));
}

/** Connections report their counts once per second, or when they end. */
async function collectCounts(owner: pg.Client, pool: pg.Pool): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.options.max! }, () => pool.connect()));
  await Promise.all(clients.map((client) => client.query('SELECT pg_stat_force_next_flush()')));
  for (const client of clients) client.release();
  await until('all others have ended', async () => {
    const { rows } = await owner.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    return rows[0]!.count <= clients.length;
  });
}
