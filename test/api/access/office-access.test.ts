// What every route of the web app demands, walked over the router's own table.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { resources } from '../../../server/resources/index.ts';
import { callOffice, createPerson, routesBelow } from '../../helpers/office.ts';
import { startService, validCustomer } from '../../helpers/service.ts';

const service = await startService();
const { app } = service;
const verwaltung = await createPerson(service);
const pflege = await createPerson(service, { role: 'PFLEGE', name: 'Paul Pflege' });
const buero = await createPerson(service, { role: 'BUERO', name: 'Britta Büro' });

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
  'POST /app/session/passkey/options',
  'POST /app/session/passkey',
  'POST /app/session/second-factor',
  'POST /app/password-reset',
  'GET /app/calendar/:tenantId/:file',
  'GET /app/reset/:token',
  'POST /app/reset/:token',
];
const ownRoutes = [
  'DELETE /app/session',
  'DELETE /app/sessions',
  'DELETE /app/sessions/:id',
  'POST /app/password',
  'PATCH /app/profile',
  'POST /app/passkeys/options',
  'POST /app/passkeys',
  'PATCH /app/passkeys/:id',
  'DELETE /app/passkeys/:id',
  'POST /app/recovery-codes',
  'POST /app/proof/options',
  'POST /app/proof',
  'POST /app/views',
  'PATCH /app/views/:id',
  'DELETE /app/views/:id',
  'POST /app/test-business/enter',
  'POST /app/test-business/leave',
];
const forVerwaltungOnly =
  /^\/app\/(audit|people|invitations|business|key|webhooks|backups|checklist|passkey-requirement|personal-data|requests|test-business)([./]|$)/;
/** Read by all, changed by Verwaltung. */
const settings = /^\/app\/visit-settings(\/|$)/;
const hiddenFromPflege =
  /^\/app\/(calendar-feeds|deleted|import|imports|recent-actions|(choice|duplicate|name)-matches|remembered-(choices|names)|tables)(\/|$)|\.(csv|xlsx|ndjson)$/;
const nameOf = ({ method, path }: { method: string; path: string }) =>
  `${method === 'HEAD' ? 'GET' : method} ${path}`;

