// More than the service can answer is refused immediately, and one tenant's flood leaves room for the others.
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { text } from '../../server/messages.ts';
import { holdTable, untilLocked } from '../helpers/locks.ts';
import { createPerson } from '../helpers/office.ts';
import { exchange, listen, postBytes } from '../helpers/raw-client.ts';
import { startService, validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const service = await startService();
const strict = await startService({ FAILED_AUTH_LIMIT_PER_MINUTE: 1, RATE_LIMIT_PER_MINUTE: 1 });
const port = await listen(service.app);
const { get, createTenant } = service;

const countConnections = promisify(service.app.server.getConnections.bind(service.app.server));

async function flood(keys: readonly string[], count: number, onAnswer = () => {}) {
  const ask = async (key: string) => {
    const answer = await get(`/sites/${randomUUIDv7()}`, { headers: { apikey: key } });
    onAnswer();
    const { statusCode: status, headers } = answer;
    return { status, code: answer.json().code as string | undefined, retryAfter: headers['retry-after'] };
  };
  return Promise.all(Array.from({ length: count }, (_, index) => ask(keys[index % keys.length]!)));
}

test('a tenant with too much under way is refused, and another is not', async () => {
  const other = await createTenant();
  // Of those that are let in none is answered before all of them are there.
  const held = await holdTable(service.owner, 'site');
  let answered = 0;
  const flooding = flood([service.tenant.key], 700, () => answered++);
  const beside = await get('/customers', { headers: { apikey: other.key } });
  assert.equal(beside.statusCode, 200);
  await until('what is too much is refused', () => answered === 300);
  await held.release();
  const answers = await flooding;
  const refused = answers.filter(({ status }) => status !== 404);
  assert.equal(refused.length, 300);
  for (const answer of refused) {
    assert.deepEqual(answer, { status: 429, code: 'too_many_at_once', retryAfter: '1' });
  }
  assert.equal((await get('/sites')).statusCode, 200, 'there is room again');
});

test('requests beyond the limit are refused before anything is looked up', async () => {
  const tenants = [await createTenant(), await createTenant(), await createTenant()];
  const keys = tenants.map(({ key }) => key);
  const answers = await flood(keys, 1200);
  const refused = answers.filter(({ status }) => status !== 404);
  assert.equal(refused.length, 200);
  for (const answer of refused)
    assert.deepEqual(answer, { status: 500, code: 'overloaded', retryAfter: '1' });
  assert.equal((await service.app.inject('/livez')).statusCode, 200);
  assert.deepEqual(new Set((await flood(keys, 900)).map(({ status }) => status)), new Set([404]));
});

/** Requests that get `100 Continue`, and never send their bodies. */
async function holdOpen(heads: readonly string[][]): Promise<{ answers(): Promise<string[]>; end(): void }> {
  const sockets = heads.map(() => connect({ host: '127.0.0.1', port }).on('error', () => {}));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  const asked = ['Content-Type: application/json', 'Content-Length: 50', 'Expect: 100-continue', '', '{'];
  const answers = sockets.map(async (socket, index) => {
    socket.write([...heads[index]!, ...asked].join('\r\n'));
    return String((await once(socket, 'data'))[0]);
  });
  try {
    // From then on the service waits for the rest.
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1.1 100 /);
  } catch (error) {
    end();
    throw error;
  }
  const nextAnswers = sockets.map(async (socket) => String((await once(socket, 'data'))[0]));
  for (const answer of nextAnswers) answer.catch(() => {});
  return { answers: () => Promise.all(nextAnswers), end };
}

test('clients that hang up while their key is looked up take no room afterwards', async () => {
  const { key } = await createTenant();
  const head = `GET /api/v1/sites/${randomUUIDv7()} HTTP/1.1\r\nHost: stamm.test\r\nApiKey: ${key}\r\n\r\n`;
  await service.owner.query('BEGIN; LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE');
  const sockets = Array.from({ length: 60 }, () =>
    connect({ host: '127.0.0.1', port }).on('error', () => {}),
  );
  let arrived = 0;
  const count = () => arrived++;
  service.app.server.on('request', count);
  for (const socket of sockets) socket.write(head.repeat(10));
  await until('all requests are there', () => arrived === 600);
  service.app.server.off('request', count);
  await untilLocked(service.owner);
  for (const socket of sockets) socket.resetAndDestroy();
  await until('the service knows that they are gone', async () => (await countConnections()) === 0);
  await service.owner.query('COMMIT');
  // When the next one has its answer, they have been looked up.
  await flood([key], 1);
  assert.deepEqual(new Set((await flood([key], 400)).map(({ status }) => status)), new Set([404]));
});

