// After an erasure nothing in the database names the person any more.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { owner, database } = service;

async function createBusiness() {
  const { tenantId, key } = await service.createTenant('Blatt & Co.');
  const asKey = { headers: { apikey: key } };
  const customerId = await service.createCustomer({}, asKey);
  const post = async (path: string, body: object, headers = {}) => {
    const response = await service.post(path, body, { headers: { ...asKey.headers, ...headers } });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id as string;
  };
  return { tenantId, asKey, customerId, post };
}

/** The tables in which a text occurs, in any row of any tenant. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  assert.ok(rows.length > 20);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await owner.query(
      `SELECT FROM ${name} AS kept WHERE strpos(lower(to_jsonb(kept)::text), lower($1)) > 0 LIMIT 1`,
      [text],
    );
    if (rowCount) found.push(name);
  }
  return found;
}

const recordedCalls = async (tenantId: string) =>
  (await owner.query('SELECT FROM recorded_request WHERE tenant_id = $1', [tenantId])).rowCount ?? 0;

/** Everything by which a person gets into the database, each with the marker. */
async function leaveTraces(business: Awaited<ReturnType<typeof createBusiness>>, marker: string) {
  const { asKey, customerId, post, tenantId } = business;
  const id = await post(
    '/customer/contact-person',
    { customerId, lastName: marker, phone: `040 ${marker}`, externalId: `${marker}-1` },
    { 'idempotency-key': `contact ${marker}` },
  );
  await service.patch(`/contact-persons/${id}`, { firstName: marker }, asKey);
  const siteId = await post('/customer/site', { ...validSite(customerId), comment: `Ask ${marker}.` });
  await service.patch(`/sites/${siteId}`, { comment: `Ring at ${marker.toUpperCase()}, "2nd floor"` }, asKey);
  const refused = [
    service.post('/customer', { [`${marker}Field`]: 1, companyName: marker }, asKey),
    service.post('/customer', { ...validCustomer, [marker]: 'a\0b' }, asKey),
    service.get(`/customers?${marker}=1`, asKey),
    service.get(`/sites/${marker}`, asKey),
    service.get(`/${marker}`, asKey),
    service.put(`/sites/by-external-id/${marker}`, { name: marker }, asKey),
  ];
  for (const response of refused) assert.ok((await response).statusCode >= 400);
  await service.post('/customer', { ...validCustomer, [`${marker}Extra`]: 1 }, asKey);
  // Until all calls of this business are written, and some of them are not in memory alone.
  await until('the calls are recorded', async () => (await recordedCalls(tenantId)) === 12);
  return { id, siteId };
}

test('a marker that was everywhere is nowhere after an erasure that names it', async () => {
  const business = await createBusiness();
  const marker = `Mark${randomUUID().slice(0, 8)}er`;
  const { id, siteId } = await leaveTraces(business, marker);
  const person = await createPerson(service, { tenantId: business.tenantId });
  assert.equal((await person.call('GET', '/checklist')).statusCode, 200);
  const before = await tablesWith(marker);
  for (const table of ['contact_person', 'site', 'journal', 'recorded_request']) {
    assert.ok(before.includes(table), `${table} is among ${before}`);
  }
  // These are still in the memory of the process when the person is erased.
  await service.get(`/sites/${marker}`, business.asKey);
  await service.post('/customer', { ...validCustomer, [`${marker}Late`]: 1 }, business.asKey);
  await service.get(`/customers?${marker}=1`, business.asKey);

  const erasure = await service.delete(`/personal-data/${id}?text=${marker}`, business.asKey);
  assert.equal(erasure.statusCode, 204, erasure.body);
  await until('the last calls are recorded', async () => (await recordedCalls(business.tenantId)) === 16);
  assert.deepEqual(await tablesWith(marker), []);

  const site = (await service.get(`/sites/${siteId}`, business.asKey)).json();
  assert.deepEqual([site.comment, site.version], ['Ring at […], "2nd floor"', 3]);
  const { data } = (await service.get('/changes?limit=1000', business.asKey)).json();
  const changes = data.filter((entry: { id: string }) => entry.id === siteId);
  assert.deepEqual(
    changes.map((entry: { changes?: object }) => entry.changes),
    [
      undefined,
      { comment: { from: 'Ask […].', to: 'Ring at […], "2nd floor"' } },
      { comment: { from: 'Ring at […], "2nd floor"', to: 'Ring at […], "2nd floor"' } },
    ],
    'the history keeps its entries, and the redaction is one of them',
  );
});

test('without named texts the free texts of other objects stay, and everything else goes', async () => {
  const business = await createBusiness();
  const marker = `Mark${randomUUID().slice(0, 8)}er`;
  const { id } = await leaveTraces(business, marker);
  assert.equal((await service.delete(`/personal-data/${id}`, business.asKey)).statusCode, 204);
  assert.deepEqual((await tablesWith(marker)).sort(), ['journal', 'site']);
});

