import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';
import { assertStored, columnsOfBody, countRows } from '../../helpers/stored-rows.ts';

const { owner, post, createCustomer, tenant } = await startService();
const customerId = await createCustomer();

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const siteDefaults = { opening_hours: [], time_zone: 'Europe/Berlin' };
const customerDefaults = { status: 'ACTIVE' };

async function create(path: string, body: object): Promise<string> {
  const response = await post(path, body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

test('a created object is answered with 201 and nothing but its new id', async () => {
  for (const [path, body] of [
    ['/customer', validCustomer],
    ['/customer/site', validSite(customerId)],
  ] as const) {
    const response = await post(path, body);
    assert.equal(response.statusCode, 201);
    assert.deepEqual(Object.keys(response.json()), ['id']);
    assert.match(response.json().id, uuid);
    assert.equal(response.headers['stamm-ignored-fields'], undefined);
  }
});

test('the same body sent twice makes two objects of the tenant whose key was sent', async () => {
  const ids = [await create('/customer', validCustomer), await create('/customer', validCustomer)];
  assert.notEqual(ids[0], ids[1]);
  const { rows } = await owner.query('SELECT tenant_id, version FROM customer WHERE id = ANY ($1)', [ids]);
  const expected = { tenant_id: tenant.tenantId, version: 1 };
  assert.deepEqual(rows, [expected, expected]);
});

test('the least that a customer and a site need is stored as sent, with defaults and nothing else', async () => {
  const customer = await create('/customer', validCustomer);
  await assertStored(owner, 'customer', customer, { ...columnsOfBody(validCustomer), ...customerDefaults });
  const site = await create('/customer/site', validSite(customerId));
  await assertStored(owner, 'site', site, { ...columnsOfBody(validSite(customerId)), ...siteDefaults });
});

const fullAddress = { ...validAddress, location: { lat: -53.550341, lng: 179.99999999 } };

test('every field of a customer and of a site is stored as sent', async () => {
  const customer = {
    companyName: 'Gärtnerei "Ö" \\ & Söhne\n\t 🌿',
    address: fullAddress,
    customerNumber: 'K-1',
    email: 'empfang@alsterblick.example',
    phone: '+49 40 123456',
    vatId: 'DE123456789',
    comment: '',
    status: 'INACTIVE',
    externalId: 'ERP-1',
  };
  const site = {
    ...validSite(customerId),
    address: fullAddress,
    hasKey: true,
    comment: 'Klingel links, "Empfang"',
    appointmentPreparationTimeInMinutes: 15,
    attendingIntervals: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
    openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '24:00' }],
    serviceRecordRecipientId: randomUUID(),
    callOutFee: 24.9,
    assignedEmployeeId: randomUUID(),
    contactPersonId: randomUUID(),
    contractId: randomUUID(),
    validFrom: '2024-02-29',
    validUntil: '2024-02-29',
    timeZone: 'America/New_York',
    externalId: 'ERP-1',
  };
  await assertStored(owner, 'customer', await create('/customer', customer), columnsOfBody(customer));
  await assertStored(owner, 'site', await create('/customer/site', site), columnsOfBody(site));
});

// Sent as written here, and expected as the same JSON text: a double must not come between.
const unusualButAllowed: readonly (readonly [guarantee: string, field: string, json: string])[] = [
  ['a fee of any precision', 'callOutFee', '12345678901234567890.123456789'],
  ['a fee that no double holds', 'callOutFee', '0.1'],
  ['a fee with an exponent', 'callOutFee', '1e21'],
  ['the smallest double as a fee', 'callOutFee', '5e-324'],
  ['a fee below the smallest double', 'callOutFee', '1e-400'],
  ['the largest double as a fee', 'callOutFee', '1.7976931348623157e308'],
  ['a fee with trailing zeros', 'callOutFee', '24.90'],
  ['no fee at all', 'callOutFee', '0'],
  ['the largest whole number that is exact', 'appointmentPreparationTimeInMinutes', '9007199254740991'],
  ['a whole number written as 15.0', 'appointmentPreparationTimeInMinutes', '15.0'],
  ['a whole number written as 1e3', 'appointmentPreparationTimeInMinutes', '1e3'],
  ['no minutes', 'appointmentPreparationTimeInMinutes', '0'],
  ['a name of 60 emoji', 'name', JSON.stringify('🌵'.repeat(60))],
  ['a name of one visible character', 'name', '" . "'],
  ['a comment of 150 characters', 'comment', JSON.stringify('ä'.repeat(150))],
  ['an empty comment', 'comment', '""'],
  ['a comment with every escape', 'comment', '"\\u00e4\\ud83c\\udf35\\n\\/\\u0001"'],
  ['opening hours of no known shape', 'openingHours', '[{},{"":{"a":[null,true,{"b":[]}]}}]'],
  [
    'numbers beyond doubles in items',
    'openingHours',
    '[{"n":[12345678901234567890.123456789,-1e-400,0.10,1e300]}]',
  ],
  [
    'nested unicode in items',
    'attendingIntervals',
    '[{"ключ 🌿":{"\\u00fc\\n":"\\ud83c\\udf35 \\"日本\\""}}]',
  ],
  ['a hundred items', 'openingHours', JSON.stringify(Array.from({ length: 100 }, (_, day) => ({ day })))],
  ['items in their order', 'attendingIntervals', '[{"b":1},{"a":2},{"b":1}]'],
  ['an empty list of visit intervals', 'attendingIntervals', '[]'],
  ['the first day there is', 'validFrom', '"0001-01-01"'],
  ['the last day there is', 'validUntil', '"9999-12-31"'],
  ['the nil UUID', 'contractId', '"00000000-0000-0000-0000-000000000000"'],
];

