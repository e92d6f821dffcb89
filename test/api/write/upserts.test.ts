// Upserts that arrive together are compared and written together, and each of them behaves as if it were alone.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { noNames, skipOnCluster } from '../../helpers/cluster.ts';
import { startService, type Tenant, validCustomer, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { owner, put, createCustomer } = service;

const addressOf = (externalId: string) => `/customers/by-external-id/${externalId}`;
const upsert = (externalId: string, body: object = {}, { key }: Tenant = service.tenant) =>
  put(addressOf(externalId), { ...validCustomer, ...body }, { headers: { apikey: key } });

const merge = (externalId: string, body: object, { key }: Tenant = service.tenant) =>
  service.patch(addressOf(externalId), body, { headers: { apikey: key } });

function names(count: number): string[] {
  const prefix = randomUUID();
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function statusesOf(answers: readonly { statusCode: number }[]): number[] {
  return answers.map(({ statusCode }) => statusCode);
}

interface Entry {
  position: string;
  resource_id: string;
  version: number;
  action: string;
  changes: unknown;
}

async function journalOf({ tenantId }: Tenant): Promise<Entry[]> {
  const { rows } = await owner.query<Entry>(
    'SELECT position, resource_id, version, action, changes FROM journal WHERE tenant_id = $1 ORDER BY position',
    [tenantId],
  );
  return rows;
}

async function assertNoGaps(tenant: Tenant): Promise<Entry[]> {
  const entries = await journalOf(tenant);
  assert.deepEqual(
    entries.map(({ position }) => Number(position)),
    entries.map((_, index) => index + 1),
  );
  const byObject = Map.groupBy(entries, ({ resource_id: id }) => id);
  for (const own of byObject.values()) {
    assert.deepEqual(
      own.map(({ version }) => version),
      own.map((_, index) => index + 1),
    );
  }
  return entries;
}

/** How many statements with this beginning of a name the service sends while `work` runs. */
async function countNamed<Result>(name: string, work: () => Promise<Result>) {
  const { query } = pg.Client.prototype;
  let count = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
    const [statement] = parameters as [string | pg.QueryConfig];
    if (typeof statement !== 'string' && statement.name?.startsWith(name)) count++;
    return Reflect.apply(query, this, parameters);
  } as typeof query;
  try {
    return { result: await work(), count };
  } finally {
    pg.Client.prototype.query = query;
  }
}

/** Holds a lock in a transaction of its own while `work` runs. */
async function whileLocked(sql: string, values: unknown[], work: () => Promise<void>): Promise<void> {
  const holder = new pg.Client(service.connection);
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query(sql, values);
  try {
    await work();
  } finally {
    await holder.end();
  }
}

test('twenty upserts of one new external id make one object, with versions and journal without gaps', async () => {
  const tenant = await service.createTenant();
  const [externalId] = names(1);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, count) => upsert(externalId!, { comment: `${count}` }, tenant)),
  );
  assert.deepEqual(statusesOf(answers).sort(), [...Array(19).fill(200), 201]);
  assert.equal(new Set(answers.map((answer) => answer.json().id)).size, 1);
  const entries = await assertNoGaps(tenant);
  assert.equal(entries.length, 20);
  const { rows } = await owner.query('SELECT version FROM customer WHERE tenant_id = $1', [tenant.tenantId]);
  assert.deepEqual(rows, [{ version: 20 }]);
});

test('the same from two processes, again and again', async () => {
  const other = await startService({ connection: service.connection });
  const tenant = await service.createTenant();
  const [externalId] = names(1);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, count) => {
      const { put: send } = count % 2 === 0 ? service : other;
      const body = { ...validCustomer, comment: `${count}` };
      return send(addressOf(externalId!), body, { headers: { apikey: tenant.key } });
    }),
  );
  assert.deepEqual(statusesOf(answers).sort(), [...Array(59).fill(200), 201]);
  assert.equal((await assertNoGaps(tenant)).length, 60);
});

