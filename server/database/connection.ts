// Which PostgreSQL is used: the one that DATABASE_URL names, or the one that Stamm brings.
import pg from 'pg';
import type { Config } from '../config.ts';
import { patienceMs } from './client.ts';
import { checkConnection } from './database.ts';
import { type EmbeddedPostgresOptions, openEmbeddedPostgres } from './embedded/postgres.ts';
import { type Account, findAccount } from './embedded/programs.ts';

export interface Connection {
  /** What pg takes, with the rights of the owner: migrations and the command line use it as it is. */
  client: pg.ClientConfig;
  /** Whom the service should run as where root starts it. */
  account: Account;
  /** For people: version and place, without a password. */
  description: string;
  close(): Promise<void>;
}

export class ConnectionError extends Error {}

export async function openConnection(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>,
  use: Omit<EmbeddedPostgresOptions, 'dataDir'>,
): Promise<Connection> {
  if (config.DATABASE_URL === undefined) {
    const embedded = await openEmbeddedPostgres({ dataDir: config.DATA_DIR, ...use });
    return { ...embedded, client: embedded.connection };
  }
  const client = { connectionString: config.DATABASE_URL };
  const { host, pathname } = new URL(config.DATABASE_URL);
  const place = `${host || 'localhost'}${pathname}`;
  try {
    const { version } = await checkConnection(client);
    // Not postgres: that account can read everything that a server on the same machine keeps.
    const account = process.getuid?.() === 0 ? findAccount('stamm', 'nobody') : undefined;
    return { client, account, description: `PostgreSQL ${version} at ${place}`, close: async () => {} };
  } catch (error) {
    throw new ConnectionError(
      `The database at ${place} cannot be used: ${reasonOf(error)}. Check DATABASE_URL and that the database runs, or unset DATABASE_URL to use the PostgreSQL that Stamm brings.`,
    );
  }
}

/** Runs `work` on a connection of its own, with the rights of the owner. */
export async function asDatabaseOwner<Result>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: patienceMs });
  // Whoever uses a broken connection is told by its query; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect().catch((error) => {
      throw new ConnectionError(`The database does not answer: ${reasonOf(error)}. Try again later.`);
    });
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Node reports a refused connection to several addresses as an error without a message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((inner: Error) => inner.message).join('; ');
  return (error as Error).message;
}
