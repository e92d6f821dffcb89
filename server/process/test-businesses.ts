// Work on test businesses as a part of the process: beside requests, with a connection of its own.
import type pg from 'pg';
import type { Config } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { startTestBusinessWork } from '../features/test-business/worker.ts';
import { resources } from '../resources/index.ts';

/** Returns a function that stops it after the step under way. */
export function startTestBusinesses(
  { REQUEST_DEADLINE_MS: requestDeadlineMs }: Pick<Config, 'REQUEST_DEADLINE_MS'>,
  connection: pg.ClientConfig,
): () => Promise<void> {
  const database = openDatabase(connection, { maxConnections: 1, requestDeadlineMs });
  const stop = startTestBusinessWork(database, resources);
  return async () => {
    await stop();
    await database.close();
  };
}
