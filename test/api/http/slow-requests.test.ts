// A slow request says where its time went; a quick one says nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilLocked } from '../../helpers/locks.ts';
import { startService, validCustomer } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const slowMs = 150;
const { owner, post, tenant, logLines } = await startService({ SLOW_REQUEST_MS: slowMs });

function slowLines(): Record<string, unknown>[] {
  return logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'slow request');
}

test('a creation that waits for a lock logs its route, its id and the time of each part', async () => {
  await post('/customer', validCustomer);
  const before = slowLines().length;
  await owner.query('BEGIN');
  await owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenant.tenantId]);
  const waiting = post('/customer', validCustomer, { headers: { 'user-agent': 'slow' } });
  await untilLocked(owner, 1, 2 * slowMs);
  await owner.query('COMMIT');
  const response = await waiting;
  assert.equal(response.statusCode, 201);
  const line = slowLines()
    .slice(before)
    .find(({ requestId }) => requestId === response.headers['x-request-id'])!;
  const { databaseMs, durationMs, ...rest } = line as Record<string, number>;
  assert.deepEqual([line.method, line.route, line.status, line.level], ['POST', '/api/v1/customer', 201, 40]);
  assert.ok(databaseMs! >= slowMs && durationMs! >= databaseMs!, JSON.stringify(line));
  for (const part of ['bodyMs', 'turnWaitMs', 'batchWaitMs', 'connectionWaitMs', 'serialiseMs', 'sendMs'])
    assert.ok(rest[part]! >= 0 && rest[part]! < databaseMs!, part);
  assert.equal(line.tenantId, undefined);
});

test('a request that misses its deadline in a batch blames the database', async () => {
  const hurried = await startService({ SLOW_REQUEST_MS: slowMs, REQUEST_DEADLINE_MS: 4 * slowMs });
  await until('a first one is in time', async () => {
    return (await hurried.post('/customer', validCustomer)).statusCode === 201;
  });
  await hurried.owner.query('BEGIN');
  await hurried.owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [
    hurried.tenant.tenantId,
  ]);
  const response = await hurried.post('/customer', validCustomer);
  await hurried.owner.query('ROLLBACK');
  assert.equal(response.statusCode, 500);
  const lines = hurried.logLines.map((line) => JSON.parse(line));
  const line = lines.find((one) => one.msg === 'slow request' && one.requestId === response.json().requestId);
  assert.ok(line.databaseMs >= slowMs, JSON.stringify(line));
});

test('a limit of 0 turns the lines off', async () => {
  const silent = await startService({ SLOW_REQUEST_MS: 0 });
  await silent.createCustomer();
  await silent.owner.query('BEGIN');
  await silent.owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [
    silent.tenant.tenantId,
  ]);
  const waiting = silent.post('/customer', validCustomer);
  await untilLocked(silent.owner, 1, slowMs);
  await silent.owner.query('COMMIT');
  assert.equal((await waiting).statusCode, 201);
  assert.ok(!silent.logLines.some((line) => line.includes('slow request')));
});