test('while there is no room, calls are refused before they are routed, with the usual error', async () => {
  const keys = [(await createTenant()).key, (await createTenant()).key, (await createTenant()).key];
  const held = await holdTable(service.owner, 'site');
  let answered = 0;
  const flooding = flood(keys, 1001, () => answered++);
  // Of 1,001 requests one finds no room.
  await until('there is no room', () => answered === 1);
  const read = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { apikey: service.tenant.key, 'accept-language': 'de' },
    });
  const firstLine = service.logLines.length;
  const logged = () => service.logLines.slice(firstLine).filter((line) => line.includes('overloaded'));
  const countRefused = () => logged().reduce((sum, line) => sum + JSON.parse(line).refused, 0);
  try {
    const [answer, second] = await Promise.all([read('/api/v1/sites'), read('/api/v1/sites')]);
    const body = await answer.json();
    assert.equal(answer.status, 500);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.deepEqual(body, {
      message: text('overloaded', 'de'),
      code: 'overloaded',
      requestId: answer.headers.get('x-request-id'),
    });
    await second.arrayBuffer();
    assert.equal((await read('/livez')).status, 200);
    await until('both rejections are logged', () => countRefused() >= 2);
  } finally {
    await held.release();
  }
  await flooding;
  const lines = logged().map((line) => JSON.parse(line));
  assert.deepEqual(
    new Set(lines.map(({ level, msg }) => `${level} ${msg}`)),
    new Set(['40 requests refused']),
  );
  assert.equal(countRefused(), 2);
  // The ends of so many connections arrive one after the other.
  await until('there is room again', async () => (await read('/api/v1/sites')).status === 200);
});

test('bodies that strangers never finish take no room from anybody', async () => {
  const held = await holdOpen(
    Array.from({ length: 1001 }, () => [
      'POST /app/session HTTP/1.1',
      'Host: stamm.test',
      'Origin: http://stamm.test',
    ]),
  );
  try {
    assert.equal((await get('/sites')).statusCode, 200);
  } finally {
    held.end();
  }
});

test('the key and the sessions of a tenant count together, and leave each other some room', async () => {
  const { tenantId, key } = await createTenant();
  const other = await createTenant();
  const person = await createPerson(service, { tenantId });
  const held = await holdTable(service.owner, 'site');
  let refused = 0;
  const read = async () => {
    const { statusCode } = await person.call('GET', `/sites/${randomUUIDv7()}`);
    if (statusCode === 429) refused++;
    return statusCode;
  };
  const byKey = flood([key], 450, () => refused++);
  await until('the key has no room left', () => refused === 50);
  const bySession = Array.from({ length: 150 }, read);
  await until('the tenant has no room left', () => refused === 100);
  assert.equal((await get('/customers', { headers: { apikey: other.key } })).statusCode, 200);
  await held.release();
  const statuses = [...(await byKey).map(({ status }) => status), ...(await Promise.all(bySession))];
  assert.equal(statuses.filter((status) => status === 404).length, 500);
  assert.equal(statuses.filter((status) => status === 429).length, 100);
});

test('one signed-in person cannot take up all the room either', async () => {
  const person = await createPerson(service);
  const held = await holdTable(service.owner, 'site');
  let answered = 0;
  const reading = Array.from({ length: 700 }, async () => {
    const { statusCode } = await person.call('GET', `/sites/${randomUUIDv7()}`);
    answered++;
    return statusCode;
  });
  await until('the rest is refused', () => answered === 300);
  assert.equal((await person.call('GET', '/customers')).statusCode, 429);
  assert.equal((await get('/customers')).statusCode, 200);
  await held.release();
  const statuses = await Promise.all(reading);
  assert.equal(statuses.filter((status) => status === 429).length, 300);
  assert.equal((await person.call('GET', '/sites')).statusCode, 200);
});

