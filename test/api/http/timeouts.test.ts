// Timeouts of connections.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asDatabaseOwner, ConnectionError } from '../../../server/database/connection.ts';
import { openDatabase } from '../../../server/database/database.ts';
import { isDatabaseAway } from '../../../server/database/errors.ts';
import { openServiceLogin } from '../../../server/database/service-login.ts';
import type { TimedQuery } from '../../../server/database/timeouts.ts';
import { createTestDatabase } from '../../helpers/service.ts';

const { client: connection } = await openServiceLogin(await createTestDatabase());
const endless: TimedQuery = { text: 'SELECT pg_sleep(5)', query_timeout: 300 };

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

test('the same on a connection beside the pool', async () => {
  const database = openDatabase(connection, { maxConnections: 1 });
  const client = await database.connect();
  await assert.rejects(client.query(endless), /read timeout/);
  // Otherwise the answer would be that of the first statement.
  await assert.rejects(client.query('SELECT 1'), isDatabaseAway);
  await client.end();
  await database.close();
});

test('an administrator reads in a sentence that the database went away', async () => {
  const nobodyListens = { ...connection, host: '/nowhere' };
  await assert.rejects(
    asDatabaseOwner(nobodyListens, async () => {}),
    (error: Error) =>
      error instanceof ConnectionError && /^The database does not answer: /.test(error.message),
  );
});
