// A migration stops neither reads nor writes, survives interruptions, and leaves older nodes working.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { MigrationError } from '../../server/database/migrations/migration-files.ts';
import { migrate } from '../../server/database/migrations/migrations.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until, within } from '../helpers/waiting.ts';
import { checkOut, copyWithMigrations, git, makeFolder } from './helpers/checkouts.ts';
import { type Load, startLoad } from './helpers/load.ts';
import {
  checkout,
  cleanUpLater,
  createTenant,
  databaseUrl,
  runStamm,
  startStamm,
  withClient,
} from './helpers/process.ts';

const ownMigrations = path.join(checkout, 'migrations');
const generous = { RATE_LIMIT_PER_MINUTE: '1000000000' };

/** The migrations of this checkout and more. */
async function makeMigrations(more: Record<string, string>): Promise<string> {
  const folder = await makeFolder();
  await cp(ownMigrations, folder, { recursive: true });
  for (const [name, sql] of Object.entries(more)) await writeFile(path.join(folder, name), sql);
  return folder;
}

/** A transaction that has read all customers and stays open, as that of a long report or a backup. */
async function startLongReader(connection: pg.ClientConfig): Promise<pg.Client> {
  const reader = new pg.Client({ ...connection, application_name: 'long report' });
  reader.on('error', () => {});
  await reader.connect();
  cleanUpLater(() => reader.end());
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT count(*) FROM customer');
  return reader;
}

async function startLoadedNode(command?: string[], connection?: pg.ClientConfig) {
  const database = connection ?? (await createTestDatabase());
  const node = await startStamm({ DATABASE_URL: databaseUrl(database), ...generous }, command);
  const { key } = await withClient(database, createTenant);
  const load = startLoad(node.origin, key, 8);
  await createdSince(load, 0);
  return { connection: database, node, key, load };
}

async function createdSince(load: Load, since: number): Promise<void> {
  await until(
    'creations',
    () => load.attempts.filter(({ status, sentAt }) => status === 201 && sentAt > since).length >= 100,
  );
}

async function assertAllCreated(load: Load): Promise<void> {
  const attempts = await load.stop();
  assert.deepEqual(
    attempts.filter(({ status }) => status !== 201),
    [],
  );
}

async function isValid(connection: pg.ClientConfig, index: string): Promise<boolean | undefined> {
  const { rows } = await withClient(connection, (client) =>
    client.query('SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)', [index]),
  );
  return rows[0]?.indisvalid;
}

test('reads and writes go on while a migration waits for a reader, and a running node takes the next schema', async () => {
  const { connection, node, key, load } = await startLoadedNode();
  const folder = await makeMigrations({
    '9001-colours.sql': `ALTER TABLE customer ADD COLUMN colour text DEFAULT 'green';
      CREATE TABLE paint (tenant_id uuid, id uuid, PRIMARY KEY (tenant_id, id));`,
  });
  const reader = await startLongReader(connection);
  const sentences: string[] = [];
  let isMigrated = false;
  const migrating = migrate(connection, { folder, say: (sentence) => sentences.push(sentence) });
  migrating.finally(() => {
    isMigrated = true;
  });
  for (const count of [1, 2, 3]) {
    await until('the migration waits', () => sentences.length >= count);
    await createdSince(load, performance.now());
    const list = await fetch(`${node.origin}/api/v1/customers?limit=1`, { headers: { ApiKey: key } });
    assert.equal(list.status, 200);
  }
  assert.ok(!isMigrated, 'the reader is still reading');
  for (const sentence of sentences) {
    assert.match(sentence, /^9001-colours\.sql waits for .*\. Next attempt in [\d.]+ s\.$/);
  }
  assert.match(
    sentences.at(-1)!,
    /process \d+ \(\S+, long report, idle in transaction, since \d\d:\d\d:\d\d UTC\)/,
  );
  await reader.query('COMMIT');
  assert.deepEqual(await within('the migration', migrating), ['9001-colours.sql']);
  await createdSince(load, performance.now());
  await assertAllCreated(load);
  await node.stop();
});

