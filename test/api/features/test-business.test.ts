// The test business: one per business, filled with masked data, apart from the real one in every way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptiedTables, keptTables } from '../../../server/features/test-business/tables.ts';
import { buildWork } from '../../../server/features/test-business/work.ts';
import { workUntilDone } from '../../../server/features/test-business/worker.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, type Tenant, validAddress, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const { owner, database, get, post } = service;

interface Pair {
  real: Tenant;
  test: Tenant;
  verwaltung: OfficePerson;
}

async function createPair(): Promise<Pair> {
  const real = await service.createTenant();
  const verwaltung = await createPerson(service, { tenantId: real.tenantId });
  return { real, verwaltung, test: await createTest(real, verwaltung) };
}

async function createTest(real: Tenant, verwaltung: OfficePerson): Promise<Tenant> {
  const made = await verwaltung.call('POST', '/test-business');
  assert.equal(made.statusCode, 201, made.body);
  const test = { tenantId: await testIdOf(real), key: made.json().key as string };
  await finish(test);
  return test;
}

async function testIdOf({ tenantId }: Tenant): Promise<string> {
  const { rows } = await owner.query('SELECT test_tenant_id AS id FROM tenant WHERE tenant_id = $1', [
    tenantId,
  ]);
  return rows[0].id;
}

const finish = ({ tenantId }: Tenant) => workUntilDone(database, resources, tenantId);
const as = ({ key }: Tenant) => ({ headers: { apikey: key } });

