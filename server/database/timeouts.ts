// How long PostgreSQL may take, and how a connection ends that takes longer.
import type pg from 'pg';

/** Everything except a request waits this long for PostgreSQL. */
export const patienceMs = 10_000;

/** Long enough for any of our statements. */
export const longStatementMs = 30_000;

/** A statement with a timeout of its own, in milliseconds. The driver's types lack it. */
export type TimedQuery = pg.QueryConfig & { query_timeout?: number | undefined };

/**
 * A timeout must also cut the connection, or the next query reads the answer of the one that timed out. The driver does
 * that in pipeline mode only.
 */
export function timedConnection(timeoutMs: number) {
  return { query_timeout: timeoutMs, pipeline: true };
}

/** PostgreSQL ends a statement a little earlier than the driver gives up: then only silence means that it is away. */
export function serverTimeoutMs(timeoutMs: number): number {
  return Math.max(1, Math.floor(timeoutMs * 0.95));
}

/** Acts immediately if the signal is aborted already. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): Disposable {
  if (signal?.aborted) act();
  signal?.addEventListener('abort', act);
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', act) };
}

/** Ends a connection and fails its queries. The pool hands out whole clients; its types do not say so. */
export function cut(client: pg.ClientBase): void {
  (client as pg.Client).connection.stream.destroy();
}
