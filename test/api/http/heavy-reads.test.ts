// Heavy reads of one tenant take turns, and nobody else waits for them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { HeavyReads } from '../../../server/http/heavy-reads.ts';
import { countLocked, holdTable } from '../../helpers/locks.ts';
import { createPerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { get, owner, createTenant } = service;
const hasty = await startService({ REQUEST_DEADLINE_MS: 1000 });
const port = await listen(service.app);
const stays = new AbortController().signal;
const never = Number.POSITIVE_INFINITY;

const heavyPaths = [
  '/sites',
  '/sites?limit=11',
  '/sites?limit=1&q=a',
  '/sites?limit=1&count=true',
  '/sites.csv',
  '/sites.ndjson',
  '/sites.xlsx',
  '/visits?from=2026-01-01&until=2026-01-01',
  '/changes?include=data',
  '/deleted?q=a',
  '/search?q=a',
  '/attention',
];

test('a second heavy read of a tenant waits for the first, of any kind', async () => {
  const held = await holdTable(owner, 'site');
  const first = get('/sites');
  await until('the first read waits for the table', async () => (await countLocked(owner)) === 1);
  const answered: string[] = [];
  const others = heavyPaths.map(async (path) => {
    const { statusCode } = await get(path);
    answered.push(path);
    return statusCode;
  });
  // Longer than any of them would take: this one needs the same event loop and the same database.
  for (let turn = 0; turn < 30; turn++) assert.equal((await get('/customers?limit=10')).statusCode, 200);
  assert.deepEqual(answered, []);
  assert.equal(await countLocked(owner), 1);
  await held.release();
  assert.equal((await first).statusCode, 200);
  assert.deepEqual(new Set(await Promise.all(others)), new Set([200]));
});

test('small reads, writes and other tenants do not wait for a heavy read', async () => {
  const other = await createTenant();
  const id = await service.createCustomer();
  const held = await holdTable(owner, 'site');
  const heavy = get('/sites?limit=500&count=true');
  for (const path of ['/customers?limit=10', `/customers/${id}`])
    assert.equal((await get(path)).statusCode, 200);
  await service.createCustomer();
  const headers = { apikey: other.key };
  assert.equal((await get('/customers?limit=500&count=true', { headers })).statusCode, 200);
  await held.release();
  assert.equal((await heavy).statusCode, 200);
});

test('a heavy read without a turn in time is rejected, and can be sent again', async () => {
  const isServed = async () => (await hasty.get('/customers')).statusCode === 200;
  // A first connection may take longer, and a database that has said nothing yet counts as away.
  await until('it is connected', isServed);
  const held = await holdTable(hasty.owner, 'site');
  const answers = await Promise.all([hasty.get('/sites'), hasty.get('/customers')]);
  await held.release();
  for (const { statusCode, headers } of answers) {
    assert.equal(statusCode, 500);
    assert.equal(headers['retry-after'], '1');
  }
  assert.equal(answers[1].json().code, 'overloaded');
  await until('it is served', isServed);
});

test('a tenant that sends more heavy reads than it gets turns is told so', async () => {
  const reads = new HeavyReads();
  await reads.take('a', 'key', never, stays);
  const next = reads.take('a', 'key', never, stays);
  const late = reads.take('a', 'key', performance.now() + 50, stays);
  reads.end('a');
  await next;
  await assert.rejects(late, { code: 'too_many_at_once' });
});

test('a client that leaves gives up its place', async () => {
  const reads = new HeavyReads();
  const leaving = new AbortController();
  await reads.take('a', 'key', never, stays);
  const left = reads.take('a', 'key', never, leaving.signal);
  const next = reads.take('a', 'key', never, stays);
  leaving.abort();
  await assert.rejects(left);
  reads.end('a');
  await next;
});

test('the work of a client that has left still has its turn until it ends', async () => {
  const held = await holdTable(owner, 'site');
  const headers = { apikey: service.tenant.key };
  const request = http.get({ port, path: '/api/v1/sites', headers, agent: false }).on('error', () => {});
  await until('the read waits for the table', async () => (await countLocked(owner)) === 1);
  const closed = new Promise((resolve) => request.on('close', resolve));
  request.destroy();
  await closed;
  let isAnswered = false;
  const next = get('/customers').then(({ statusCode }) => {
    isAnswered = true;
    return statusCode;
  });
  for (let turn = 0; turn < 30; turn++) assert.equal((await get('/customers?limit=1')).statusCode, 200);
  assert.equal(isAnswered, false);
  await held.release();
  assert.equal(await next, 200);
});

test('keys and sessions of a tenant alternate, however many requests each has', async () => {
  const reads = new HeavyReads();
  const started: string[] = [];
  const queues = ['key', 'key', 'key', 'key', 'session', 'session'];
  for (const queue of queues) void reads.take('a', queue, never, stays).then(() => started.push(queue));
  for (let turn = 0; turn < queues.length; turn++) {
    await setImmediate();
    reads.end('a');
  }
  assert.deepEqual(started, ['key', 'session', 'key', 'session', 'key', 'key']);
});

for (const extension of ['csv', 'ndjson', 'xlsx'])
  test(`an export as ${extension} that nobody reads leaves the turn to others, by key and by session`, async () => {
    const { tenantId, key } = await createTenant();
    await owner.query(
      `INSERT INTO product (tenant_id, id, name, kind, unit_code, currency, active, description)
       SELECT $1, gen_random_uuid(), 'Nr. ' || number, 'PLANT', 'H87', 'EUR', true,
         (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 60) WHERE number > 0)
       FROM generate_series(1, 20000) AS number`,
      [tenantId],
    );
    const headers = { apikey: key };
    const request = http.get({ port, path: `/api/v1/products.${extension}`, headers, agent: false });
    request.on('error', () => {});
    const [response] = await once(request, 'response');
    const person = await createPerson(service, { tenantId });
    for (let turn = 0; turn < 5; turn++) {
      assert.equal((await get('/products?limit=500&count=true', { headers })).statusCode, 200);
      assert.equal((await person.call('GET', '/products?count=true')).statusCode, 200);
    }
    assert.equal(response.complete, false);
    request.destroy();
    assert.equal((await get('/products', { headers })).statusCode, 200);
  });

test('a turn ends however the request ends', async () => {
  const { key } = await createTenant();
  const headers = { apikey: key };
  for (const path of ['/sites?limit=0', '/sites?sort=none', '/sites.csv?locale=fr', '/visits', '/search?q='])
    assert.equal((await get(path, { headers })).statusCode, 400, path);
  assert.equal((await get('/sites', { headers })).statusCode, 200);
});