test('a migration names a blocker of another role, whose transaction its own role may not see', async () => {
  const superuser = await createTestDatabase('template0');
  const role = `${superuser.database}_owner`;
  const connection = { ...superuser, user: role, password: 'secret' };
  await withClient(superuser, async (client) => {
    await client.query(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD 'secret'`);
    await client.query(`GRANT stamm_service TO ${role} WITH ADMIN OPTION`);
    await client.query(`ALTER SCHEMA public OWNER TO ${role}`);
  });
  const folder = await makeFolder();
  await writeFile(path.join(folder, '0001-first.sql'), 'CREATE TABLE customer (id uuid)');
  await migrate(connection, { folder });
  const reader = await startLongReader(superuser);
  await writeFile(path.join(folder, '0002-colours.sql'), 'ALTER TABLE customer ADD COLUMN colour text');
  const sentences: string[] = [];
  const migrating = migrate(connection, { folder, say: (sentence) => sentences.push(sentence) });
  await until('the migration waits', () => sentences.length > 0);
  const { processID } = reader as pg.Client & { processID: number };
  assert.match(
    sentences[0]!,
    new RegExp(
      `^0002-colours\\.sql waits for process ${processID} \\(${superuser.user}, long report\\)\\. Next`,
    ),
  );
  await reader.query('COMMIT');
  assert.deepEqual(await within('the migration', migrating), ['0002-colours.sql']);
  // Roles belong to the server and would outlive the test.
  await withClient(superuser, (client) => client.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`));
});

test('a dry run names pending files, their locks and who must stop, and changes nothing', async () => {
  const connection = await createTestDatabase();
  const pending = ['9001-comments.concurrently.sql', '9002-paint.sql', '9003-no-paint.sql'];
  const [comments, paint, noPaint] = pending as [string, string, string];
  const main = await copyWithMigrations({
    [comments]: 'CREATE INDEX CONCURRENTLY customer_by_remark ON customer (tenant_id, comment);',
    [paint]: 'CREATE TABLE paint (id uuid)',
    [noPaint]: '-- Oldest node: 9002\nDROP TABLE paint',
  });
  const dryRun = () => runStamm(['migrate', '--dry-run'], { DATABASE_URL: databaseUrl(connection) }, main);
  const { code, stdout } = await dryRun();
  assert.equal(code, 0);
  const [index, effect, added, locks, removed, older] = stdout.split('\n');
  assert.deepEqual([index, added, removed], pending);
  assert.match(effect!, /^ {2}Builds or drops indexes\. Reads and writes go on/);
  assert.match(
    locks!,
    /^ {2}Only adds: nodes of the previous version go on\. Waits at most 0\.5 s for a lock/,
  );
  assert.match(older!, /^ {2}Stop nodes that do not know migration 9002 first\./);
  assert.equal((await dryRun()).stdout, stdout, 'nothing was applied');
});

test('a long index build stops nobody, and one that was interrupted is built anew', async () => {
  const { connection, node, load } = await startLoadedNode();
  const folder = await makeMigrations({
    '9001-comments.concurrently.sql': `-- For a list that nobody has asked for yet.
      CREATE INDEX CONCURRENTLY customer_by_street ON customer (tenant_id, address_street_name);
      CREATE INDEX CONCURRENTLY customer_by_remark ON customer (tenant_id, comment);`,
  });
  const reader = await startLongReader(connection);
  const sentences: string[] = [];
  const interrupted = migrate(connection, { folder, say: (sentence) => sentences.push(sentence) });
  const refused = assert.rejects(interrupted, /terminat/);
  await until('the build waits', () => sentences.some((sentence) => sentence.includes('long report')));
  await createdSince(load, performance.now());
  await withClient(connection, (client) =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONC%'`,
    ),
  );
  await within('the interruption', refused);
  assert.equal(await isValid(connection, 'customer_by_street'), false);
  await reader.query('COMMIT');
  // Two at the same time: neither waits for the other's snapshot.
  const both = await within(
    'both migrations',
    Promise.all([migrate(connection, { folder }), migrate(connection, { folder })]),
  );
  assert.deepEqual(both.flat(), ['9001-comments.concurrently.sql']);
  assert.equal(await isValid(connection, 'customer_by_street'), true);
  assert.equal(await isValid(connection, 'customer_by_remark'), true);
  await assertAllCreated(load);
  await node.stop();
});

test('a file of concurrent builds with anything else in it is refused before anything runs', async () => {
  const connection = await createTestDatabase();
  const folder = await makeMigrations({
    '9001-x.concurrently.sql': 'ALTER TABLE customer ADD COLUMN x text;',
  });
  await assert.rejects(migrate(connection, { folder }), MigrationError);
});

test('a node starts on a schema that is newer, unless a migration says that nodes must be newer too', async () => {
  const connection = await createTestDatabase();
  const additions = { '9001-paint.sql': 'CREATE TABLE paint (id uuid)' };
  await migrate(connection, { folder: await makeMigrations(additions) });
  assert.deepEqual(await migrate(connection), []);
  const removals = { ...additions, '9002-no-paint.sql': '-- Oldest node: 9001\nDROP TABLE paint' };
  await migrate(connection, { folder: await makeMigrations(removals) });
  assert.deepEqual(await migrate(connection, { folder: await makeMigrations(additions) }), []);
  await assert.rejects(migrate(connection), {
    name: 'Error',
    message:
      'The database was migrated by a newer Stamm (9002-no-paint.sql). Start that version or a newer one.',
  });
});

/** The newest commit of docs/versions.md that this one continues, or why it cannot be had. */
async function findEarlierVersion(): Promise<{ commit: string } | { reason: string }> {
  if (!existsSync(path.join(checkout, '.git')))
    return { reason: 'this is no clone: it has no earlier version' };
  const page = await readFile(path.join(checkout, 'docs/versions.md'), 'utf8');
  const commits = [...page.matchAll(/^\| [^|]+ \| `([0-9a-f]{40})` \|/gm)].map(([, commit]) => commit!);
  assert.ok(commits.length > 0, 'docs/versions.md names no commit');
  const isEarlier = (commit: string) => git('rev-list', '-1', `${commit}..HEAD`) !== '';
  try {
    const commit = commits.find(isEarlier);
    return commit ? { commit } : { reason: 'docs/versions.md names no earlier version' };
  } catch {
    return { reason: 'this clone is shallow: fetch the history to try the node of the earlier version' };
  }
}

test('the node of the earlier version serves on while this one migrates its database', async (t) => {
  const found = await findEarlierVersion();
  if ('reason' in found) return t.skip(found.reason);
  const command = [process.execPath, await checkOut(found.commit), 'serve'];
  const { connection, node, load } = await startLoadedNode(command, await createTestDatabase('template0'));
  const { code, stdout, stderr } = await runStamm(['migrate'], { DATABASE_URL: databaseUrl(connection) });
  assert.equal(code, 0, stderr);
  // A version that changes nothing in the schema has nothing to apply.
  assert.match(stdout, /^Applied |up to date/);
  await createdSince(load, performance.now());
  await assertAllCreated(load);
  await node.stop();
});
