import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startService, validAddress, validSite } from '../../helpers/service.ts';

const service = await startService();
const position = { lat: 53.5, lng: 10 };
/** No postcode or town leads to a position. */
const nowhere = { ...validAddress, zipCode: '99999', city: 'Nirgendheim' };

interface Entry {
  resource: string;
  id: string;
  field: string;
  code: string;
  message: string;
  duplicateIds?: string[];
}

async function startTenant() {
  const { key } = await service.createTenant();
  const headers = { apikey: key };
  const customerId = await service.createCustomer(
    { address: { ...validAddress, location: position } },
    { headers },
  );
  const site = { ...validSite(customerId), address: { ...validAddress, location: position } };
  return { headers, customerId, site };
}

type Headers = { apikey: string };

async function readList(headers: Headers, query = ''): Promise<Entry[]> {
  const response = await service.get(`/attention?limit=500&${query}`, { headers });
  assert.equal(response.statusCode, 200, response.body);
  return response.json().data;
}

async function readCodes(headers: Headers): Promise<string[]> {
  return (await readList(headers)).map(({ resource, field, code }) => `${resource} ${field} ${code}`);
}

async function createSite(body: object, headers: Headers): Promise<string> {
  const response = await service.post('/customer/site', body, { headers });
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

test('complete objects of known shape need no attention', async () => {
  const { headers, site } = await startTenant();
  const openingHours = [{ dayOfWeek: 'FRIDAY', opens: '22:00', closes: '24:00', validFrom: '2026-01-01' }];
  const attendingIntervals = [
    { frequency: 'MONTHLY', interval: 1, byDay: ['MONDAY'], weekOfMonth: -1, byMonth: [3] },
  ];
  const { id: assignedEmployeeId } = (
    await service.post('/employee', { firstName: 'Ida', lastName: 'Voss' }, { headers })
  ).json();
  const body = { ...site, attendingIntervals, validUntil: '2999-12-31', assignedEmployeeId };
  await createSite(body, headers);
  await createSite({ ...site, name: 'Bar', openingHours }, headers);
  assert.deepEqual(await readList(headers), []);
});

const references = ['contactPersonId', 'contractId', 'assignedEmployeeId', 'serviceRecordRecipientId'];

test('a reference to nothing is on the list until what it names arrives or it is cleared', async () => {
  const { headers, site } = await startTenant();
  const ids = Object.fromEntries(references.map((field) => [field, randomUUID()]));
  const id = await createSite({ ...site, ...ids }, headers);
  assert.deepEqual(
    (await readCodes(headers)).sort(),
    references.map((f) => `site ${f} unresolved_reference`).sort(),
  );
  await service.patch(`/sites/${id}`, Object.fromEntries(references.map((field) => [field, null])), {
    headers,
  });
  assert.deepEqual(await readList(headers), []);
});

test('the recipient of service records may be a contact person or a customer', async () => {
  const { headers, site, customerId } = await startTenant();
  const person = await service.post('/customer/contact-person', { customerId, lastName: 'x' }, { headers });
  await createSite({ ...site, serviceRecordRecipientId: customerId }, headers);
  await createSite({ ...site, name: 'Bar', serviceRecordRecipientId: person.json().id }, headers);
  assert.deepEqual(await readList(headers), []);
});

const unknownShapes = [
  { dayOfWeek: 'Montag', opens: '08:00', closes: '18:00' },
  { dayOfWeek: 'MONDAY', opens: '8:00', closes: '18:00' },
  { dayOfWeek: 'MONDAY', opens: '24:00', closes: '18:00' },
  { dayOfWeek: 'MONDAY', opens: '08:00' },
  { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00', note: 'x' },
  { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00', validFrom: '2026-02-30' },
  {},
];

test('lists of an unknown shape are on the list until they are corrected', async () => {
  for (const item of unknownShapes) {
    const { headers, site } = await startTenant();
    const id = await createSite(
      { ...site, openingHours: [item], attendingIntervals: [{ every: 'week' }] },
      headers,
    );
    const expected = ['site attendingIntervals unknown_shape', 'site openingHours unknown_shape'];
    assert.deepEqual((await readCodes(headers)).sort(), expected, JSON.stringify(item));
    await service.patch(`/sites/${id}`, { openingHours: [], attendingIntervals: null }, { headers });
    assert.deepEqual(await readList(headers), []);
  }
});

test('half a position, no position and a past validity are on the list', async () => {
  const { headers, site, customerId } = await startTenant();
  await service.patch(`/customers/${customerId}`, { address: { location: { lng: null } } }, { headers });
  const id = await createSite({ ...site, address: nowhere, validUntil: '2020-01-01' }, headers);
  assert.deepEqual((await readCodes(headers)).sort(), [
    'customer address.location half_position',
    'site address.location no_position',
    'site validUntil validity_ended',
  ]);
  const fixed = { address: { location: position }, validUntil: null };
  assert.equal((await service.patch(`/sites/${id}`, fixed, { headers })).statusCode, 200);
  await service.patch(`/customers/${customerId}`, { address: { location: { lng: 1 } } }, { headers });
  assert.deepEqual(await readList(headers), []);
});

test('a site with a known postcode or town has an approximate position, and is not on the list', async () => {
  const { headers, site } = await startTenant();
  await createSite({ ...site, address: { ...nowhere, zipCode: '20095' } }, headers);
  await createSite({ ...site, name: 'Bar', address: { ...nowhere, city: 'Hamburg' } }, headers);
  const id = await createSite({ ...site, name: 'Spa', address: nowhere }, headers);
  assert.deepEqual(
    (await readList(headers)).map((entry) => [entry.id, entry.code]),
    [[id, 'no_position']],
  );
  const counted = await service.get('/attention?count=true', { headers });
  assert.equal(counted.json().total, 1);
});

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const openingHours = weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '08:00', closes: '17:00' }));
const saturdays = { frequency: 'WEEKLY', byDay: ['SATURDAY'], toleranceInDays: 3 };

