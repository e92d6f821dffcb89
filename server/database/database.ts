// The connections to PostgreSQL, and the transactions that see one tenant's rows only.
import pg from 'pg';
import { ApiError } from '../errors.ts';

/** Owns no table and bypasses no row-level security: what requests run as. Made with the first migration. */
export const serviceRole = 'stamm_service';

/** A request is answered within two seconds whatever the database does, so nothing may wait longer than this. */
export const requestDeadlineMs = 1800;

const oldestVersion = 15;

export interface Database {
  pool: pg.Pool;
  /** Runs `work` in one transaction that sees the rows of these tenants and no others. */
  inTenants<Result>(
    tenantIds: readonly string[],
    work: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

export function openDatabase(connection: pg.ClientConfig, maxConnections: number): Database {
  const pool = new pg.Pool({
    ...connection,
    max: maxConnections,
    connectionTimeoutMillis: requestDeadlineMs,
    query_timeout: requestDeadlineMs,
    idleTimeoutMillis: 60_000,
    // The types know only the callback's older form; the pool waits for the promise before it hands the client out.
    onConnect: takeServiceRole as (client: pg.ClientBase) => void,
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on('error', () => {});
  return {
    pool,
    inTenants: (tenantIds, work) => inTenants(pool, tenantIds, work),
    close: () => pool.end(),
  };
}

async function takeServiceRole(client: pg.ClientBase): Promise<void> {
  await client.query(`SET ROLE ${serviceRole}`);
}

async function inTenants<Result>(
  pool: pg.Pool,
  tenantIds: readonly string[],
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    // One round trip for both. The ids come from our own tables, never from a request.
    await client.query(`BEGIN; SET LOCAL stamm.tenants = ${pg.escapeLiteral(tenantIds.join(','))}`);
    const result = await work(client);
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers COMMIT with ROLLBACK, and no error, when a statement of the transaction failed.
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back at its commit.');
    client.release();
    return result;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => client.release(),
      // A connection in an unknown state must not be used again.
      (rollbackError) => client.release(rollbackError),
    );
    throw error;
  }
}

/** Whether an error means that PostgreSQL is away or going away, and not that it refused a statement. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: string };
  if (code === undefined) return /timeout|connection terminated|not queryable/i.test(error.message);
  // Classes 08 (connection), 53 (resources), 57 (shutdown, crash, cancel), 58 (system) and what the socket reports.
  return /^(08|53|57|58)/.test(code) || /^E[A-Z]+$/.test(code);
}

export function databaseUnavailable(cause: unknown): ApiError {
  return new ApiError('database_unavailable', { cause });
}

/** Connects once, to learn early and in plain words whether the database can be used. */
export async function checkConnection(connection: pg.ClientConfig): Promise<{ version: string }> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5000, query_timeout: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query('SHOW server_version');
    const version: string = rows[0].server_version;
    if (Number.parseInt(version, 10) < oldestVersion) {
      throw new Error(`it is PostgreSQL ${version}, and Stamm needs ${oldestVersion} or newer`);
    }
    return { version };
  } finally {
    await client.end().catch(() => {});
  }
}
