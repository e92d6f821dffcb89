// Where connections are scarce, no tenant waits for the statements of another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ConnectionTurns } from '../../../server/database/connection-turns.ts';
import { holdTable } from '../../helpers/locks.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const later = performance.now() + 3_600_000;

test('statements of one tenant that hang leave connections to others, by key and by session', async () => {
  const other = await service.createTenant();
  const person = await createPerson(service, { tenantId: other.tenantId });
  const held = await holdTable(service.owner, 'site');
  const hanging = Array.from({ length: 60 }, () => service.get('/sites'));
  for (let turn = 0; turn < 20; turn++) {
    const answer = await service.get('/customers?count=true', { headers: { apikey: other.key } });
    assert.equal(answer.statusCode, 200);
    assert.equal((await person.call('GET', '/customers')).statusCode, 200);
  }
  const creations = Array.from({ length: 5 }, () =>
    service.createCustomer({}, { headers: { apikey: other.key } }),
  );
  await Promise.all(creations);
  await held.release();
  for (const answer of await Promise.all(hanging)) assert.equal(answer.statusCode, 200);
});

/** Notes who got a connection, in order. */
function record(turns: ConnectionTurns) {
  const started: string[] = [];
  const take = (name: string, isRead = false, deadline = later) => {
    const waiting = turns.take(
      { name, isRead },
      deadline,
      () => new Error('No connection was free in time.'),
    );
    if (!waiting) started.push(name);
    return waiting?.then(() => void started.push(name)) ?? Promise.resolve();
  };
  const release = async (name: string, isRead = false) => {
    turns.release({ name, isRead });
    await setImmediate();
  };
  return { started, take, release };
}

test('one tenant gets half of the connections that tenants share, and few of them for long reads', async () => {
  for (const [poolSize, reads, others] of [
    [1, 1, 0],
    [4, 1, 1],
    [10, 2, 3],
    [20, 2, 7],
  ] as const) {
    const { started, take, release } = record(new ConnectionTurns(poolSize));
    for (let request = 0; request < 10; request++) void take('a', true);
    assert.equal(started.length, reads, `reads of ${poolSize} connections`);
    for (let request = 0; request < 10; request++) void take('a');
    assert.equal(started.length, reads + others, `${poolSize} connections`);
    for (let request = 0; request < 10; request++) await release('a', true);
    for (let request = 0; request < 10; request++) await release('a');
    assert.equal(started.length, 20);
  }
});

test('tenants that wait take turns, however many requests each of them has', async () => {
  const { started, take, release } = record(new ConnectionTurns(4));
  for (const tenant of ['x', 'y', 'z', 'a', 'a', 'a', 'a', 'b', 'c', 'b']) void take(tenant);
  assert.deepEqual(started, ['x', 'y', 'z']);
  for (const tenant of ['x', 'y', 'z', 'a', 'b', 'c', 'a', 'b', 'a']) await release(tenant);
  assert.deepEqual(started.slice(3), ['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('a tenant that has its share waits, and lets others pass', async () => {
  const { started, take, release } = record(new ConnectionTurns(4));
  for (const tenant of ['a', 'a', 'a', 'b']) void take(tenant);
  assert.deepEqual(started, ['a', 'b']);
  for (const tenant of ['a', 'a']) await release(tenant);
  assert.deepEqual(started, ['a', 'b', 'a', 'a']);
});

test('a request that waited too long gives up its place in the queue', async () => {
  const { started, take, release } = record(new ConnectionTurns(1));
  void take('a');
  await assert.rejects(take('a', false, performance.now()), /No connection was free/);
  const next = take('b');
  await release('a');
  await next;
  assert.deepEqual(started, ['a', 'b']);
});