async function createEmployee(headers: Headers, changes: object = {}): Promise<string> {
  const body = { firstName: 'Ida', lastName: 'Voss', ...changes };
  return (await service.post('/employee', body, { headers })).json().id;
}

test('a site that is closed on the day of a visit is listed until hours or interval allow the visit', async () => {
  const { headers, site } = await startTenant();
  const assignedEmployeeId = await createEmployee(headers);
  const openSite = { ...site, assignedEmployeeId, openingHours };
  // Friday is open, or a day before it where Friday is a holiday.
  await createSite({ ...openSite, attendingIntervals: [saturdays] }, headers);
  await createSite(
    { ...openSite, name: 'Past', attendingIntervals: [{ ...saturdays, endDate: '2020-01-01' }] },
    headers,
  );
  const strict = [{ ...saturdays, toleranceInDays: 0 }];
  await createSite({ ...openSite, name: 'Unknown', openingHours: [], attendingIntervals: strict }, headers);
  assert.deepEqual(await readList(headers), []);
  const id = await createSite({ ...openSite, name: 'Bar', attendingIntervals: strict }, headers);
  const [entry, ...others] = await readList(headers, 'code=closed_visit');
  assert.deepEqual([entry?.id, entry?.field, others], [id, 'attendingIntervals', []]);
  await service.patch(`/sites/${id}`, { validUntil: '2020-01-01' }, { headers });
  assert.deepEqual(await readList(headers, 'code=closed_visit'), []);
  await service.patch(`/sites/${id}`, { validUntil: null, attendingIntervals: [saturdays] }, { headers });
  assert.deepEqual(await readList(headers), []);
});

test('visits without an active employee are on the list; an unknown or awaited one has its own entry', async () => {
  const { headers, site } = await startTenant();
  const attendingIntervals = [{ frequency: 'WEEKLY', byDay: ['MONDAY'] }];
  const resigned = await createEmployee(headers, { active: false });
  const visited = { ...site, attendingIntervals };
  const inactive = await createSite({ ...visited, name: 'A', assignedEmployeeId: resigned }, headers);
  const nobody = await createSite({ ...visited, name: 'B' }, headers);
  await createSite({ ...visited, name: 'C', assignedEmployeeExternalId: 'HR-1' }, headers);
  await createSite({ ...visited, name: 'D', assignedEmployeeId: randomUUID() }, headers);
  await createSite({ ...visited, name: 'E', attendingIntervals: [] }, headers);
  const ended = { ...attendingIntervals[0], endDate: '2020-01-01' };
  const past = await createSite({ ...visited, name: 'F', attendingIntervals: [ended, ended] }, headers);
  const entries = (await readList(headers)).map(({ id, code }) => `${id} ${code}`);
  assert.deepEqual(
    entries.filter((entry) => entry.endsWith(' no_employee')),
    [inactive, nobody].sort().map((id) => `${id} no_employee`),
  );
  assert.equal(entries.length, 4);
  await service.patch(`/sites/${past}`, { attendingIntervals: [ended, ...attendingIntervals] }, { headers });
  assert.equal((await readList(headers, 'code=no_employee')).length, 3);
  await service.patch(`/sites/${past}`, { attendingIntervals: [] }, { headers });
  await service.patch(`/employees/${resigned}`, { active: true }, { headers });
  await service.patch(`/sites/${nobody}`, { assignedEmployeeId: resigned }, { headers });
  assert.deepEqual(await readList(headers, 'code=no_employee'), []);
});

