// The project's own PostgreSQL, with its usual durability, in a temporary directory; each scenario has a database in it.
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openEmbeddedPostgres } from '../server/database/embedded/postgres.ts';
import { migrate } from '../server/database/migrations/migrations.ts';
import { endLater } from './processes.ts';

export interface Postgres {
  /** PostgreSQL's own user may read what is written here, so that COPY can take a file from it. */
  workDir: string;
  version: string;
  logFile: string;
  /** The number of its first process. */
  pid: number;
  createDatabase(name: string): Promise<BenchDatabase>;
}

export interface BenchDatabase {
  /** As the owner, for whom row-level security does not count. */
  owner: pg.Client;
  connection: pg.ClientConfig & {
    host: string;
    port: number;
    user: string;
    password: string;
    database: string;
  };
  /** The same as DATABASE_URL takes it. */
  url: string;
}

export async function startPostgres(): Promise<Postgres> {
  const workDir = await mkdtemp(path.join(tmpdir(), 'stamm-bench-'));
  endLater(() => rm(workDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  await chmod(workDir, 0o755);
  const dataDir = path.join(workDir, 'data');
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  endLater(() => postgres.close());
  return {
    workDir,
    logFile: path.join(dataDir, 'postgres.log'),
    version: /PostgreSQL ([\d.]+)/.exec(postgres.description)?.[1] ?? '',
    pid: Number.parseInt(readFileSync(path.join(dataDir, 'postgres-18/postmaster.pid'), 'utf8'), 10),
    async createDatabase(name) {
      const server = await connect(postgres.connection);
      await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await server.query(`CREATE DATABASE ${name}`);
      await server.end();
      const connection = { ...postgres.connection, database: name };
      await migrate(connection);
      const owner = await connect(connection);
      endLater(() => owner.end());
      return { owner, connection, url: toUrl(connection) };
    },
  };
}

async function connect(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  return client;
}

function toUrl({ host, port, user, password, database }: BenchDatabase['connection']): string {
  const url = new URL(`postgres://localhost/${database}`);
  url.username = user;
  url.password = encodeURIComponent(password);
  url.searchParams.set('host', host);
  url.searchParams.set('port', String(port));
  return url.href;
}

export interface RowCounts {
  sites: number;
  /** Entries of the journal of all tenants. */
  entries: number;
}

/** Counts once nothing moves any more: a generator that has ended leaves requests behind that are still being served. */
export async function countRows({ owner }: BenchDatabase): Promise<RowCounts> {
  const count = async (): Promise<RowCounts> => {
    const { rows } = await owner.query(
      `SELECT (SELECT count(*) FROM site)::integer AS sites,
        (SELECT coalesce(sum(last_position), 0) FROM journal_head)::integer AS entries`,
    );
    return rows[0];
  };
  let latest = await count();
  for (let look = 0; look < 30; look++) {
    await sleep(100);
    const next = await count();
    if (next.sites === latest.sites && next.entries === latest.entries) return next;
    latest = next;
  }
  throw new Error('The rows do not come to rest.');
}

/** Rounds begin alike: nothing of the one before is left to be written to the tables. */
export async function settle({ owner }: BenchDatabase): Promise<void> {
  await owner.query('CHECKPOINT');
}
