import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tenant } from '../service.ts';
import { startService, validCustomer, validSite } from '../service.ts';

const service = await startService();
const other = await startService({ connection: service.connection });

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
    assert.equal(entry.version, (versions.get(entry.id) ?? 0) + 1, 'each object is told in its own order');
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