test('upserts of several tenants share statements, and each tenant gets its own objects', {
  skip: skipOnCluster(noNames),
}, async () => {
  const tenants = [service.tenant, await service.createTenant(), await service.createTenant()];
  const externalIds = names(30);
  const upsertAll = (comment: string) =>
    Promise.all(
      externalIds.flatMap((externalId) => tenants.map((tenant) => upsert(externalId, { comment }, tenant))),
    );
  const created = await upsertAll('first');
  assert.deepEqual(new Set(statusesOf(created)), new Set([201]));
  const { result: changed, count: updates } = await countNamed('update', () => upsertAll('second'));
  assert.deepEqual(new Set(statusesOf(changed)), new Set([200]));
  assert.ok(updates >= 1 && updates <= 30, `${updates} statements for 90 objects`);
  const { result: unchanged, count: comparisons } = await countNamed('read', () => upsertAll('second'));
  assert.deepEqual(new Set(statusesOf(unchanged)), new Set([200]));
  assert.ok(comparisons >= 1 && comparisons <= 30, `${comparisons} statements for 90 objects`);
  for (const answers of [changed, unchanged]) {
    assert.deepEqual(
      answers.map((answer) => answer.json().id),
      created.map((answer) => answer.json().id),
    );
  }
  for (const tenant of tenants.slice(1)) {
    const entries = await assertNoGaps(tenant);
    assert.equal(entries.filter(({ action }) => action === 'CREATED').length, 30);
    const changes = entries.filter(({ action }) => action === 'CHANGED');
    assert.equal(changes.length, 30);
    for (const entry of changes)
      assert.deepEqual(entry.changes, { comment: { from: 'first', to: 'second' } });
  }
});

test('an unchanged object is answered while somebody else holds the journal', async () => {
  const [externalId] = names(1);
  await upsert(externalId!, { comment: 'same' });
  const { tenantId } = service.tenant;
  await whileLocked('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenantId], async () => {
    const answer = await upsert(externalId!, { comment: 'same' });
    assert.equal(answer.statusCode, 200);
  });
});

test('merges of several tenants share statements, keep unsent fields, and answer with the object', {
  skip: skipOnCluster(noNames),
}, async () => {
  const tenants = [await service.createTenant(), await service.createTenant(), await service.createTenant()];
  const externalIds = names(30);
  const mergeAll = (body: object) =>
    Promise.all(
      externalIds.flatMap((externalId) => tenants.map((tenant) => merge(externalId, body, tenant))),
    );
  const assertObjects = async (answers: Awaited<ReturnType<typeof mergeAll>>) => {
    for (const [index, tenant] of tenants.entries()) {
      const { data } = (
        await service.get('/customers?limit=500', { headers: { apikey: tenant.key } })
      ).json();
      const own = answers.filter((_, place) => place % tenants.length === index);
      const byId = new Map(own.map((answer) => [answer.json().id, answer]));
      assert.equal(byId.size, 30);
      for (const stored of data) {
        const answer = byId.get(stored.id)!;
        assert.deepEqual(answer.json(), stored);
        assert.equal(answer.headers.etag, `"${stored.version}"`);
      }
    }
  };
  const { result: created, count: inserts } = await countNamed('insert', () =>
    mergeAll({ ...validCustomer, comment: 'kept' }),
  );
  assert.deepEqual(new Set(statusesOf(created)), new Set([201]));
  assert.ok(inserts >= 1 && inserts <= 30, `${inserts} statements for 90 objects`);
  await assertObjects(created);
  const { result: changed, count: updates } = await countNamed('update', () => mergeAll({ phone: '040 1' }));
  assert.deepEqual(new Set(statusesOf(changed)), new Set([200]));
  assert.ok(updates >= 1 && updates <= 30, `${updates} statements for 90 objects`);
  assert.equal(changed[0]!.json().comment, 'kept');
  await assertObjects(changed);
  const { result: unchanged, count: comparisons } = await countNamed('read', () =>
    mergeAll({ phone: '040 1' }),
  );
  assert.ok(comparisons >= 1 && comparisons <= 30, `${comparisons} statements for 90 objects`);
  await assertObjects(unchanged);
  for (const [answers, isChanged] of [
    [created, 'true'],
    [changed, 'true'],
    [unchanged, 'false'],
  ] as const)
    assert.deepEqual(new Set(answers.map(({ headers }) => headers['stamm-changed'])), new Set([isChanged]));
  for (const tenant of tenants) assert.equal((await assertNoGaps(tenant)).length, 60);
});

test('a merge that changes nothing is answered while somebody else holds the journal', async () => {
  const [externalId] = names(1);
  await upsert(externalId!, { comment: 'same' });
  const { tenantId } = service.tenant;
  await whileLocked('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenantId], async () => {
    const answer = await merge(externalId!, { comment: 'same' });
    assert.deepEqual([answer.statusCode, answer.json().comment], [200, 'same']);
  });
});

