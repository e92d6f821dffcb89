import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiKey, deleteApiKey, makeApiKey } from '../../../server/access/api-keys.ts';
import { startService, type TestService, validCustomer } from '../../helpers/service.ts';
import { countRows } from '../../helpers/stored-rows.ts';

const limit = 30;
const first = await startService({ RATE_LIMIT_PER_MINUTE: limit });
const second = await startService({ RATE_LIMIT_PER_MINUTE: limit, connection: first.connection });

const guesses = 5;
const guarded = await startService({ FAILED_AUTH_LIMIT_PER_MINUTE: guesses, TRUST_PROXY: ['10.9.9.9'] });

function send(service: TestService, key: string, method: 'POST' | 'GET' = 'POST') {
  const headers = { apikey: key, 'content-type': 'application/json' };
  return service.app.inject({
    method,
    url: '/api/v1/customer',
    headers,
    payload: JSON.stringify(validCustomer),
  });
}

interface Quota {
  left: number;
  seconds: number;
}

function quotaOf(response: { headers: Record<string, unknown> }, policy = 'tenant'): Quota {
  const match = new RegExp(`^"${policy}";r=(\\d+);t=(\\d+)$`).exec(String(response.headers.ratelimit));
  assert.ok(match, `RateLimit: ${response.headers.ratelimit}`);
  return { left: Number(match[1]), seconds: Number(match[2]) };
}

test('of three times as many concurrent requests as allowed over two processes, exactly the allowed ones pass', async () => {
  const { key } = await first.createTenant();
  const before = await countRows(first.owner);
  const responses = await Promise.all(
    Array.from({ length: 3 * limit }, (_, index) => send(index % 2 ? first : second, key)),
  );
  const statuses = responses.map((response) => response.statusCode);
  assert.equal(statuses.filter((status) => status === 201).length, limit);
  assert.equal(statuses.filter((status) => status === 429).length, 2 * limit);
  assert.equal(await countRows(first.owner), before + limit);
  const left = responses.filter((response) => response.statusCode === 201).map((one) => quotaOf(one).left);
  const countdown = Array.from({ length: limit }, (_, index) => index);
  assert.deepEqual(
    left.sort((a, b) => a - b),
    countdown,
    'each has a place of its own',
  );
});

test("a tenant's requests do not count against another", async () => {
  const [one, other] = [await first.createTenant(), await first.createTenant()];
  await Promise.all(Array.from({ length: limit + 1 }, () => send(first, one.key)));
  assert.equal((await send(first, one.key)).statusCode, 429);
  assert.equal((await send(first, other.key)).statusCode, 201);
});

test('the headers count down, and a 429 says when to come back', async () => {
  const { key } = await first.createTenant();
  for (let left = limit - 1; left >= 0; left--) {
    const response = await send(left % 2 ? first : second, key);
    assert.equal(response.statusCode, 201);
    assert.equal(response.headers['ratelimit-policy'], `"tenant";q=${limit};w=60`);
    assert.equal(quotaOf(response).left, left);
    assert.equal(response.headers['retry-after'], undefined);
  }
  const response = await send(first, key);
  assert.equal(response.statusCode, 429);
  assert.equal(response.json().code, 'rate_limited');
  const { left, seconds } = quotaOf(response);
  assert.equal(left, 0);
  assert.ok(seconds >= 1 && seconds <= 60);
  assert.equal(response.headers['retry-after'], String(seconds));
});

test('a new window begins when the old one has ended', async () => {
  const { key, tenantId } = await first.createTenant();
  await Promise.all(Array.from({ length: limit + 5 }, () => send(first, key)));
  const age = (seconds: number) =>
    first.owner.query(
      'UPDATE request_window SET started_at = clock_timestamp() - make_interval(secs => $2) WHERE tenant_id = $1',
      [tenantId, seconds],
    );
  await age(50);
  const late = await send(second, key);
  assert.equal(late.statusCode, 429);
  assert.ok(quotaOf(late).seconds <= 10);
  await age(60);
  const next = await send(second, key);
  assert.equal(next.statusCode, 201);
  assert.deepEqual(quotaOf(next), { left: limit - 1, seconds: 60 });
});

