import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { afterEach, test } from 'node:test';
import { pino } from 'pino';
import { trimDeliveries } from '../../../server/features/webhooks/deliveries.ts';
import {
  createEndpoint,
  pauseEndpoint,
  replaceSecret,
  resendSince,
  resumeEndpoint,
} from '../../../server/features/webhooks/endpoints.ts';
import { type SenderLimits, WebhookSender } from '../../../server/features/webhooks/sender.ts';
import { Notices } from '../../../server/mail/notices.ts';
import { resources } from '../../../server/resources/index.ts';
import type { Tenant } from '../../helpers/service.ts';
import { startService, validSite } from '../../helpers/service.ts';
import { until, within } from '../../helpers/waiting.ts';
import { type Behaviour, startReceiver, verify } from './webhook-receiver.ts';

const allowed = { WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_PRIVATE: true };
const service = await startService(allowed);
const { owner, database } = service;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const quick: Partial<SenderLimits> = { pollMs: 20, pauseSeconds: () => 0.05 };

interface SenderSettings {
  config?: ConstructorParameters<typeof WebhookSender>[0]['config'];
  limits?: Partial<SenderLimits>;
  notices?: Notices;
}

/** Stopped after the test, or with the function that this answers with. */
function startSender({ config = allowed, limits = {}, notices }: SenderSettings = {}) {
  const sender = new WebhookSender({
    config,
    database,
    resources,
    notices: notices ?? new Notices(undefined, database),
    log: pino({ level: 'silent' }),
    limits: { ...quick, ...limits },
  });
  sender.start();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= sender.stop();
    return stopping;
  };
  cleanups.push(stop);
  return stop;
}

async function startEndpoint(behaviour?: Behaviour, wanted: string[] | null = null) {
  const tenant = await service.createTenant();
  const receiver = await startReceiver(behaviour);
  cleanups.push(() => receiver.close());
  const { id, secret } = await createEndpoint(owner, tenant.tenantId, {
    url: receiver.url,
    resources: wanted,
  });
  return { ...tenant, receiver, id, secret };
}

async function createCustomers(tenant: Tenant, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    ids.push(await service.createCustomer({ companyName: `${index}` }, { headers: { apikey: tenant.key } }));
  }
  return ids;
}

const positions = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

async function readRow(tenantId: string) {
  const { rows } = await owner.query('SELECT * FROM webhook WHERE tenant_id = $1 ORDER BY id', [tenantId]);
  return rows[0];
}

async function readLog(tenantId: string) {
  const { rows } = await owner.query('SELECT * FROM webhook_delivery WHERE tenant_id = $1 ORDER BY id', [
    tenantId,
  ]);
  return rows;
}

test('changes arrive signed and in order, with the object as it is', async () => {
  const endpoint = await startEndpoint();
  const headers = { apikey: endpoint.key, 'stamm-origin': 'erp' };
  const id = await service.createCustomer({ externalId: 'K1', phone: '1' }, { headers });
  await service.patch(`/customers/${id}`, { phone: '2' }, { headers });
  const employee = await service.post('/contact-person', {}, { headers });
  assert.notEqual(employee.statusCode, 201);
  const stored = (await service.get(`/customers/${id}`, { headers })).json();
  const stop = startSender();
  await until('both changes', () => endpoint.receiver.received.length >= 2);
  await service.delete(`/customers/${id}`, { headers });
  await until('the deletion', () => endpoint.receiver.received.length >= 3);
  await until('the log', async () => (await readLog(endpoint.tenantId)).length === 3);
  await stop();
  const { received } = endpoint.receiver;
  for (const one of received) verify(one, endpoint.secret);
  assert.throws(() => verify(received[0]!, 'whsec_AAAA'));
  assert.deepEqual(
    received.map(({ message }) => message.type),
    ['customer.created', 'customer.changed', 'customer.deleted'],
  );
  const { timestamp, data } = received[1]!.message;
  assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 3_600_000);
  assert.deepEqual(data, {
    resource: 'customer',
    id,
    externalId: 'K1',
    version: 2,
    action: 'CHANGED',
    cursor: '2',
    origin: 'erp',
    changes: { phone: { from: '1', to: '2' } },
    object: stored,
  });
  assert.equal(received[2]!.message.data.object, undefined);
  assert.deepEqual(
    received.map(({ headers: one }) => one['webhook-id']),
    positions(3).map((position) => `${endpoint.id}_${position}`),
  );
  const log = await readLog(endpoint.tenantId);
  assert.deepEqual(
    log.map(({ status, answer, position }) => [status, answer, position]),
    positions(3).map((position) => [200, 'thank you', position]),
  );
});

