// Writers that cross each other: each gets an answer that is right in some order, and never a 500.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pino } from 'pino';
import { buildApp } from '../../../server/app/app.ts';
import { untilLocked } from '../../helpers/locks.ts';
import { generousLimits, startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const { post, patch, put, delete: remove, createCustomer } = service;

function statusesOf(answers: readonly { statusCode: number }[]): number[] {
  return answers.map(({ statusCode }) => statusCode).sort();
}

async function repeat(times: number, round: () => Promise<void>): Promise<void> {
  for (let count = 0; count < times; count++) await round();
}

test('an owner that is created at the same time is there, or is not', async () => {
  await repeat(40, async () => {
    const externalId = randomUUID();
    const { customerId: _customerId, ...site } = validSite('');
    const [owner, owned] = await Promise.all([
      post('/customer', { ...validCustomer, externalId }),
      post('/customer/site', { ...site, customerExternalId: externalId }),
    ]);
    assert.equal(owner.statusCode, 201);
    assert.ok([201, 400].includes(owned.statusCode), owned.body);
  });
});

test('an owner that is deleted at the same time has dependants, or they have no owner', async () => {
  await repeat(40, async () => {
    const id = await createCustomer();
    const [deleted, created] = await Promise.all([
      remove(`/customers/${id}`),
      post('/customer/site', validSite(id)),
    ]);
    const outcome = [deleted.statusCode, created.statusCode].join();
    assert.ok(['204,400', '409,201'].includes(outcome), outcome);
  });
});

test('four upserts of one new external id create it once and replace it three times', async () => {
  await repeat(25, async () => {
    const address = `/customers/by-external-id/${randomUUID()}`;
    const bodies = [1, 2, 3, 4].map((count) => ({ ...validCustomer, comment: String(count) }));
    const answers = await Promise.all(bodies.map((body) => put(address, body)));
    assert.deepEqual(statusesOf(answers), [200, 200, 200, 201]);
    assert.equal(new Set(answers.map((answer) => answer.json().id)).size, 1);
  });
});

test('changes of a customer and creations of its sites do not wait in a circle', async () => {
  const id = await createCustomer();
  const changes = Array.from({ length: 40 }, (_, count) =>
    patch(`/customers/${id}`, { comment: String(count) }),
  );
  const creations = Array.from({ length: 40 }, () => post('/customer/site', validSite(id)));
  assert.deepEqual(new Set(statusesOf(await Promise.all(changes))), new Set([200]));
  assert.deepEqual(new Set(statusesOf(await Promise.all(creations))), new Set([201]));
});

test('of two that claim one number at the same time one gets it', async () => {
  await repeat(20, async () => {
    const [one, two] = [await createCustomer(), await createCustomer()];
    const change = { customerNumber: randomUUID().slice(0, 30) };
    const answers = await Promise.all([
      patch(`/customers/${one}`, change),
      patch(`/customers/${two}`, change),
    ]);
    assert.deepEqual(statusesOf(answers), [200, 409]);
  });
});

test('a tenant whose journal somebody holds holds up no other tenant, even of the same batch', async () => {
  const held = service.tenant;
  const others = [await service.createTenant(), await service.createTenant(), await service.createTenant()];
  await service.owner.query('BEGIN');
  await service.owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [held.tenantId]);
  let isReleased = false;
  const waiting = post('/customer', validCustomer).then((answer) => ({ answer, isReleased }));
  // Those who have been in a batch with it come again, and are not kept out by it either.
  for (const _ of ['together', 'afterwards']) {
    const answers = await Promise.all(
      [...others, ...others].map(({ key }) => post('/customer', validCustomer, { headers: { apikey: key } })),
    );
    assert.deepEqual(statusesOf(answers), [201, 201, 201, 201, 201, 201]);
  }
  isReleased = true;
  await service.owner.query('COMMIT');
  const { answer, isReleased: waited } = await waiting;
  assert.equal(answer.statusCode, 201);
  assert.ok(waited);
});

test('a stored creation is answered with 201, also if the obstacle of its neighbour is gone', async () => {
  const customerNumber = randomUUID().slice(0, 30);
  const id = await createCustomer({ customerNumber });
  const { database, owner, tenant } = service;
  // The moment between the statement that writes and the look at what it did not write.
  const queryInTenants = (async (tenantIds, query, options) => {
    if (options?.isPlannedOnce) await owner.query('DELETE FROM customer WHERE id = $1', [id]);
    return database.queryInTenants(tenantIds, query, options);
  }) as typeof database.queryInTenants;
  const app = await buildApp(generousLimits, { ...database, queryInTenants }, pino({ level: 'silent' }));
  const create = (body: object) =>
    app.inject({
      method: 'POST',
      url: '/api/v1/customer',
      headers: { apikey: tenant.key, 'content-type': 'application/json' },
      payload: JSON.stringify({ ...validCustomer, ...body }),
    });
  const answers = await Promise.all([create({}), create({ customerNumber }), create({})]);
  assert.deepEqual(statusesOf(answers), [201, 201, 201]);
  await app.close();
});

test('who waits for another is answered, also where the server itself would not let anybody wait', async () => {
  const connection = { ...service.connection, options: '-c lock_timeout=20' };
  const impatient = await startService({ connection });
  const { owner, tenant } = impatient;
  const id = await impatient.createCustomer();
  await owner.query('BEGIN');
  await owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenant.tenantId]);
  const answers = Promise.all([
    impatient.post('/customer', validCustomer),
    impatient.patch(`/customers/${id}`, { comment: 'later' }),
  ]);
  await untilLocked(owner, 2, 100);
  await owner.query('COMMIT');
  assert.deepEqual(statusesOf(await answers), [200, 201]);
});
