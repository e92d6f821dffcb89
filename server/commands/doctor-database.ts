// What `doctor` looks at in a database that answers.
import type pg from 'pg';
import type { Config } from '../config.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { findClusterFaults, findUndistributed, hasCitus } from '../database/distribution.ts';
import { buildWriteProbe } from '../features/health/write-probe.ts';
import { connectionsInAll } from '../process/connection-count.ts';

export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  message: string;
}

const diskFull = '53100';

/** Whether a request could write now, as the service itself would. */
export async function checkWrites(client: pg.Client, login: pg.ClientConfig): Promise<Finding> {
  const check = 'writes';
  const { rows } = await client.query<{ is_standby: boolean; is_read_only: boolean }>(
    `SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only')::boolean AS is_read_only`,
  );
  if (rows[0]!.is_standby) {
    const message = 'the server is a standby and takes no writes: let DATABASE_URL name the primary';
    return { check, status: 'failed', message };
  }
  if (rows[0]!.is_read_only) {
    const message =
      'the database is read-only: find and reset default_transaction_read_only of server, database or login';
    return { check, status: 'failed', message };
  }
  return withDatabase(login, async (database) => {
    const probe = buildWriteProbe(database);
    try {
      await probe.check();
      return { check, status: 'ok', message: 'the database takes writes' };
    } catch (error) {
      const { code, message } = error as pg.DatabaseError;
      const isFull = code === diskFull;
      const reason = isFull ? "the disk of the database is full: make room on the server's disk" : message;
      return { check, status: 'failed', message: reason };
    } finally {
      probe.close();
    }
  });
}

/** Imports need temporary tables, and searches are slow with just-in-time compilation. */
export async function checkServiceSession(login: pg.ClientConfig): Promise<Finding[]> {
  return withDatabase(login, async (database) => {
    const { rows } = await database.pool.query<{ jit: string; may_import: boolean }>(
      `SELECT current_setting('jit') AS jit, has_database_privilege(current_database(), 'TEMPORARY') AS may_import`,
    );
    const { jit, may_import: mayImport } = rows[0]!;
    const findings: Finding[] = [
      jit === 'off'
        ? { check: 'jit', status: 'ok', message: 'off for requests' }
        : {
            check: 'jit',
            status: 'warning',
            message: 'on for requests, which makes searches slow: ALTER SYSTEM SET jit = off',
          },
    ];
    if (!mayImport) {
      const message =
        'requests may not make temporary tables, so imports fail. Run: GRANT TEMPORARY ON DATABASE … TO stamm_service';
      findings.push({ check: 'imports', status: 'warning', message });
    }
    return findings;
  });
}

/** Whether one node of this configuration finds room. Others share the same server. */
export async function checkConnections(client: pg.Client, config: Config): Promise<Finding> {
  const { rows } = await client.query<{ allowed: number; used: number }>(
    `SELECT least(
         current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
         CASE WHEN datconnlimit >= 0 THEN datconnlimit END) AS allowed,
       (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used
     FROM pg_database WHERE datname = current_database()`,
  );
  const { allowed, used } = rows[0]!;
  const needed = connectionsInAll(config);
  const count = `${allowed} connections are allowed, ${used} are in use, and a node opens up to ${needed}`;
  return needed <= allowed
    ? { check: 'connections', status: 'ok', message: count }
    : {
        check: 'connections',
        status: 'warning',
        message: `${count}: raise max_connections, or lower DATABASE_CONNECTIONS or WORKERS`,
      };
}

/** On a Citus cluster: whether all tables of tenants are distributed, and the workers can be used. None elsewhere. */
export async function checkDistribution(client: pg.Client): Promise<Finding[]> {
  if (!(await hasCitus(client))) return [];
  const check = 'distribution';
  const missing = await findUndistributed(client);
  if (missing.length > 0) {
    const message = `not on the workers yet: ${missing.join(', ')}. Run: stamm migrate`;
    return [{ check, status: 'failed', message }];
  }
  const faults = await findClusterFaults(client);
  if (faults.length > 0) return faults.map((message) => ({ check, status: 'failed', message }));
  const { rows } = await client.query<{ workers: number }>(
    'SELECT count(*)::integer AS workers FROM pg_dist_node WHERE shouldhaveshards',
  );
  const message = `the tables of tenants are distributed over ${rows[0]!.workers} workers`;
  return [{ check, status: 'ok', message }];
}

async function withDatabase<Result>(
  login: pg.ClientConfig,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(login, { maxConnections: 1 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
