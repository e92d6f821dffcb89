// With a full disk the service refuses writes in a sentence, loses nothing, and serves again when there is room.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { withoutPostgres15 } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';
import { initializePostgres, makeServerDir, startPostgres } from './helpers/debian-postgres.ts';
import {
  assertRefused,
  createCustomer,
  createTenant,
  databaseUrl,
  findServers,
  runStamm,
  startStamm,
  untilUnavailable,
  withClient,
} from './helpers/process.ts';
import { fillDisk, makeDataDirOnDisk, mountDisk, withoutMounts } from './helpers/small-disk.ts';

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

// With load while the disk fills up: matrix/disk.test.ts.
describe('the embedded PostgreSQL with its log on the same disk', { skip: withoutMounts }, () => {
  test('a start on a full disk says so and leaves nothing behind; with room it serves', async () => {
    const { dataDir, disk, key } = await makeDataDirOnDisk(diskMebibytes);
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
