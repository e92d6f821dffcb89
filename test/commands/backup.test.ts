// Backup, restore and check as an operator types them.
import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { version } from '../../server/version.ts';
import { startDebianPostgres } from '../faults/helpers/debian-postgres.ts';
import {
  assertRefused,
  cleanUpLater,
  createCustomer,
  databaseUrl,
  type Environment,
  findServers,
  killAt,
  makeDataDir,
  makePreparedDataDir,
  runStamm,
  startStamm,
  withClient,
} from '../faults/helpers/process.ts';
import { mountDisk, withoutMounts } from '../faults/helpers/small-disk.ts';
import { withoutPostgres15 } from '../helpers/programs.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

test('a backup of a running service is verified, restored into a new data folder and checked', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(() => rm(folder, { recursive: true }));
  const { dataDir, key } = await makePreparedDataDir();
  const env = { DATA_DIR: dataDir, BACKUP_PASSPHRASE: 'Gießkanne 7' };
  const service = await startStamm(env);
  assert.equal((await createCustomer(service.origin, key)).status, 201);
  const file = path.join(folder, 'all.backup');
  const made = await runStamm(['backup', file], env);
  assert.match(made.stdout, /^Backed up [\d,]+ rows \([\d.]+ MB\) to .*all\.backup\.\n$/, made.stderr);
  await service.stop();

  const verified = await runStamm(['backup', '--verify', file, '--json'], env);
  assert.equal(JSON.parse(verified.stdout).isEncrypted, true);
  const fresh = { ...env, DATA_DIR: await makeDataDir() };
  assertRefused(await runStamm(['restore', file], { DATA_DIR: fresh.DATA_DIR }), /BACKUP_PASSPHRASE/);
  assert.match((await runStamm(['restore', file], fresh)).stdout, /^Restored [\d,]+ rows/);
  const checked = await runStamm(['check'], fresh);
  assert.equal(checked.code, 0, checked.stdout);
  assert.match(checked.stdout, /^(✓ .+\n)+$/);
  const owned = await openEmbeddedPostgres({ dataDir: fresh.DATA_DIR, purpose: 'command' });
  const { rows } = await withClient(owned.connection, (client) =>
    client.query(
      `SELECT actor_type, details ->> 'stamm' AS stamm FROM audit_entry WHERE event = 'BUSINESS_RESTORED'`,
    ),
  );
  await owned.close();
  assert.deepEqual(rows, [{ actor_type: 'COMMAND_LINE', stamm: version }]);
  assertRefused(await runStamm(['restore', file], fresh), /holds data/);
  const again = await startStamm(fresh);
  const response = await fetch(`${again.origin}/api/v1/customers`, { headers: { apikey: key } });
  assert.equal(((await response.json()) as { data: unknown[] }).data.length, 1);
  await again.stop();
});

test('with a passphrase, a file that is not encrypted is only trusted on demand', async () => {
  const { dataDir } = await makePreparedDataDir();
  const file = path.join(dataDir, 'forged.backup');
  assert.equal((await runStamm(['backup', file], { DATA_DIR: dataDir })).code, 0);
  const env = { DATA_DIR: await makeDataDir(), BACKUP_PASSPHRASE: 'Gießkanne 7' };
  for (const command of [
    ['backup', '--verify', file],
    ['restore', file],
  ]) {
    assertRefused(await runStamm(command, env), /forged\.backup is not encrypted.*--unencrypted/);
    const trusted = await runStamm([...command, '--unencrypted'], env);
    assert.equal(trusted.code, 0, trusted.stderr);
  }
});

test('"backup" without a file makes one in BACKUP_DIR, keeps BACKUP_KEEP of them, and verifies the newest', async () => {
  const { dataDir } = await makePreparedDataDir();
  const env = { DATA_DIR: dataDir, BACKUP_KEEP: '2' };
  assertRefused(await runStamm(['backup', '--verify'], env), /There is no backup in \S+\/backups\./);
  assertRefused(await runStamm(['backup'], { ...env, BACKUP_DIR: 'off' }), /Name a file, or set BACKUP_DIR/);
  const folder = path.join(dataDir, 'backups');
  const made = await runStamm(['backup'], env);
  assert.match(made.stdout, /^Backed up [\d,]+ rows to \S+\/backups\/stamm-\S+Z\.backup \([\d.]+ MB\)\.\n$/);
  assert.equal(statSync(folder).uid, statSync(dataDir).uid, 'the service can write there');
  for (const day of ['01', '02']) await writeFile(path.join(folder, `stamm-202001${day}T000000Z.backup`), '');
  // A file has the second in its name.
  const second = () => Math.floor(Date.now() / 1000);
  const madeAt = second();
  await until('the next second', () => second() > madeAt);
  const again = await runStamm(['backup'], env);
  assert.equal(again.code, 0, again.stderr);
  assert.equal(readdirSync(folder).length, 2);
  assert.match(
    (await runStamm(['backup', '--verify'], env)).stdout,
    /backups\/stamm-\S+ is whole: everything/,
  );
});

