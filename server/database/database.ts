// The connections to PostgreSQL, and the transactions that see one tenant's rows only.
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { topics } from '../telemetry/topics.ts';
import { currentWork } from '../telemetry/work.ts';
import { ConnectionTurns, type Turn } from './connection-turns.ts';
import { DeadlineError, isDatabaseAway, mayBeCommitted, OutcomeUnknownError } from './errors.ts';
import { planOnce, planWithIndexes, readInOrder } from './planner.ts';
import { findShards, isStale, onlyTenant, type Shards } from './shards.ts';
import { type StatementLog, watchStatements } from './statement-watch.ts';
import { cut, longStatementMs, patienceMs, type TimedQuery, timedConnection } from './timeouts.ts';

/** Owns no table and bypasses no row-level security: what requests run as. Made with the first migration. */
export const serviceRole = 'stamm_service';

const oldestVersion = 15;

interface CommonOptions {
  /** A time of performance.now(). */
  deadline?: number;
  /** How long each lock is waited for; the transaction fails with 55P03 then. */
  lockTimeoutMs?: number | undefined;
}

export interface TransactionOptions extends CommonOptions {
  isDryRun?: boolean;
}

interface QueryOptions extends CommonOptions {
  /** Whether the statement is planned once for any values. Only for one that reads no more rows than it returns. */
  isPlannedOnce?: boolean;
  /** Whether it is a batch, which must not wait for long reads of its tenant. */
  isBatch?: boolean;
  /** Statements behind it in the same transaction and round trip. */
  followedBy?: readonly pg.QueryConfig[];
}

/** A result, and those of the statements that followed. */
interface LedResult<Row extends pg.QueryResultRow> extends pg.QueryResult<Row> {
  following: readonly pg.QueryResult[];
}

