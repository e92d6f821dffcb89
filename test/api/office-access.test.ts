// What every route of the web app demands, walked over the router's own table.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startService, validCustomer } from '../service.ts';
import { callOffice, createPerson, routesBelow } from './office.ts';

const service = await startService();
const { app } = service;
const verwaltung = await createPerson(service);
const pflege = await createPerson(service, { role: 'PFLEGE', name: 'Paul Pflege' });

const routes = routesBelow(app, '/app/');
const isRead = (method: string) => method === 'GET' || method === 'HEAD';
const fill = (path: string) => path.replace(/^\/app/, '').replace(/:\w+/g, randomUUID());

/** What somebody may do who is not signed in, and what everybody may do about themselves. */
const publicRoutes = [
  'GET /app/state',
  'GET /app/setup/:token',
  'POST /app/setup/:token',
  'GET /app/invitation/:token',
  'POST /app/invitation/:token',
  'POST /app/session',
];
const ownRoutes = ['DELETE /app/session', 'DELETE /app/sessions/:id', 'POST /app/password'];
const forVerwaltungOnly = /^\/app\/(people|invitations|business|key|checklist|requests)(\/|$)/;
const nameOf = ({ method, path }: { method: string; path: string }) =>
  `${method === 'HEAD' ? 'GET' : method} ${path}`;

test('the router knows the routes of the API and those of the office below /app', () => {
  const names = new Set(routes.map(nameOf));
  for (const name of [...publicRoutes, ...ownRoutes, 'GET /app/sites', 'POST /app/customer/site']) {
    assert.ok(names.has(name), name);
  }
  for (const { method, path } of routesBelow(app, '/api/v1/')) {
    assert.ok(names.has(nameOf({ method, path: path.replace('/api/v1/', '/app/') })), path);
  }
});

for (const route of routes) {
  const name = `${route.method} ${route.path}`;
  if (!publicRoutes.includes(nameOf(route))) {
    test(`${name} is refused without a session, and with an API key instead`, async () => {
      for (const headers of [{}, { apikey: service.tenant.key }, { cookie: 'stamm_session=x' }]) {
        const response = await callOffice(app, route.method, fill(route.path), undefined, { headers });
        assert.equal(response.statusCode, 401, response.body);
        if (route.method !== 'HEAD') assert.equal(response.json().code, 'session_missing');
      }
    });
  }
  if (!isRead(route.method)) {
    test(`${name} is refused where the request comes from elsewhere, before anything else`, async () => {
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: '' },
        { origin: 'http://localhost:80', 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
      ]) {
        const response = await verwaltung.call(route.method, fill(route.path), undefined, { headers });
        assert.equal(response.statusCode, 403, response.body);
        assert.equal(response.json().code, 'foreign_origin');
      }
      const withoutOrigin = await app.inject({
        method: route.method,
        url: `/app${fill(route.path)}`,
        headers: { cookie: verwaltung.cookie },
      });
      assert.equal(withoutOrigin.statusCode, 403);
    });
  }
  const isOwn = publicRoutes.includes(nameOf(route)) || ownRoutes.includes(nameOf(route));
  if (!isOwn && (!isRead(route.method) || forVerwaltungOnly.test(route.path))) {
    test(`${name} is refused to Pflege`, async () => {
      const response = await pflege.call(route.method, fill(route.path));
      assert.equal(response.statusCode, 403, response.body);
      if (route.method !== 'HEAD') assert.equal(response.json().code, 'role_insufficient');
    });
  }
}

test('Pflege reads master data, and a refused change changes nothing', async () => {
  const id = await service.createCustomer();
  const read = await pflege.call('GET', `/customers/${id}`);
  assert.equal(read.statusCode, 200);
  assert.equal((await pflege.call('PATCH', `/customers/${id}`, { comment: 'x' })).statusCode, 403);
  assert.equal((await pflege.call('GET', `/customers/${id}`)).json().version, read.json().version);
});

test('the same handlers answer below /app as in the API, and the journal names the person', async () => {
  const made = await verwaltung.call('POST', '/customer', { ...validCustomer, typo: 1 });
  assert.equal(made.statusCode, 201, made.body);
  assert.equal(made.headers['stamm-ignored-fields'], 'typo');
  assert.equal(made.headers['cache-control'], 'no-store');
  assert.equal(made.headers.ratelimit, undefined);
  const { id } = made.json();
  assert.equal(
    (await verwaltung.call('GET', `/customers/${id}`)).body,
    (await service.get(`/customers/${id}`)).body,
  );
  const { data } = (await verwaltung.call('GET', '/changes?limit=1000')).json();
  assert.equal(data.find((entry: { id: string }) => entry.id === id).actor, verwaltung.name);
  const refused = await verwaltung.call('POST', '/customer', { companyName: '' });
  assert.equal(refused.statusCode, 400);
  const withKey = await service.post('/customer', { companyName: '' });
  assert.deepEqual(refused.json().errors, withKey.json().errors);
});

test('nothing of another business is read or changed through a session', async () => {
  const other = await service.createTenant('Blatt & Co.');
  const stranger = await createPerson(service, { tenantId: other.tenantId, name: 'Fremd' });
  const id = await service.createCustomer();
  for (const [method, body] of [['GET'], ['PATCH', { comment: 'x' }], ['DELETE']] as const) {
    const response = await stranger.call(method, `/customers/${id}`, body);
    assert.equal(response.statusCode, 404, method);
  }
  assert.deepEqual((await stranger.call('GET', '/customers')).json().data, []);
  const person = (await verwaltung.call('GET', '/session')).json();
  assert.equal(person.business.id, service.tenant.tenantId);
  assert.equal((await stranger.call('GET', '/session')).json().business.id, other.tenantId);
});

test('an unknown path below /app is a 404 in JSON, with and without a session', async () => {
  for (const path of ['/nothing', '/sites/', '/', '']) {
    const response = await verwaltung.call('GET', path);
    assert.equal(response.statusCode, 404, path);
    assert.equal(response.json().code, 'not_found');
  }
  assert.equal((await callOffice(app, 'GET', '/nothing')).statusCode, 404);
});

test('no route of the web app is in the published document', async () => {
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  assert.deepEqual(
    Object.keys(paths).filter((path) => !path.startsWith('/api/v1/')),
    [],
  );
});
