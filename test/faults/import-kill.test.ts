// Results of an all-or-nothing import wait in the temporary directory. Nothing of them outlives its process.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openImport, sendImport } from '../api/import/import-client.ts';
import { validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import {
  cleanUpLater,
  connectionTo,
  makePreparedDataDir,
  startStamm,
  withClient,
} from './helpers/process.ts';

async function makeTemporaryDirectory(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const spoolsIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.startsWith('stamm-import-')).sort();

test('a process that is killed during an import leaves no results behind', async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const TMPDIR = await makeTemporaryDirectory();
  const service = await startStamm({ DATA_DIR: dataDir, TMPDIR, WORKERS: '1' });
  const target = { port: Number(new URL(service.origin).port), key };
  const held = { type: 'customer', data: { ...validCustomer, externalId: 'HELD' } };
  await sendImport(target, [held]);
  await withClient(connectionTo(dataDir), async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT FROM customer FOR UPDATE');
    const opened = openImport({ ...target, query: '?mode=all-or-nothing' });
    opened.send({ type: 'customer', data: validCustomer });
    await until('the first line is written', async () => {
      await client.query('SELECT pg_stat_clear_snapshot()');
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_activity WHERE state = 'idle in transaction' AND query = 'RELEASE SAVEPOINT part'`,
      );
      return rowCount === 1;
    });
    // The next line is written when the result of the first is kept.
    opened.send({ ...held, data: { ...held.data, comment: 'x' } });
    await until('the second line waits', async () => {
      const { rowCount } = await client.query('SELECT FROM pg_locks WHERE NOT granted');
      return rowCount! > 0;
    });
    await service.kill();
    opened.request.destroy();
  });
  assert.deepEqual(await spoolsIn(TMPDIR), []);
});
