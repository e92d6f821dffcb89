// More than the service can answer is refused at once, and one tenant's flood leaves room for the others.
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from '../../server/messages.ts';
import { startService } from '../service.ts';
import { until } from '../waiting.ts';
import { createPerson } from './office.ts';
import { listen } from './raw-client.ts';

const service = await startService();
const { get, createTenant } = service;

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
  await service.owner.query('BEGIN; LOCK TABLE site IN ACCESS EXCLUSIVE MODE');
  let answered = 0;
  const flooding = flood([service.tenant.key], 700, () => answered++);
  const beside = await get('/customers', { headers: { apikey: other.key } });
  assert.equal(beside.statusCode, 200);
  await until('what is too much is refused', () => answered === 200);
  await service.owner.query('COMMIT');
  const answers = await flooding;
  const refused = answers.filter(({ status }) => status !== 404);
  assert.equal(refused.length, 200);
  for (const answer of refused) {
    assert.deepEqual(answer, { status: 429, code: 'too_many_at_once', retryAfter: '1' });
  }
  assert.equal((await get('/sites')).statusCode, 200, 'there is room again');
});

test('what is too much for the service is refused before anything is looked up', async () => {
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

const port = await listen(service.app);

/** Requests that are told to go on, and never do. */
async function holdOpen(heads: readonly string[][]): Promise<{ end(): void }> {
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
  return { end };
}

test('clients that hang up while their key is looked up take no room afterwards', async () => {
  const { key } = await createTenant();
  const head = `GET /api/v1/sites/${randomUUIDv7()} HTTP/1.1\r\nHost: stamm.test\r\nApiKey: ${key}\r\n\r\n`;
  await service.owner.query('BEGIN; LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE');
  const sockets = Array.from({ length: 60 }, () =>
    connect({ host: '127.0.0.1', port }).on('error', () => {}),
  );
  for (const socket of sockets) socket.write(head.repeat(10));
  await sleep(400);
  for (const socket of sockets) socket.resetAndDestroy();
  await sleep(200);
  await service.owner.query('COMMIT');
  // When the next one has its answer, they have been looked up.
  await flood([key], 1);
  assert.deepEqual(new Set((await flood([key], 400)).map(({ status }) => status)), new Set([404]));
});

test('while there is no room, calls are refused before they are routed, and told as ever', async () => {
  const keys = [(await createTenant()).key, (await createTenant()).key];
  const held = await holdOpen(
    Array.from({ length: 1000 }, (_, index) => [
      'POST /api/v1/customer HTTP/1.1',
      'Host: stamm.test',
      `ApiKey: ${keys[index % 2]}`,
    ]),
  );
  const read = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { apikey: service.tenant.key, 'accept-language': 'de' },
    });
  const firstLine = service.logLines.length;
  const told = () => service.logLines.slice(firstLine).filter((line) => line.includes('overloaded'));
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
    await until('the refusals are told', () => told().length > 0);
  } finally {
    held.end();
  }
  assert.deepEqual(
    told()
      .map((line) => JSON.parse(line))
      .map(({ level, refused, msg }) => ({ level, refused, msg })),
    [{ level: 40, refused: 2, msg: 'requests refused' }],
    'one line for all of a second',
  );
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

test('one signed-in person cannot take up all the room either', async () => {
  const person = await createPerson(service);
  const statuses = await Promise.all(
    Array.from(
      { length: 700 },
      async () => (await person.call('GET', `/sites/${randomUUIDv7()}`)).statusCode,
    ),
  );
  assert.ok(statuses.includes(429));
  assert.equal((await person.call('GET', '/sites')).statusCode, 200);
});
