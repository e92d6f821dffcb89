// Checks a database that answers.
import type pg from 'pg';
import type { Config } from '../config.ts';
import { findClusterErrors, findUndistributed, hasCitus } from '../database/citus/distribution.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { buildWriteProbe } from '../features/health/write-probe.ts';
import { connectionsInAll } from '../process/connection-count.ts';
import type { Finding } from './doctor-trouble.ts';

const diskFull = '53100';

/** Whether a request could write now, as the service itself would. */
export async function checkWrites(client: pg.Client, login: pg.ClientConfig): Promise<Finding> {
  const check = 'writes';
  const { rows } = await client.query<{ is_standby: boolean; is_read_only: boolean }>(
    `SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only')::boolean AS is_read_only`,
  );
  if (rows[0]!.is_standby) {
    const message = 'the server is a standby and takes no writes: let DATABASE_URL name the primary';
    return { check, status: 'failed', message, code: 'standby' };
  }
  if (rows[0]!.is_read_only) {
    const message =
      'the database is read-only: find and reset default_transaction_read_only of server, database or login';
    return { check, status: 'failed', message, code: 'read_only' };
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
      return { check, status: 'failed', message: reason, code: isFull ? 'disk_full' : 'writes_refused' };
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
            code: 'jit_on',
            message:
              'on for requests, although Stamm turns it off. A pooler drops its settings: connect to PostgreSQL itself',
          },
    ];
    if (!mayImport) {
      const message =
        'requests may not make temporary tables, so imports fail. Run: GRANT TEMPORARY ON DATABASE … TO stamm_service';
      findings.push({ check: 'imports', status: 'warning', message, code: 'temporary_tables_refused' });
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
        code: 'connections_few',
        message: `${count}: raise max_connections, or lower DATABASE_CONNECTIONS or WORKERS`,
      };
}

const mostSkewMs = 5000;

/** Sessions, links and retries compare times of the node with times of the database. */
export async function checkClock(client: pg.Client, now = () => Date.now()): Promise<Finding[]> {
  const askedAt = now();
  const { rows } = await client.query<{ ms: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  const skewMs = Math.max(askedAt - rows[0]!.ms, rows[0]!.ms - now());
  if (skewMs < mostSkewMs) return [];
  const message = `the clocks of this machine and of the database differ by ${Math.round(skewMs / 1000)} s: set both by NTP`;
  return [{ check: 'clock', status: 'warning', message, code: 'clocks_differ' }];
}

export async function checkWebhooks(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ failing: number; paused: number }>(
    `SELECT count(*) FILTER (WHERE paused_at IS NULL)::integer AS failing,
       count(*) FILTER (WHERE paused_at IS NOT NULL)::integer AS paused
     FROM webhook WHERE failing_since IS NOT NULL OR paused_because IN ('GONE', 'FAILED')`,
  );
  const { failing, paused } = rows[0]!;
  if (failing + paused === 0) return [];
  const message = `${failing} endpoints fail and ${paused} are paused after failures: "webhook list --tenant ID" names them, "webhook test" shows why`;
  return [{ check: 'webhooks', status: 'warning', message, code: 'webhooks_failing' }];
}

const upkeepOldHours = 3;
const recentHours = 24;

/** The last background work of any process. */
export async function checkBackground(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{
    work: string;
    error: string | null;
    failed: number | null;
    hours: number | null;
  }>(
    `SELECT work, error, extract(epoch FROM now() - failed_at)::float8 / 3600 AS failed,
       extract(epoch FROM now() - succeeded_at)::float8 / 3600 AS hours
     FROM background_work ORDER BY failed_at DESC NULLS LAST`,
  );
  const hours = rows.find(({ work }) => work === 'upkeep')?.hours;
  const failures = rows.filter(({ failed }) => failed !== null && failed < recentHours);
  return [
    describeUpkeep(hours ?? undefined),
    ...failures.slice(0, 1).map((last) => describeFailure(last, failures.length)),
  ];
}

function describeUpkeep(hours: number | undefined): Finding {
  const check = 'upkeep';
  if (hours === undefined)
    return { check, status: 'ok', message: 'none yet: a running service begins after a minute' };
  const message = `all steps last succeeded ${describeHours(hours)} ago`;
  return hours < upkeepOldHours
    ? { check, status: 'ok', message }
    : {
        check,
        status: 'warning',
        code: 'upkeep_old',
        message: `${message}: start the service, or see its log for "Background work has failed"`,
      };
}

function describeFailure(
  { work, failed, error }: { work: string; failed: number | null; error: string | null },
  kinds: number,
): Finding {
  const others = kinds > 1 ? `, and ${kinds - 1} other kinds of work failed` : '';
  const message = `${work} failed ${describeHours(failed!)} ago${others}: ${error}. The log has each failure`;
  return { check: 'background', status: 'warning', message, code: 'background_failed' };
}

function describeHours(hours: number): string {
  return hours < 1 ? `${Math.round(hours * 60)} minutes` : `${Math.round(hours)} hours`;
}

/** On a Citus cluster: whether all tables of tenants are distributed, and the workers can be used. None elsewhere. */
export async function checkDistribution(client: pg.Client): Promise<Finding[]> {
  if (!(await hasCitus(client))) return [];
  const check = 'distribution';
  const missing = await findUndistributed(client);
  if (missing.length > 0) {
    const message = `not on the workers yet: ${missing.join(', ')}. Run: stamm migrate`;
    return [{ check, status: 'failed', message, code: 'tables_undistributed' }];
  }
  const errors = await findClusterErrors(client);
  if (errors.length > 0)
    return errors.map((message) => ({ check, status: 'failed', message, code: 'cluster_fault' }));
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