export interface Database {
  pool: pg.Pool;
  /** How long a request may wait for it. */
  requestDeadlineMs: number;
  /** Connections of the pool, and how many wait for one. */
  readonly use: { inUse: number; idle: number; waiting: number };
  /** Whether tenants are on different machines: each then needs a transaction of its own. */
  readonly isDistributed: boolean;
  /** Runs `work` in one transaction that sees the rows of these tenants and no others. A dry run writes nothing. */
  inTenants<Result>(
    tenantIds: readonly string[],
    work: (client: pg.PoolClient) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /** One statement in such a transaction, in one round trip. */
  queryInTenants<Row extends pg.QueryResultRow>(
    tenantIds: readonly string[],
    query: pg.QueryConfig,
    options?: QueryOptions,
  ): Promise<LedResult<Row>>;
  /** A connection beside the pool, for work that takes longer than a request may. The caller ends it. */
  connect(): Promise<pg.Client>;
  /** Transactions of one tenant on such a connection, with twins of tables wherever its rows are. */
  reach(client: pg.Client, tenantId: string, twins: Twins): Reach;
  close(): Promise<void>;
}

/** Temporary tables that hide tables of the same names. */
export interface Twins {
  names: readonly string[];
  /** Makes them where they are not there yet. */
  make: string;
  /** What a transaction begins with. */
  empty: string;
}

export interface Reach {
  client: pg.ClientBase;
  /** Begins a transaction that sees the tenant's rows and has empty twins. */
  begin(): Promise<void>;
}

interface DatabaseOptions {
  maxConnections: number;
  requestDeadlineMs?: number;
  statementLog?: StatementLog | undefined;
}

export function openDatabase(
  connection: pg.ClientConfig,
  { maxConnections, requestDeadlineMs = patienceMs, statementLog }: DatabaseOptions,
): Database {
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
  measureQueries(pool);
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on('error', () => {});
  // One that breaks in use fails its queries, and tells the same once more on the connection itself.
  pool.on('connect', (client) => client.on('error', () => {}));
  const connections: Connections = {
    pool,
    turns: new ConnectionTurns(maxConnections),
    requestDeadlineMs,
    shards: undefined,
  };
  return {
    pool,
    requestDeadlineMs,
    get use() {
      const { totalCount, idleCount, waitingCount } = pool;
      const waiting = waitingCount + connections.turns.waiting;
      return { inUse: totalCount - idleCount, idle: idleCount, waiting };
    },
    get isDistributed() {
      return Boolean(connections.shards);
    },
    inTenants: (tenantIds, work, options) => inTenants(connections, tenantIds, work, options ?? {}),
    queryInTenants: (tenantIds, query, options) =>
      queryAgainIfStale(connections, tenantIds, query, options ?? {}),
    connect: () =>
      connectAlone({ ...connection, connectionTimeoutMillis: requestDeadlineMs }, connections, statementLog),
    reach: (client, tenantId, twins) => reach(connections, client, tenantId, twins),
    close: () => pool.end(),
  };
}

/** Counts statements that need no transaction. A statement that waits for a connection keeps its own context. */
function measureQueries(pool: pg.Pool): void {
  const connect = pool.connect.bind(pool) as (callback?: (...results: unknown[]) => void) => unknown;
  pool.connect = ((callback?: (...results: unknown[]) => void) =>
    connect(callback && AsyncLocalStorage.bind(callback))) as typeof pool.connect;
  const query = pool.query.bind(pool) as (...parameters: unknown[]) => Promise<pg.QueryResult>;
  pool.query = (async (...parameters: unknown[]) => {
    const work = currentWork.getStore();
    const askedAt = performance.now();
    try {
      return await query(...parameters);
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
  await client.query(`SET ROLE ${serviceRole}; SET statement_timeout = ${statementTimeoutMs}; SET lock_timeout = 0;
    SET datestyle = 'ISO'; SET timezone = 'UTC'; SET extra_float_digits = 1; ${planWithIndexes};
    SET citus.propagate_set_commands = 'local'`);
}

async function connectAlone(
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
    await client.end().catch(() => {});
    throw error;
  }
}

/** For the rest of a transaction: row-level security shows the rows of these tenants and no others. */
export function seeTenants(tenantIds: readonly string[]): string {
  return `SET LOCAL stamm.tenants = ${pg.escapeLiteral(tenantIds.join(','))}`;
}

/** The ids come from our own tables, never from a request. */
export function beginFor(tenantIds: readonly string[]): string {
  return beginning(tenantIds).join('; ');
}

function beginning(tenantIds: readonly string[], lockTimeoutMs?: number): string[] {
  const begin = ['BEGIN', seeTenants(tenantIds)];
  return lockTimeoutMs === undefined ? begin : [...begin, `SET LOCAL lock_timeout = ${lockTimeoutMs}`];
}

/** A cluster gets them one by one: Citus repeats on a worker the whole text that a SET LOCAL is part of. */
function toTexts({ shards }: Connections, statements: readonly string[]): readonly string[] {
  return shards ? statements : [statements.join('; ')];
}

/** Throws OutcomeUnknownError where PostgreSQL may have committed and could not say so. */
export async function commit(client: pg.ClientBase): Promise<void> {
  const committed = client.query('COMMIT').catch((error) => {
    throw mayBeCommitted(error) ? new OutcomeUnknownError(error) : error;
  });
  demandCommit(await committed);
}

/** PostgreSQL answers COMMIT with ROLLBACK, and no error, when a statement of the transaction failed. */
function demandCommit({ command }: pg.QueryResult): void {
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back at its commit.');
}

const longestTimerMs = 2 ** 31 - 1;

function msUntil(deadline: number): number {
  return Math.min(Math.max(deadline - performance.now(), 1), longestTimerMs);
}

interface Connections {
  pool: pg.Pool;
  turns: ConnectionTurns;
  requestDeadlineMs: number;
  /** Null on a single PostgreSQL, undefined before the first connection. */
  shards: Shards | null | undefined;
}

interface Connected {
  client: pg.PoolClient;
  /** With an error or `true`, the connection is closed instead of used again. */
  release(error?: Error | boolean): void;
}

/** Batches of several tenants wait in one queue, because there are few. */
function turnOf(tenantIds: readonly string[], isRead: boolean): Turn {
  const [tenantId] = tenantIds;
  return tenantIds.length === 1 ? { name: tenantId!, isRead } : { name: 'several tenants', isRead: false };
}

/** A connection of the pool, unless none is free in time; one that comes later goes back immediately. */
async function connectBefore(
  { pool, turns, requestDeadlineMs }: Connections,
  turn: Turn,
  deadline = Number.POSITIVE_INFINITY,
): Promise<Connected> {
  const askedAt = performance.now();
  const work = currentWork.getStore();
  const countWait = () => {
    const waitMs = performance.now() - askedAt;
    if (work) work.connectionWaitMs += waitMs;
    topics.connectionWait.publish({ seconds: waitMs / 1000 });
  };
  const waiting = turns.take(turn, Math.min(deadline, askedAt + requestDeadlineMs));
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
      reject(new DeadlineError('No connection was free in time.'));
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
        reject(error);
      },
    );
  });
}