test('a refused restore into a new data folder leaves nothing behind', async () => {
  const { dataDir } = await makePreparedDataDir();
  const file = path.join(dataDir, 'all.backup');
  const secret = { BACKUP_PASSPHRASE: 'Gießkanne 7' };
  assert.equal((await runStamm(['backup', file], { DATA_DIR: dataDir, ...secret })).code, 0);
  const damaged = path.join(dataDir, 'damaged.backup');
  await writeFile(damaged, (await readFile(file)).subarray(0, -1));
  const nobody = ['--tenant', '01960000-0000-7000-8000-000000000000'];
  const refusals: [words: string[], env: Environment, sentence: RegExp][] = [
    [[damaged], secret, /damaged/],
    [[file], { BACKUP_PASSPHRASE: 'Giesskanne 7' }, /passphrase is wrong/],
    [[path.join(dataDir, 'missing.backup')], secret, /no such file/],
    [[file, ...nobody], secret, /holds no tenant/],
  ];
  const fresh = path.join(await makeDataDir(), 'new');
  for (const [words, env, sentence] of refusals) {
    assertRefused(await runStamm(['restore', ...words], { ...env, DATA_DIR: fresh }), sentence);
    assert.equal(existsSync(fresh), false, sentence.source);
  }
});

test('a backup that does not fit on its disk says so, and leaves no file', {
  skip: withoutMounts,
}, async () => {
  const disk = await mountDisk(1);
  const { dataDir } = await makePreparedDataDir();
  const owned = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  // Random, so that compression does not make it fit.
  await withClient(owned.connection, (client) =>
    client.query(`INSERT INTO audit_entry (tenant_id, id, event, actor_type, actor)
      SELECT tenant_id, gen_random_uuid(), 'SIGNED_IN', 'COMMAND_LINE',
        (SELECT string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 20 + 0 * number))
      FROM tenant, generate_series(1, 10000) AS number`),
  );
  const made = await runStamm(['backup', path.join(disk, 'all.backup')], { DATA_DIR: dataDir });
  await owned.close();
  assertRefused(made, /^.*all\.backup cannot be written: the disk is full\.$/m);
  assert.deepEqual(readdirSync(disk), []);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} during a backup leaves neither a file nor a server behind`, async () => {
    const { dataDir } = await makePreparedDataDir();
    const file = path.join(dataDir, 'all.backup');
    const owned = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
    await withClient(owned.connection, async (client) => {
      await client.query('BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE');
      const isReading = async () => {
        const { rowCount } = await client.query('SELECT FROM pg_locks WHERE NOT granted');
        // From then on the backup is the only one that uses the server.
        if (rowCount! > 0) await owned.close();
        return rowCount! > 0;
      };
      const ended = await killAt(['backup', file], { DATA_DIR: dataDir }, isReading, { signal });
      assertRefused(ended, /^The command was interrupted\.$/m);
    });
    assert.deepEqual(findServers(dataDir), []);
    assert.deepEqual(globSync('all.backup*', { cwd: dataDir }), []);
  });
}

test('a backup goes from PostgreSQL 18 to 15 and back, and each answers the same', {
  skip: withoutPostgres15,
}, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(() => rm(folder, { recursive: true }));
  const { dataDir, key } = await makePreparedDataDir();
  const { connection } = await startDebianPostgres();
  const places: Environment[] = [
    { DATA_DIR: dataDir },
    { DATABASE_URL: databaseUrl(connection) },
    { DATA_DIR: await makeDataDir() },
  ];
  const answers: string[] = [];
  for (const [index, place] of places.entries()) {
    const env = { ...place, WORKERS: '1' };
    const file = (number: number) => path.join(folder, `${number}.backup`);
    if (index > 0) {
      const restored = await runStamm(['restore', file(index - 1)], env);
      assert.equal(restored.code, 0, restored.stderr);
      const checked = await runStamm(['check'], env);
      assert.equal(checked.code, 0, checked.stdout);
    }
    const service = await startStamm(env);
    if (index === 0) assert.equal((await createCustomer(service.origin, key)).status, 201);
    const read = async (target: string) =>
      (await fetch(`${service.origin}/api/v1${target}`, { headers: { ApiKey: key } })).text();
    answers.push((await Promise.all(['/customers', '/changes', '/customers?q=alster'].map(read))).join('\n'));
    const made = await runStamm(['backup', file(index)], env);
    assert.equal(made.code, 0, made.stderr);
    await service.stop();
  }
  assert.match(answers[0]!, /"companyName"/);
  assert.deepEqual(answers, Array(3).fill(answers[0]));
});

test('"move" copies everything into another PostgreSQL, once, and not beside a running service', async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const target = databaseUrl(await createTestDatabase('template0'));
  const service = await startStamm({ DATA_DIR: dataDir });
  assert.equal((await createCustomer(service.origin, key)).status, 201);
  assertRefused(await runStamm(['move', '--to', target], { DATA_DIR: dataDir }), /already running/);
  await service.stop();
  const moved = await runStamm(['move', '--to', target], { DATA_DIR: dataDir });
  assert.match(moved.stdout, /^Copied [\d,]+ rows to PostgreSQL/, moved.stderr);
  assertRefused(await runStamm(['move', '--to', target], { DATA_DIR: dataDir }), /holds data/);
  const other = await startStamm({ DATABASE_URL: target, DRAIN_SECONDS: '0' });
  const response = await fetch(`${other.origin}/api/v1/customers`, { headers: { apikey: key } });
  assert.equal(((await response.json()) as { data: unknown[] }).data.length, 1);
  await other.stop();
});
