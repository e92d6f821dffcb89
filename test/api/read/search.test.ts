// Searches as a clerk types them, and their results.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

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
  await create('simsek', '/customer', {
    ...validCustomer,
    companyName: 'ŞİMŞEK Çiçekçilik',
    externalId: 'Ł-77',
    address: { streetName: 'Žižkova', houseNumber: '8', zipCode: '90001', city: 'Łódź' },
  });
  await create('mac', '/customer', { ...validCustomer, companyName: 'Gärtnerei Großmann'.normalize('NFD') });
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
  ['customers', 'simsek', ['simsek']],
  ['customers', 'Şimşek', ['simsek']],
  ['customers', 'cicekcilik', ['simsek']],
  ['customers', 'zizkova 8', ['simsek']],
  ['customers', 'LODZ', ['simsek']],
  ['customers', 'łódź', ['simsek']],
  ['customers', 'L77', ['simsek']],
  ['customers', 'gaertnerei', ['mac']],
  ['customers', 'Gärtnerei grossmann', ['mac']],
  ['customers', 'gartnerei'.normalize('NFD'), ['mac']],
  ['contact-persons', 'sahin', ['contact']],
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

interface Result {
  type: string;
  id: string;
  title: string;
  where: string;
  matched: { field: string; text: string }[];
}

async function searchAll(query: string): Promise<Result[]> {
  const response = await get(`/search?${query}`);
  assert.equal(response.statusCode, 200, response.body);
  return response.json().data;
}

test('one search finds objects of all types, the best first, and says what matched and where', async () => {
  const results = await searchAll(`q=${encodeURIComponent('möbelhaus')}`);
  assert.deepEqual(results[0], {
    type: 'customer',
    id: ids.moebelhaus,
    title: 'Möbelhaus Brügge KG',
    where: 'Hamburg',
    matched: [{ field: 'companyName', text: 'Möbelhaus Brügge KG' }],
  });
  assert.deepEqual(
    results
      .slice(1)
      .map(({ type, title, where }) => `${type}: ${title}, ${where}`)
      .sort(),
    [
      'contact-person: Şahin, Möbelhaus Brügge KG',
      'container: Kübel, Foyer · Möbelhaus Brügge KG',
      'contract: V-2026-17, Möbelhaus Brügge KG',
      'plant: P-000135, Foyer · Möbelhaus Brügge KG',
      'site: Foyer, Möbelhaus Brügge KG · Köln',
      'site: Lager, Möbelhaus Brügge KG · Hamburg',
    ],
  );
});

const best: [q: string, name: string, field: string][] = [
  ['foyer möbelhaus', 'foyer', 'name'],
  ['Ueberseering', 'moebelhaus', 'address.streetName'],
  ['20251', 'foyer', 'address.zipCode'],
  ['ST-10019-3', 'foyer', 'externalId'],
  ['ST-10019-31', 'lager', 'externalId'],
  ['P-000135', 'plant', 'labelCode'],
  ['040 55667788', 'moebelhaus', 'phone'],
  ['haustechnik', 'contact', 'role'],
  ['aydin', 'aydin', 'lastName'],
  ['haustehcnik', 'contact', 'role'],
  ['V-2026-17', 'contract', 'contractNumber'],
];

for (const [q, name, field] of best) {
  test(`the best match of "${q}" is the ${name}, by ${field}`, async () => {
    const [first] = await searchAll(`q=${encodeURIComponent(q)}`);
    assert.ok(first);
    assert.equal(first.id, ids[name], JSON.stringify(first));
    assert.ok(
      first.matched.some((match) => match.field === field),
      JSON.stringify(first.matched),
    );
  });
}

test('a search can be limited to types and a number, and knows its own tenant only', async () => {
  const contracts = await searchAll(`q=br%C3%BCgge&types=contract,product`);
  assert.deepEqual(
    contracts.map(({ id }) => id),
    [ids.contract],
  );
  assert.equal((await searchAll('q=br%C3%BCgge&limit=2')).length, 2);
  const { key } = await service.createTenant();
  const answer = await get('/search?q=foyer', { headers: { apikey: key } });
  assert.deepEqual(answer.json(), { data: [] });
});

const refused: Record<string, string> = {
  'q=': 'q: blank',
  '': 'q: blank',
  'q=%25%25%20_': 'q: blank',
  'q=%00': 'q: blank',
  [`q=${'a'.repeat(201)}`]: 'q: too_long',
  'q=a&types=sites': 'types: invalid_choice',
  'q=a&limit=21': 'limit: out_of_range',
};

for (const [query, expected] of Object.entries(refused)) {
  test(`a search with ${query.slice(0, 20)} is rejected with its reason`, async () => {
    const response = await get(`/search?${query}`);
    assert.equal(response.statusCode, 400, response.body);
    const { errors } = response.json();
    assert.deepEqual(
      errors.map((error: { field: string; code: string }) => `${error.field}: ${error.code}`),
      [expected],
    );
  });
}

test('a repeated parameter and hostile words are answered, not failed', async () => {
  assert.equal((await get('/search?q=a&q=b')).statusCode, 400);
  for (const q of ["foyer' OR true --", 'foyer%', '\\', '=foyer', 'a b c d e f g h i j k'])
    assert.notEqual((await get(`/search?q=${encodeURIComponent(q)}`)).statusCode, 500, q);
});