test('an unknown path stays 403, and an ended key 401, when the limit is reached', async () => {
  const { key, tenantId } = await first.createTenant();
  await Promise.all(Array.from({ length: limit + 1 }, () => send(first, key)));
  const unknown = await send(first, key, 'GET');
  assert.equal(unknown.statusCode, 403);
  assert.equal(quotaOf(unknown).left, 0);
  const newKey = (await createApiKey(first.owner, tenantId))!;
  const ended = await send(first, key);
  assert.deepEqual([ended.statusCode, ended.json().code], [401, 'key_replaced']);
  assert.equal((await send(first, newKey)).statusCode, 429, 'a new key is no new quota');
});

function guess(address: string, key: string | undefined, headers: Record<string, string> = {}) {
  return guarded.app.inject({
    method: 'POST',
    url: '/api/v1/customer',
    remoteAddress: address,
    headers: { 'content-type': 'application/json', ...(key !== undefined && { apikey: key }), ...headers },
    payload: JSON.stringify(validCustomer),
  });
}

test('failed authentications are limited per address, and a valid key from there still works', async () => {
  const badKeys = [undefined, 'wrong', makeApiKey(), '', makeApiKey()];
  for (const [index, key] of badKeys.entries()) {
    const response = await guess('10.0.0.1', key);
    assert.equal(response.statusCode, 401);
    assert.equal(quotaOf(response, 'failed-authentication').left, guesses - index - 1);
  }
  for (const key of badKeys) {
    const response = await guess('10.0.0.1', key);
    assert.equal(response.statusCode, 429);
    assert.equal(response.json().code, 'too_many_failed_authentications');
    const { seconds } = quotaOf(response, 'failed-authentication');
    assert.equal(response.headers['retry-after'], String(seconds));
  }
  assert.equal((await guess('10.0.0.1', guarded.tenant.key)).statusCode, 201);
  assert.equal((await guess('10.0.0.2', makeApiKey())).statusCode, 401, 'another address is not concerned');
});

test('all addresses of an IPv6 network share one limit', async () => {
  const statuses: number[] = [];
  for (let host = 1; host <= guesses + 1; host++)
    statuses.push((await guess(`2001:db8:1:2::${host.toString(16)}`, 'x')).statusCode);
  assert.deepEqual(statuses, [...Array<number>(guesses).fill(401), 429]);
  assert.equal((await guess('2001:db8:1:3::1', 'x')).statusCode, 401);
});

test('an ended key is limited like a guess, with its code below the limit, and the new key still works', async () => {
  const { key, tenantId } = await guarded.createTenant();
  const newKey = (await createApiKey(guarded.owner, tenantId))!;
  for (let count = 0; count < guesses; count++) {
    const response = await guess('10.0.0.3', key);
    assert.deepEqual([response.statusCode, response.json().code], [401, 'key_replaced']);
  }
  const limited = await guess('10.0.0.3', key);
  assert.deepEqual([limited.statusCode, limited.json().code], [429, 'too_many_failed_authentications']);
  assert.equal((await guess('10.0.0.3', newKey)).statusCode, 201);
  await deleteApiKey(guarded.owner, tenantId);
  const deleted = await guess('10.0.0.4', newKey);
  assert.deepEqual([deleted.statusCode, deleted.json().code], [401, 'key_deleted']);
  assert.equal(quotaOf(deleted, 'failed-authentication').left, guesses - 1);
});

test('the address is that of the client behind a trusted proxy, and of nobody who only claims it', async () => {
  const exhaust = async (address: string, claimed: string) => {
    for (let count = 0; count <= guesses; count++) await guess(address, 'x', { 'x-forwarded-for': claimed });
  };
  await exhaust('10.9.9.9', '10.1.1.1');
  assert.equal((await guess('10.1.1.1', 'x')).statusCode, 429);
  assert.equal((await guess('10.9.9.9', 'x', { 'x-forwarded-for': '10.1.1.2' })).statusCode, 401);
  await exhaust('10.2.2.2', '10.1.1.3');
  assert.equal((await guess('10.1.1.3', 'x')).statusCode, 401);
  assert.equal((await guess('10.2.2.2', 'x', { 'x-forwarded-for': '10.1.1.4' })).statusCode, 429);
});
