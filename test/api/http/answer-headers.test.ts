// No cache between the service and its clients may keep an answer, for any route or error.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { pino } from 'pino';
import { refuseBeforeRouting } from '../../../server/http/early-answers.ts';
import { createPerson, routesBelow } from '../../helpers/office.ts';
import { exchange, listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer } from '../../helpers/service.ts';

const service = await startService({ TRUST_PROXY: ['loopback'] });
const { app, get, post, tenant } = service;
const port = await listen(app);

type Headers = Record<string, unknown>;

function assertPrivate(headers: Headers, what: string): void {
  assert.match(String(headers['cache-control']), /^(private, no-cache|no-store)$/, what);
  assert.equal(headers['x-content-type-options'], 'nosniff', what);
}

function assertApiAnswer(headers: Headers, what: string): void {
  assertPrivate(headers, what);
  assert.equal(headers.vary, 'ApiKey, Accept-Encoding, Accept-Language', what);
}

function assertOfficeAnswer(headers: Headers, what: string): void {
  assertPrivate(headers, what);
  assert.equal(headers['cache-control'], 'no-store', what);
  assert.equal(headers.vary, 'Cookie, Accept-Language', what);
}

const fill = (path: string) => path.replace(/:\w+/g, randomUUID());

test('every route of the API answers privately, with a key and without', async () => {
  const routes = routesBelow(app, '/api/v1/');
  assert.ok(routes.length > 50);
  for (const { method, path } of routes) {
    for (const apikey of [tenant.key, 'stamm_wrong', undefined]) {
      const headers = { ...(apikey && { apikey }), 'content-type': 'application/json' };
      const payload = method === 'GET' || method === 'HEAD' ? undefined : '{}';
      const response = await app.inject({ method, url: fill(path), headers, payload });
      assertApiAnswer(response.headers, `${method} ${path} ${response.statusCode}`);
    }
  }
});

test('every route of the web app answers privately, with a session and without', async () => {
  const routes = routesBelow(app, '/app/');
  // A business of its own: one of the routes deletes its key.
  const { tenantId } = await service.createTenant();
  const person = await createPerson(service, { tenantId });
  assert.ok(routes.length > 70);
  const withoutSession = routes.map((route) => ({ ...route, cookie: undefined }));
  // Signing out comes last: the other answers need the session.
  const withSession = routes.map((route) => ({ ...route, cookie: person.cookie }));
  const ends = ({ method, path }: { method: string; path: string }) =>
    method === 'DELETE' && path === '/app/session';
  for (const { method, path, cookie } of [
    ...withoutSession,
    ...withSession.filter((route) => !ends(route)),
    ...withSession.filter(ends),
  ]) {
    const headers = { ...(cookie && { cookie }), origin: 'http://localhost:80' };
    const response = await app.inject({ method, url: fill(path), headers });
    assertOfficeAnswer(response.headers, `${method} ${path} ${response.statusCode}`);
  }
});

test('answers of every status are private', async () => {
  const created = await post('/customer', validCustomer);
  const { id } = created.json();
  const read = await get(`/customers/${id}`);
  const known = { headers: { 'if-none-match': String(read.headers.etag) } };
  const answers = [
    created,
    read,
    await get(`/customers/${id}`, known),
    await post('/customer', '{'),
    await get('/customers', { headers: { apikey: '' } }),
    await get('/nothing'),
    await get(`/customers/${randomUUID()}`),
    await post('/customer', {}, { headers: { 'content-type': 'text/plain' } }),
    await post('/customer', ' '.repeat(102_401)),
    await app.inject({ method: 'HEAD', url: '/api/v1/customers', headers: { apikey: tenant.key } }),
    await app.inject({ url: '/api/v1/customers.csv', headers: { apikey: tenant.key } }),
    await app.inject({ url: '/api/v1/customers.ndjson', headers: { apikey: tenant.key } }),
  ];
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [201, 200, 304, 400, 401, 403, 404, 413, 415, 200, 200, 200],
  );
  for (const { headers, statusCode } of answers) assertApiAnswer(headers, String(statusCode));
  const imported = await fetch(`http://127.0.0.1:${port}/api/v1/import`, {
    method: 'POST',
    headers: { apikey: tenant.key, 'content-type': 'application/x-ndjson' },
    body: '{}\n',
  });
  assert.equal(imported.status, 200, await imported.text());
  assertApiAnswer(Object.fromEntries(imported.headers), 'import');
  await service.owner.query('ALTER TABLE customer ADD CONSTRAINT broken CHECK (false) NOT VALID');
  const failed = await post('/customer', validCustomer);
  await service.owner.query('ALTER TABLE customer DROP CONSTRAINT broken');
  assert.equal(failed.statusCode, 500);
  assertApiAnswer(failed.headers, '500');
});

test('refusals for the rate are private', async () => {
  const limited = await startService({ RATE_LIMIT_PER_MINUTE: 1, FAILED_AUTH_LIMIT_PER_MINUTE: 1 });
  for (const apikey of [limited.tenant.key, 'stamm_wrong']) {
    await limited.get('/customers', { headers: { apikey } });
    const { statusCode, headers } = await limited.get('/customers', { headers: { apikey } });
    assert.equal(statusCode, 429);
    assertApiAnswer(headers, apikey);
  }
});

test('answers that are written before any route is found are private', async () => {
  for (const bytes of [
    'garbage\r\n\r\n',
    `GET /api/v1/customers HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    'FROBNICATE /api/v1/customers HTTP/1.1\r\nHost: x\r\n\r\n',
  ]) {
    const { answers } = await exchange(port, bytes);
    assertPrivate(answers[0]!.headers, bytes.slice(0, 20));
  }
  const server = createServer(() => assert.fail('no route is asked'));
  refuseBeforeRouting(server, () => true, pino({ level: 'silent' }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: fullPort } = server.address() as { port: number };
  const refused = await fetch(`http://127.0.0.1:${fullPort}/api/v1/customers`);
  server.close();
  assert.equal(refused.status, 500);
  assertApiAnswer(Object.fromEntries(refused.headers), 'overloaded');
});

const publicPaths = [
  '/',
  '/docs',
  '/docs/errors',
  '/docs/reference',
  '/docs/reference/start.js',
  '/docs/reference/scalar.js',
  '/openapi.json',
  '/livez',
  '/readyz',
];

test('public answers say their type and how long they may be kept', async () => {
  for (const url of [...publicPaths, '/nothing', '/assets/nothing.js', '/api/v2/customers']) {
    const { headers } = await app.inject({ url });
    assert.equal(headers['x-content-type-options'], 'nosniff', url);
    assert.match(String(headers['cache-control']), /^no-(cache|store)$/, url);
  }
});

test('HSTS is sent where a trusted proxy says that the browser came by https, and nowhere else', async () => {
  const ask = async (from: typeof app, url: string, proto?: string) => {
    const headers = { ...(proto && { 'x-forwarded-proto': proto, 'x-forwarded-for': '192.0.2.1' }) };
    return (await from.inject({ url, headers })).headers['strict-transport-security'];
  };
  for (const url of [...publicPaths, '/api/v1/customers', '/app/state', '/nothing']) {
    assert.equal(await ask(app, url, 'https'), 'max-age=31536000', url);
    assert.equal(await ask(app, url, 'http'), undefined, url);
    assert.equal(await ask(app, url), undefined, url);
  }
  const { app: untrusting } = await startService();
  assert.equal(await ask(untrusting, '/', 'https'), undefined);
});
