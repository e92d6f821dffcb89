// Webhooks while the service is killed, and while the receiver is away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver, verify } from '../api/webhooks/webhook-receiver.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import {
  cleanUpLater,
  createCustomer,
  createTenant,
  databaseUrl,
  makePreparedDataDir,
  runStamm,
  startStamm,
  withClient,
} from './helpers/process.ts';

test('a service that is killed again and again loses no change and keeps the order', async () => {
  const { dataDir, tenantId, key } = await makePreparedDataDir();
  const env = {
    DATA_DIR: dataDir,
    WORKERS: '1',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const receiver = await startReceiver();
  cleanUpLater(() => receiver.close());
  const command = ['webhook', 'create', '--tenant', tenantId, '--url', receiver.url, '--json'];
  const made = await runStamm(command, env);
  assert.equal(made.code, 0, made.stderr);
  const { id, secret } = JSON.parse(made.stdout);
  assert.match(secret, /^whsec_/);

  // A signature is good for five minutes, and all rounds may take longer on a busy machine.
  let verified = 0;
  function verifyNew(): void {
    for (; verified < receiver.received.length; verified++) verify(receiver.received[verified]!, secret);
  }
  const created: string[] = [];
  for (let round = 0; round < 3; round++) {
    const service = await startStamm(env);
    const seen = receiver.received.length;
    for (let count = 0; count < 20; count++) {
      const response = await createCustomer(service.origin, key);
      assert.equal(response.status, 201);
      created.push(((await response.json()) as { id: string }).id);
    }
    await until('some deliveries', () => receiver.received.length > seen + 3);
    // In the middle of a delivery: the receiver has the message, and no answer arrives.
    receiver.behaviour = () => {};
    const before = receiver.received.length;
    await createCustomer(service.origin, key).then(async (response) =>
      created.push(((await response.json()) as { id: string }).id),
    );
    await until('a request under way', () => receiver.received.length > before);
    await service.kill();
    receiver.accept();
    verifyNew();
  }
  const last = await startStamm(env);
  await until('all changes', () => receiver.cursors().length === created.length);
  const { code } = await last.stop();
  assert.equal(code, 0);
  verifyNew();

  const firsts = receiver.received.filter(
    ({ headers }, index) =>
      receiver.received.findIndex((one) => one.headers['webhook-id'] === headers['webhook-id']) === index,
  );
  assert.deepEqual(
    firsts.map(({ message }) => message.data.id),
    created,
    'each change arrives, in the order of the journal',
  );
  let furthest = 0;
  for (const { message } of receiver.received) {
    const position = Number(message.data.cursor);
    assert.ok(position >= furthest, 'only the message under way is repeated');
    furthest = Math.max(furthest, position);
  }

  const listed = await runStamm(['webhook', 'list', '--tenant', tenantId, '--json'], env);
  const [webhook] = JSON.parse(listed.stdout).webhooks;
  assert.deepEqual([webhook.id, webhook.waitingEntries, webhook.secret], [id, 0, undefined]);
  const named = ['--tenant', tenantId, '--id', id, '--json'];
  const tested = await runStamm(['webhook', 'test', ...named], env);
  assert.equal(JSON.parse(tested.stdout).status, 200, tested.stderr);
  assert.equal(receiver.received.at(-1)!.message.type, 'stamm.test');
  const resent = await runStamm(['webhook', 'resend', ...named, '--since', '2026-01-01T00:00:00Z'], env);
  assert.equal(JSON.parse(resent.stdout).entries, created.length, resent.stderr);
  assert.equal((await runStamm(['webhook', 'pause', ...named], env)).code, 0);
  assert.equal((await runStamm(['webhook', 'resume', ...named], env)).code, 0);
  assert.equal((await runStamm(['webhook', 'delete', ...named], env)).code, 0);
  assert.equal((await runStamm(['webhook', 'delete', ...named], env)).code, 1);
});

test('a sender that stands still leads to one other sender, over nodes and workers, and loses nothing', async () => {
  const connection = await createTestDatabase();
  const env = {
    DATABASE_URL: databaseUrl(connection),
    WORKERS: '2',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const [first, second] = [await startStamm(env), await startStamm(env)];
  const { tenantId, key } = await withClient(connection, createTenant);
  let underWay = 0;
  let mostUnderWay = 0;
  const held: (() => void)[] = [];
  let isHolding = false;
  const receiver = await startReceiver((_received, response, request) => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    request.socket.once('close', () => {
      underWay -= 1;
    });
    const answer = () => response.writeHead(200, { connection: 'close' }).end();
    if (isHolding) held.push(answer);
    else answer();
  });
  cleanUpLater(() => receiver.close());
  const made = await runStamm(
    ['webhook', 'create', '--tenant', tenantId, '--url', receiver.url, '--json'],
    env,
  );
  assert.equal(made.code, 0, made.stderr);
  const created: string[] = [];
  const create = async (origin: string) =>
    created.push(((await (await createCustomer(origin, key)).json()) as { id: string }).id);

  // One of the nodes has the lease. Each stops in turn while a message is under way, and the other takes over.
  for (const [stopped, other] of [
    [first, second],
    [second, first],
  ] as const) {
    isHolding = true;
    for (let count = 0; count < 5; count += 1) await create(stopped.origin);
    await until('a message under way', () => held.length > 0);
    process.kill(-stopped.pid, 'SIGSTOP');
    isHolding = false;
    for (const answer of held.splice(0)) answer();
    for (let count = 0; count < 5; count += 1) await create(other.origin);
    await until('the other sender', () => receiver.cursors().length === created.length);
    process.kill(-stopped.pid, 'SIGCONT');
    for (let count = 0; count < 5; count += 1) await create(stopped.origin);
    await until('both awake', () => receiver.cursors().length === created.length);
  }
  const { rows } = await withClient(connection, (owner) =>
    owner.query('SELECT last_position::integer AS position FROM webhook WHERE tenant_id = $1', [tenantId]),
  );
  assert.equal(rows[0].position, created.length);
  assert.equal(mostUnderWay, 1, 'never two messages of an endpoint at the same time');
  assert.deepEqual(
    receiver.cursors().map(Number),
    created.map((_, index) => index + 1),
    'in order',
  );
});
