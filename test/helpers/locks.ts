import pg from 'pg';
import { askAllNodes, findTableParts, runOn } from './cluster.ts';
import { until } from './waiting.ts';

/** Statements of the database that wait for a lock for at least so long, and where they wait. */
async function findWaiting(owner: pg.Client, sinceMs = 0) {
  // In a transaction PostgreSQL would show the same sessions again and again.
  await owner.query('SELECT pg_stat_clear_snapshot()');
  return askAllNodes(
    owner,
    `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE NOT granted AND datname = current_database()
       AND clock_timestamp() - waitstart >= ${sinceMs} * interval '1 millisecond'
     ORDER BY waitstart`,
  );
}

export async function untilLocked(owner: pg.Client, count = 1, sinceMs = 0): Promise<void> {
  await until(`${count} statements wait for a lock`, async () => {
    return (await findWaiting(owner, sinceMs)).length >= count;
  });
}

export async function countLocked(owner: pg.Client): Promise<number> {
  return (await findWaiting(owner)).length;
}

/** Ends the connections whose statements wait for a lock: all of them, or those that have waited longest. */
export async function endLocked(owner: pg.Client, count?: number): Promise<void> {
  for (const { node, row } of (await findWaiting(owner)).slice(0, count))
    await runOn(node, `SELECT pg_terminate_backend(${row.pid})`);
}

export interface Held {
  release(): Promise<void>;
}

/** Keeps everybody away from a table: on a cluster from its shards, or from the one of a tenant. */
export async function holdTable(owner: pg.Client, table: string, tenantId?: string): Promise<Held> {
  const holders: pg.Client[] = [];
  for (const { node, names } of await findTableParts(owner, table, tenantId)) {
    const holder = new pg.Client(node);
    holders.push(holder);
    await holder.connect();
    await holder.query('SET citus.enable_manual_changes_to_shards = on');
    await holder.query('BEGIN');
    await holder.query(`LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  }
  return { release: async () => void (await Promise.all(holders.map((holder) => holder.end()))) };
}