async function inTenants<Result>(
  connections: Connections,
  tenantIds: readonly string[],
  work: (client: pg.PoolClient) => Promise<Result>,
  { isDryRun = false, deadline = Number.POSITIVE_INFINITY, lockTimeoutMs }: TransactionOptions,
): Promise<Result> {
  const { client, release } = await connectBefore(connections, turnOf(tenantIds, false), deadline);
  // Several statements, each in time, can be too late together. Cutting the connection fails the one under way.
  const timer = setTimeout(() => cut(client), msUntil(deadline));
  const { shards } = connections;
  try {
    const begin = toTexts(connections, beginning(tenantIds, lockTimeoutMs));
    await Promise.all(begin.map((text) => client.query(text)));
    const result = await work(shards ? shards.reach(client, tenantIds) : client);
    if (isDryRun) await client.query('ROLLBACK');
    else await commit(client);
    release();
    return result;
  } catch (error) {
    if (shards) shards.forget(tenantIds, error);
    await client.query('ROLLBACK').then(
      // The next one may lead to the server that is the primary by now.
      () => release(isDatabaseAway(error)),
      // A connection in an unknown state must not be used again.
      (rollbackError) => release(rollbackError),
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The second attempt looks the tenant's shards up anew. */
async function queryAgainIfStale<Row extends pg.QueryResultRow>(
  connections: Connections,
  tenantIds: readonly string[],
  query: pg.QueryConfig,
  options: QueryOptions,
): Promise<LedResult<Row>> {
  try {
    return await queryInTenants(connections, tenantIds, query, options);
  } catch (error) {
    if (!connections.shards || !isStale(error)) throw error;
    return queryInTenants(connections, tenantIds, query, options);
  }
}

async function queryInTenants<Row extends pg.QueryResultRow>(
  connections: Connections,
  tenantIds: readonly string[],
  query: pg.QueryConfig,
  { deadline, lockTimeoutMs, isPlannedOnce, isBatch = false, followedBy = [] }: QueryOptions,
): Promise<LedResult<Row>> {
  const { client, release } = await connectBefore(connections, turnOf(tenantIds, !isBatch), deadline);
  const routed = await routeAll(connections, client, tenantIds, [query, ...followedBy]).catch((error) => {
    release(isDatabaseAway(error));
    throw error;
  });
  // Each waits for those before it: all have the same time.
  const timeoutMs = deadline === undefined ? undefined : Math.ceil(msUntil(deadline));
  const begin = toTexts(connections, [
    ...beginning(tenantIds, lockTimeoutMs),
    ...(isPlannedOnce ? (routed.hold.length > 0 ? readInOrder : planOnce) : []),
    ...(timeoutMs === undefined ? [] : [`SET LOCAL statement_timeout = ${timeoutMs}`]),
    ...routed.hold,
  ]);
  const send = (statement: pg.QueryConfig) =>
    client.query<Row>({ ...statement, query_timeout: timeoutMs } as TimedQuery);
  const started = begin.map((text) => send({ text }));
  const queried = routed.queries.map(send);
  // Settle all before the connection goes back: nobody else must read their answers.
  const [committed, ...outcomes] = await Promise.allSettled([
    send({ text: 'COMMIT' }),
    ...started,
    ...queried,
  ]);
  // The first error is the reason of those after it.
  const failed = [...outcomes, committed].find((outcome) => outcome.status === 'rejected');
  const isBroken = failed !== undefined && isDatabaseAway(failed.reason);
  release(isBroken);
  if (failed) {
    if (connections.shards) connections.shards.forget(tenantIds, failed.reason);
    // What PostgreSQL itself refuses before the commit is not stored.
    const isRefused = failed !== committed && failed.reason instanceof pg.DatabaseError;
    throw isRefused || !mayBeCommitted(failed.reason)
      ? failed.reason
      : new OutcomeUnknownError(failed.reason);
  }
  if (committed.status === 'fulfilled') demandCommit(committed.value);
  const [first, ...following] = routed.read(await Promise.all(queried));
  return Object.assign(first as pg.QueryResult<Row>, { following });
}

interface RoutedAll {
  queries: readonly pg.QueryConfig[];
  /** Follows the beginning of the transaction; empty for a statement that no worker gets. */
  hold: readonly string[];
  read(results: readonly pg.QueryResult[]): readonly pg.QueryResult[];
}

const asItIs = <Row extends pg.QueryResultRow>(result: pg.QueryResult<Row>) => result;

async function routeAll(
  { shards }: Connections,
  client: pg.ClientBase,
  tenantIds: readonly string[],
  queries: readonly pg.QueryConfig[],
): Promise<RoutedAll> {
  if (!shards || !queries.some(({ text }) => shards.concerns(text))) {
    return { queries, hold: [], read: (results) => results };
  }
  const tenantId = onlyTenant(tenantIds);
  const routed = await Promise.all(
    queries.map((query) =>
      shards.concerns(query.text) ? shards.route(client, tenantId, query) : { query, read: asItIs },
    ),
  );
  return {
    queries: routed.map(({ query }) => query),
    hold: [await shards.hold(client, tenantId)],
    read: (results) => results.map((result, place) => routed[place]!.read(result)),
  };
}

function reach({ shards }: Connections, client: pg.Client, tenantId: string, twins: Twins): Reach {
  if (!shards) {
    return {
      client,
      begin: async () => void (await client.query(`${beginFor([tenantId])}; ${twins.empty}`)),
    };
  }
  return {
    client: shards.reach(client, [tenantId], twins.names),
    async begin() {
      await Promise.all(beginning([tenantId]).map((text) => client.query(text)));
      await shards.run(client, tenantId, `${twins.make}; ${twins.empty}`);
    },
  };
}

export interface ServerState {
  version: string;
  /** Why it takes no writes; undefined where it does. Completes the sentence "it is …". */
  refusesWrites: 'a standby' | 'read-only' | undefined;
}

/** Connects once, to learn early and in plain words whether the database can be used. */
export async function checkConnection(connection: pg.ClientConfig): Promise<ServerState> {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{
      version: string;
      encoding: string;
      is_standby: boolean;
      is_read_only: boolean;
    }>(
      `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
         pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only')::boolean AS is_read_only`,
    );
    const { version, encoding, is_standby: isStandby, is_read_only: isReadOnly } = rows[0]!;
    if (Number.parseInt(version, 10) < oldestVersion) {
      throw new Error(`it is PostgreSQL ${version}, and Stamm needs ${oldestVersion} or newer`);
    }
    if (encoding !== 'UTF8') {
      throw new Error(
        `its encoding is ${encoding}, and Stamm needs one made with ENCODING 'UTF8' TEMPLATE template0`,
      );
    }
    return { version, refusesWrites: isStandby ? 'a standby' : isReadOnly ? 'read-only' : undefined };
  } finally {
    await client.end().catch(() => {});
  }
}