test('an endpoint gets the types that it wants, and passes the others', async () => {
  const endpoint = await startEndpoint(undefined, ['site']);
  const [customerId] = await createCustomers(endpoint, 3);
  await service.post('/customer/site', validSite(customerId!), { headers: { apikey: endpoint.key } });
  await createCustomers(endpoint, 2);
  startSender();
  await until('the end of the journal', async () => (await readRow(endpoint.tenantId)).last_position === '6');
  assert.deepEqual(endpoint.receiver.cursors(), ['4']);
});

test('a receiver that fails, breaks connections, redirects and answers nonsense gets everything in order', async () => {
  const elsewhere = await startReceiver();
  cleanups.push(() => elsewhere.close());
  let count = 0;
  const endpoint = await startEndpoint((_received, response, request) => {
    const faults = [
      () => response.writeHead(500).end('broken'),
      () => request.socket.destroy(),
      () => response.writeHead(302, { location: elsewhere.url }).end(),
      () => request.socket.end('nonsense\r\n\r\n'),
      () => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(),
      () => response.end('fine'),
    ];
    faults[count++ % faults.length]!();
  });
  await createCustomers(endpoint, 4);
  startSender();
  await until('all changes', async () => (await readRow(endpoint.tenantId)).last_position === '4');
  const { received } = endpoint.receiver;
  assert.deepEqual(
    received.map(({ message }) => message.data.cursor),
    positions(4).flatMap((position) => Array(6).fill(position)),
  );
  assert.deepEqual(elsewhere.received, []);
  const log = await readLog(endpoint.tenantId);
  assert.deepEqual(
    log.slice(0, 6).map(({ status, error }) => status ?? error),
    [500, 'connection_failed', 302, 'connection_failed', 'connection_failed', 200],
  );
  assert.equal(log[0].answer, 'broken');
});

test('a receiver that never answers is given up on in time and tried again', async () => {
  const endpoint = await startEndpoint(() => {});
  await createCustomers(endpoint, 1);
  startSender({ config: { ...allowed, webhookLimits: { timeoutMs: 300 } } });
  await until('two attempts', async () => (await readLog(endpoint.tenantId)).length >= 2);
  assert.equal((await readLog(endpoint.tenantId))[0].error, 'timeout');
  endpoint.receiver.accept();
  await until('the delivery', async () => (await readRow(endpoint.tenantId)).last_position === '1');
});

test('an answer without an end is cut off, and its status counts', async () => {
  const endpoint = await startEndpoint((_received, response) => {
    const chunk = 'x'.repeat(1000);
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', pour);
    pour();
  });
  await createCustomers(endpoint, 2);
  startSender();
  await until('both deliveries', async () => (await readRow(endpoint.tenantId)).last_position === '2');
  assert.equal((await readLog(endpoint.tenantId))[0].answer.length, 1024);
});

