// Connects to the PostgreSQL of DATABASE_URL, or to the embedded one.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Config } from '../config.ts';
import { startCommand } from '../program.ts';
import { expected } from '../telemetry/expected.ts';
import { hasCluster } from './embedded/data-dir.ts';
import { type EmbeddedPostgresOptions, openEmbeddedPostgres } from './embedded/postgres.ts';
import { type Account, findAccount } from './embedded/programs.ts';
import { isDatabaseAway } from './errors.ts';
import { checkConnection, type ServerState } from './server-check.ts';
import { cut, onAbort, patienceMs } from './timeouts.ts';

export interface Connection {
  /** pg's configuration with the rights of the database owner. Migrations and the command line use it. */
  client: pg.ClientConfig;
  /** The account for the service if root starts it. */
  account: Account;
  /** Version and place, without a password. */
  description: string;
  close(): Promise<void>;
}

export class ConnectionError extends Error {}

interface Use extends Omit<EmbeddedPostgresOptions, 'dataDir'> {
  /** Whether a data folder without a database gets one. */
  mayCreate: boolean;
  /** Ends the wait for a database. */
  signal?: AbortSignal;
}

type ConnectionConfig = Pick<Config, 'DATABASE_URL' | 'DATABASE_WAIT_SECONDS' | 'DATA_DIR'>;

export async function openConnection(config: ConnectionConfig, use: Use): Promise<Connection> {
  if (config.DATABASE_URL === undefined) {
    if (!use.mayCreate && !hasCluster(config.DATA_DIR))
      throw new ConnectionError(noDatabaseIn(config.DATA_DIR));
    const embedded = await openEmbeddedPostgres({ dataDir: config.DATA_DIR, ...use });
    return { ...embedded, client: embedded.connection };
  }
  const client = { connectionString: config.DATABASE_URL };
  const { host, pathname } = new URL(config.DATABASE_URL);
  const place = `${host || 'localhost'}${pathname}`;
  try {
    const check = () => (use.purpose === 'serve' ? checkForWrites(client) : checkConnection(client));
    const waitSeconds = use.purpose === 'serve' ? config.DATABASE_WAIT_SECONDS : 0;
    const { version } = await waitFor(place, check, waitSeconds, use);
    // Not postgres: that account can read the files of a server on the same machine.
    const account = process.getuid?.() === 0 ? findAccount('stamm', 'nobody') : undefined;
    return { client, account, description: `PostgreSQL ${version} at ${place}`, close: async () => {} };
  } catch (error) {
    throw new ConnectionError(
      `The database at ${place} cannot be used: ${reasonOf(error)}. Check DATABASE_URL and that the database runs, or unset DATABASE_URL to use the PostgreSQL that Stamm brings.`,
      { cause: error },
    );
  }
}

function noDatabaseIn(dataDir: string): string {
  return (
    `There is no database in ${dataDir}, and this command does not create one. ` +
    'Set DATA_DIR to the data folder that your service shows at its start, or DATABASE_URL to its database. ' +
    `For a new database, start the service first: ${startCommand}`
  );
}

/** Without writes there is neither a migration nor a request that could be counted. */
async function checkForWrites(client: pg.ClientConfig): Promise<ServerState> {
  const state = await checkConnection(client);
  if (state.refusesWrites) throw new NotWritableError(`it is ${state.refusesWrites}`);
  return state;
}

class NotWritableError extends Error {}

const retryAfterMs = 500;

/** Repeats the check while the database may still come, and says what it waits for. */
async function waitFor(
  place: string,
  check: () => Promise<ServerState>,
  seconds: number,
  { onEvent, signal }: Use,
): Promise<ServerState> {
  let said: string | undefined;
  for (const deadline = performance.now() + seconds * 1000; ; ) {
    try {
      return await check();
    } catch (error) {
      if (!mayStillCome(error) || performance.now() >= deadline || signal?.aborted) throw error;
      const reason = reasonOf(error);
      if (reason !== said) {
        const message = `Waiting up to ${seconds} s for the database at ${place}: ${reason}.`;
        onEvent?.({ level: 'warn', message });
      }
      said = reason;
      await sleep(retryAfterMs, undefined, { signal }).catch(expected);
    }
  }
}

/** A wrong login and a database that does not exist stay wrong. */
function mayStillCome(error: unknown): boolean {
  if (error instanceof NotWritableError) return true;
  return isDatabaseAway(error) && !/^(28|3D)/.test((error as pg.DatabaseError).code ?? '');
}

/** Runs `work` on a connection of its own, with the rights of the database owner. The signal cuts it. */
export async function asDatabaseOwner<Result>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: patienceMs });
  // The query reports a broken connection. Without a listener the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect().catch((error) => {
      throw new ConnectionError(`The database does not answer: ${reasonOf(error)}. Try again later.`, {
        cause: error,
      });
    });
    using _ = onAbort(signal, () => cut(client));
    return await work(client);
  } finally {
    await client.end().catch(expected);
  }
}

/** Node reports a refused connection to several addresses without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((inner: Error) => inner.message).join('; ');
  return (error as Error).message;
}