test('the router knows the routes of the API and those of the office below /app', () => {
  const names = new Set(routes.map(nameOf));
  for (const name of [...publicRoutes, ...ownRoutes, 'GET /app/sites', 'POST /app/customer/site']) {
    assert.ok(names.has(name), name);
  }
  for (const { method, path } of routesBelow(app, '/api/v1/')) {
    // The office lists all webhooks at once.
    if (path === '/api/v1/webhooks/:id' && isRead(method)) continue;
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
  // care-role.test.ts says which fields.
  const isCare = nameOf(route) === 'PATCH /app/plants/:id';
  const isOwn = isCare || publicRoutes.includes(nameOf(route)) || ownRoutes.includes(nameOf(route));
  const isForVerwaltung =
    forVerwaltungOnly.test(route.path) || (settings.test(route.path) && !isRead(route.method));
  const refusing = [
    ...(!isRead(route.method) || isForVerwaltung || hiddenFromPflege.test(route.path) ? [pflege] : []),
    ...(isForVerwaltung ? [buero] : []),
  ];
  if (isOwn) continue;
  for (const person of refusing) {
    test(`${name} is refused to ${person.role}`, async () => {
      const response = await person.call(route.method, fill(route.path));
      assert.equal(response.statusCode, 403, response.body);
      if (route.method !== 'HEAD') assert.equal(response.json().code, 'role_insufficient');
    });
  }
  if (!isForVerwaltung) {
    test(`${name} is open to BUERO`, async () => {
      const response = await buero.call(route.method, fill(route.path));
      assert.ok(!response.body.includes('role_insufficient'), response.body);
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

test('nothing of another business is read or changed through a session, on any route', async () => {
  const other = await service.createTenant('Blatt & Co.');
  const stranger = await createPerson(service, { tenantId: other.tenantId, name: 'Fremd' });
  const owners: Record<string, string> = {};
  const made: { collection: string; id: string }[] = [];
  for (const { name, path, collection, example } of resources) {
    const known = Object.entries(owners).filter(([owner]) => owner in example);
    const body = { ...example, ...Object.fromEntries(known), externalId: `Geheim-${name}` };
    const response = await verwaltung.call('POST', path, body);
    assert.equal(response.statusCode, 201, response.body);
    owners[`${name}ExternalId`] = body.externalId;
    made.push({ collection, id: response.json().id });
  }
  const before = (await verwaltung.call('GET', '/changes?limit=1000')).json().nextCursor;
  for (const { collection, id } of made) {
    for (const [method, body] of [['GET'], ['PATCH', { comment: 'x' }], ['DELETE']] as const) {
      const response = await stranger.call(method, `/${collection}/${id}`, body);
      assert.equal(response.statusCode, 404, `${method} ${collection}`);
    }
    for (const path of [
      `/${collection}`,
      `/${collection}.csv`,
      `/${collection}.ndjson`,
      `/${collection}?q=Geheim`,
    ]) {
      const response = await stranger.call('GET', path);
      assert.equal(response.statusCode, 200, path);
      assert.ok(!response.body.includes(id) && !response.body.includes('Geheim'), path);
    }
  }
  const { id: person } = made.find(({ collection }) => collection === 'contact-persons')!;
  for (const method of ['GET', 'DELETE'] as const) {
    assert.equal((await stranger.call(method, `/personal-data/${person}`)).statusCode, 404);
  }
  for (const path of ['/changes', '/attention', '/requests']) {
    assert.deepEqual((await stranger.call('GET', path)).json().data, [], path);
  }
  const map = await stranger.call('GET', '/map?west=-180&south=-90&east=180&north=90&zoom=1');
  assert.deepEqual(map.json(), { clusters: [], employees: [] });
  assert.equal(
    (await verwaltung.call('GET', `/changes?after=${before}`)).json().data.length,
    0,
    'nothing changed',
  );
  assert.equal((await verwaltung.call('GET', '/session')).json().business.id, service.tenant.tenantId);
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

test('the definitions tell the app everything that its forms need, in both languages', async () => {
  const definitions = (await verwaltung.call('GET', '/definitions')).json();
  assert.deepEqual(
    definitions.map(({ name }: { name: string }) => name),
    resources.map(({ name }) => name),
  );
  const site = definitions.find(({ name }: { name: string }) => name === 'site');
  assert.deepEqual(
    [site.title, site.plural.de, site.path],
    [{ en: 'Site', de: 'Standort' }, 'Standorte', '/customer/site'],
  );
  const fieldOf = (definition: { fields: { name: string }[] }, name: string): Record<string, unknown> =>
    definition.fields.find((field) => field.name === name)!;
  const city = fieldOf(fieldOf(site, 'address') as typeof site, 'city');
  assert.deepEqual(
    [city.path, city.title, city.isRequired],
    ['address.city', { en: 'City', de: 'Ort' }, true],
  );
  const contract = definitions.find(({ name }: { name: string }) => name === 'contract');
  const type = fieldOf(contract, 'type');
  assert.equal(type.kind, 'choice');
  assert.deepEqual((type.choices as object[])[2], {
    value: 'CARE_AND_RENTAL',
    title: { en: 'Care and rental', de: 'Pflege und Miete' },
  });
  assert.deepEqual(fieldOf(site, 'customerId').reference, { resources: ['customer'], isOwner: true });
  for (const { filters, collection } of definitions) {
    for (const { name, kind } of filters) {
      for (const parameter of kind === 'range' ? [`${name}From`, `${name}Until`] : [name]) {
        const response = await pflege.call('GET', `/${collection}?${parameter}=${randomUUID()}`);
        assert.ok(!response.body.includes('unknown_parameter'), `${collection} ${parameter}`);
      }
    }
  }
});

test('no route of the web app is in the published document', async () => {
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  assert.deepEqual(
    Object.keys(paths).filter((path) => !path.startsWith('/api/v1/')),
    [],
  );
});
