import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen } from '../../helpers/raw-client.ts';
import type { Tenant } from '../../helpers/service.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const other = await startService({ connection: service.connection });
const port = await listen(service.app);

interface Change {
  cursor: string;
  resource: string;
  id: string;
  externalId?: string;
  action: string;
  version: number;
  actor: string;
  requestId: string;
  changes?: Record<string, { from?: unknown; to?: unknown }>;
}

async function readChanges(tenant: Tenant, after?: string, limit = 1000) {
  const query = new URLSearchParams({ limit: String(limit), ...(after !== undefined && { after }) });
  const response = await service.get(`/changes?${query}`, { headers: { apikey: tenant.key } });
  assert.equal(response.statusCode, 200, response.body);
  return response.json() as { data: Change[]; nextCursor: string; hasMore: boolean };
}

test('every creation, change and deletion leaves one entry that says who, what and which fields', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const created = await service.post(
    '/customer',
    { ...validCustomer, externalId: 'K1', phone: '1' },
    { headers },
  );
  const { id } = created.json();
  await service.patch(`/customers/${id}`, { companyName: 'Neu', phone: null, comment: 'x' }, { headers });
  await service.patch(`/customers/${id}`, { companyName: 'Neu' }, { headers });
  const deleted = await service.delete(`/customers/${id}`, { headers });
  assert.equal(deleted.statusCode, 204);

  const { data } = await readChanges(tenant);
  assert.deepEqual(
    data.map(({ action, version, resource, externalId }) => ({ action, version, resource, externalId })),
    [
      { action: 'CREATED', version: 1, resource: 'customer', externalId: 'K1' },
      { action: 'CHANGED', version: 2, resource: 'customer', externalId: 'K1' },
      { action: 'DELETED', version: 2, resource: 'customer', externalId: 'K1' },
    ],
  );
  assert.deepEqual(data[1]!.changes, {
    companyName: { from: validCustomer.companyName, to: 'Neu' },
    phone: { from: '1' },
    comment: { to: 'x' },
  });
  assert.ok(data.every((entry) => entry.id === id && entry.actor === `key …${tenant.key.slice(-4)}`));
  assert.equal(data[0]!.requestId, created.headers['x-request-id']);
  assert.equal(data[2]!.requestId, deleted.headers['x-request-id']);
});

test('refused writes and dry runs leave nothing', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  await service.post('/customer', {}, { headers });
  await service.post('/customer?dryRun=true', validCustomer, { headers });
  await service.post('/customer/site', validSite('0198c0de-0000-7000-8000-000000000001'), { headers });
  assert.deepEqual((await readChanges(tenant)).data, []);
});

test('a feed that is read while many writers commit out of order has no gap and no repetition', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const customerId = await service.createCustomer({}, { headers });

  let isWriting = true;
  const written = new Set<string>([customerId]);
  const writers = Array.from({ length: 24 }, async (_, writer) => {
    // Two applications on one database, and transactions of different lengths.
    const node = writer % 2 === 0 ? service : other;
    for (let round = 0; round < 12; round++) {
      const body = { ...validSite(customerId), name: `${writer}-${round}` };
      const withKey = writer % 3 === 0 && { 'idempotency-key': `${writer}-${round}` };
      const response = await node.post('/customer/site', body, { headers: { ...headers, ...withKey } });
      assert.equal(response.statusCode, 201, response.body);
      const { id } = response.json();
      written.add(id);
      if (writer % 4 === 0) await node.patch(`/sites/${id}`, { comment: 'changed' }, { headers });
    }
  });
  const seen: Change[] = [];
  const reader = (async () => {
    let after = '0';
    for (let isLastTurn = false; ; ) {
      const page = await readChanges(tenant, after, 7);
      seen.push(...page.data);
      after = page.nextCursor;
      if (page.data.length === 0) {
        if (isLastTurn) return;
        isLastTurn = !isWriting;
      }
    }
  })();
  await Promise.all(writers);
  isWriting = false;
  await reader;

  assert.deepEqual(
    seen.map((entry) => Number(entry.cursor)),
    Array.from({ length: seen.length }, (_, index) => index + 1),
  );
  const created = seen.filter((entry) => entry.action === 'CREATED').map((entry) => entry.id);
  assert.deepEqual(new Set(created), written);
  assert.equal(created.length, written.size);
  const versions = new Map<string, number>();
  for (const entry of seen) {
    assert.equal(
      entry.version,
      (versions.get(entry.id) ?? 0) + 1,
      'the versions of each object are in order',
    );
    versions.set(entry.id, entry.version);
  }
});

test('a tenant sees its own changes only', async () => {
  const [one, two] = [await service.createTenant(), await service.createTenant()];
  await service.createCustomer({}, { headers: { apikey: one.key } });
  assert.equal((await readChanges(one)).data.length, 1);
  assert.equal((await readChanges(two)).data.length, 0);
});