test('the key of an erased creation stays taken, so that a late retry does not bring the person back', async () => {
  const { asKey, customerId, post } = await createBusiness();
  const key = randomUUID();
  const body = { customerId, lastName: 'Spät' };
  const id = await post('/customer/contact-person', body, { 'idempotency-key': key });
  await service.delete(`/personal-data/${id}`, asKey);
  const retry = await service.post('/customer/contact-person', body, {
    headers: { ...asKey.headers, 'idempotency-key': key },
  });
  assert.deepEqual([retry.statusCode, retry.json().code], [422, 'idempotency_key_reused']);
});

test('employees are exported and erased like contact persons', async () => {
  const { asKey, customerId, post } = await createBusiness();
  const marker = `Emp${randomUUID().slice(0, 8)}`;
  const id = await post('/employee', { firstName: 'Jonas', lastName: marker, employeeNumber: `${marker}-7` });
  await service.patch(`/employees/${id}`, { lastName: `${marker}-Neu`, email: `${marker}@x.example` }, asKey);
  const siteId = await post('/customer/site', { ...validSite(customerId), assignedEmployeeId: id });
  const exported = (await service.get(`/personal-data/${id}`, asKey)).json();
  assert.deepEqual(
    [
      exported.resource,
      exported.person.lastName,
      exported.sites,
      exported.references,
      exported.history.length,
    ],
    ['employee', `${marker}-Neu`, [siteId], [{ resource: 'site', ids: [siteId] }], 2],
  );
  assert.equal((await service.delete(`/employees/${id}`, asKey)).statusCode, 204);
  assert.deepEqual(
    (await tablesWith(marker)).toSorted(),
    ['deleted_object', 'journal'],
    'a deletion keeps it',
  );
  assert.equal((await service.delete(`/personal-data/${id}`, asKey)).statusCode, 204);
  assert.deepEqual(await tablesWith(marker), []);
});

test('a customer who is a person is erased once nothing depends on it', async () => {
  const { asKey, post } = await createBusiness();
  const marker = `Cus${randomUUID().slice(0, 8)}`;
  const id = await post('/customer', {
    companyName: marker,
    address: { ...validAddress, streetName: marker },
  });
  await service.patch(`/customers/${id}`, { phone: `0171 ${marker}` }, asKey);
  const site = { ...validSite(id), name: `Wohnung ${marker}`, externalId: `${marker}-1` };
  const siteId = await post('/customer/site', site, { 'idempotency-key': `site ${marker}` });
  await service.patch(`/sites/${siteId}`, { comment: marker, address: validAddress }, asKey);
  const exported = (await service.get(`/personal-data/${id}`, asKey)).json();
  assert.deepEqual([exported.resource, exported.sites], ['customer', [siteId]]);
  const refused = await service.delete(`/personal-data/${id}`, asKey);
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'has_dependants']);
  assert.deepEqual(refused.json().dependants, [{ resource: 'site', count: 1, ids: [siteId] }]);
  assert.equal((await service.get(`/customers/${id}`, asKey)).statusCode, 200);
  await service.delete(`/sites/${siteId}`, asKey);
  assert.equal((await service.delete(`/personal-data/${id}`, asKey)).statusCode, 204);
  assert.deepEqual(await tablesWith(marker), []);
});

test('an erasure and an export are in the audit record, with the id and no name', async () => {
  const { tenantId, asKey, customerId, post } = await createBusiness();
  const person = await createPerson(service, { tenantId });
  const id = await post('/customer/contact-person', { customerId, lastName: 'Namenlos' });
  await person.call('GET', `/personal-data/${id}`);
  await service.delete(`/personal-data/${id}?dryRun=true`, asKey);
  await service.delete(`/personal-data/${id}?text=Namenlos`, asKey);
  const { rows } = await owner.query(
    `SELECT event, actor_type, subject_id, subject, details FROM audit_entry
     WHERE tenant_id = $1 AND event LIKE 'DATA_%' ORDER BY id`,
    [tenantId],
  );
  const common = { subject_id: id, subject: null };
  assert.deepEqual(rows, [
    { event: 'DATA_EXPORTED', actor_type: 'PERSON', ...common, details: { resource: 'contact-person' } },
    {
      event: 'DATA_ERASED',
      actor_type: 'KEY',
      ...common,
      details: { resource: 'contact-person', redactedRecords: 0 },
    },
  ]);
});

