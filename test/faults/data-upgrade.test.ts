// Data of an earlier PostgreSQL, found by a Stamm that brings a newer one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { findServerAccount } from '../../server/database/embedded/programs.ts';
import { migrate } from '../../server/database/migrations/migrations.ts';
import { postgres15, withoutPostgres15 } from '../helpers/programs.ts';
import {
  assertRefused,
  createCustomer,
  createTenant,
  type Environment,
  findServers,
  makeDataDir,
  runStamm,
  startStamm,
  startUntil,
  withClient,
} from './helpers/process.ts';

const programs = { folder: path.dirname(postgres15 ?? '/'), version: '15' };

interface EarlierData {
  env: Environment;
  dataDir: string;
  key: string;
}

async function makeEarlierData(): Promise<EarlierData> {
  const dataDir = await makeDataDir();
  const folder = path.join(dataDir, 'postgres-15');
  const account = findServerAccount(dataDir, folder);
  const password = path.join(dataDir, 'database-password');
  await writeFile(password, 'earlier', { mode: 0o600 });
  if (account) for (const file of [dataDir, password]) await chown(file, account.uid, account.gid);
  const words = ['-D', folder, '-U', 'stamm', '--pwfile', password, '-A', 'scram-sha-256', '-E', 'UTF8'];
  execFileSync(`${postgres15}/initdb`, [...words, '--locale', 'C', '--no-sync'], {
    ...account,
    cwd: dataDir,
    stdio: 'ignore',
  });
  const earlier = await openEmbeddedPostgres({ dataDir, purpose: 'command', programs });
  await migrate(earlier.connection);
  const { key } = await withClient(earlier.connection, createTenant);
  await earlier.close();
  return { env: { DATA_DIR: dataDir, PORT: '0', WORKERS: '1', LOG_LEVEL: 'warn' }, dataDir, key };
}

describe('data of PostgreSQL 15', { skip: withoutPostgres15 }, () => {
  test('is moved over by one start, and the old data stays under another name', async () => {
    const { env, dataDir, key } = await makeEarlierData();
    const command = await runStamm(['tenant', 'list'], env);
    assertRefused(command, /made by PostgreSQL 15.+start the service: it moves the data over/);
    const moved = await startStamm(env);
    assert.match(moved.output.stdout, /Stamm moves it to PostgreSQL 18/);
    assert.match(moved.output.stdout, /old data stays in .+postgres-15\.old/);
    assert.equal((await createCustomer(moved.origin, key)).status, 201);
    await moved.stop();
    const names = readdirSync(dataDir);
    assert.ok(names.includes('postgres-18') && names.includes('postgres-15.old'), names.join());
    assert.ok(!names.some((name) => name.startsWith('upgrade')), names.join());
    const again = await startStamm(env);
    assert.doesNotMatch(again.output.stdout, /moves/);
    const list = await fetch(`${again.origin}/api/v1/customers`, { headers: { ApiKey: key } });
    assert.equal(((await list.json()) as { data: unknown[] }).data.length, 1);
    await again.stop();
  });

  test('is moved over by the next start if this one is killed at any point', async () => {
    const { env, dataDir, key } = await makeEarlierData();
    const points = ['upgrade-18/everything.backup', 'upgrade-18/postgres-18', 'postgres-18'];
    for (const index of points.keys()) {
      await startUntil(
        // A quick start may be further when the test looks.
        () => points.slice(index).some((point) => existsSync(path.join(dataDir, point))),
        env,
        (pid) => process.kill(pid, 'SIGKILL'),
      );
    }
    const moved = await startStamm(env);
    assert.equal((await createCustomer(moved.origin, key)).status, 201);
    await moved.stop();
    assert.ok(existsSync(path.join(dataDir, 'postgres-15.old')));
  });

  test('stays as it is where a stop interrupts the move, and no server is left', async () => {
    const { env, dataDir, key } = await makeEarlierData();
    const earlier = await openEmbeddedPostgres({ dataDir, purpose: 'command', programs });
    await withClient(earlier.connection, async (client) => {
      await client.query('BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE');
      const isReading = async () =>
        (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount! > 0;
      const { code, stderr } = await startUntil(isReading, env);
      assert.equal(code, 0, stderr);
    });
    await earlier.close();
    const isWriting = () =>
      existsSync(path.join(dataDir, 'upgrade-18/postgres-18/postmaster.pid')) ||
      existsSync(path.join(dataDir, 'postgres-18'));
    const { code, stderr } = await startUntil(isWriting, env);
    assert.equal(code, 0, stderr);
    assert.deepEqual(findServers(dataDir), []);
    assert.ok(!existsSync(path.join(dataDir, 'upgrade-18')));
    const moved = await startStamm(env);
    assert.equal((await createCustomer(moved.origin, key)).status, 201);
    await moved.stop();
    assert.deepEqual(findServers(dataDir), []);
  });
});

test('data of a PostgreSQL whose programs are missing stays, and a sentence says what to do', async () => {
  const dataDir = await makeDataDir();
  await writeFile(path.join(dataDir, 'database-password'), 'earlier');
  execFileSync('mkdir', [path.join(dataDir, 'postgres-9')]);
  const start = await runStamm(['serve'], { DATA_DIR: dataDir, PORT: '0', WORKERS: '1' });
  assertRefused(start, /made by PostgreSQL 9.+EARLIER_POSTGRES/);
  assert.deepEqual(readdirSync(dataDir).sort(), ['database-password', 'postgres-9']);
});