test('a receiver that dies and comes back misses nothing', async () => {
  const endpoint = await startEndpoint();
  startSender();
  await createCustomers(endpoint, 2);
  await until('the first two', () => endpoint.receiver.received.length === 2);
  await endpoint.receiver.close();
  await createCustomers(endpoint, 3);
  await until('a failure', async () => (await readRow(endpoint.tenantId)).failed_attempts > 1);
  await endpoint.receiver.open();
  await until('the rest', async () => (await readRow(endpoint.tenantId)).last_position === '5');
  assert.deepEqual(endpoint.receiver.cursors(), positions(5));
  const { failed_attempts, failing_since } = await readRow(endpoint.tenantId);
  assert.deepEqual([failed_attempts, failing_since], [0, null]);
});

test('a receiver that hangs does not hold up another of the same business', async () => {
  const slow = await startEndpoint(() => {});
  const quickReceiver = await startReceiver();
  cleanups.push(() => quickReceiver.close());
  await createEndpoint(owner, slow.tenantId, { url: quickReceiver.url, resources: null });
  await createCustomers(slow, 20);
  startSender();
  await until('the quick one', () => quickReceiver.received.length === 20);
  assert.equal(slow.receiver.received.length, 1);
  assert.equal((await readRow(slow.tenantId)).last_position, '0');
});

test('long backlogs take turns', async () => {
  const first = await startEndpoint();
  const second = await startEndpoint();
  await createCustomers(first, 30);
  await createCustomers(second, 30);
  startSender({ limits: { mostEndpoints: 1, turnMs: 1 } });
  await until('both', () => first.receiver.received.length === 30 && second.receiver.received.length === 30);
  assert.deepEqual(first.receiver.cursors(), positions(30));
  assert.deepEqual(second.receiver.cursors(), positions(30));
});

test('several senders share an endpoint without repeating or reordering anything', async () => {
  const endpoint = await startEndpoint();
  for (let count = 0; count < 4; count++) startSender({ limits: { turnMs: 1 } });
  await createCustomers(endpoint, 40);
  await until('all', async () => (await readRow(endpoint.tenantId)).last_position === '40');
  assert.deepEqual(
    endpoint.receiver.received.map(({ message }) => message.data.cursor),
    positions(40),
  );
});

test('a sender that lost its lease cuts its request off and cannot move the cursor', async () => {
  const { promise: cutOff, resolve } = Promise.withResolvers<void>();
  const endpoint = await startEndpoint((_received, _response, request) =>
    request.socket.once('close', resolve),
  );
  await createCustomers(endpoint, 1);
  startSender({ limits: { leaseMs: 1000 } });
  await until('the request', () => endpoint.receiver.received.length === 1);
  await owner.query(
    `UPDATE webhook SET lease = $2, leased_until = now() + interval '1 hour' WHERE tenant_id = $1`,
    [endpoint.tenantId, randomUUID()],
  );
  await within('the end of the request', cutOff);
  const { last_position, failed_attempts } = await readRow(endpoint.tenantId);
  assert.deepEqual([last_position, failed_attempts], ['0', 0]);
  assert.deepEqual(await readLog(endpoint.tenantId), []);
  endpoint.receiver.accept();
  await owner.query('UPDATE webhook SET leased_until = now() WHERE tenant_id = $1', [endpoint.tenantId]);
  await until('the next sender', async () => (await readRow(endpoint.tenantId)).last_position === '1');
});

test('status 410 pauses the endpoint, and resuming goes on where it stopped', async () => {
  const endpoint = await startEndpoint((_received, response) => response.writeHead(410).end());
  await createCustomers(endpoint, 2);
  startSender();
  await until('the pause', async () => (await readRow(endpoint.tenantId)).paused_because === 'GONE');
  assert.equal(endpoint.receiver.received.length, 1);
  endpoint.receiver.accept();
  await resumeEndpoint(owner, endpoint.tenantId, endpoint.id);
  await until('the rest', async () => (await readRow(endpoint.tenantId)).last_position === '2');
  assert.deepEqual(endpoint.receiver.cursors(), positions(2));
});

