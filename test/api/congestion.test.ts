// More than the service can answer is refused at once, and one tenant's flood leaves room for the others.
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { startService } from '../service.ts';

const service = await startService();
const { get, createTenant } = service;

async function flood(keys: readonly string[], count: number) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      get(`/sites/${randomUUIDv7()}`, { headers: { apikey: keys[index % keys.length]! } }),
    ),
  );
  return answers.map((answer) => ({
    status: answer.statusCode,
    code: answer.json().code as string | undefined,
    retryAfter: answer.headers['retry-after'],
  }));
}

test('a tenant with too much under way is refused, and another is not', async () => {
  const other = await createTenant();
  const flooding = flood([service.tenant.key], 700);
  const beside = await get('/sites', { headers: { apikey: other.key } });
  assert.equal(beside.statusCode, 200);
  const answers = await flooding;
  const refused = answers.filter(({ status }) => status !== 404);
  assert.equal(refused.length, 200);
  for (const answer of refused) {
    assert.deepEqual(answer, { status: 429, code: 'too_many_at_once', retryAfter: '1' });
  }
  assert.equal((await get('/sites')).statusCode, 200, 'there is room again');
});

test('what is too much for the service is refused before anything is looked up', async () => {
  const tenants = [await createTenant(), await createTenant(), await createTenant()];
  const keys = tenants.map(({ key }) => key);
  const answers = await flood(keys, 1200);
  const refused = answers.filter(({ status }) => status !== 404);
  assert.equal(refused.length, 200);
  for (const answer of refused)
    assert.deepEqual(answer, { status: 500, code: 'overloaded', retryAfter: '1' });
  assert.equal((await service.app.inject('/livez')).statusCode, 200);
  assert.deepEqual(new Set((await flood(keys, 900)).map(({ status }) => status)), new Set([404]));
});