test('named texts go from every kind of free text, and numbers, choices and unique values stay', async () => {
  const { asKey, customerId, post } = await createBusiness();
  const name = 'Übel-Geheim';
  const id = await post('/customer/contact-person', { customerId, lastName: name });
  const siteId = await post('/customer/site', {
    ...validSite(customerId),
    name: `Garten ${name}`,
    externalId: `S ${name}`,
    callOutFee: 12.5,
    openingHours: [{ note: `ÜBEL-GEHEIM fragen`, [name]: 1.0, dayOfWeek: 'MONDAY' }],
  });
  const mailed = await post('/customer', { ...validCustomer, email: 'uebel@geheim.example', comment: name });
  const erasure = `/personal-data/${id}?text=${encodeURIComponent(name)}&text=uebel%40geheim.example`;
  assert.equal((await service.delete(`${erasure}&dryRun=true`, asKey)).statusCode, 200);
  assert.equal((await service.get(`/sites/${siteId}`, asKey)).json().name, `Garten ${name}`);
  assert.equal((await service.delete(erasure, asKey)).statusCode, 204);
  const site = (await service.get(`/sites/${siteId}`, asKey)).json();
  assert.deepEqual(
    [site.name, site.externalId, site.callOutFee, site.openingHours],
    ['Garten […]', `S ${name}`, 12.5, [{ note: '[…] fragen', [name]: 1, dayOfWeek: 'MONDAY' }]],
  );
  const customer = (await service.get(`/customers/${mailed}`, asKey)).json();
  assert.deepEqual([customer.comment, customer.email, customer.status], ['[…]', undefined, 'ACTIVE']);
});

test('texts that are too short, too long, too many, or in too many places are refused, and nothing is erased', async () => {
  const { tenantId, asKey, customerId, post } = await createBusiness();
  const id = await post('/customer/contact-person', { customerId, lastName: 'Bleibt' });
  await owner.query(
    `INSERT INTO product (tenant_id, id, name, kind, unit_code, currency, active)
     SELECT $1, gen_random_uuid(), 'Ficus ' || number, 'PLANT', 'H87', 'EUR', true FROM generate_series(1, 101) AS number`,
    [tenantId],
  );
  for (const [query, code] of [
    ['text=abc', 'too_short'],
    ['text=%20%20ab%20%20', 'too_short'],
    ['text=', 'too_short'],
    [`text=${'x'.repeat(201)}`, 'too_long'],
    ['text=ab%00cd', 'invalid_text'],
    [Array(11).fill('text=abcd').join('&'), 'too_many_items'],
    ['text=ficus', 'too_common'],
  ] as const) {
    const response = await service.delete(`/personal-data/${id}?${query}`, asKey);
    assert.deepEqual([response.statusCode, response.json().errors?.[0].code], [400, code], query);
  }
  assert.equal((await service.delete(`/personal-data/${id}?texts=abcd`, asKey)).statusCode, 400);
  assert.equal((await service.get(`/contact-persons/${id}`, asKey)).statusCode, 200);
});

test('a named text is taken as it is: percent, underscore, backslash and quotes mean themselves', async () => {
  const { asKey, customerId, post } = await createBusiness();
  const id = await post('/customer/contact-person', { customerId, lastName: 'Wörtlich' });
  const text = String.raw`a_b%c\d"e.f*`;
  const named = await post('/customer/site', { ...validSite(customerId), comment: `Frag ${text}!` });
  const other = await post('/customer/site', { ...validSite(customerId), comment: 'axbyyc d"e-f' });
  await service.patch(`/sites/${named}`, { openingHours: [{ note: text }] }, asKey);
  const erasure = await service.delete(`/personal-data/${id}?text=${encodeURIComponent(text)}`, asKey);
  assert.equal(erasure.statusCode, 204, erasure.body);
  const { comment, openingHours } = (await service.get(`/sites/${named}`, asKey)).json();
  assert.deepEqual([comment, openingHours], ['Frag […]!', [{ note: '[…]' }]]);
  assert.equal((await service.get(`/sites/${other}`, asKey)).json().comment, 'axbyyc d"e-f');
  const { data } = (await service.get('/changes?limit=1000', asKey)).json();
  assert.ok(!JSON.stringify(data).includes(JSON.stringify(text).slice(1, -1)));
});

test('the texts of another business stay', async () => {
  const [one, other] = [await createBusiness(), await createBusiness()];
  const id = await one.post('/customer/contact-person', { customerId: one.customerId, lastName: 'Nachbar' });
  const siteId = await other.post('/customer/site', { ...validSite(other.customerId), comment: 'Nachbar' });
  await service.patch(`/sites/${siteId}`, { comment: 'Nachbar links' }, other.asKey);
  await service.get('/sites/Nachbar', other.asKey);
  await until('it is recorded', async () => (await recordedCalls(other.tenantId)) === 4);
  assert.equal((await service.delete(`/personal-data/${id}?text=Nachbar`, one.asKey)).statusCode, 204);
  assert.deepEqual((await tablesWith('Nachbar')).filter((name) => !name.includes('word')).sort(), [
    'journal',
    'recorded_request',
    'site',
  ]);
});

test('erasures of the same business that search at the same time are refused, and its writers are not', async () => {
  const { tenantId, asKey, customerId, post } = await createBusiness();
  const id = await post('/customer/contact-person', { customerId, lastName: 'Doppelt' });
  await database.inTenants([tenantId], async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('stamm: erase texts ' || $1, 0))`, [
      tenantId,
    ]);
    const response = await service.delete(`/personal-data/${id}?text=Doppelt`, asKey);
    assert.deepEqual([response.statusCode, response.json().code], [429, 'too_many_at_once']);
    await post('/customer', validCustomer);
  });
  assert.equal((await service.delete(`/personal-data/${id}?text=Doppelt`, asKey)).statusCode, 204);
});
