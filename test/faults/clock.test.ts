// The clock of the machine jumps back an hour, as a correction by NTP or a resumed virtual machine does. libfaketime
// gives the service and its PostgreSQL such a clock. Monotonic time goes on, as on a real machine.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createEndpoint } from '../../server/features/webhooks/endpoints.ts';
import { startReceiver } from '../api/webhooks/webhook-receiver.ts';
import { withoutFaketime, withoutPostgres15 } from '../helpers/programs.ts';
import { validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { assertBalanced, balance, followFeed } from './helpers/bookkeeping.ts';
import { makeClock } from './helpers/clock.ts';
import { initializePostgres, makeServerDir, startPostgres } from './helpers/debian-postgres.ts';
import { idsOf, startLoad } from './helpers/load.ts';
import { assertAllCreated, createdSince } from './helpers/matrix.ts';
import {
  cleanUpLater,
  createTenant,
  databaseUrl,
  runStamm,
  type StammProcess,
  startStamm,
  withClient,
} from './helpers/process.ts';

async function call(origin: string, key: string, method: string, target: string, body?: object) {
  const answer = await fetch(`${origin}/api/v1${target}`, {
    method,
    headers: { ApiKey: key, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, etag: answer.headers.get('etag'), body: JSON.parse(await answer.text()) };
}

/** The first person of a new business; answers with the cookie of the session. */
async function setUp({ origin, output }: StammProcess): Promise<string> {
  const [, token] = /\/setup#([\w-]{43})/.exec(output.stderr)!;
  const form = { businessName: 'Grün', name: 'Anke', email: 'anke@x.example', password: 'drei Tulpen' };
  const answer = await fetch(`${origin}/app/setup/${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify(form),
  });
  assert.equal(answer.status, 201);
  return answer.headers.getSetCookie()[0]!.split(';')[0]!;
}

async function sessionStatus({ origin }: StammProcess, cookie: string, method = 'GET'): Promise<number> {
  return (await fetch(`${origin}/app/session`, { method, headers: { cookie, origin } })).status;
}

test('a clock that jumps back an hour loses, doubles, delays and locks out nothing', {
  skip: withoutFaketime || withoutPostgres15,
}, async () => {
  const folder = await makeServerDir();
  // It jumps back to the clock of the machine, and not behind it: a signal that interrupts a wait sees the machine's clock
  // through libfaketime, and PostgreSQL would end statements an hour early.
  const clock = await makeClock(folder, '+3600');
  const data = path.join(folder, 'data');
  initializePostgres(folder, data);
  const { connection } = await startPostgres(folder, data, clock.env);
  const env = {
    DATABASE_URL: databaseUrl(connection),
    WORKERS: '1',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...clock.env,
  };
  const generous = { RATE_LIMIT_PER_MINUTE: '100000' };
  const service = await startStamm({ ...env, ...generous });
  const cookie = await setUp(service);
  const { key, tenantId } = await withClient(connection, createTenant);

  const strict = await startStamm({ ...env, RATE_LIMIT_PER_MINUTE: '3' });
  const limited = await withClient(connection, createTenant);
  const statuses = [];
  for (let sent = 0; sent < 4; sent++)
    statuses.push((await call(strict.origin, limited.key, 'GET', '/customers')).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);

  const receiver = await startReceiver();
  cleanUpLater(() => receiver.close());
  const wanted = { url: receiver.url, resources: null };
  const other = await withClient(connection, async (client) => {
    const made = await createTenant(client);
    await createEndpoint(client, made.tenantId, wanted);
    return made;
  });
  const { body: first } = await call(service.origin, other.key, 'POST', '/customer', validCustomer);
  await until('the first delivery', () => receiver.cursors().length === 1);

  const load = startLoad(service.origin, key, 4, 2);
  const feed = followFeed(service.origin, key);
  await createdSince(load, 0);
  await clock.set('+0');
  const jumpedBefore = Date.now() + 100_000;
  await until('the clock of the database', async () => {
    const { rows } = await withClient(connection, (client) => client.query('SELECT clock_timestamp() AS at'));
    return rows[0].at.getTime() < jumpedBefore;
  });

  assert.equal((await call(strict.origin, limited.key, 'GET', '/customers')).status, 200, 'a new window');
  await createdSince(load, performance.now());
  const attempts = await load.stop();
  assertAllCreated(attempts);
  assertBalanced(await balance(connection, tenantId, attempts, await feed.stop()));
  assert.equal(new Set(idsOf(attempts)).size, attempts.length);

  const changed = await call(service.origin, other.key, 'PATCH', `/customers/${first.id}`, { comment: 'x' });
  assert.deepEqual([changed.status, changed.etag], [200, '"2"']);
  await until('the second delivery', () => receiver.cursors().length === 2);

  assert.equal(await sessionStatus(service, cookie), 200);
  assert.equal(await sessionStatus(service, cookie, 'DELETE'), 204);
  assert.equal(await sessionStatus(service, cookie), 401);
  await strict.stop();
  assert.equal((await service.stop()).code, 0);
  assert.equal((await runStamm(['check'], { DATABASE_URL: env.DATABASE_URL })).code, 0);
});
