// Killed during a first start, a migration or a restore, the next attempt ends with the same result.
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import type pg from 'pg';
import { readMigrations } from '../../server/database/migrations/migration-files.ts';
import { makeBackup } from '../../server/features/backup/backup.ts';
import { createTestDatabase, startService, validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { copyWithMigrations } from './helpers/checkouts.ts';
import {
  assertRefused,
  checkout,
  cleanUpLater,
  connectionTo,
  createCustomer,
  createTenant,
  databaseUrl,
  endServers,
  findServers,
  killAt,
  makeDataDir,
  runStamm,
  startStamm,
  withClient,
} from './helpers/process.ts';

const migrations = (await readMigrations(path.join(checkout, 'migrations'))).length;

/** Undefined while the database is not there, or does not answer. */
async function ask(connection: pg.ClientConfig, question: string): Promise<number | undefined> {
  const answer = withClient(connection, (client) => client.query(`SELECT (${question})::integer AS number`));
  return answer.then(
    ({ rows }) => rows[0].number,
    () => undefined,
  );
}

const countMigrations = (connection: pg.ClientConfig) =>
  ask(connection, 'SELECT count(*) FROM schema_migration');

/** Points in the order in which a first start comes to them. Each stays true, however late the test looks. */
const pointsOfFirstStart: Record<string, (dataDir: string) => boolean | Promise<boolean>> = {
  'the password is written': (dataDir) => existsSync(path.join(dataDir, 'database-password')),
  'initdb works': (dataDir) =>
    globSync('{postgres-18.new-*/result,postgres-18}/PG_VERSION', { cwd: dataDir }).length > 0,
  'the data of PostgreSQL is in its place': (dataDir) => existsSync(path.join(dataDir, 'postgres-18')),
  'the server starts': (dataDir) => existsSync(path.join(dataDir, 'postgres-18/postmaster.pid')),
  'the first table is made': async (dataDir) => ((await countMigrations(connectionTo(dataDir))) ?? 0) >= 1,
  'all migrations are applied': async (dataDir) =>
    (await countMigrations(connectionTo(dataDir))) === migrations,
};

describe('a first start', { concurrency: 2 }, () => {
  for (const what of ['the service', 'the service and PostgreSQL']) {
    test(`succeeds although ${what} was killed at each point before`, async () => {
      const dataDir = await makeDataDir();
      const env = { DATA_DIR: dataDir, WORKERS: '1' };
      for (const [point, isThere] of Object.entries(pointsOfFirstStart)) {
        const { signal, stderr } = await killAt(['serve'], env, () => isThere(dataDir));
        assert.equal(signal, 'SIGKILL', `${point}: ${stderr}`);
        if (what !== 'the service') await endServers(dataDir);
      }
      // What a kill between two instructions leaves, which no point above hits.
      await writeFile(path.join(dataDir, 'database-password.new-0123456789ab'), 'x');
      const service = await startStamm(env);
      const { key } = await withClient(connectionTo(dataDir), createTenant);
      assert.equal((await createCustomer(service.origin, key)).status, 201);
      assert.equal((await service.stop()).code, 0);
      assert.deepEqual(findServers(dataDir), []);
      assert.deepEqual(globSync('*.new-*', { cwd: dataDir }), []);
    });
  }
});

/** Every column, index, constraint, function, policy and right of the database. */
const schemaSql = `SELECT md5(string_agg(line, E'\\n' ORDER BY line)) AS sum FROM (
  SELECT format('%s %s', attrelid::regclass, to_jsonb(a) - 'attrelid' - 'attnum' - 'atttypid') FROM pg_attribute AS a
    JOIN pg_class AS c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND relkind = 'r'
  UNION ALL SELECT indexdef FROM pg_indexes JOIN pg_class ON relname = indexname JOIN pg_index ON indexrelid = pg_class.oid
    WHERE schemaname = 'public' AND indisvalid
  UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s %s', tablename, qual) FROM pg_policies
  UNION ALL SELECT name || checksum FROM schema_migration) AS lines (line)`;

async function readSchema(connection: pg.ClientConfig): Promise<string> {
  return withClient(connection, async (client) => (await client.query(schemaSql)).rows[0].sum);
}

/** Asks whether so many migrations are applied. Once they are, `client` also holds the next one up, however quick it is. */
async function holdAfterMigration(client: pg.Client, count: number): Promise<boolean> {
  await client.query('ROLLBACK; BEGIN');
  try {
    await client.query('LOCK TABLE schema_migration IN SHARE MODE');
  } catch (error) {
    if ((error as pg.DatabaseError).code === '42P01') return false;
    throw error;
  }
  const { rows } = await client.query('SELECT count(*)::integer AS count FROM schema_migration');
  return rows[0].count >= count;
}

test('a migration that was killed again and again leads to the same schema', async () => {
  const more = {
    '9001-paint.sql': 'CREATE TABLE paint (tenant_id uuid, id uuid, PRIMARY KEY (tenant_id, id))',
    '9002-paint.concurrently.sql': 'CREATE INDEX CONCURRENTLY paint_by_id ON paint (id);',
    // Long enough to be seen before it ends.
    '9003-colours.sql': 'ALTER TABLE paint ADD COLUMN colour text; SELECT pg_sleep(1)',
  };
  const main = await copyWithMigrations(more);
  const [interrupted, undisturbed] = [await createTestDatabase('template0'), await createTestDatabase()];
  const env = { DATABASE_URL: databaseUrl(interrupted) };
  const lastButOne = migrations + Object.keys(more).length - 1;
  for (const count of [0, migrations, lastButOne]) {
    await withClient(interrupted, async (client) => {
      const isThere = () => holdAfterMigration(client, count);
      const { signal, stderr } = await killAt(['migrate'], env, isThere, { main });
      assert.equal(signal, 'SIGKILL', stderr);
    });
  }
  for (const database of [interrupted, undisturbed])
    assert.equal((await runStamm(['migrate'], { DATABASE_URL: databaseUrl(database) }, main)).code, 0);
  assert.equal(await readSchema(interrupted), await readSchema(undisturbed));
});

async function makeFile(): Promise<{ file: string; key: string; answer: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(() => rm(folder, { recursive: true }));
  const { owner, app, tenant, createCustomer: create, post } = await startService();
  const id = await create();
  assert.equal((await post('/customer/site', validSite(id))).statusCode, 201);
  const file = path.join(folder, 'all.backup');
  await makeBackup(owner, { path: file, passphrase: undefined });
  const { body } = await app.inject({ url: readPath, headers: { apikey: tenant.key } });
  return { file, key: tenant.key, answer: body };
}

const readPath = '/api/v1/sites?q=alster&count=true';

async function isSomebodyWaiting(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_locks JOIN pg_database AS mine ON mine.oid = pg_locks.database
     WHERE NOT granted AND datname = current_database()`,
  );
  return rowCount! > 0;
}

interface PointOfRestore {
  from?: 'template0';
  /** Makes a restore wait for this client there, however quick it is. */
  prepare: (client: pg.Client) => Promise<unknown>;
  isThere: (client: pg.Client) => Promise<boolean>;
  /** Whether the rows are committed by then. */
  isComplete: boolean;
}

const pointsOfRestore: Record<string, PointOfRestore> = {
  'half of the tables are made': {
    from: 'template0',
    prepare: async () => {},
    isThere: (client) => holdAfterMigration(client, Math.floor(migrations / 2)),
    isComplete: false,
  },
  'rows arrive': {
    prepare: (client) =>
      client.query(`
        CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END';
        CREATE TRIGGER wait_for_test BEFORE INSERT ON site FOR EACH ROW EXECUTE FUNCTION wait_for_test();
        SELECT pg_advisory_lock(4711)`),
    isThere: isSomebodyWaiting,
    isComplete: false,
  },
  'all rows are stored': {
    prepare: (client) => client.query('BEGIN; LOCK TABLE search_word IN SHARE MODE'),
    isThere: isSomebodyWaiting,
    isComplete: true,
  },
};

test('a restore that was killed is repeated, or complete with the next start', async () => {
  const { file, key, answer } = await makeFile();
  for (const [point, { from, prepare, isThere, isComplete }] of Object.entries(pointsOfRestore)) {
    const connection = await createTestDatabase(from);
    const env = { DATABASE_URL: databaseUrl(connection), WORKERS: '1' };
    await withClient(connection, async (client) => {
      await prepare(client);
      const killed = await killAt(['restore', file], env, () => isThere(client));
      assert.equal(killed.signal, 'SIGKILL', `${point}: ${killed.stderr}`);
    });
    await until('its connections are gone', async () => {
      const others = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend'`;
      return (await ask(connection, others)) === 0;
    });
    const again = await runStamm(['restore', file], env);
    if (isComplete) assertRefused(again, /^The database holds data/m);
    else assert.equal(again.code, 0, `${point}: ${again.stderr}`);
    const service = await startStamm(env);
    // A service writes the words of a restore that was killed before it had.
    const missing = 'SELECT count(*) FROM missing_words';
    await until('the words', async () => (await ask(connection, missing)) === 0);
    const read = await fetch(service.origin + readPath, { headers: { ApiKey: key } });
    assert.equal(await read.text(), answer);
    await service.stop();
    const checked = await runStamm(['check'], env);
    assert.equal(checked.code, 0, checked.stdout);
  }
});
