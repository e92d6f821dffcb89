// A request is answered in time, however many things in a row it has to wait for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readConfig } from '../../server/config.ts';
import { createTestDatabase, startService } from '../service.ts';
import { startWatch } from '../waiting.ts';

const connection = await createTestDatabase();
const service = await startService({ connection, REQUEST_DEADLINE_MS: readConfig({}).REQUEST_DEADLINE_MS });
const longestAnswerMs = 2500;

async function holdLock(
  statement: string,
  values: readonly unknown[],
): Promise<{ release(): Promise<void> }> {
  const holder = new pg.Client(connection);
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query(statement, [...values]);
  return { release: () => holder.end() };
}

test('a change that waits for its row and then for the journal fails in time, and nothing of it is stored', async () => {
  const id = await service.createCustomer({ comment: 'before' });
  const row = await holdLock('SELECT FROM customer WHERE id = $1 FOR UPDATE', [id]);
  const journal = await holdLock('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [
    service.tenant.tenantId,
  ]);
  const watch = startWatch();
  const changing = service.patch(`/customers/${id}`, { comment: 'after' });
  await sleep(1300);
  await row.release();
  const answer = await changing;
  const tookMs = watch();
  await journal.release();
  assert.equal(answer.statusCode, 500, answer.body);
  assert.ok(tookMs < longestAnswerMs, `it took ${Math.round(tookMs)} ms`);
  assert.equal((await service.get(`/customers/${id}`)).json().comment, 'before');
  assert.equal((await service.patch(`/customers/${id}`, { comment: 'after' })).statusCode, 200);
});

test('a list that waits for a connection and then for its table is answered in time', async () => {
  const sites = await holdLock('LOCK TABLE site IN ACCESS EXCLUSIVE MODE', []);
  const customers = await holdLock('LOCK TABLE customer IN ACCESS EXCLUSIVE MODE', []);
  const watch = startWatch();
  // More than there are connections: these take them all, and those wait.
  const first = Array.from({ length: 60 }, () => service.get('/sites'));
  const second = Array.from({ length: 10 }, () => service.get('/customers'));
  await sleep(1300);
  await sites.release();
  const answers = await Promise.all(second);
  const tookMs = watch();
  await customers.release();
  // Those that waited for other lists of their tenant are told so.
  for (const { statusCode } of answers) assert.ok(statusCode === 500 || statusCode === 429);
  assert.ok(tookMs < longestAnswerMs, `it took ${Math.round(tookMs)} ms`);
  await Promise.all(first);
  assert.equal((await service.get('/customers')).statusCode, 200);
});