test('twenty merges of one new external id make one object, and lose no field', async () => {
  const tenant = await service.createTenant();
  const [externalId] = names(1);
  const fields = ['comment', 'phone', 'customerNumber', 'vatId'];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, count) =>
      merge(externalId!, { ...validCustomer, [fields[count % 4]!]: 'x' }, tenant),
    ),
  );
  assert.deepEqual(statusesOf(answers).sort(), [...Array(19).fill(200), 201]);
  const entries = await assertNoGaps(tenant);
  assert.equal(entries.length, 4, 'the creation and three more fields');
  const stored = (await service.get(addressOf(externalId!), { headers: { apikey: tenant.key } })).json();
  for (const field of fields) assert.equal(stored[field], 'x');
});

test('faulty merges are refused for their own reasons, and their neighbours are stored', async () => {
  const tenant = await service.createTenant();
  const externalIds = names(8);
  await Promise.all(externalIds.slice(0, 6).map((externalId) => upsert(externalId, {}, tenant)));
  const bodies: [object, number][] = [
    [{ comment: 'fine' }, 200],
    [{ comment: 5 }, 400],
    [{ companyName: null }, 400],
    [{ externalId: 'other' }, 400],
    [{ comentt: null }, 200],
    [{ customerNumber: 'N-1' }, 200],
    [{ companyName: 'incomplete' }, 400],
    [validCustomer, 201],
  ];
  const answers = await Promise.all(bodies.map(([body], index) => merge(externalIds[index]!, body, tenant)));
  assert.deepEqual(
    statusesOf(answers),
    bodies.map(([, status]) => status),
  );
  assert.equal(answers[4]!.headers['stamm-ignored-fields'], 'comentt');
  await assertNoGaps(tenant);
});

test('other spellings of the same values change nothing', async () => {
  const customerId = await createCustomer({ externalId: randomUUID() });
  const [externalId] = names(1);
  const put = (body: string) =>
    service.app.inject({
      method: 'PUT',
      url: `/api/v1/sites/by-external-id/${externalId}`,
      headers: { apikey: service.tenant.key, 'content-type': 'application/json' },
      payload: body,
    });
  const site = { ...validSite(customerId), callOutFee: 12.5, openingHours: [{ a: 1, b: 'x' }] };
  const first = await put(JSON.stringify(site));
  assert.equal(first.statusCode, 201, first.body);
  for (const body of [
    JSON.stringify(site, null, 2),
    JSON.stringify(site).replace('12.5', '1.25e1'),
    JSON.stringify({ ...site, customerId: customerId.toUpperCase() }),
  ]) {
    assert.equal((await put(body)).statusCode, 200, body);
  }
  assert.equal((await service.get(`/sites/${first.json().id}`)).json().version, 1);
});

test('an owner named by its external id is found, and a move to another owner is noted', async () => {
  const [one, two, externalId] = names(3);
  const ids = [await createCustomer({ externalId: one }), await createCustomer({ externalId: two })];
  const { customerId: _customerId, ...site } = validSite('');
  const send = (customerExternalId: string) =>
    put(`/sites/by-external-id/${externalId}`, { ...site, customerExternalId });
  const created = await send(one!);
  assert.equal(created.statusCode, 201, created.body);
  const siteOf = async () => (await service.get(`/sites/${created.json().id}`)).json();
  await send(one!);
  assert.deepEqual([(await siteOf()).customerId, (await siteOf()).version], [ids[0], 1]);
  await send(two!);
  assert.deepEqual([(await siteOf()).customerId, (await siteOf()).version], [ids[1], 2]);
  const refused = await send('nobody');
  assert.equal(refused.statusCode, 400);
  assert.equal((await siteOf()).version, 2);
  const move = (body: object) => service.patch(`/sites/by-external-id/${externalId}`, body);
  const moved = await move({ customerExternalId: one });
  assert.deepEqual([moved.statusCode, moved.json().customerId, moved.json().version], [200, ids[0], 3]);
  assert.equal((await move({ customerExternalId: 'nobody' })).statusCode, 400);
  assert.equal((await move({ customerExternalId: two, customerId: ids[0] })).statusCode, 400);
  const waiting = await move({ contractExternalId: 'LATER', customerId: ids[0] });
  assert.deepEqual([waiting.json().contractExternalId, waiting.json().version], ['LATER', 4]);
});

