// The driver's connection as we use it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import type { TimedQuery } from '../../server/database/client.ts';
import { asDatabaseOwner, ConnectionError } from '../../server/database/connection.ts';
import { openDatabase } from '../../server/database/database.ts';
import { isDatabaseAway } from '../../server/database/errors.ts';
import { openServiceLogin } from '../../server/database/service-login.ts';
import { createTestDatabase } from '../service.ts';

const { client: connection } = await openServiceLogin(await createTestDatabase());
const endless: TimedQuery = { text: 'SELECT pg_sleep(5)', timeoutMs: 300 };

/** What has survived the collections of young objects, be it in use or not. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space' || name === 'large_object_space')
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

test('what a statement sends and gets is gone with it, and not kept for a large collection', async () => {
  const database = openDatabase(connection, { maxConnections: 1 });
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
  const database = openDatabase(connection, { maxConnections: 1 });
  const pidOf = async () => (await database.pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
  const before = await pidOf();
  const client = await database.pool.connect();
  client.on('error', () => {});
  // The second was sent behind the first, and has time enough of its own.
  const asked = [client.query(endless), client.query('SELECT 1')];
  const outcomes = await Promise.allSettled(asked);
  client.release();
  const reasons = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason);
  assert.match(reasons[0].message, /read timeout/);
  assert.match(reasons[1].message, /terminated/);
  assert.ok(reasons.every(isDatabaseAway));
  assert.notEqual(await pidOf(), before);
  await database.close();
});

test('the same by way of the pool, which asks with a callback', async () => {
  const database = openDatabase(connection, { maxConnections: 1 });
  await assert.rejects(database.pool.query(endless), /read timeout/);
  assert.equal((await database.pool.query('SELECT 1 AS one')).rows[0].one, 1);
  await database.close();
});

test('who administers is told in a sentence that the database went away', async () => {
  const nobodyListens = { ...connection, host: '/nowhere' };
  await assert.rejects(
    asDatabaseOwner(nobodyListens, async () => {}),
    (error: Error) =>
      error instanceof ConnectionError && /^The database does not answer: /.test(error.message),
  );
});
