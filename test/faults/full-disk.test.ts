// A node whose database has a full disk is not ready, says so, and serves again when there is room.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFile, chown, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { withoutPostgres15 } from '../programs.ts';
import { until } from '../waiting.ts';
import { initializePostgres, makeServerDir, startPostgres } from './debian-postgres.ts';
import {
  cleanUpLater,
  createCustomer,
  createTenant,
  databaseUrl,
  runStamm,
  startStamm,
  untilUnavailable,
  withClient,
} from './process.ts';
import { unprivileged } from './programs.ts';

const diskMebibytes = 160;

const disk = path.join(await makeServerDir(), 'disk');

/** Why no disk of a limited size can be had. */
async function mountDisk(): Promise<string | false> {
  await mkdir(disk);
  const words = ['-t', 'tmpfs', '-o', `size=${diskMebibytes}m`, 'tmpfs', disk];
  const { status } = spawnSync('mount', words, { stdio: 'ignore' });
  if (status !== 0) return 'this account may not mount a file system of a limited size';
  cleanUpLater(async () => assert.equal(spawnSync('umount', [disk]).status, 0));
  if (unprivileged) await chown(disk, unprivileged.uid, unprivileged.gid);
  return false;
}

async function fillDisk(file: string): Promise<void> {
  const mebibyte = Buffer.alloc(1024 * 1024);
  async function fill(): Promise<never> {
    for (;;) await appendFile(file, mebibyte);
  }
  await assert.rejects(fill, { code: 'ENOSPC' });
}

test('with a full disk a node is not ready and the doctor names it; with room the node serves', {
  skip: withoutPostgres15 || (await mountDisk()),
}, async () => {
  const folder = path.dirname(disk);
  const data = path.join(disk, 'data');
  // A log that cannot grow would end the server. On a disk of its own it has room.
  initializePostgres(folder, data, path.join(folder, 'log'));
  const { connection } = await startPostgres(folder, data);
  const env = { DATABASE_URL: databaseUrl(connection) };
  const node = await startStamm(env);
  const { key } = await withClient(connection, createTenant);

  const filler = path.join(disk, 'filler');
  await fillDisk(filler);
  // The first row of its table needs a new page.
  await untilUnavailable(node.origin, key);
  const { code, stdout } = await runStamm(['doctor'], env);
  assert.equal(code, 1);
  assert.match(stdout, /^✗ writes +the disk of the database is full/m);

  await rm(filler);
  await until('ready', async () => (await fetch(`${node.origin}/readyz`)).status === 200);
  assert.equal((await createCustomer(node.origin, key)).status, 201);
  assert.equal((await node.stop()).code, 0);
});