async function create(tenant: Tenant, path: string, body: object): Promise<string> {
  const response = await post(path, body, as(tenant));
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

/** Calls are recorded a moment after their answers. */
const recordedLater = ['recorded_request', 'request_hour'];

// biome-ignore lint/suspicious/noExplicitAny: objects of every resource
async function listAll(tenant: Tenant, collection: string): Promise<Record<string, any>[]> {
  const response = await get(`/${collection}?limit=500`, as(tenant));
  assert.equal(response.statusCode, 200, response.body);
  return response.json().data;
}

async function tenantTables(): Promise<string[]> {
  const { rows } = await owner.query(
    `SELECT relname AS name FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid WHERE polname = 'own_tenant' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** A business with a marker in every text that a person could write. */
async function fillWithMarkers(tenant: Tenant, marker: string) {
  const address = {
    streetName: `${marker}straße`,
    houseNumber: marker,
    zipCode: `20095 ${marker}`,
    city: `${marker}stadt`,
    location: { lat: 53.5503, lng: 9.9928 },
  };
  const named = { comment: marker, email: `${marker}@hotel.example`, phone: '+49 40 98765432' };
  const customerId = await create(tenant, '/customer', {
    companyName: `${marker} GmbH`,
    address,
    customerNumber: 'K-10023',
    externalId: 'ERP-1',
    vatId: `DE${marker}`,
    ...named,
  });
  const contactPersonId = await create(tenant, '/customer/contact-person', {
    customerId,
    lastName: marker,
    firstName: marker,
    role: marker,
    mobile: `0170 ${marker}`,
    externalId: `crm:${marker}@hotel.example`,
    ...named,
  });
  const contractId = await create(tenant, '/customer/contract', {
    customerId,
    startDate: '2026-01-01',
    type: 'CARE',
    contractNumber: 'V-1',
    netPrice: 189.5,
  });
  const employeeId = await create(tenant, '/employee', {
    firstName: marker,
    lastName: marker,
    employeeNumber: `P-${marker}`,
    email: named.email,
    phone: named.phone,
  });
  const productId = await create(tenant, '/product', {
    name: 'Monstera 120 cm',
    kind: 'PLANT',
    articleNumber: 'PF-1',
    description: marker,
  });
  const siteId = await create(tenant, '/customer/site', {
    ...validSite(customerId),
    name: marker,
    comment: marker,
    address,
    externalId: 'ERP-S1',
    contactPersonId,
    contractId,
    assignedEmployeeId: employeeId,
    serviceRecordRecipientExternalId: `${marker}@later.example`,
    callOutFee: 24.9,
    openingHours: [
      { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' },
      { note: marker, [marker]: 1 },
    ],
    attendingIntervals: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
  });
  const containerId = await create(tenant, '/customer/site/container', {
    name: marker,
    cultureSystem: 'SOIL',
    siteId,
    productId,
    color: 'anthrazit',
    comment: marker,
  });
  const plantId = await create(tenant, '/customer/site/plant', {
    siteId,
    productId,
    containerId,
    botanicalName: 'Monstera deliciosa',
    building: marker,
    floor: marker,
    room: marker,
    position: marker,
    labelCode: 'P-1',
    comment: marker,
  });
  await create(tenant, '/customer/site/appointment', { siteId, date: '2026-12-23', comment: marker });
  const absence = { from: '2026-12-21', until: '2026-12-23', reason: 'SICK', comment: marker };
  await create(tenant, '/employee/absence', { employeeId, ...absence });
  return { customerId, contactPersonId, contractId, employeeId, productId, siteId, containerId, plantId };
}

test('a business has one test business, even if two people create it at the same moment', async () => {
  const real = await service.createTenant();
  const people = await Promise.all([1, 2].map(() => createPerson(service, { tenantId: real.tenantId })));
  const answers = await Promise.all(people.map(({ call }) => call('POST', '/test-business')));
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409]);
  const { key } = answers.find(({ statusCode }) => statusCode === 201)!.json();
  assert.match(key, /^stamm_test_[0-9A-Za-z]{36}$/);
  assert.equal((await get('/sites', { headers: { apikey: key } })).statusCode, 200);
  assert.equal((await people[0]!.call('POST', '/test-business')).json().code, 'test_business_exists');
});

test('an interrupted creation is completed by the next attempt', async () => {
  const real = await service.createTenant();
  await owner.query('UPDATE tenant SET test_tenant_id = gen_random_uuid() WHERE tenant_id = $1', [
    real.tenantId,
  ]);
  const verwaltung = await createPerson(service, { tenantId: real.tenantId });
  assert.deepEqual((await verwaltung.call('GET', '/test-business')).json(), { testBusiness: null });
  const test = await createTest(real, verwaltung);
  assert.equal((await get('/sites', as(test))).statusCode, 200);
});

test('masked objects keep ids, references, numbers and plans, and no text of a person is left in any table', async () => {
  const real = await service.createTenant();
  const marker = 'Qzwxmarker';
  const ids = await fillWithMarkers(real, marker);
  await service.patch(`/sites/${ids.siteId}`, { comment: `${marker} neu` }, as(real));
  await service.delete(
    `/plants/${await create(real, '/customer/site/plant', { siteId: ids.siteId, botanicalName: marker })}`,
    as(real),
  );
  const verwaltung = await createPerson(service, { tenantId: real.tenantId, name: marker });
  const test = await createTest(real, verwaltung);

  const [site] = await listAll(test, 'sites');
  const { customerId, contactPersonId, contractId, employeeId } = ids;
  assert.deepEqual(
    [site!.id, site!.customerId, site!.contactPersonId, site!.contractId, site!.assignedEmployeeId],
    [ids.siteId, customerId, contactPersonId, contractId, employeeId],
  );
  assert.deepEqual([site!.externalId, site!.callOutFee], ['ERP-S1', 24.9]);
  assert.deepEqual(site!.openingHours, [
    { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' },
    { masked: true },
  ]);
  assert.deepEqual(site!.attendingIntervals, [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }]);
  assert.match(site!.address.zipCode, /^20\d{3}$/, 'the region stays');
  assert.notEqual(site!.address.location.lat, 53.5503);
  const [customer] = await listAll(test, 'customers');
  assert.deepEqual([customer!.externalId, customer!.customerNumber], ['ERP-1', 'K-10023']);
  assert.match(customer!.email, /@stamm\.example$/);
  const [absence] = await listAll(test, 'absences');
  assert.equal(absence!.reason, 'HOLIDAY', 'nobody reads who is ill');
  const [person] = await listAll(test, 'contact-persons');
  assert.match(person!.externalId, /^T-[0-9a-f]{12}$/, 'an external id that names the person goes');
  const [plant] = await listAll(test, 'plants');
  assert.deepEqual(
    [plant!.id, plant!.botanicalName, plant!.labelCode],
    [ids.plantId, 'Monstera deliciosa', 'P-1'],
  );

  for (const table of await tenantTables()) {
    const { rows } = await owner.query(
      `SELECT row_to_json(found)::text AS found FROM ${table} AS found
       WHERE tenant_id = $1 AND row_to_json(found)::text ~* $2`,
      [test.tenantId, `${marker}|98765432|alsterblick`],
    );
    // Whoever made the key is a colleague, as in every record of who did what.
    const left = rows.filter(() => table !== 'api_key');
    assert.deepEqual(left, [], table);
  }
});

test('no code or name of a product tells who the business works for', async () => {
  const { real, test, verwaltung } = await createPair();
  const customerId = await create(real, '/customer', {
    ...validCustomer,
    companyName: 'Hotel Müller-Lüdenscheidt',
    externalId: 'K-MUELLER-1',
    customerNumber: 'D-10023',
  });
  await create(real, '/customer/contact-person', { customerId, lastName: 'Li', externalId: 'crm.li' });
  const site = { ...validSite(customerId), name: 'Villa Rosenthal' };
  const siteId = await create(real, '/customer/site', { ...site, externalId: 'S-rosenthal' });
  await create(real, '/customer/contract', {
    customerId,
    startDate: '2026-01-01',
    type: 'CARE',
    contractNumber: 'V-LUDENSCHEIDT',
    externalId: 'V-LIKE-10',
  });
  await create(real, '/customer/site/plant', {
    siteId,
    botanicalName: 'Ficus lyrata',
    commonName: 'Frau Müllers Ficus',
    labelCode: 'muller/7',
    externalId: 'hotel-foyer-7',
  });
  await create(real, '/customer/site/container', {
    siteId,
    name: 'Kübel',
    cultureSystem: 'SOIL',
    color: 'rot, Tel. 0171 5551234',
  });
  await create(real, '/product', { name: 'Ficus 120/140 cm', kind: 'PLANT', articleNumber: 'FICUS-120' });
  const employeeId = await create(real, '/employee', {
    firstName: 'Jörg',
    lastName: 'Groß',
    phone: '0171 / 555 12 34',
    employeeNumber: 'JGROSS',
    externalId: '49-171-5551234',
  });
  await create(real, '/employee/absence', {
    employeeId,
    from: '2026-12-21',
    until: '2026-12-23',
    externalId: 'HR-joerg-1',
  });
  await verwaltung.call('POST', '/test-business/fill');
  await finish(test);
  const all = await Promise.all(resources.map(({ collection }) => listAll(test, collection)));
  const texts = JSON.stringify(all);
  assert.doesNotMatch(texts, /m(u|ue|ü)ller|scheidt|crm\.li|rosenthal|gro(ß|ss)|j(ö|oe)rg|555.?1234/i);
  for (const kept of [
    'D-10023',
    'V-LIKE-10',
    'hotel-foyer-7',
    'Ficus lyrata',
    'Ficus 120/140 cm',
    'FICUS-120',
  ])
    assert.ok(texts.includes(`"${kept}"`), kept);
});

test('the same object looks the same after every fill, and the real business is only read', async () => {
  const { real, test, verwaltung } = await createPair();
  await fillWithMarkers(real, 'Qzwx');
  const positions = async () =>
    (await owner.query('SELECT last_position FROM journal_head WHERE tenant_id = $1', [real.tenantId])).rows;
  const before = await positions();
  const look = async () => {
    const all = await Promise.all(resources.map(({ collection }) => listAll(test, collection)));
    return all.flat().map(({ version: _v, createdAt: _c, updatedAt: _u, ...fields }) => fields);
  };
  assert.equal((await verwaltung.call('POST', '/test-business/fill')).statusCode, 202);
  await finish(test);
  const first = await look();
  assert.equal(first.length, resources.length, 'one of each');
  assert.equal((await verwaltung.call('POST', '/test-business/reset', { isFilled: true })).statusCode, 202);
  await finish(test);
  assert.deepEqual(await look(), first);
  assert.deepEqual(await positions(), before);
});

test('a fill brings changed objects, keeps those of tests, and skips what they are in the way of', async () => {
  const { real, test, verwaltung } = await createPair();
  const customerId = await create(real, '/customer', { ...validCustomer, externalId: 'A' });
  await create(real, '/customer/site', { ...validSite(customerId), externalId: 'S' });
  const own = await create(test, '/customer', { ...validCustomer, externalId: 'A' });
  await verwaltung.call('POST', '/test-business/fill');
  await finish(test);
  const { testBusiness } = (await verwaltung.call('GET', '/test-business')).json();
  assert.deepEqual(
    [testBusiness.stage, testBusiness.copied, testBusiness.skipped, testBusiness.total],
    [null, 0, 2, 2],
  );
  assert.deepEqual(
    (await listAll(test, 'customers')).map(({ id }) => id),
    [own],
  );
  await verwaltung.call('POST', '/test-business/reset', { isFilled: true });
  await finish(test);
  assert.deepEqual(
    (await listAll(test, 'customers')).map(({ id }) => id),
    [customerId],
  );
  assert.equal((await listAll(test, 'sites')).length, 1);
  await service.patch(`/customers/${customerId}`, { status: 'INACTIVE' }, as(real));
  await verwaltung.call('POST', '/test-business/fill');
  await finish(test);
  assert.equal((await listAll(test, 'customers'))[0]!.status, 'INACTIVE');
});

test('a reset leaves nothing but key, webhooks and security events, and positions go on', async () => {
  const { real, test, verwaltung } = await createPair();
  await fillWithMarkers(real, 'Qzwx');
  await verwaltung.call('POST', '/test-business/fill');
  await finish(test);
  await service.delete(`/customers/${(await listAll(test, 'customers'))[0]!.id}?cascade=true`, as(test));
  const { nextCursor } = (await get('/changes', as(test))).json();
  const total = async () => (await get('/employees?count=true', as(test))).json().total;
  assert.equal(await total(), 1);
  await verwaltung.call('POST', '/test-business/reset', { isFilled: false });
  await finish(test);
  assert.equal(await total(), 0);
  for (const table of emptiedTables(resources).filter((name) => !recordedLater.includes(name))) {
    const { rowCount } = await owner.query(`SELECT FROM ${table} WHERE tenant_id = $1`, [test.tenantId]);
    assert.equal(rowCount, 0, table);
  }
  const id = await create(test, '/customer', validCustomer);
  const { data } = (await get(`/changes?after=${nextCursor}`, as(test))).json();
  assert.deepEqual(
    data.map((entry: { id: string }) => entry.id),
    [id],
  );
});

test('every table of a tenant is emptied by a reset, or says why it stays', async () => {
  assert.deepEqual([...emptiedTables(resources), ...Object.keys(keptTables)].sort(), await tenantTables());
});

test('a removed test business leaves no row, and its key ends with the request', async () => {
  const { real, test, verwaltung } = await createPair();
  await fillWithMarkers(test, 'Qzwx');
  assert.equal((await verwaltung.call('POST', '/test-business/enter')).statusCode, 204);
  assert.equal((await verwaltung.call('DELETE', '/test-business')).statusCode, 202);
  assert.equal((await get('/sites', as(test))).statusCode, 401);
  assert.equal((await verwaltung.call('GET', '/session')).json().isInTestBusiness, undefined);
  await finish(test);
  for (const table of (await tenantTables()).filter((name) => !recordedLater.includes(name))) {
    const { rowCount } = await owner.query(`SELECT FROM ${table} WHERE tenant_id = $1`, [test.tenantId]);
    assert.equal(rowCount, 0, table);
  }
  assert.equal(await testIdOf(real), null);
  assert.equal((await verwaltung.call('POST', '/test-business/fill')).statusCode, 404);
  assert.equal((await createTest(real, verwaltung)).key.startsWith('stamm_test_'), true);
});

test('two processes that fill at the same time copy each object once', async () => {
  const { real, test, verwaltung } = await createPair();
  for (let index = 0; index < 250; index++)
    await create(real, '/customer', { ...validCustomer, externalId: `K-${index}` });
  await verwaltung.call('POST', '/test-business/fill');
  await Promise.all([1, 2, 3].map(() => finish(test)));
  const { rows } = await owner.query(
    'SELECT copied, skipped, total FROM test_business WHERE tenant_id = $1',
    [test.tenantId],
  );
  assert.deepEqual(rows, [{ copied: 250, skipped: 0, total: 250 }]);
  const journal = await owner.query('SELECT FROM journal WHERE tenant_id = $1', [test.tenantId]);
  assert.equal(journal.rowCount, 250);
});

test('a fill that stops half-way goes on from there, and a reset in between begins anew', async () => {
  const { real, test, verwaltung } = await createPair();
  for (let index = 0; index < 150; index++) await create(real, '/customer', validCustomer);
  const work = buildWork(database, resources);
  await verwaltung.call('POST', '/test-business/fill');
  assert.deepEqual([await work(test.tenantId), await work(test.tenantId)], ['worked', 'worked']);
  assert.equal((await listAll(test, 'customers')).length, 100);
  await verwaltung.call('POST', '/test-business/fill');
  const { testBusiness } = (await verwaltung.call('GET', '/test-business')).json();
  assert.deepEqual([testBusiness.stage, testBusiness.copied], ['FILLING', 100], 'asked for twice is once');
  await verwaltung.call('POST', '/test-business/reset', { isFilled: true });
  await finish(test);
  assert.equal((await listAll(test, 'customers')).length, 150);
});

test('a fill that is asked for during a reset comes after the emptying', async () => {
  const { real, test, verwaltung } = await createPair();
  const id = await create(real, '/customer', validCustomer);
  await create(test, '/customer', validCustomer);
  await verwaltung.call('POST', '/test-business/reset', { isFilled: false });
  await verwaltung.call('POST', '/test-business/fill');
  await finish(test);
  assert.deepEqual(
    (await listAll(test, 'customers')).map((customer) => customer.id),
    [id],
  );
});

test('people of the business work in the test business with their own session and role', async () => {
  const { real, test, verwaltung } = await createPair();
  const carer = await createPerson(service, { tenantId: real.tenantId, role: 'PFLEGE' });
  const realId = await create(real, '/customer', validCustomer);
  for (const person of [verwaltung, carer]) {
    assert.equal((await person.call('POST', '/test-business/enter')).statusCode, 204);
    assert.equal((await person.call('GET', '/session')).json().isInTestBusiness, true);
    assert.equal((await person.call('GET', `/customers/${realId}`)).statusCode, 404);
  }
  const made = await verwaltung.call('POST', '/customer', validCustomer);
  assert.equal(made.statusCode, 201, made.body);
  assert.equal((await carer.call('POST', '/customer', validCustomer)).json().code, 'role_insufficient');
  assert.equal((await carer.call('GET', `/customers/${made.json().id}`)).statusCode, 200);
  assert.deepEqual(
    (await listAll(test, 'customers')).map(({ id }) => id),
    [made.json().id],
  );
  for (const person of [verwaltung, carer]) {
    assert.equal((await person.call('POST', '/test-business/leave')).statusCode, 204);
    assert.equal((await person.call('GET', `/customers/${realId}`)).statusCode, 200);
  }
});

test('a page that shows the other business writes nothing', async () => {
  const { verwaltung } = await createPair();
  const shows = (isTest: boolean) => ({ headers: { 'stamm-test-business': String(isTest) } });
  const write = (isTest: boolean) => verwaltung.call('POST', '/customer', validCustomer, shows(isTest));
  assert.equal((await write(true)).json().code, 'business_changed');
  assert.equal((await write(false)).statusCode, 201);
  await verwaltung.call('POST', '/test-business/enter');
  assert.equal((await write(false)).json().code, 'business_changed');
  assert.equal((await write(true)).statusCode, 201);
});

test('in the test business nobody changes people or the real business by mistake', async () => {
  const { verwaltung } = await createPair();
  await verwaltung.call('POST', '/test-business/enter');
  const calls = [
    verwaltung.call('POST', '/invitations', { email: 'neu@gruen.example', role: 'PFLEGE' }),
    verwaltung.call('PATCH', '/business', { name: 'Anders' }),
    verwaltung.call('PUT', '/passkey-requirement', { isRequired: false }),
  ];
  for (const answer of await Promise.all(calls)) assert.equal(answer.json().code, 'real_business_only');
  const own = ['/sessions', '/passkeys', '/views', '/test-business'];
  for (const path of own) assert.equal((await verwaltung.call('GET', path)).statusCode, 200, path);
});

test('the key is replaced from either side, and never opens the real business', async () => {
  const { real, test, verwaltung } = await createPair();
  await create(real, '/customer', validCustomer);
  const second = (await verwaltung.call('POST', '/test-business/key')).json().key;
  assert.match(second, /^stamm_test_/);
  assert.equal((await get('/customers', as(test))).json().code, 'key_replaced');
  assert.deepEqual(await listAll({ ...test, key: second }, 'customers'), []);
  await verwaltung.call('POST', '/test-business/enter');
  const third = (await verwaltung.call('POST', '/key')).json().key;
  assert.match(third, /^stamm_test_/);
  assert.equal((await verwaltung.call('GET', '/key')).json().key.prefix, 'stamm_test_');
  assert.equal((await get('/customers', as({ ...test, key: second }))).statusCode, 401);
  assert.equal((await listAll(real, 'customers')).length, 1);
});

test('the test business sends to no receiver of the real one, whichever was there first', async () => {
  const { real, test } = await createPair();
  const add = (tenant: Tenant, url: string) => post('/webhooks', { url }, as(tenant));
  assert.equal((await add(real, 'https://erp.example/stamm')).statusCode, 201);
  for (const url of ['https://erp.example/stamm', 'https://ERP.example:443/Stamm/?from=test']) {
    const refused = await add(test, url);
    assert.equal(refused.statusCode, 400, refused.body);
    assert.equal(refused.json().errors[0].code, 'address_of_real_business');
  }
  const made = await add(test, 'https://erp.example/stamm-test');
  assert.equal(made.statusCode, 201, made.body);
  const { id } = made.json();
  const moved = await service.patch(`/webhooks/${id}`, { url: 'https://erp.example/stamm' }, as(test));
  assert.equal(moved.json().errors[0].code, 'address_of_real_business');
  assert.equal((await add(real, 'https://erp.example/stamm-test')).statusCode, 201);
  const sent = await post(`/webhooks/${id}/test`, '', as(test));
  assert.equal(sent.json().error, 'real_business', sent.body);
});

test('requests of the test business are counted on their own', async () => {
  const { real, test } = await createPair();
  const left = async (tenant: Tenant) =>
    Number(/r=(\d+)/.exec(String((await get('/sites', as(tenant))).headers.ratelimit))![1]);
  const before = await left(real);
  await left(test);
  await left(test);
  assert.equal(await left(real), before - 1);
});

test('only Verwaltung manages it, and nobody of another business sees it', async () => {
  const { real } = await createPair();
  const carer = await createPerson(service, { tenantId: real.tenantId, role: 'PFLEGE' });
  const calls: ['GET' | 'POST' | 'DELETE', string, object?][] = [
    ['GET', '/test-business'],
    ['POST', '/test-business'],
    ['POST', '/test-business/fill'],
    ['POST', '/test-business/reset', { isFilled: true }],
    ['POST', '/test-business/key'],
    ['DELETE', '/test-business'],
  ];
  for (const [method, path, body] of calls)
    assert.equal((await carer.call(method, path, body)).json().code, 'role_insufficient', path);
  const stranger = await createPerson(service, { tenantId: (await service.createTenant()).tenantId });
  assert.deepEqual((await stranger.call('GET', '/test-business')).json(), { testBusiness: null });
  assert.equal((await stranger.call('POST', '/test-business/enter')).statusCode, 404);
});

test('addresses of any country are masked by places of about the same region', async () => {
  const { real, test, verwaltung } = await createPair();
  for (const zipCode of ['80331', 'D-80331', '1010', 'CH-8001', 'SW1A 1AA'])
    await create(real, '/customer', { ...validCustomer, address: { ...validAddress, zipCode } });
  await verwaltung.call('POST', '/test-business/fill');
  await finish(test);
  const zipCodes = (await listAll(test, 'customers')).map(({ address }) => address.zipCode);
  assert.deepEqual(zipCodes.map((zipCode) => zipCode.slice(0, zipCode.length - 3)).sort(), [
    '1',
    '20',
    '8',
    '80',
    '80',
  ]);
});
