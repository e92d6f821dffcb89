// Webhooks as an integration manages them, with its key.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { pino } from 'pino';
import { WebhookSender } from '../../../server/features/webhooks/sender.ts';
import { Notices } from '../../../server/mail/notices.ts';
import { resources } from '../../../server/resources/index.ts';
import { startService, type Tenant, validCustomer } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { startReceiver, verify } from './webhook-receiver.ts';

const allowed = { WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_PRIVATE: true };
const service = await startService(allowed);
const guarded = await startService();
const { database, owner } = service;
const url = 'https://erp.example/stamm?token=x';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const headersOf = ({ key }: Tenant) => ({ headers: { apikey: key } });

async function create(tenant: Tenant, body: object) {
  const response = await service.post('/webhooks', body, headersOf(tenant));
  assert.equal(response.statusCode, 201, response.body);
  return response.json() as { id: string; secret: string };
}

test('a webhook is created, listed, read, changed and deleted, and its secret is shown once', async () => {
  const tenant = await service.createTenant();
  const { id, secret } = await create(tenant, { url, resources: ['site'], excludeOrigin: 'erp' });
  assert.match(secret, /^whsec_/);
  const list = await service.get('/webhooks', headersOf(tenant));
  assert.ok(!list.body.includes(secret));
  const [found] = list.json().data;
  assert.deepEqual(
    [found.id, found.url, found.resources, found.actions, found.excludeOrigin],
    [id, url, ['site'], null, 'erp'],
  );
  const changes = { actions: ['DELETED'], excludeOrigin: null };
  const changed = await service.patch(`/webhooks/${id}`, changes, headersOf(tenant));
  const read = await service.get(`/webhooks/${id}`, headersOf(tenant));
  assert.deepEqual(changed.json(), read.json());
  const { resources: types, actions, excludeOrigin } = read.json();
  assert.deepEqual([types, actions, excludeOrigin], [['site'], ['DELETED'], null]);
  assert.equal((await service.delete(`/webhooks/${id}`, headersOf(tenant))).statusCode, 204);
  assert.equal((await service.get(`/webhooks/${id}`, headersOf(tenant))).statusCode, 404);
});

test('an endpoint gets the actions that it wants, and nothing that its own system wrote', async () => {
  const tenant = await service.createTenant();
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const wanted = { url: receiver.url, actions: ['CREATED', 'DELETED'], excludeOrigin: 'erp' };
  const { secret } = await create(tenant, wanted);
  const from = (origin?: string) => ({
    headers: { apikey: tenant.key, ...(origin && { 'stamm-origin': origin }) },
  });
  const own = await service.createCustomer({ externalId: 'own' }, from('erp'));
  const other = await service.createCustomer({ externalId: 'shop' }, from('shop'));
  await service.createCustomer({ externalId: 'office' }, from());
  await service.patch(`/customers/${other}`, { phone: '1' }, from('shop'));
  await service.delete(`/customers/${own}`, from('erp'));
  await service.delete(`/customers/${other}`, from());
  const sender = new WebhookSender({
    config: allowed,
    database,
    resources,
    notices: new Notices(undefined, database),
    log: pino({ level: 'silent' }),
    limits: { pollMs: 20 },
  });
  sender.start();
  cleanups.push(() => sender.stop());
  await until('the end of the journal', async () => {
    const { rows } = await owner.query('SELECT last_position FROM webhook WHERE tenant_id = $1', [
      tenant.tenantId,
    ]);
    return rows[0].last_position === '6';
  });
  for (const one of receiver.received) verify(one, secret);
  assert.deepEqual(
    receiver.received.map(({ message }) => `${message.type} ${message.data.externalId}`),
    ['customer.created shop', 'customer.created office', 'customer.deleted shop'],
  );
});

test('a test is sent at once, and the answer of the receiver comes back', async () => {
  const tenant = await service.createTenant();
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const { id } = await create(tenant, { url: receiver.url });
  const response = await service.post(`/webhooks/${id}/test`, '', headersOf(tenant));
  assert.deepEqual([response.statusCode, response.json().status], [200, 200]);
  assert.equal(receiver.received[0]!.message.type, 'stamm.test');
});