test('closed visits behind thousands of sites are found, counted and paged without gaps', async () => {
  const { tenantId, key } = await service.createTenant();
  const headers = { apikey: key };
  const customerId = await service.createCustomer({}, { headers });
  // Every thousandth is closed on the day of its visit; all have their own intervals.
  await service.owner.query(
    `INSERT INTO site (tenant_id, id, customer_id, name, address_street_name, address_house_number, address_zip_code, address_city,
       address_location_lat, address_location_lng, needs_appointment, has_key, opening_hours, opening_hours_is_known,
       attending_intervals, attending_intervals_is_known, time_zone)
     SELECT $1, ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, $2, 'Site ' || number, 'a', '1', '20095', 'Hamburg',
       53, 10, false, false, $3::json, true, json_build_array(json_build_object('frequency', 'WEEKLY', 'durationInMinutes', 1 + number % 1440,
         'byDay', json_build_array(CASE WHEN number % 1000 = 0 THEN 'SUNDAY' ELSE 'MONDAY' END))), true, 'Europe/Berlin'
     FROM generate_series(1, 11000) AS number`,
    [tenantId, customerId, JSON.stringify(openingHours)],
  );
  const found: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const address: string = `/attention?code=closed_visit&limit=2${cursor && `&cursor=${cursor}`}`;
    const page = (await service.get(address, { headers })).json();
    found.push(...page.data.map(({ id }: Entry) => Number(id.slice(-5))));
    cursor = page.nextCursor;
  }
  assert.deepEqual(
    found,
    Array.from({ length: 11 }, (_, index) => (index + 1) * 1000),
  );
});

test('the same company at the same address, and the same name at the same customer, are probable duplicates', async () => {
  const { headers, site, customerId } = await startTenant();
  const twin = { companyName: 'HOTEL Alsterblick gmbh', address: { ...validAddress, location: position } };
  const twinId = await service.createCustomer(twin, { headers });
  await service.createCustomer({ ...twin, address: { ...twin.address, houseNumber: '18' } }, { headers });
  await createSite(site, headers);
  await createSite({ ...site, name: 'LOBBY' }, headers);
  await createSite({ ...site, customerId: twinId }, headers);
  for (const lastName of ['Groß', 'Gross']) {
    await service.post('/customer/contact-person', { customerId, lastName }, { headers });
  }
  const entries = await readList(headers, 'code=probable_duplicate');
  const counts = Object.groupBy(entries, ({ resource }) => resource);
  assert.deepEqual(
    Object.entries(counts).map(([resource, found]) => [resource, found?.length]),
    [
      ['customer', 1],
      ['contact-person', 1],
      ['site', 1],
    ],
    'one entry for each group',
  );
  const counted = await service.get('/attention?code=probable_duplicate&limit=1&count=true', { headers });
  assert.equal(counted.json().total, 3, counted.body);
  const [group] = entries.filter(({ resource }) => resource === 'customer');
  assert.deepEqual([group!.id, ...group!.duplicateIds!], [customerId, twinId].sort());
  await service.delete(`/customers/${twinId}`, { headers });
  assert.equal(
    (await readList(headers, 'code=probable_duplicate&resource=customer')).length,
    1,
    'it has a site',
  );
});

test('what needs every row to be looked at is found behind thousands of others, too', async () => {
  const { tenantId, key } = await service.createTenant();
  // Two pieces of the look and a bit. The first and the last have the same name at the same address.
  await service.owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number, address_zip_code,
       address_city, status)
     SELECT $1, ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid,
       CASE WHEN number IN (1, 11000) THEN 'Twin' ELSE 'Customer ' || number END, 'a', '1', '2', 'c', 'ACTIVE'
     FROM generate_series(1, 11000) AS number`,
    [tenantId],
  );
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const address: string = `/attention?code=probable_duplicate&limit=1${cursor && `&cursor=${cursor}`}`;
    const page = (await service.get(address, { headers: { apikey: key } })).json();
    found.push(
      ...page.data.map(({ id, duplicateIds }: Entry) =>
        [id, ...duplicateIds!].map((one) => one.slice(-5)).join(' '),
      ),
    );
    cursor = page.nextCursor;
  }
  assert.deepEqual(found, ['00001 11000']);
});

test('the list pages, counts, filters, and speaks German', async () => {
  const { headers, site } = await startTenant();
  for (let index = 0; index < 5; index++) {
    await createSite({ ...site, name: `S${index}`, address: nowhere, contractId: randomUUID() }, headers);
  }
  const seen: Entry[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await service.get(`/attention?limit=3&count=true${cursor && `&cursor=${cursor}`}`, {
      headers: { ...headers, 'accept-language': 'de' },
    });
    const page = response.json() as { data: Entry[]; nextCursor: string | null; total: number };
    assert.equal(page.total, 10);
    seen.push(...page.data);
    cursor = page.nextCursor;
  }
  assert.equal(new Set(seen.map(({ id, code }) => id + code)).size, 10);
  assert.ok(
    seen.every(({ message }) =>
      /^(Keine Position|Noch kein|Ein Eintrag|Breiten|Ein anderer|Die Gültigkeit)/.test(message),
    ),
  );
  assert.equal((await readList(headers, 'code=no_position')).length, 5);
  assert.equal((await readList(headers, 'resource=customer')).length, 0);
  for (const query of [
    'code=x',
    'resource=x',
    'limit=0',
    'cursor=x',
    'count=1',
    'foo=1',
    'limit=1&limit=2',
  ]) {
    assert.equal((await service.get(`/attention?${query}`, { headers })).statusCode, 400, query);
  }
});