test('a cursor that is none, or a limit out of range, is refused', async () => {
  for (const query of ['after=x', 'after=-1', 'limit=0', 'limit=1001', 'limit=1&limit=2', 'since=1']) {
    const response = await service.get(`/changes?${query}`);
    assert.equal(response.statusCode, 400, query);
  }
});

async function readFeed(tenant: Tenant, query: string) {
  const response = await service.get(`/changes?${query}`, { headers: { apikey: tenant.key } });
  assert.equal(response.statusCode, 200, response.body);
  return response.json() as {
    data: (Change & { origin?: string; data?: Record<string, unknown> })[];
    nextCursor: string;
    hasMore: boolean;
  };
}

test('a feed of some types skips the others and still moves on', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const customerId = await service.createCustomer({}, { headers });
  await service.post('/customer/site', validSite(customerId), { headers });
  await service.post('/employee', { firstName: 'Eva', lastName: 'Beet' }, { headers });
  const both = await readFeed(tenant, 'resource=site,employee');
  assert.deepEqual(
    both.data.map(({ resource }) => resource),
    ['site', 'employee'],
  );
  const none = await readFeed(tenant, 'resource=contact-person');
  assert.deepEqual(none, { data: [], nextCursor: '3', hasMore: false });
  const first = await readFeed(tenant, 'resource=site,employee&limit=1');
  assert.deepEqual([first.nextCursor, first.hasMore], ['2', true]);
});

async function createLongJournal(entries: number) {
  const tenant = await service.createTenant();
  await service.owner.query(
    `INSERT INTO journal (tenant_id, position, resource, resource_id, action, version, actor, origin)
     SELECT $1, position, CASE WHEN position = $2 THEN 'site' ELSE 'customer' END, gen_random_uuid(), 'CREATED', 1, 'test',
       CASE WHEN position = $2 THEN NULL ELSE 'erp' END
     FROM generate_series(1, $2::bigint) AS position`,
    [tenant.tenantId, entries],
  );
  await service.owner.query('UPDATE journal_head SET last_position = $2 WHERE tenant_id = $1', [
    tenant.tenantId,
    entries,
  ]);
  return tenant;
}

test('a filter finds the last of 50,000 entries in one request, and no page but the last is empty', async () => {
  const { key } = await createLongJournal(50_000);
  const read = async (query: string) =>
    (await service.get(`/changes?${query}`, { headers: { apikey: key } })).json();
  for (const filter of ['resource=site', 'excludeOrigin=erp', 'resource=site,contract&excludeOrigin=erp']) {
    const { data, nextCursor, hasMore } = await read(filter);
    assert.deepEqual(
      [data.length, data[0].cursor, nextCursor, hasMore],
      [1, '50000', '50000', false],
      filter,
    );
  }
  assert.deepEqual(await read('resource=contract'), { data: [], nextCursor: '50000', hasMore: false });
  assert.deepEqual(await read('resource=site&after=50000'), {
    data: [],
    nextCursor: '50000',
    hasMore: false,
  });
});

test('a filter that finds nothing in time is overloaded, and retries reach the end', async () => {
  const { key } = await createLongJournal(200_000);
  const hasty = await startService({ connection: service.connection, REQUEST_DEADLINE_MS: 800 });
  // A first connection may take longer, and a database that has said nothing yet counts as away.
  await until('it is connected', async () => (await hasty.get('/customers')).statusCode === 200);
  for (;;) {
    const answer = await hasty.get('/changes?resource=site', { headers: { apikey: key } });
    if (answer.statusCode === 500) {
      assert.deepEqual(
        [answer.json().code, answer.headers['retry-after'] !== undefined],
        ['overloaded', true],
      );
      continue;
    }
    assert.deepEqual([answer.statusCode, answer.json().data[0]?.cursor], [200, '200000'], answer.body);
    break;
  }
  await hasty.close();
});

test('after=now begins with the next change', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  assert.deepEqual(await readFeed(tenant, 'after=now'), { data: [], nextCursor: '0', hasMore: false });
  await service.createCustomer({}, { headers });
  const { data, nextCursor } = await readFeed(tenant, 'after=now');
  assert.deepEqual([data, nextCursor], [[], '1']);
  const id = await service.createCustomer({}, { headers });
  assert.deepEqual(
    (await readFeed(tenant, `after=${nextCursor}`)).data.map((entry) => entry.id),
    [id],
  );
});

test('include=data adds each object as it is now, and nothing for a deleted one', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const kept = await service.createCustomer({ companyName: 'Erst' }, { headers });
  await service.patch(`/customers/${kept}`, { companyName: 'Dann' }, { headers });
  const gone = await service.createCustomer({}, { headers });
  await service.delete(`/customers/${gone}`, { headers });
  const site = await service.post('/customer/site', validSite(kept), { headers });
  const { data } = await readFeed(tenant, 'include=data');
  const stored = (await service.get(`/customers/${kept}`, { headers })).json();
  const storedSite = (await service.get(`/sites/${site.json().id}`, { headers })).json();
  assert.deepEqual(
    data.map((entry) => entry.data),
    [stored, stored, undefined, undefined, storedSite],
  );
  const filtered = await readFeed(tenant, 'include=data&resource=site');
  assert.deepEqual(filtered.data[0]!.data, storedSite);
});

