// A migration stops neither reads nor writes, survives interruptions, and leaves older nodes working.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { MigrationError } from '../../server/database/migration-files.ts';
import { migrate } from '../../server/database/migrations.ts';
import { createTestDatabase } from '../service.ts';
import { until, within } from '../waiting.ts';
import { type Load, startLoad } from './load.ts';
import {
  checkout,
  cleanUpLater,
  createTenant,
  databaseUrl,
  runStamm,
  startStamm,
  withClient,
} from './process.ts';

const ownMigrations = path.join(checkout, 'migrations');
const generous = { RATE_LIMIT_PER_MINUTE: '1000000000' };

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

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

const git = (...words: string[]) =>
  execFileSync('git', words, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/**
 * The last release, or why it cannot be had. Before the first one, the newest commit with another schema that ours
 * continues. Until then migrations may still be replaced by others, and such schemas do not lead to ours.
 */
function findPreviousSchema(): { commit: string } | { reason: string } {
  if (!existsSync(path.join(checkout, '.git')))
    return { reason: 'this is no clone: there is no previous commit' };
  try {
    const [release] = git('tag', '--list', 'v*', '--sort=-v:refname', '--merged', 'HEAD~').split('\n');
    const isContinued = (commit: string) =>
      git('diff', '--name-only', '--diff-filter=a', commit, '--', 'migrations') === '';
    const changes = git('log', '-20', '--format=%H', '--', 'migrations').split('\n');
    const previous = release || changes.map((commit) => `${commit}^`).find(isContinued);
    return { commit: git('rev-parse', '--verify', `${previous}^{commit}`) };
  } catch {
    return { reason: 'this clone is shallow: fetch the history to try the node of the previous schema' };
  }
}

async function checkOut(commit: string): Promise<string> {
  const folder = await makeFolder();
  const archive = path.join(folder, 'node.tar');
  git('archive', '-o', archive, commit, 'core', 'server', 'migrations', 'package.json');
  await mkdir(path.join(folder, 'node'));
  execFileSync('tar', ['-xf', archive, '-C', path.join(folder, 'node')]);
  await symlink(path.join(checkout, 'node_modules'), path.join(folder, 'node/node_modules'));
  return path.join(folder, 'node');
}

test('the node of the previous schema serves on while this one migrates its database', async (t) => {
  const found = findPreviousSchema();
  if ('reason' in found) return t.skip(found.reason);
  const previous = await checkOut(found.commit);
  const command = [process.execPath, path.join(previous, 'server/main.ts'), 'serve'];
  const { connection, node, load } = await startLoadedNode(command, await createTestDatabase('template0'));
  const { code, stdout, stderr } = await runStamm(['migrate'], { DATABASE_URL: databaseUrl(connection) });
  assert.equal(code, 0, stderr);
  // A release that changes nothing in the schema has nothing to apply.
  assert.match(stdout, /^Applied |up to date/);
  await createdSince(load, performance.now());
  await assertAllCreated(load);
  await node.stop();
});
