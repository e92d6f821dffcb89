// With a full disk the service refuses writes in a sentence, loses nothing, and serves again when there is room.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import type pg from 'pg';
import { withoutPostgres15 } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';
import { assertBalanced, balance, followFeed } from './helpers/bookkeeping.ts';
import { initializePostgres, makeServerDir, startPostgres } from './helpers/debian-postgres.ts';
import { startLoad } from './helpers/load.ts';
import { createdSince } from './helpers/matrix.ts';
import {
  assertRefused,
  cleanUpLater,
  connectionTo,
  createCustomer,
  createTenant,
  databaseUrl,
  endServers,
  findServers,
  makePreparedDataDir,
  type Prepared,
  runStamm,
  startStamm,
  untilUnavailable,
  withClient,
} from './helpers/process.ts';
import { fillDisk, mountDisk, withoutMounts } from './helpers/small-disk.ts';

const diskMebibytes = 160;

test('with a full disk a node is not ready and the doctor names it; with room the node serves', {
  skip: withoutPostgres15 || withoutMounts,
}, async () => {
  const disk = await mountDisk(diskMebibytes);
  const folder = await makeServerDir();
  const data = path.join(disk, 'data');
  // A log that cannot grow would end the server. On a disk of its own it has room.
  initializePostgres(folder, data, path.join(folder, 'log'));
  const { connection } = await startPostgres(folder, data);
  const env = { DATABASE_URL: databaseUrl(connection) };
  const node = await startStamm(env);
  const { key } = await withClient(connection, createTenant);

  const filler = await fillDisk(disk);
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

/** The data folder of the embedded PostgreSQL, its write-ahead log included, on a disk of its own. */
async function makeDataDirOnDisk(): Promise<Prepared & { disk: string }> {
  const { dataDir: original, ...made } = await makePreparedDataDir();
  const disk = await mountDisk(diskMebibytes);
  const dataDir = path.join(disk, 'data');
  assert.equal(spawnSync('cp', ['-a', original, dataDir]).status, 0);
  cleanUpLater(() => endServers(dataDir));
  return { ...made, dataDir, disk };
}

const diskFull = '53100';

/** Goes from one log file to the next until there is no room for another, which ends the server. */
async function fillWriteAheadLog(dataDir: string): Promise<void> {
  await until('the write-ahead log is full', () =>
    withClient(connectionTo(dataDir), (client) =>
      client.query(`SELECT pg_logical_emit_message(false, 'test', ''), pg_switch_wal()`),
    ).then(
      () => false,
      ({ code }: pg.DatabaseError) => code !== diskFull,
    ),
  );
}

describe('the embedded PostgreSQL with its log on the same disk', { skip: withoutMounts }, () => {
  test('loses nothing when the disk fills up under load, and goes on by itself when there is room', async () => {
    const { dataDir, disk, tenantId, key } = await makeDataDirOnDisk();
    const service = await startStamm({ DATA_DIR: dataDir, RATE_LIMIT_PER_MINUTE: '1000000000' });
    const load = startLoad(service.origin, key, 8, 4);
    const feed = followFeed(service.origin, key);
    await createdSince(load, 0);
    // The books have only what the load sent.
    const other = await withClient(connectionTo(dataDir), createTenant);
    const filler = await fillDisk(disk);
    await untilUnavailable(service.origin, other.key);
    await fillWriteAheadLog(dataDir);
    await untilUnavailable(service.origin, other.key);
    await rm(filler);
    await createdSince(load, performance.now());
    const attempts = await load.stop();
    assertBalanced(await balance(connectionTo(dataDir), tenantId, attempts, await feed.stop()));
    assert.equal((await service.stop()).code, 0);
    assert.deepEqual(findServers(dataDir), []);
  });

  test('a start on a full disk says so and leaves nothing behind; with room it serves', async () => {
    const { dataDir, disk, key } = await makeDataDirOnDisk();
    const filler = await fillDisk(disk);
    const refused = await runStamm(['serve'], { DATA_DIR: dataDir });
    assertRefused(refused, /^PostgreSQL could not be started on .* The disk is full: make room\./);
    assert.deepEqual(findServers(dataDir), []);
    await rm(filler);
    const service = await startStamm({ DATA_DIR: dataDir });
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.equal((await service.stop()).code, 0);
  });

  test('a first start on a disk that is too small says so and leaves it as it was', async () => {
    const disk = await mountDisk(8);
    const dataDir = path.join(disk, 'data');
    const refused = await runStamm(['serve'], { DATA_DIR: dataDir });
    assertRefused(refused, /^PostgreSQL could not set up its data in .*No space left[\s\S]*Make room/);
    assert.deepEqual(readdirSync(dataDir).sort(), ['database-password', 'run']);
  });
});
