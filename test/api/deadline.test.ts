// A request is answered in time, however many things in a row it has to wait for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createTestDatabase, startService } from '../service.ts';

const connection = await createTestDatabase();
const service = await startService({ connection });
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
  const sentAt = performance.now();
  const changing = service.patch(`/customers/${id}`, { comment: 'after' });
  await sleep(1300);
  await row.release();
  const answer = await changing;
  const tookMs = performance.now() - sentAt;
  await journal.release();
  assert.equal(answer.statusCode, 500, answer.body);
  assert.ok(tookMs < longestAnswerMs, `it took ${Math.round(tookMs)} ms`);
  assert.equal((await service.get(`/customers/${id}`)).json().comment, 'before');
  assert.equal((await service.patch(`/customers/${id}`, { comment: 'after' })).statusCode, 200);
});

test('a list that finds no connection in time is answered all the same', async () => {
  const journal = await holdLock('LOCK TABLE site IN ACCESS EXCLUSIVE MODE', []);
  const sentAt = performance.now();
  // More than there are connections.
  const answers = await Promise.all(Array.from({ length: 60 }, () => service.get('/sites')));
  const tookMs = performance.now() - sentAt;
  await journal.release();
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([500]));
  assert.ok(tookMs < longestAnswerMs, `it took ${Math.round(tookMs)} ms`);
  assert.equal((await service.get('/sites')).statusCode, 200);
});
