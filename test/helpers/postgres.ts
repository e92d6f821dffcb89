// Before all tests: a PostgreSQL with a migrated database to copy from. It is of the kind that the service brings.
// TEST_DATABASE_URL names another one (15 or newer, login of a superuser). With CITUS_URL it is that Citus cluster.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { serviceRole } from '../../server/database/connections.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { migrate } from '../../server/database/migrations/migrations.ts';
import { checkConnection } from '../../server/database/server-check.ts';
import { openServiceLogin } from '../../server/database/service-login.ts';
import { createDatabase, dropDatabase, findWorkers, freeTemplate, runOn } from './cluster.ts';

/** What test files learn about the server, as JSON in STAMM_TEST_POSTGRES. */
export interface TestServer {
  connection: pg.ClientConfig;
  /** Of a Citus cluster; none on a single PostgreSQL. */
  workers: pg.ClientConfig[];
  /** Names of the run's databases begin with it: several runs can share a server. */
  prefix: string;
  template: string;
  /** Where the first test file that needs a data directory makes one to copy from. */
  preparedDir: string;
}

const prefix = `stamm_test_${randomBytes(4).toString('hex')}_`;
let template = `${prefix}template`;

/** Stays for the next run. Without it each file and each process would compile the service, and each run make a cluster. */
const cache = path.resolve(import.meta.dirname, '../../node_modules/.cache');
const compileCache = path.join(cache, 'stamm');

const preparedDir = path.join(tmpdir(), `${prefix}prepared`);

let embedded: { dataDir: string; postgres: EmbeddedPostgres } | undefined;
let connection: pg.ClientConfig;
let workers: pg.ClientConfig[] = [];
/** Roles belong to the server, and outlive the databases that made them. */
let rolesBefore: string[];

export async function globalSetup(): Promise<void> {
  const { CITUS_URL, TEST_DATABASE_URL = CITUS_URL } = process.env;
  connection = TEST_DATABASE_URL ? await findServer(TEST_DATABASE_URL) : await startServer();
  if (CITUS_URL) workers = await findWorkers(connection);
  await withServer(async (client) => {
    rolesBefore = await findRoles(client);
  });
  if (!(await hasTemplate())) await makeTemplate();
  if (workers.length > 0) await freeTemplate({ connection, workers }, template);
  const server: TestServer = { connection, workers, prefix, template, preparedDir };
  process.env.STAMM_TEST_POSTGRES = JSON.stringify(server);
  process.env.NODE_COMPILE_CACHE ??= compileCache;
}

export async function globalTeardown(): Promise<void> {
  await rm(preparedDir, { recursive: true, force: true });
  if (embedded) {
    await embedded.postgres.close();
    await rm(embedded.dataDir, { recursive: true });
  } else {
    await withServer(leaveNothing);
  }
}

async function makeTemplate(): Promise<void> {
  const copied = { ...connection, database: template };
  await createDatabase({ connection, workers }, template, 'template0');
  await migrate(copied);
  // Copies have the same login, which is there from now on: files that start together need not make it.
  await openServiceLogin(copied);
  if (embedded) await keepServer(embedded);
}

async function hasTemplate(): Promise<boolean> {
  const name = `'${template}'`;
  return (await runOn(connection, `SELECT FROM pg_database WHERE datname = ${name}`)).length > 0;
}

/** Where a server with a template is kept, by everything that both follow from. */
function findKeptServer(): string {
  const hash = createHash('sha256');
  const root = path.resolve(import.meta.dirname, '../..');
  const sources = globSync(['migrations/*', 'server/database/**/*.ts'], { cwd: root }).sort();
  for (const file of ['package-lock.json', ...sources])
    hash.update(`${file}\n`).update(readFileSync(path.join(root, file)));
  return path.join(cache, `stamm-test-server-${hash.digest('hex').slice(0, 16)}`);
}

async function keepServer(running: { dataDir: string; postgres: EmbeddedPostgres }): Promise<void> {
  await running.postgres.close();
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, 'stamm-test-server-'));
  await copyFolder(running.dataDir, folder);
  for (const old of globSync('stamm-test-server-????????????????', { cwd: cache }))
    await rm(path.join(cache, old), { recursive: true, force: true });
  // Another run may have kept one meanwhile.
  await rename(folder, findKeptServer()).catch(() => rm(folder, { recursive: true }));
  running.postgres = await openServer(running.dataDir);
}

async function takeKeptServer(dataDir: string): Promise<void> {
  if (!existsSync(findKeptServer())) return;
  try {
    await copyFolder(findKeptServer(), dataDir);
  } catch {
    // Another run with newer migrations removes it, or it belongs to another user: a new one is made.
    await rm(dataDir, { recursive: true });
    await mkdir(dataDir);
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', `${from}/.`, to]);
}

/** All test files that run at the same time share it, each with services and nodes of its own. */
function openServer(dataDir: string): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({ dataDir, purpose: 'command', connections: 500 });
}

async function startServer(): Promise<pg.ClientConfig> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  template = 'stamm_test_template';
  await takeKeptServer(dataDir);
  const postgres = await openServer(dataDir);
  embedded = { dataDir, postgres };
  process.once('exit', () => endLeftServer(dataDir));
  connection = postgres.connection;
  // These databases live for a minute. What must survive a crash is tested on servers with the usual durability.
  await withServer(async (client) => {
    await client.query('ALTER SYSTEM SET fsync = off');
    await client.query('SELECT pg_reload_conf()');
  });
  return connection;
}

/** Ctrl-C ends the runner without a teardown. */
function endLeftServer(dataDir: string): void {
  const file = path.join(dataDir, 'postgres-18/postmaster.pid');
  if (existsSync(file)) process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGINT');
}

/** The address in parts: tests connect to other databases of the server, and under other names. */
async function findServer(url: string): Promise<pg.ClientConfig> {
  const {
    host,
    port,
    user = '',
    password = '',
    database = 'postgres',
  } = new pg.Client({ connectionString: url });
  const found = { host, port, user, password, database };
  const { version } = await checkConnection(found);
  console.log(`Tests use PostgreSQL ${version} at ${host}:${port}.`);
  return found;
}

async function withServer(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function findRoles(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ rolname: string }>(
    `SELECT rolname FROM pg_roles WHERE rolname ~ '^stamm_app_' OR rolname = $1
     ORDER BY rolname = $1`,
    [serviceRole],
  );
  return rows.map(({ rolname }) => rolname);
}

/** A test file that was killed leaves its databases to us. */
async function leaveNothing(client: pg.Client): Promise<void> {
  const { rows } = await client.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [
    prefix,
  ]);
  for (const { datname } of rows) await dropDatabase({ connection, workers }, datname);
  for (const role of await findRoles(client)) {
    if (rolesBefore.includes(role)) continue;
    // Another run on the same server may have come to use it.
    await client.query(`DROP ROLE ${role}`).catch((error: pg.DatabaseError) => {
      if (error.code !== '2BP01') throw error;
    });
  }
}