test('after three days of failures the endpoint is paused', async () => {
  const endpoint = await startEndpoint((_received, response) => response.writeHead(503).end());
  await createCustomers(endpoint, 1);
  startSender();
  await until('a failure', async () => (await readRow(endpoint.tenantId)).failed_attempts > 0);
  assert.equal((await readRow(endpoint.tenantId)).paused_because, null);
  await owner.query(`UPDATE webhook SET failing_since = now() - interval '3 days' WHERE tenant_id = $1`, [
    endpoint.tenantId,
  ]);
  await until('the pause', async () => (await readRow(endpoint.tenantId)).paused_because === 'FAILED');
});

test('Retry-After is obeyed', async () => {
  const endpoint = await startEndpoint((_received, response) =>
    response.writeHead(429, { 'retry-after': '3600' }).end(),
  );
  await createCustomers(endpoint, 1);
  startSender({ limits: { pauseSeconds: (_failures, retryAfterSeconds) => retryAfterSeconds ?? 0 } });
  await until('a failure', async () => (await readRow(endpoint.tenantId)).failed_attempts === 1);
  const { rows } = await owner.query(
    `SELECT next_attempt_at > now() + interval '50 minutes' AS waits FROM webhook WHERE tenant_id = $1`,
    [endpoint.tenantId],
  );
  assert.equal(rows[0].waits, true);
});

test('a paused endpoint gets nothing, and later everything', async () => {
  const endpoint = await startEndpoint();
  const other = await startEndpoint();
  await pauseEndpoint(owner, endpoint.tenantId, endpoint.id);
  await createCustomers(endpoint, 3);
  startSender();
  await createCustomers(other, 1);
  await until('another endpoint', () => other.receiver.received.length === 1);
  assert.equal(endpoint.receiver.received.length, 0);
  await resumeEndpoint(owner, endpoint.tenantId, endpoint.id);
  await until('the rest', () => endpoint.receiver.received.length === 3);
});

test('for a day after its replacement the old secret signs too', async () => {
  const endpoint = await startEndpoint();
  const secret = await replaceSecret(owner, endpoint.tenantId, endpoint.id);
  await createCustomers(endpoint, 1);
  startSender();
  await until('the first', () => endpoint.receiver.received.length === 1);
  verify(endpoint.receiver.received[0]!, endpoint.secret);
  verify(endpoint.receiver.received[0]!, secret);
  await owner.query('UPDATE webhook SET previous_secret_ends_at = now() WHERE tenant_id = $1', [
    endpoint.tenantId,
  ]);
  await trimDeliveries(database);
  assert.equal((await readRow(endpoint.tenantId)).previous_secret, null);
  await createCustomers(endpoint, 1);
  await until('the second', () => endpoint.receiver.received.length === 2);
  verify(endpoint.receiver.received[1]!, secret);
  assert.throws(() => verify(endpoint.receiver.received[1]!, endpoint.secret));
});

test('everything since a moment is sent again, in order', async () => {
  const endpoint = await startEndpoint();
  startSender();
  await createCustomers(endpoint, 3);
  await until('the first', async () => (await readRow(endpoint.tenantId)).last_position === '3');
  const log = await readLog(endpoint.tenantId);
  const resent = await resendSince(owner, endpoint.tenantId, endpoint.id, log[1].at);
  assert.equal(resent.entries, 2);
  await until('the repetition', () => endpoint.receiver.received.length === 5);
  assert.deepEqual(
    endpoint.receiver.received.map(({ message }) => message.data.cursor),
    ['1', '2', '3', '2', '3'],
  );
  const nothing = await resendSince(owner, endpoint.tenantId, endpoint.id, new Date(Date.now() + 60_000));
  assert.deepEqual(nothing, { from: null, entries: 0 });
});