for (const [guarantee, field, json] of unusualButAllowed) {
  test(`${guarantee} is kept exactly in ${field}`, async () => {
    const { [field as 'name']: _replaced, ...rest } = validSite(customerId);
    const response = await post('/customer/site', `${JSON.stringify(rest).slice(0, -1)},"${field}":${json}}`);
    assert.equal(response.statusCode, 201, response.body);
    const isNumber = typeof JSON.parse(json) === 'number';
    const value = isNumber ? JSON.rawJSON(json) : JSON.parse(json, keepNumbers);
    const row = { ...siteDefaults, ...columnsOfBody({ ...rest, [field]: value }) };
    await assertStored(owner, 'site', response.json().id, row);
  });
}

function keepNumbers(_name: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' ? JSON.rawJSON(source!) : value;
}

test('trailing zeros of a fee are not lost', async () => {
  const body = JSON.stringify({ ...validSite(customerId), callOutFee: JSON.rawJSON('1234567890123456.500') });
  const response = await post('/customer/site', body);
  const { rows } = await owner.query('SELECT call_out_fee FROM site WHERE id = $1', [response.json().id]);
  assert.equal(rows[0].call_out_fee, '1234567890123456.500');
});

test('half a position, an empty position and an empty house number are stored as sent', async () => {
  for (const part of [
    { location: { lat: 90 } },
    { location: { lng: -180 } },
    { location: {} },
    { houseNumber: '' },
    { houseNumber: ' ' },
  ]) {
    const body = { ...validSite(customerId), address: { ...validAddress, ...part } };
    const row = { ...columnsOfBody(body), ...siteDefaults };
    await assertStored(owner, 'site', await create('/customer/site', body), row);
  }
});

test('ids are accepted in any case and of any version, and kept in lower case', async () => {
  const ids = ['018F0000-ABCD-7ABC-8DEF-ABCDEFABCDEF', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
  for (const contactPersonId of ids) {
    const body = { ...validSite(customerId.toUpperCase()), contactPersonId };
    const { rows } = await owner.query('SELECT customer_id, contact_person_id FROM site WHERE id = $1', [
      await create('/customer/site', body),
    ]);
    assert.deepEqual(rows, [{ customer_id: customerId, contact_person_id: contactPersonId.toLowerCase() }]);
  }
});

test('the last of several members with one name counts, as in every JSON parser', async () => {
  const body = JSON.stringify(validCustomer).replace('{', '{"companyName":"first",');
  const response = await post('/customer', body);
  const row = { ...columnsOfBody(validCustomer), ...customerDefaults };
  await assertStored(owner, 'customer', response.json().id, row);
});

test('objects that arrive together are each stored once, and a refused one takes no other with it', async () => {
  const before = await countRows(owner);
  const bodies = Array.from({ length: 60 }, (_, index) => ({
    ...validSite(index % 3 === 0 ? randomUUID() : customerId),
    name: `Site ${index}`,
  }));
  const responses = await Promise.all(bodies.map((body) => post('/customer/site', body)));
  for (const [index, response] of responses.entries()) {
    assert.equal(response.statusCode, index % 3 === 0 ? 400 : 201, response.body);
    if (response.statusCode === 400) continue;
    const row = { ...columnsOfBody(bodies[index]!), ...siteDefaults };
    await assertStored(owner, 'site', response.json().id, row);
  }
  assert.equal(await countRows(owner), before + 40);
});

test('an external id that is taken is answered with 409 and the id that holds it', async () => {
  const holder = await create('/customer', { ...validCustomer, externalId: 'taken' });
  const response = await post('/customer', { ...validCustomer, externalId: 'taken' });
  assert.equal(response.statusCode, 409);
  const { code, field, id } = response.json();
  assert.deepEqual({ code, field, id }, { code: 'conflict', field: 'externalId', id: holder });
});

test('of two taken values the answer names the external id, whose holder a retry needs', async () => {
  const holder = await create('/customer', { ...validCustomer, externalId: 'named first' });
  await create('/customer', { ...validCustomer, customerNumber: 'K-2' });
  const both = { ...validCustomer, externalId: 'named first', customerNumber: 'K-2' };
  const { field, id } = (await post('/customer', both)).json();
  assert.deepEqual({ field, id }, { field: 'externalId', id: holder });
});