test('answers with data end at about 4 MB and lead on', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const customerId = await service.createCustomer({}, { headers });
  const openingHours = Array.from({ length: 90 }, () => ({ note: 'x'.repeat(1000) }));
  for (let count = 0; count < 60; count++) {
    const response = await service.post(
      '/customer/site',
      { ...validSite(customerId), openingHours },
      { headers },
    );
    assert.equal(response.statusCode, 201, response.body);
  }
  const seen: string[] = [];
  let after = '0';
  for (let hasMore = true; hasMore; ) {
    const response = await service.get(`/changes?include=data&limit=1000&after=${after}`, { headers });
    assert.ok(response.body.length < 5 * 1024 * 1024);
    const page = response.json();
    seen.push(...page.data.map(({ cursor }: Change) => cursor));
    assert.ok(page.data.every(({ data }: { data?: unknown }) => data !== undefined));
    ({ hasMore, nextCursor: after } = page);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 61 }, (_, index) => String(index + 1)),
  );
});

test('the journal keeps who a writer says it is, and a reader can leave out its own writes', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const fromErp = { ...headers, 'stamm-origin': 'erp' };
  const erpId = await service.createCustomer({ externalId: 'K1' }, { headers: fromErp });
  const shopId = await service.createCustomer({}, { headers: { ...headers, 'stamm-origin': 'shop' } });
  const plainId = await service.createCustomer({}, { headers });
  await service.createCustomer({}, { headers: { ...fromErp, 'idempotency-key': 'one' } });
  await service.patch(`/customers/${plainId}`, { comment: 'x' }, { headers: fromErp });
  await service.put('/customers/by-external-id/K1', { ...validCustomer, comment: 'y' }, { headers: fromErp });
  await service.put('/customers/by-external-id/K2', validCustomer, { headers: fromErp });
  await service.delete(`/customers/${shopId}`, { headers: fromErp });
  for (const mode of ['each', 'all-or-nothing']) {
    const line = { type: 'customer', data: { ...validCustomer, externalId: mode } };
    const target = { port, key: tenant.key, query: `?mode=${mode}`, headers: { 'stamm-origin': 'erp' } };
    assert.equal((await sendImport(target, [line])).summary.created, 1);
  }
  const origins = (await readFeed(tenant, '')).data.map(({ origin }) => origin);
  assert.deepEqual(origins, ['erp', 'shop', undefined, ...Array(7).fill('erp')]);
  const others = await readFeed(tenant, 'excludeOrigin=erp');
  assert.deepEqual(
    others.data.map(({ id, action }) => [id, action]),
    [
      [shopId, 'CREATED'],
      [plainId, 'CREATED'],
    ],
  );
  assert.equal(others.nextCursor, '10');
  assert.ok(others.data.every(({ id }) => id !== erpId));
});

test('writes that arrive together keep their own origins', async () => {
  const tenant = await service.createTenant();
  const origins = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? undefined : `system ${index}`));
  const ids = await Promise.all(
    origins.map((origin) =>
      service.createCustomer(
        {},
        { headers: { apikey: tenant.key, ...(origin && { 'stamm-origin': origin }) } },
      ),
    ),
  );
  const { data } = await readFeed(tenant, '');
  assert.deepEqual(
    new Map(data.map(({ id, origin }) => [id, origin])),
    new Map(ids.map((id, index) => [id, origins[index]])),
  );
});

test('an origin that is blank, long or not printable is refused, and nothing is written', async () => {
  const tenant = await service.createTenant();
  for (const [origin, code] of [
    ['', 'blank'],
    ['x'.repeat(61), 'too_long'],
    ['Gärtnerei', 'not_printable'],
    ['a\tb', 'not_printable'],
  ]) {
    const headers = { apikey: tenant.key, 'stamm-origin': origin };
    const created = await service.post('/customer', validCustomer, { headers });
    const put = await service.put('/customers/by-external-id/K', validCustomer, { headers });
    const read = await service.get(`/changes?excludeOrigin=${encodeURIComponent(origin!)}`, { headers });
    for (const response of [created, put, read]) {
      assert.equal(response.statusCode, 400, response.body);
      assert.equal(response.json().errors[0].code, code);
    }
    assert.equal(created.json().errors[0].field, 'Stamm-Origin');
  }
  assert.deepEqual((await readFeed(tenant, '')).data, []);
});

test('types, inclusions and origins that do not exist are refused', async () => {
  for (const query of [
    'resource=sites',
    'resource=',
    'resource=site&resource=customer',
    'include=everything',
    'excludeOrigin=a&excludeOrigin=b',
    'after=NOW',
  ]) {
    const response = await service.get(`/changes?${query}`);
    assert.equal(response.statusCode, 400, query);
  }
});
