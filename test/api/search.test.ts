// What a clerk types into a search field, and what is found by it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { startService, validCustomer, validSite } from '../service.ts';

const service = await startService();
const { post, get, patch } = service;
const ids: Record<string, string> = {};

async function create(name: string, path: string, body: object): Promise<void> {
  const response = await post(path, body);
  assert.equal(response.statusCode, 201, response.body);
  ids[name] = response.json().id;
}

/** Names of the objects that a list finds. */
async function find(collection: string, q: string): Promise<string[]> {
  const response = await get(`/${collection}?q=${encodeURIComponent(q)}`);
  assert.equal(response.statusCode, 200, response.body);
  const found = new Set(response.json().data.map(({ id }: { id: string }) => id));
  return Object.keys(ids).filter((name) => found.has(ids[name]));
}

before(async () => {
  await create('moebelhaus', '/customer', {
    ...validCustomer,
    companyName: 'Möbelhaus Brügge KG',
    customerNumber: 'K-10019',
    externalId: 'KD-10019',
    phone: '+49 (0)40 55 66-7788',
    email: 'einkauf@moebel-bruegge.example',
    address: { streetName: 'Überseering', houseNumber: '33b', zipCode: '22297', city: 'Hamburg' },
  });
  await create('hotel', '/customer', {
    ...validCustomer,
    companyName: 'Hotel Alsterufer',
    phone: '089/4711',
  });
  await create('aydin', '/employee', { firstName: 'Deniz', lastName: 'Aydın', employeeNumber: 'M-7' });
  await create('foyer', '/customer/site', {
    ...validSite(ids.moebelhaus!),
    name: 'Foyer',
    externalId: 'ST-10019-3',
    assignedEmployeeId: ids.aydin,
    address: { streetName: 'Eppendorfer Landstraße', houseNumber: '5', zipCode: '20251', city: 'Köln' },
  });
  await create('lager', '/customer/site', {
    ...validSite(ids.moebelhaus!),
    name: 'Lager',
    externalId: 'ST-10019-31',
    address: { streetName: 'Deichstraße', houseNumber: '9', zipCode: '20459', city: 'Hamburg' },
  });
  await create('bar', '/customer/site', { ...validSite(ids.hotel!), name: 'Foyer mit Bar' });
  await create('contact', '/customer/contact-person', {
    customerId: ids.moebelhaus,
    lastName: 'Şahin',
    role: 'Haustechnik',
    mobile: '0170 998877',
  });
  await create('contract', '/customer/contract', {
    customerId: ids.moebelhaus,
    startDate: '2026-01-01',
    type: 'CARE',
    contractNumber: 'V-2026-17',
  });
  await create('product', '/product', { name: 'Ficus', kind: 'PLANT', gtin: '4006381333931' });
  await create('plant', '/customer/site/plant', {
    siteId: ids.foyer,
    productId: ids.product,
    labelCode: 'P-000135',
    room: 'Besprechung Elbe',
  });
  await create('container', '/customer/site/container', {
    siteId: ids.foyer,
    name: 'Kübel',
    cultureSystem: 'SOIL',
  });
});

const cases: [collection: string, q: string, expected: string[]][] = [
  ['sites', 'Möbelhaus', ['foyer', 'lager']],
  ['sites', 'moebelhaus foyer', ['foyer']],
  ['sites', 'Foyer Möbelhsaus', ['foyer']],
  ['sites', 'alsteruf', ['bar']],
  ['sites', 'Eppendorfer Landstrasse 5', ['foyer']],
  ['sites', 'ependorfer', ['foyer']],
  ['sites', '20251', ['foyer']],
  ['sites', '204', ['lager']],
  ['sites', 'koeln', ['foyer']],
  ['sites', 'ST-10019-3', ['foyer', 'lager']],
  ['sites', 'st10019', ['foyer', 'lager']],
  ['sites', 'ST-10019-31', ['lager']],
  ['sites', 'K-10019', ['foyer', 'lager']],
  ['sites', 'aydin', ['foyer']],
  ['sites', 'M-7', ['foyer']],
  ['sites', '20252', []],
  ['sites', 'ST-10018-3', []],
  ['sites', 'möbelhaus bar', []],
  ['customers', 'Ueberseering 33b', ['moebelhaus']],
  ['customers', '040 55667788', ['moebelhaus']],
  ['customers', '+49 40 55 66 77 88', ['moebelhaus']],
  ['customers', '0049-40-5566', ['moebelhaus']],
  ['customers', 'brügge 040', ['moebelhaus']],
  ['customers', '0894711', ['hotel']],
  ['customers', '4711', ['hotel']],
  ['customers', 'einkauf@moebel-bruegge.example', ['moebelhaus']],
  ['customers', 'KD-10019', ['moebelhaus']],
  ['contact-persons', 'haustechnik', ['contact']],
  ['contact-persons', '0170998877', ['contact']],
  ['contact-persons', 'mobelhaus', ['contact']],
  ['contracts', 'V-2026-17 brügge', ['contract']],
  ['products', '4006381333931', ['product']],
  ['plants', 'P-000135', ['plant']],
  ['plants', 'besprechung', ['plant']],
  ['plants', 'ficus foyer möbelhaus', ['plant']],
  ['containers', 'kübel brügge', ['container']],
  ['employees', 'deniz', ['aydin']],
];

for (const [collection, q, expected] of cases) {
  test(`${collection} by "${q}"`, async () => assert.deepEqual(await find(collection, q), expected));
}

test('a renamed customer is found under the new name in all its sites immediately', async () => {
  await patch(`/customers/${ids.hotel}`, { companyName: 'Pension Isebek' });
  assert.deepEqual(await find('sites', 'isebek'), ['bar']);
  assert.deepEqual(await find('sites', 'alsterufer'), []);
});

for (const q of ['%', '%%% ___', '\\', '„“', '-', '+', '=']) {
  test(`a list by "${q}" finds nothing`, async () => assert.deepEqual(await find('sites', q), []));
}

for (const q of [
  'a'.repeat(20_000),
  '\0foyer\0',
  "foyer' OR true --",
  '=foyer',
  '+foyer',
  '\x01=st',
  'foyer%',
]) {
  test(`a search for ${JSON.stringify(q).slice(0, 20)} is answered`, async () => {
    assert.equal((await get(`/sites?q=${encodeURIComponent(q)}`)).statusCode, 200);
  });
}
