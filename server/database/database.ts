// The database as the application uses it.
import type pg from 'pg';
import { type ConnectionOptions, type Connections, connectAlone, openConnections } from './connections.ts';
import { keepStatistics, type Statistics } from './statistics.ts';
import { type LedResult, type QueryOptions, queryInTenants } from './tenant-queries.ts';
import { beginFor, beginning, inTenants, type TransactionOptions } from './transactions.ts';

export interface Database {
  pool: pg.Pool;
  /** How long a request may wait for it. */
  requestDeadlineMs: number;
  /** Connections of the pool, and how many wait for one. */
  readonly use: { inUse: number; idle: number; waiting: number };
  /** Whether tenants are on different machines: each then needs a transaction of its own. */
  readonly isDistributed: boolean;
  /** Whether PostgreSQL has sent anything since then, a time of performance.now(): a silent one is away. */
  hasAnsweredSince(time: number): boolean;
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
  /** Reports rows that are written. The planner's statistics follow the growth of their tables. */
  noteWritten: Statistics['noteWritten'];
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
  /** Empties them at the beginning of a transaction. */
  empty: string;
}

export interface Reach {
  client: pg.ClientBase;
  /** Begins a transaction that sees the tenant's rows and has empty twins. */
  begin(): Promise<void>;
}

export function openDatabase(connection: pg.ClientConfig, options: ConnectionOptions): Database {
  const connections = openConnections(connection, options);
  const { pool, requestDeadlineMs } = connections;
  const connect = () =>
    connectAlone(
      { ...connection, connectionTimeoutMillis: requestDeadlineMs },
      connections,
      options.statementLog,
    );
  const statistics = keepStatistics(connect);
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
    hasAnsweredSince: (time) => connections.heardAt > time,
    inTenants: (tenantIds, work, options) => inTenants(connections, tenantIds, work, options ?? {}),
    queryInTenants: (tenantIds, query, options) =>
      queryInTenants(connections, tenantIds, query, options ?? {}),
    noteWritten: statistics.noteWritten,
    connect,
    reach: (client, tenantId, twins) => reach(connections, client, tenantId, twins),
    close() {
      statistics.close();
      return pool.end();
    },
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