test('a faulty upsert is refused for its own reason, and its neighbours are stored', async () => {
  const tenant = await service.createTenant();
  const numbers = names(2).map((name) => name.slice(-30));
  const externalIds = names(12);
  await Promise.all(externalIds.map((externalId) => upsert(externalId, {}, tenant)));
  const [holder] = names(1);
  await upsert(holder!, { customerNumber: numbers[0] }, tenant);
  const bodies = externalIds.map((_, index) => {
    if (index === 3) return { customerNumber: numbers[0] };
    // Two that claim one free number: one of them gets it.
    if (index === 5 || index === 6) return { customerNumber: numbers[1] };
    return { comment: 'changed' };
  });
  const answers = await Promise.all(
    externalIds.map((externalId, index) => upsert(externalId, bodies[index], tenant)),
  );
  const statuses = statusesOf(answers);
  assert.equal(answers[3]!.json().field, 'customerNumber');
  assert.deepEqual([statuses[5], statuses[6]].sort(), [200, 409]);
  assert.deepEqual(
    statuses.filter((_, index) => ![5, 6].includes(index)),
    [200, 200, 200, 409, 200, 200, 200, 200, 200, 200],
  );
  await assertNoGaps(tenant);
});

test('an object that somebody else has locked delays its own upsert only', async () => {
  const externalIds = names(10);
  await Promise.all(externalIds.map((externalId) => upsert(externalId)));
  let waiting: ReturnType<typeof upsert> | undefined;
  await whileLocked(
    'SELECT FROM customer WHERE tenant_id = $1 AND external_id = $2 FOR UPDATE',
    [service.tenant.tenantId, externalIds[0]],
    async () => {
      waiting = upsert(externalIds[0]!, { comment: 'late' });
      const others = await Promise.all(
        externalIds.slice(1).map((externalId) => upsert(externalId, { comment: 'early' })),
      );
      assert.deepEqual(new Set(statusesOf(others)), new Set([200]));
      assert.equal(await Promise.race([waiting, nextTurn('waits')]), 'waits');
    },
  );
  assert.equal((await waiting!).statusCode, 200);
});

test('If-Match and If-None-Match are obeyed in a batch', async () => {
  const externalIds = names(4);
  await upsert(externalIds[0]!);
  await upsert(externalIds[1]!);
  const conditional = (externalId: string, headers: Record<string, string>) =>
    put(addressOf(externalId), { ...validCustomer, comment: 'x' }, { headers });
  const answers = await Promise.all([
    conditional(externalIds[0]!, { 'if-match': '"1"' }),
    conditional(externalIds[1]!, { 'if-match': '"7"' }),
    conditional(externalIds[2]!, { 'if-match': '"1"' }),
    conditional(externalIds[3]!, { 'if-none-match': '*' }),
  ]);
  assert.deepEqual(statusesOf(answers), [200, 412, 412, 201]);
});

test('upserts whose connections are cut give no false answer', async () => {
  const tenant = await service.createTenant();
  const externalIds = names(40);
  const confirmed = new Map<string, number>();
  let isOver = false;
  const write = async (externalId: string) => {
    for (let count = 1; !isOver; count++) {
      const answer = await upsert(externalId, { comment: `${count}` }, tenant);
      assert.ok([200, 201, 500].includes(answer.statusCode), answer.body);
      if (answer.statusCode < 300) confirmed.set(externalId, count);
    }
  };
  const writers = Promise.all(externalIds.map(write));
  const { database, user } = service.serviceConnection;
  for (let cut = 0; cut < 5; cut++) {
    const before = [...confirmed.values()].reduce((sum, count) => sum + count, 0);
    await until(
      'it works',
      () => [...confirmed.values()].reduce((sum, count) => sum + count, 0) > before + 40,
    );
    await owner.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = $2',
      [database, user],
    );
  }
  isOver = true;
  await writers;
  const { rows } = await owner.query<{ external_id: string; comment: string }>(
    'SELECT external_id, comment FROM customer WHERE tenant_id = $1',
    [tenant.tenantId],
  );
  const stored = new Map(rows.map((row) => [row.external_id, Number(row.comment)]));
  // A write that was not confirmed may be stored.
  for (const [externalId, count] of confirmed) {
    const comment = stored.get(externalId)!;
    assert.ok(comment >= count, `${externalId}: ${comment} is stored, ${count} was confirmed`);
  }
  await assertNoGaps(tenant);
});
