// The connections to PostgreSQL: how each begins, and how a request gets one in time.
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { expected } from '../telemetry/expected.ts';
import { topics } from '../telemetry/topics.ts';
import { currentWork } from '../telemetry/work.ts';
import { findShards, type Shards } from './citus/shards.ts';
import { ConnectionTurns, type Turn } from './connection-turns.ts';
import { DeadlineError, explainTimeout } from './errors.ts';
import { planWithIndexes } from './planner.ts';
import { type StatementLog, watchStatements } from './statement-watch.ts';
import { longStatementMs, patienceMs, serverTimeoutMs, timedConnection } from './timeouts.ts';

/** Owns no table and bypasses no row-level security: what requests run as. Made with the first migration. */
export const serviceRole = 'stamm_service';

export interface ConnectionOptions {
  maxConnections: number;
  requestDeadlineMs?: number;
  statementLog?: StatementLog | undefined;
}

export interface Connections {
  pool: pg.Pool;
  turns: ConnectionTurns;
  requestDeadlineMs: number;
  /** Null on a single PostgreSQL, undefined before the first connection. */
  shards: Shards | null | undefined;
  /** When PostgreSQL last sent anything to this pool, a time of performance.now(). */
  heardAt: number;
}

export interface Connected {
  client: pg.PoolClient;
  /** With an error or `true`, the connection is closed instead of used again. */
  release(error?: Error | boolean): void;
}

export function openConnections(
  connection: pg.ClientConfig,
  { maxConnections, requestDeadlineMs = patienceMs, statementLog }: ConnectionOptions,
): Connections {
  const pool = new pg.Pool({
    ...connection,
    ...timedConnection(requestDeadlineMs),
    max: maxConnections,
    connectionTimeoutMillis: requestDeadlineMs,
    idleTimeoutMillis: 60_000,
    // The types know only the callback's older form; the pool waits for the promise before it hands the client out.
    onConnect: ((client) => prepareFirst(client, connections, statementLog)) as (
      client: pg.ClientBase,
    ) => void,
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on('error', () => {});
  // A connection that breaks in use fails its queries, and emits the same error again.
  pool.on('connect', (client) => client.on('error', () => {}));
  const connections: Connections = {
    pool,
    turns: new ConnectionTurns(maxConnections),
    requestDeadlineMs,
    shards: undefined,
    heardAt: Number.NEGATIVE_INFINITY,
  };
  measureQueries(connections);
  return connections;
}

/**
 * Counts statements that need no transaction, and explains their timeouts. A statement that waits for a connection keeps
 * its own context.
 */
function measureQueries(connections: Connections): void {
  const { pool } = connections;
  const connect = pool.connect.bind(pool) as (callback?: (...results: unknown[]) => void) => unknown;
  pool.connect = ((callback?: (...results: unknown[]) => void) =>
    connect(callback && AsyncLocalStorage.bind(callback))) as typeof pool.connect;
  const query = pool.query.bind(pool) as (...parameters: unknown[]) => Promise<pg.QueryResult>;
  pool.query = (async (...parameters: unknown[]) => {
    const work = currentWork.getStore();
    const askedAt = performance.now();
    try {
      return await query(...parameters);
    } catch (error) {
      throw explainTimeout(error, connections.heardAt > askedAt);
    } finally {
      if (work) work.databaseMs += performance.now() - askedAt;
    }
  }) as typeof pool.query;
}

/** The first connection finds out whether the database is a cluster. */
async function lookForShards(client: pg.ClientBase, connections: Connections): Promise<void> {
  if (connections.shards === undefined) connections.shards = await findShards(client);
}

async function prepareFirst(
  client: pg.ClientBase,
  connections: Connections,
  statementLog: StatementLog | undefined,
): Promise<void> {
  (client as pg.Client).connection.stream.on('data', () => {
    connections.heardAt = performance.now();
  });
  await prepare(client, connections.requestDeadlineMs, statementLog);
  await lookForShards(client, connections);
}

/**
 * PostgreSQL ends statements that have timed out here, and formats values alike on every server. A transaction sets its own
 * `lock_timeout`: the server's default must not fail those that set none.
 */
async function prepare(
  client: pg.ClientBase,
  statementTimeoutMs: number,
  statementLog: StatementLog | undefined,
): Promise<void> {
  watchStatements(client, statementLog);
  await client.query(`SET ROLE ${serviceRole}; SET statement_timeout = ${serverTimeoutMs(statementTimeoutMs)}; SET lock_timeout = 0;
    SET datestyle = 'ISO'; SET timezone = 'UTC'; SET extra_float_digits = 1; ${planWithIndexes};
    SET citus.propagate_set_commands = 'local'`);
}

/** A connection beside the pool. */
export async function connectAlone(
  connection: pg.ClientConfig,
  connections: Connections,
  statementLog: StatementLog | undefined,
): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, ...timedConnection(longStatementMs) });
  // The query reports a broken connection. Without a listener the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await prepare(client, longStatementMs, statementLog);
    await lookForShards(client, connections);
    return client;
  } catch (error) {
    await client.end().catch(expected);
    throw error;
  }
}

/** Batches of several tenants wait in one queue, because there are few. */
export function turnOf(tenantIds: readonly string[], isRead: boolean): Turn {
  const [tenantId] = tenantIds;
  return tenantIds.length === 1 ? { name: tenantId!, isRead } : { name: 'several tenants', isRead: false };
}

/** A connection of the pool, unless none is free in time; one that comes later goes back immediately. */
export async function connectBefore(
  connections: Connections,
  turn: Turn,
  deadline = Number.POSITIVE_INFINITY,
): Promise<Connected> {
  const { pool, turns, requestDeadlineMs } = connections;
  const askedAt = performance.now();
  const isBusy = () => connections.heardAt > askedAt;
  const toError = () => new DeadlineError('No connection was free in time.', { isBusy: isBusy() });
  const work = currentWork.getStore();
  const countWait = () => {
    const waitMs = performance.now() - askedAt;
    if (work) work.connectionWaitMs += waitMs;
    topics.connectionWait.publish({ seconds: waitMs / 1000 });
  };
  const waiting = turns.take(turn, Math.min(deadline, askedAt + requestDeadlineMs), toError);
  if (waiting)
    await waiting.catch((error) => {
      countWait();
      throw error;
    });
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      countWait();
      reject(toError());
    }, msUntil(deadline));
    pool.connect().then(
      (client) => {
        clearTimeout(timer);
        const connectedAt = performance.now();
        const release = (error?: Error | boolean) => {
          if (work) work.databaseMs += performance.now() - connectedAt;
          client.release(error);
          turns.release(turn);
        };
        if (isLate) return release();
        countWait();
        resolve({ client, release });
      },
      (error) => {
        clearTimeout(timer);
        turns.release(turn);
        reject(explainTimeout(error, isBusy()));
      },
    );
  });
}

const longestTimerMs = 2 ** 31 - 1;

export function msUntil(deadline: number): number {
  return Math.min(Math.max(deadline - performance.now(), 1), longestTimerMs);
}
