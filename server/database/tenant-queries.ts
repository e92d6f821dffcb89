// One statement in a transaction of its tenants, in one round trip.
import pg from 'pg';
import { isStale, onlyTenant } from './citus/shards.ts';
import { type Connections, connectBefore, msUntil, turnOf } from './connections.ts';
import { explainTimeout, isDatabaseAway, mayBeCommitted, OutcomeUnknownError } from './errors.ts';
import { planOnce, readInOrder } from './planner.ts';
import { serverTimeoutMs, type TimedQuery } from './timeouts.ts';
import { beginning, type CommonOptions, demandCommit, toTexts } from './transactions.ts';

export interface QueryOptions extends CommonOptions {
  /** Whether the statement is planned once for any values. Only for one that reads no more rows than it returns. */
  isPlannedOnce?: boolean;
  /** Whether it is a batch, which must not wait for long reads of its tenant. */
  isBatch?: boolean;
  /** Statements behind it in the same transaction and round trip. */
  followedBy?: readonly pg.QueryConfig[];
}

/** A result, and those of the statements that followed. */
export interface LedResult<Row extends pg.QueryResultRow> extends pg.QueryResult<Row> {
  following: readonly pg.QueryResult[];
}

/** The second attempt looks the tenant's shards up anew. */
export async function queryInTenants<Row extends pg.QueryResultRow>(
  connections: Connections,
  tenantIds: readonly string[],
  query: pg.QueryConfig,
  options: QueryOptions,
): Promise<LedResult<Row>> {
  try {
    return await queryOnce(connections, tenantIds, query, options);
  } catch (error) {
    if (!connections.shards || !isStale(error)) throw error;
    return queryOnce(connections, tenantIds, query, options);
  }
}

async function queryOnce<Row extends pg.QueryResultRow>(
  connections: Connections,
  tenantIds: readonly string[],
  query: pg.QueryConfig,
  { deadline, lockTimeoutMs, isPlannedOnce, isBatch = false, followedBy = [] }: QueryOptions,
): Promise<LedResult<Row>> {
  const { client, release } = await connectBefore(connections, turnOf(tenantIds, !isBatch), deadline);
  const startedAt = performance.now();
  const explain = (error: unknown) => explainTimeout(error, connections.heardAt > startedAt);
  const routed = await routeAll(connections, client, tenantIds, [query, ...followedBy]).catch((error) => {
    release(isDatabaseAway(error));
    throw explain(error);
  });
  // Each waits for those before it: all have the same time.
  const timeoutMs = deadline === undefined ? undefined : Math.ceil(msUntil(deadline));
  const begin = toTexts(connections, [
    ...beginning(tenantIds, lockTimeoutMs),
    ...(isPlannedOnce ? (routed.hold.length > 0 ? readInOrder : planOnce) : []),
    ...(timeoutMs === undefined ? [] : [`SET LOCAL statement_timeout = ${serverTimeoutMs(timeoutMs)}`]),
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
    const reason = explain(failed.reason);
    throw isRefused || !mayBeCommitted(reason) ? reason : new OutcomeUnknownError(reason);
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