test('entries that are gone from the journal are skipped, and the log says so', async () => {
  const endpoint = await startEndpoint();
  await createCustomers(endpoint, 6);
  await owner.query('DELETE FROM journal WHERE tenant_id = $1 AND position <= 4', [endpoint.tenantId]);
  startSender();
  await until('the rest', async () => (await readRow(endpoint.tenantId)).last_position === '6');
  assert.deepEqual(endpoint.receiver.cursors(), ['5', '6']);
  const [skipped] = await readLog(endpoint.tenantId);
  assert.deepEqual([skipped.error, skipped.answer], ['skipped', '4']);
});

test('addresses of the own network are refused when they are sent to, however the endpoint was made', async () => {
  const endpoint = await startEndpoint();
  await createCustomers(endpoint, 1);
  const reasons: string[] = [];
  for (const config of [
    { WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_PRIVATE: false },
    { WEBHOOK_ALLOW_HTTP: false, WEBHOOK_ALLOW_PRIVATE: false },
  ]) {
    const before = (await readLog(endpoint.tenantId)).length;
    const stop = startSender({ config });
    await until('an attempt', async () => (await readLog(endpoint.tenantId)).length > before);
    await stop();
    reasons.push((await readLog(endpoint.tenantId)).at(-1).error);
  }
  assert.deepEqual(reasons, ['address_refused', 'https_required']);
  assert.deepEqual(endpoint.receiver.received, []);
});

test('a stop lets the request under way finish, and another sender goes on', async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<() => void>();
  const endpoint = await startEndpoint((_received, response) => ask(() => response.end()));
  await createCustomers(endpoint, 3);
  const stop = startSender();
  const answer = await asked;
  const stopped = stop();
  answer();
  await stopped;
  const { last_position, lease } = await readRow(endpoint.tenantId);
  assert.deepEqual([last_position, lease], ['1', null]);
  endpoint.receiver.accept();
  startSender();
  await until('the rest', () => endpoint.receiver.received.length === 3);
  assert.deepEqual(
    endpoint.receiver.received.map(({ message }) => message.data.cursor),
    positions(3),
  );
});

test('the log keeps 30 days', async () => {
  const endpoint = await startEndpoint();
  startSender();
  await createCustomers(endpoint, 2);
  await until('both', async () => (await readLog(endpoint.tenantId)).length === 2);
  await owner.query(
    `UPDATE webhook_delivery SET at = now() - interval '31 days' WHERE tenant_id = $1 AND position = 1`,
    [endpoint.tenantId],
  );
  await trimDeliveries(database);
  assert.deepEqual(
    (await readLog(endpoint.tenantId)).map(({ position }) => position),
    ['2'],
  );
});

test('an erasure clears the answers in the log', async () => {
  const endpoint = await startEndpoint((received, response) => response.end(received.body));
  const headers = { apikey: endpoint.key };
  const customerId = await service.createCustomer({}, { headers });
  const person = await service.post(
    '/customer/contact-person',
    { customerId, lastName: 'Blüte' },
    { headers },
  );
  startSender();
  await until('the deliveries', async () => (await readLog(endpoint.tenantId)).length === 2);
  assert.match((await readLog(endpoint.tenantId))[1].answer, /Blüte/);
  const erased = await service.delete(`/personal-data/${person.json().id}`, { headers });
  assert.equal(erased.statusCode, 204, erased.body);
  const log = await readLog(endpoint.tenantId);
  assert.ok(log.filter(({ position }) => Number(position) <= 2).every(({ answer }) => answer === null));
});

test('a port that accepts connections and says nothing is a timeout', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => silent.close());
  const { port } = silent.address() as { port: number };
  const tenant = await service.createTenant();
  await createEndpoint(owner, tenant.tenantId, { url: `https://127.0.0.1:${port}/`, resources: null });
  await createCustomers(tenant, 1);
  startSender({ config: { ...allowed, webhookLimits: { timeoutMs: 200 } } });
  await until('an attempt', async () => (await readLog(tenant.tenantId)).length > 0);
  assert.equal((await readLog(tenant.tenantId))[0].error, 'timeout');
});