test('what the office refuses is refused here: addresses, choices, the eleventh, other businesses', async () => {
  const tenant = await service.createTenant();
  const codesOf = (response: { json(): { errors: { field: string; code: string }[] } }) =>
    response.json().errors.map(({ field, code }) => `${field} ${code}`);
  const wrong = { url: 'ftp://x', resources: ['customers'], actions: ['MOVED'], excludeOrigin: 'ü' };
  assert.deepEqual(codesOf(await service.post('/webhooks', wrong, headersOf(tenant))), [
    'url invalid_url',
    'resources invalid_choice',
    'actions invalid_choice',
    'excludeOrigin not_printable',
  ]);
  const paged = await service.get('/webhooks?limit=1', headersOf(tenant));
  assert.equal(paged.json().errors[0].message, 'Unknown parameter. Known: none.');
  const local = await guarded.post('/webhooks', { url: 'https://127.0.0.1/' });
  assert.deepEqual(codesOf(local), ['url private_address']);
  assert.match(local.json().errors[0].message, /WEBHOOK_ALLOW_PRIVATE/);
  assert.deepEqual(codesOf(await guarded.post('/webhooks', { url: 'http://erp.example/' })), [
    'url https_required',
  ]);
  const { id } = await create(tenant, { url });
  const stranger = headersOf(await service.createTenant());
  assert.equal((await service.patch(`/webhooks/${id}`, { url }, stranger)).statusCode, 404);
  assert.equal((await service.delete(`/webhooks/${id}`, stranger)).statusCode, 404);
  assert.equal((await service.post(`/webhooks/${id}/test`, '', stranger)).statusCode, 404);
  for (let number = 2; number <= 10; number += 1) await create(tenant, { url });
  const eleventh = await service.post('/webhooks', { url }, headersOf(tenant));
  assert.deepEqual([eleventh.statusCode, eleventh.json().code], [409, 'too_many_webhooks']);
});

test('the same Idempotency-Key creates one webhook and answers the same secret', async () => {
  const tenant = await service.createTenant();
  const send = (body: object, query = '') =>
    service.post(`/webhooks${query}`, body, {
      headers: { apikey: tenant.key, 'idempotency-key': 'webhook-of-erp' },
    });
  const countWebhooks = async () => (await service.get('/webhooks', headersOf(tenant))).json().data.length;
  assert.equal((await send({ url }, '?dryRun=true')).statusCode, 200);
  const together = await Promise.all([send({ url }), send({ url }), send({ url })]);
  const created = together.filter(({ statusCode }) => statusCode === 201);
  assert.ok(created.length >= 1);
  for (const { statusCode, body } of together)
    if (statusCode !== 201)
      assert.deepEqual([statusCode, JSON.parse(body).code], [409, 'request_in_progress']);
  const again = await send({ url });
  assert.equal(again.headers['idempotency-replayed'], 'true');
  for (const { body } of created) assert.equal(body, again.body);
  assert.match(again.json().secret, /^whsec_/);
  assert.equal(await countWebhooks(), 1);
  const reused = await send({ url, resources: ['site'] });
  assert.deepEqual([reused.statusCode, reused.json().code], [422, 'idempotency_key_reused']);
  await service.delete(`/webhooks/${again.json().id}`, headersOf(tenant));
  const fresh = await send({ url });
  assert.equal(fresh.statusCode, 201);
  assert.notEqual(fresh.json().secret, again.json().secret);
  assert.equal(await countWebhooks(), 1);
});

test('a dry run stores nothing, unknown fields are named, and the audit record names key and host', async () => {
  const tenant = await service.createTenant();
  const body = { url, secrt: 'x' };
  const tried = await service.post('/webhooks?dryRun=true', body, headersOf(tenant));
  assert.deepEqual(tried.json(), { dryRun: true, attention: [], ignoredFields: ['secrt'] });
  assert.equal(tried.headers['stamm-ignored-fields'], 'secrt');
  assert.equal((await service.get('/webhooks', headersOf(tenant))).json().data.length, 0);
  const { id } = await create(tenant, { url });
  await service.delete(`/webhooks/${id}?dryRun=true`, headersOf(tenant));
  const { rows } = await owner.query(
    'SELECT event, actor_type, subject FROM audit_entry WHERE tenant_id = $1 AND subject_id = $2',
    [tenant.tenantId, id],
  );
  assert.deepEqual(rows, [{ event: 'WEBHOOK_CREATED', actor_type: 'KEY', subject: 'erp.example' }]);
});

test('the record of calls holds neither the secret nor the rest of the address', async () => {
  const tenant = await service.createTenant();
  const { secret } = await create(tenant, { url, unknown: validCustomer });
  await until('the call is recorded', async () => {
    const { rows } = await owner.query('SELECT * FROM recorded_request WHERE tenant_id = $1', [
      tenant.tenantId,
    ]);
    assert.ok(!JSON.stringify(rows).includes(secret));
    assert.ok(!JSON.stringify(rows).includes('token=x'));
    return rows.length > 0;
  });
});
