// The driver's connection as we use it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { openDatabase } from '../../server/database/database.ts';
import { isDatabaseAway } from '../../server/database/failures.ts';
import { createTestDatabase } from '../service.ts';

const connection = await createTestDatabase();

/** What has survived the collections of young objects, be it in use or not. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space' || name === 'large_object_space')
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

test('what a statement sends and gets is gone with it, and not kept for a large collection', async () => {
  const database = openDatabase(connection, 1);
  const ask = async (times: number) => {
    for (let time = 0; time < times; time++) {
      const text = `${time}`.padEnd(8000, 'x');
      await database.pool.query({ name: 'echo', text: 'SELECT length($1)', values: [text] });
      await database.inTenants([], (client) =>
        client.query({ name: 'echo', text: 'SELECT length($1)', values: [text] }),
      );
    }
  };
  await ask(200);
  const before = oldBytes();
  await ask(1000);
  const grownMb = (oldBytes() - before) / 1e6;
  await database.close();
  assert.ok(grownMb < 4, `of 16 MB that were sent ${grownMb.toFixed(1)} MB are kept`);
});

test('a statement that is not answered in time fails, and its connection is not used again', async () => {
  const database = openDatabase(connection, 1);
  const pidOf = async () => (await database.pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
  const before = await pidOf();
  const client = await database.pool.connect();
  client.on('error', () => {});
  // Of the three one is under way, and the others were sent after it.
  const asked = ['SELECT pg_sleep(5)', 'SELECT 1', 'SELECT 2'].map((text) =>
    client.query({ text, timeoutMs: 300 } as never),
  );
  const outcomes = await Promise.allSettled(asked);
  client.release(true);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.ok(isDatabaseAway(outcome.reason), String(outcome.reason));
  }
  assert.notEqual(await pidOf(), before);
  await database.close();
});