test('refused strangers take no room while their answers are delayed', async () => {
  const { key } = await strict.createTenant();
  const ask = (apikey: string) => strict.get('/sites', { headers: { apikey } });
  const refused: ReturnType<typeof ask>[] = [];
  // Not all requests arrive in the same turn of the event loop, but their refusals are delayed together.
  for (const apikey of ['bad', 'bad', strict.tenant.key]) {
    refused.push(...Array.from({ length: 700 }, () => ask(apikey)));
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  }
  assert.equal((await ask(key)).statusCode, 200);
  const statuses = (await Promise.all(refused)).map(({ statusCode }) => statusCode);
  // One guess is answered as wrong, and one request is within the limit.
  assert.deepEqual(countEach(statuses), { 200: 1, 401: 1, 429: 2098 });
});

function countEach(statuses: readonly number[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, own]) => [status, own.length]),
  );
}

const postOf = (key: string) => ['POST /api/v1/customer HTTP/1.1', 'Host: stamm.test', `ApiKey: ${key}`];

/** As many bodies as a tenant may leave unfinished. */
async function holdBodies(key: string) {
  return holdOpen(Array.from({ length: 100 }, () => postOf(key)));
}

test('a tenant has few unfinished bodies, by key and session together, and still sends whole ones', async () => {
  const { tenantId, key } = await createTenant();
  const person = await createPerson(service, { tenantId });
  const held = await holdBodies(key);
  const unfinished = ['Content-Type: text/plain', 'Content-Length: 50', '', '{'];
  const send = async (head: readonly string[]) => {
    const [answer] = (await exchange(port, [...head, ...unfinished].join('\r\n'))).answers;
    return { status: answer!.status, code: JSON.parse(answer!.body).code };
  };
  const office = ['POST /app/customer HTTP/1.1', 'Host: stamm.test', 'Origin: http://stamm.test'];
  try {
    const refusal = { status: 429, code: 'too_many_at_once' };
    assert.deepEqual(await send(postOf(key)), refusal, 'before anything else of the body is looked at');
    assert.deepEqual(await send([...office, `Cookie: ${person.cookie}`]), refusal);
    assert.deepEqual(await send(postOf(service.tenant.key)), { status: 413, code: 'content_type' });
    const whole = await exchange(
      port,
      postBytes('/api/v1/customer', JSON.stringify(validCustomer), { ApiKey: key }),
    );
    assert.equal(whole.answers[0]!.status, 201);
  } finally {
    held.end();
  }
});

test('unfinished bodies of all tenants are bounded, and take no room from requests', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, async () => (await createTenant()).key));
  const held = [];
  try {
    for (const key of keys.slice(0, 4)) held.push(await holdBodies(key));
    const { answers } = await exchange(
      port,
      [...postOf(keys[4]!), 'Content-Type: application/json', 'Content-Length: 50', '', '{'].join('\r\n'),
    );
    assert.equal(JSON.parse(answers[0]!.body).code, 'overloaded');
    const statuses = (await flood(keys, 900)).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([404]));
  } finally {
    for (const { end } of held) end();
  }
});

test('a body that does not come in time is answered, and its place is free again', async () => {
  const { server } = service.app;
  const usual = { requestTimeout: server.requestTimeout, headersTimeout: server.headersTimeout };
  // Node takes the longer one for whole requests.
  assert.ok(Math.max(...Object.values(usual)) < 10_000);
  const { key } = await createTenant();
  const held = await holdBodies(key);
  Object.assign(server, { requestTimeout: 1, headersTimeout: 1 });
  try {
    for (const answer of await held.answers()) {
      assert.match(answer, /^HTTP\/1.1 400 .*"code":"request_timeout"/s);
    }
    Object.assign(server, usual);
    await until('the places are free', () =>
      holdBodies(key).then(
        ({ end }) => {
          end();
          return true;
        },
        () => false,
      ),
    );
  } finally {
    Object.assign(server, usual);
    held.end();
  }
});
