// Transactions that see the rows of their tenants and no others.
import pg from 'pg';
import { type Connections, connectBefore, msUntil, turnOf } from './connections.ts';
import {
  DeadlineError,
  explainTimeout,
  isDatabaseAway,
  mayBeCommitted,
  OutcomeUnknownError,
} from './errors.ts';
import { cut } from './timeouts.ts';

export interface CommonOptions {
  /** A time of performance.now(). */
  deadline?: number;
  /** How long each lock is waited for; the transaction fails with 55P03 then. */
  lockTimeoutMs?: number | undefined;
}

export interface TransactionOptions extends CommonOptions {
  isDryRun?: boolean;
}

/** Limits the rest of a transaction to the rows of these tenants, by row-level security. */
export function seeTenants(tenantIds: readonly string[]): string {
  return `SET LOCAL stamm.tenants = ${pg.escapeLiteral(tenantIds.join(','))}`;
}

/** The ids come from our own tables, never from a request. */
export function beginFor(tenantIds: readonly string[]): string {
  return beginning(tenantIds).join('; ');
}

export function beginning(tenantIds: readonly string[], lockTimeoutMs?: number): string[] {
  const begin = ['BEGIN', seeTenants(tenantIds)];
  return lockTimeoutMs === undefined ? begin : [...begin, `SET LOCAL lock_timeout = ${lockTimeoutMs}`];
}

/** A cluster gets them one by one: Citus repeats the whole text around a SET LOCAL on a worker. */
export function toTexts({ shards }: Connections, statements: readonly string[]): readonly string[] {
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
export function demandCommit({ command }: pg.QueryResult): void {
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back at its commit.');
}

export async function inTenants<Result>(
  connections: Connections,
  tenantIds: readonly string[],
  work: (client: pg.PoolClient) => Promise<Result>,
  { isDryRun = false, deadline = Number.POSITIVE_INFINITY, lockTimeoutMs }: TransactionOptions,
): Promise<Result> {
  const { client, release } = await connectBefore(connections, turnOf(tenantIds, false), deadline);
  // Several statements, each in time, can be too late together. Cutting the connection fails the one under way.
  const startedAt = performance.now();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    cut(client);
  }, msUntil(deadline));
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
    throw explainCut(error, isLate, connections.heardAt > startedAt);
  } finally {
    clearTimeout(timer);
  }
}

/** The error of a transaction that the deadline may have cut. The doubt about a commit stays. */
function explainCut(error: unknown, isLate: boolean, isBusy: boolean): unknown {
  if (error instanceof OutcomeUnknownError)
    return new OutcomeUnknownError(explainCut(error.cause, isLate, isBusy));
  if (isLate && isDatabaseAway(error)) return new DeadlineError((error as Error).message, { isBusy });
  return explainTimeout(error, isBusy);
}
