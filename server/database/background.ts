// Reports on work that no request waits for. The log and the metrics show each failure, `doctor` the last one.
import type { FastifyBaseLogger } from 'fastify';
import { expected } from '../telemetry/expected.ts';
import { topics } from '../telemetry/topics.ts';
import type { Database } from './database.ts';
import { isDatabaseAway } from './errors.ts';

/** Returns whether the work succeeded. */
export async function report(work: string, run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    reportFailure(work, error);
    return false;
  }
}

/** A database that is away is no failure of its own: readiness and `stamm_postgres_up` show that. */
export function reportFailure(work: string, error: unknown): void {
  if (!isDatabaseAway(error)) topics.backgroundError.publish({ work, error });
}

export async function noteSuccess(database: Database, work: string): Promise<void> {
  await database.pool.query('SELECT note_background_work($1, NULL)', [work]);
}

/** A failure that comes back every few seconds is logged and counted each time, and stored once in this time. */
const storedEveryMs = 60_000;

/** Logs and stores failures until the returned function is called. */
export function watchFailures(database: Database, log: FastifyBaseLogger): () => void {
  const storedAt = new Map<string, number>();
  return topics.backgroundError.subscribe(({ work, error }) => {
    log.warn({ work, err: error }, 'Background work has failed.');
    const now = performance.now();
    if (now - (storedAt.get(work) ?? -storedEveryMs) < storedEveryMs) return;
    storedAt.set(work, now);
    const reason = error instanceof Error ? error.message : String(error);
    // The log has it, if the database takes nothing.
    void database.pool.query('SELECT note_background_work($1, $2)', [work, reason]).catch(expected);
  });
}
