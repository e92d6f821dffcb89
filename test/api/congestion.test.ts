// More than the service can answer is refused at once, and one tenant's flood leaves room for the others.
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { startService } from '../service.ts';
import { createPerson } from './office.ts';

const service = await startService();
const { get, createTenant } = service;

async function flood(keys: readonly string[], count: number) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      get(`/sites/${randomUUIDv7()}`, { headers: { apikey: keys[index % keys.length]! } }),
    ),
  );
  return answers.map((answer) => ({
    status: answer.statusCode,
    code: answer.json().code as string | undefined,
    retryAfter: answer.headers['retry-after'],
  }));
}

test('a tenant with too much under way is refused, and another is not', async () => {
  const other = await createTenant();
  const flooding = flood([service.tenant.key], 700);
  const beside = await get('/sites', { headers: { apikey: other.key } });
  assert.equal(beside.statusCode, 200);
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

test('bodies that strangers never finish take no room from anybody', async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.app.server.address() as AddressInfo;
  const begun = [
    'POST /app/session HTTP/1.1',
    'Host: stamm.test',
    'Origin: http://stamm.test',
    'Content-Type: application/json',
    'Content-Length: 50',
    'Expect: 100-continue',
    '',
    '{',
  ].join('\r\n');
  const strangers = Array.from({ length: 1001 }, () =>
    connect({ host: '127.0.0.1', port }).on('error', () => {}),
  );
  try {
    const answers = strangers.map(async (socket) => {
      socket.write(begun);
      return String((await once(socket, 'data'))[0]);
    });
    // From then on the service waits for the rest.
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1.1 100 /);
    assert.equal((await get('/sites')).statusCode, 200);
  } finally {
    for (const socket of strangers) socket.destroy();
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
