import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { valueAt } from '../../../core/definition/definition.ts';
import { reachTenants } from '../../../server/access/tenants.ts';
import { filtersOf } from '../../../server/engine/read/list-filters.ts';
import { writeMissingWords } from '../../../server/engine/write/search-words.ts';
import { resources } from '../../../server/resources/index.ts';
import { fullBody } from '../../helpers/full-body.ts';
import { startService, validCustomer } from '../../helpers/service.ts';

const service = await startService();
const { get, patch, put, post, createTenant } = service;

type Item = Record<string, unknown> & { id: string };

async function list(
  address: string,
  headers = {},
): Promise<{ data: Item[]; nextCursor: string | null; total?: number }> {
  const response = await get(address, { headers });
  assert.equal(response.statusCode, 200, response.body);
  return response.json();
}

async function listAll(address: string, headers = {}): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const separator = address.includes('?') ? '&' : '?';
    const page = await list(cursor ? `${address}${separator}cursor=${cursor}` : address, headers);
    items.push(...page.data);
    cursor = page.nextCursor;
  }
  return items;
}

function codesOf(response: { json: () => { errors: { field: string; code: string }[] } }): string[] {
  return response.json().errors.map(({ field, code }) => `${field}: ${code}`);
}

test('each order pages through everything once, forwards and backwards', async () => {
  const headers = { apikey: (await createTenant()).key };
  const names = ['Zoo', 'Äpfel', 'apfel', 'Bär', 'Ärzte', 'Öl', 'Über', 'Strauß', 'Strauss', 'Zoo'];
  for (const companyName of names) await service.createCustomer({ companyName }, { headers });
  for (const order of ['createdAt', 'updatedAt', 'name']) {
    const forwards = await listAll(`/customers?limit=3&sort=${order}`, headers);
    const backwards = await listAll(`/customers?limit=4&sort=-${order}`, headers);
    assert.equal(new Set(forwards.map(({ id }) => id)).size, names.length, order);
    assert.deepEqual(backwards.reverse(), forwards, order);
  }
  const sorted = await listAll('/customers?sort=name', headers);
  assert.deepEqual(
    sorted.map(({ companyName }) => String(companyName).toLowerCase()),
    ['äpfel', 'apfel', 'ärzte', 'bär', 'öl', 'strauß', 'strauss', 'über', 'zoo', 'zoo'],
  );
});

test('pages stay stable while rows are added and removed', async () => {
  const headers = { apikey: (await createTenant()).key };
  const ids: string[] = [];
  for (let index = 0; index < 30; index++) ids.push(await service.createCustomer({}, { headers }));
  const seen: string[] = [];
  let cursor = '';
  for (let turn = 0; ; turn++) {
    const page = await list(`/customers?limit=4${cursor && `&cursor=${cursor}`}`, headers);
    seen.push(...page.data.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
    // What the cursor stands on goes, something before it goes, and something new comes.
    if (turn === 1) await service.delete(`/customers/${seen.at(-1)}`, { headers });
    if (turn === 2) await service.delete(`/customers/${seen[0]}`, { headers });
    if (turn === 3) ids.push(await service.createCustomer({}, { headers }));
  }
  assert.deepEqual(seen, ids);
});

test('a page tells where the next one is, and how many there are if asked', async () => {
  const headers = { apikey: (await createTenant()).key };
  for (let index = 0; index < 3; index++) await service.createCustomer({}, { headers });
  const response = await get('/customers?limit=2&count=true', { headers });
  const { data, nextCursor, total } = response.json();
  assert.deepEqual([data.length, total], [2, 3]);
  const next = /^<\/api\/v1(\/customers\?[^>]+)>; rel="next"$/.exec(String(response.headers.link));
  assert.equal(new URLSearchParams(next![1]!.split('?')[1]).get('cursor'), nextCursor);
  const last = await get(next![1]!, { headers });
  assert.deepEqual(
    [last.json().data.length, last.json().nextCursor, last.headers.link],
    [1, null, undefined],
  );
});

test('every filter finds what has the value and nothing else', async () => {
  const headers = { apikey: (await createTenant()).key };
  const ids = new Map<string, string>();
  for (const definition of resources) {
    // An object that something refers to may come later.
    const body = fullBody(definition, (resource) => ids.get(resource) ?? randomUUIDv7());
    const created = await post(definition.path, body, { headers });
    assert.equal(created.statusCode, 201, created.body);
    ids.set(definition.name, created.json().id);
    const [item] = (await list(`/${definition.collection}`, headers)).data;
    for (const { name, column } of filtersOf(definition)) {
      const value = valueAt(item, column.path.join('.'));
      assert.ok(value !== undefined, `${definition.name} has no ${name} to find`);
      const address = `/${definition.collection}?${name}=${encodeURIComponent(String(value))}`;
      assert.equal((await list(address, headers)).data.length, 1, address);
      const others: Record<string, string> = {
        uuid: '0198c0de-0000-7000-8000-000000000001',
        flag: String(!value),
      };
      const choices = (column.field.schema.enum as string[] | undefined)?.filter(
        (choice) => choice !== value,
      );
      const other = choices?.[0] ?? others[column.field.kind] ?? 'nothing';
      assert.equal((await list(`/${definition.collection}?${name}=${other}`, headers)).data.length, 0, name);
    }
  }
});

describe('contracts of which some have no end and no price', async () => {
  const headers = { apikey: (await createTenant()).key };
  const customerId = await service.createCustomer({}, { headers });
  const contracts: Record<string, object> = {
    A: { startDate: '2026-01-01', endDate: '2026-06-30', netPrice: 99.5, status: 'ACTIVE' },
    B: { startDate: '2025-01-01', status: 'DRAFT' },
    C: { startDate: '2024-01-01', endDate: '2026-12-31', netPrice: 120, status: 'EXPIRED' },
    D: { startDate: '2027-01-01', endDate: '2026-12-31'.replace('2026', '2027'), netPrice: 0 },
  };
  before(async () => {
    for (const [contractNumber, fields] of Object.entries(contracts)) {
      const body = { customerId, type: 'CARE', contractNumber, ...fields };
      assert.equal((await post('/customer/contract', body, { headers })).statusCode, 201);
    }
  });
  const find = async (query: string) =>
    (await list(`/contracts?${query}`, headers)).data.map(({ contractNumber }) => contractNumber).join('');
  const found: Record<string, string> = {
    'endDateFrom=2026-12-31': 'BCD',
    'endDateUntil=2026-12-31': 'AC',
    'endDateFrom=2026-07-01&endDateUntil=2026-12-31': 'C',
    'netPriceFrom=99.5&netPriceUntil=120': 'AC',
    'netPriceUntil=99.4': 'D',
    'status=ACTIVE,DRAFT': 'AB',
    'status=EXPIRED': 'C',
    'empty=endDate': 'B',
    'empty=status': 'D',
    'empty=endDate,netPrice': 'B',
    'filled=endDate': 'ACD',
    'filled=endDate&empty=status': 'D',
    [`customerId=${customerId},${randomUUIDv7()}`]: 'ABCD',
    'sort=endDate': 'ACDB',
    'sort=-endDate': 'BDCA',
    'sort=netPrice': 'DACB',
    'sort=-startDate': 'DABC',
  };
  for (const [query, expected] of Object.entries(found)) {
    test(`${query.replace(/=[\da-f-]{36}.*/, '=…')} finds ${expected}`, async () => {
      assert.equal(await find(query), expected);
    });
  }

  test('each order is paged without a gap, also over those that have no value', async () => {
    for (const sort of ['endDate', '-endDate', 'netPrice', '-netPrice', 'startDate', '-startDate']) {
      const numbers: unknown[] = [];
      let cursor = '';
      do {
        const page = await list(`/contracts?limit=1&sort=${sort}${cursor}`, headers);
        numbers.push(...page.data.map(({ contractNumber }) => contractNumber));
        cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
      } while (cursor);
      assert.equal(numbers.join(''), await find(`sort=${sort}`), sort);
    }
  });

  const refused: Record<string, string> = {
    'endDateFrom=2026-02-30': 'invalid_date',
    'endDateFrom=': 'invalid_date',
    'netPriceFrom=-1': 'too_small',
    'netPriceUntil=NaN': 'type',
    'status=ACTIVE,': 'invalid_choice',
    'status=active': 'invalid_choice',
    'customerId=a,b': 'invalid_uuid',
    [`customerId=${Array(101).fill(randomUUIDv7()).join()}`]: 'too_many_items',
    'empty=startDate': 'invalid_choice',
    'filled=': 'invalid_choice',
    'sort=comment': 'invalid_choice',
    'startDate=2026-01-01': 'unknown_parameter',
  };
  for (const [query, code] of Object.entries(refused)) {
    test(`${query.slice(0, 40)} is refused as ${code}`, async () => {
      const response = await get(`/contracts?${query}`, { headers });
      assert.equal(response.statusCode, 400);
      assert.deepEqual(
        response.json().errors.map((error: { code: string }) => error.code),
        [code],
      );
    });
  }

  test('a cursor with another value than its order has is refused', async () => {
    for (const value of ['tomorrow', '2026-02-30', '1e9']) {
      for (const sort of ['endDate', 'netPrice']) {
        const cursor = Buffer.from(JSON.stringify([sort, value, randomUUIDv7()])).toString('base64url');
        const response = await get(`/contracts?sort=${sort}&cursor=${cursor}`, { headers });
        assert.equal(response.statusCode, 400, `${sort} ${value}`);
      }
    }
  });
});

test('a list of ids finds just these', async () => {
  const headers = { apikey: (await createTenant()).key };
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push(await service.createCustomer({}, { headers }));
  const chosen = [ids[0]!, ids[2]!];
  const found = (await list(`/customers?id=${chosen}`, headers)).data.map(({ id }) => id);
  assert.deepEqual(found, chosen);
  const refused = async (value: string) =>
    (await get(`/customers?id=${value}`, { headers }))
      .json()
      .errors.map(({ code }: { code: string }) => code);
  assert.deepEqual(await refused('1'), ['invalid_uuid']);
  assert.deepEqual(await refused(Array(301).fill(ids[0]).join()), ['too_many_items']);
});

test('sites and customers sort by town and postcode', async () => {
  const headers = { apikey: (await createTenant()).key };
  for (const [city, zipCode] of [
    ['Kiel', '24103'],
    ['Aachen', '52062'],
    ['Jena', '07743'],
  ]) {
    const address = { streetName: 'Markt', houseNumber: '1', city, zipCode };
    await service.createCustomer({ address }, { headers });
  }
  const cities = async (sort: string) =>
    (await list(`/customers?sort=${sort}`, headers)).data.map((item) => valueAt(item, 'address.city'));
  assert.deepEqual(await cities('city'), ['Aachen', 'Jena', 'Kiel']);
  assert.deepEqual(await cities('-zipCode'), ['Aachen', 'Kiel', 'Jena']);
});

test('customers sort by their number, and those without one come last', async () => {
  const headers = { apikey: (await createTenant()).key };
  for (const customerNumber of ['K-20', undefined, 'Ö-1', 'K-100', undefined, 'a'])
    await service.createCustomer({ customerNumber }, { headers });
  const forwards = await listAll('/customers?sort=customerNumber&limit=2', headers);
  assert.deepEqual(
    forwards.map(({ customerNumber }) => customerNumber),
    ['K-100', 'K-20', 'a', 'Ö-1', undefined, undefined],
  );
  const backwards = await listAll('/customers?sort=-customerNumber&limit=2', headers);
  assert.deepEqual(backwards.reverse(), forwards);
});

test('updatedSince finds what changed at or after a moment', async () => {
  const headers = { apikey: (await createTenant()).key };
  const first = await service.createCustomer({}, { headers });
  const second = await service.createCustomer({}, { headers });
  const [, { updatedAt }] = (await list('/customers', headers)).data as [Item, Item];
  assert.deepEqual(
    (await list(`/customers?updatedSince=${updatedAt}`, headers)).data.map(({ id }) => id),
    [second],
  );
  await patch(`/customers/${first}`, { phone: '1' }, { headers });
  const ids = (await list(`/customers?updatedSince=${updatedAt}&sort=updatedAt`, headers)).data.map(
    ({ id }) => id,
  );
  assert.deepEqual(ids, [second, first]);
});

test('a search finds names in spite of typing errors, umlauts and word order', async () => {
  const headers = { apikey: (await createTenant()).key };
  const names = [
    'Hotel Alsterblick GmbH',
    'Müller & Söhne KG',
    'Praxis Dr. Groß',
    'Kanzlei Petersen',
    'Café Elbe',
  ];
  for (const companyName of names) await service.createCustomer({ companyName }, { headers });
  const expected: Record<string, string> = {
    alsterblick: 'Hotel Alsterblick GmbH',
    alsterblik: 'Hotel Alsterblick GmbH',
    'alsterblick hotel': 'Hotel Alsterblick GmbH',
    als: 'Hotel Alsterblick GmbH',
    Mueller: 'Müller & Söhne KG',
    muller: 'Müller & Söhne KG',
    müler: 'Müller & Söhne KG',
    soehne: 'Müller & Söhne KG',
    gross: 'Praxis Dr. Groß',
    petersn: 'Kanzlei Petersen',
    ptersen: 'Kanzlei Petersen',
    cafe: 'Café Elbe',
    blick: 'Hotel Alsterblick GmbH',
    'kg sohne': 'Müller & Söhne KG',
    'müller&söhne': 'Müller & Söhne KG',
    'dr. groß': 'Praxis Dr. Groß',
    'CAFÉ "Elbe"': 'Café Elbe',
  };
  for (const [q, name] of Object.entries(expected)) {
    const { data } = await list(`/customers?q=${encodeURIComponent(q)}`, headers);
    assert.deepEqual(
      data.map((item) => item.companyName),
      [name],
      q,
    );
  }
  for (const q of ['xyzzy', 'hotel petersen', '&', '%', '_', "'", '\\']) {
    assert.deepEqual((await list(`/customers?q=${encodeURIComponent(q)}`, headers)).data, [], q);
  }
  const elsewhere = { apikey: (await createTenant()).key };
  assert.deepEqual((await list('/customers?q=alsterblick', elsewhere)).data, []);
});

test('a search finds the names that objects have by now', async () => {
  const headers = { apikey: (await createTenant()).key };
  const id = await service.createCustomer({ companyName: 'Hotel Alsterblick Alsterblick' }, { headers });
  const find = async (q: string) => (await list(`/customers?q=${q}`, headers)).data.map((item) => item.id);
  assert.deepEqual(await find('alsterblick'), [id]);
  await patch(`/customers/${id}`, { companyName: 'Hotel Elbblick', phone: '1' }, { headers });
  assert.deepEqual(await find('elbblick'), [id]);
  assert.deepEqual(await find('hotel'), [id]);
  assert.deepEqual(await find('alster'), []);
  await service.delete(`/customers/${id}`, { headers });
  assert.deepEqual(await find('hotel'), []);
  const { rows } = await service.owner.query('SELECT word FROM search_word WHERE id = $1', [id]);
  assert.deepEqual(rows, [], 'words go with their object');
});

test('what was meant is found among however many words, a typing error in each place of one', async () => {
  const { tenantId, key } = await createTenant();
  // Names of letters only, far more than are compared one by one, and two words that half of them have.
  await service.owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number, address_zip_code,
       address_city, status)
     SELECT $1, gen_random_uuid(), translate(md5(number::text), '0123456789', 'ghijklmnop') || CASE number % 2 WHEN 0 THEN ' Nordseite' ELSE ' Ostseite' END,
       'Weg', '1', '20095', 'Ulm', 'ACTIVE'
     FROM generate_series(1, 12000) AS number`,
    [tenantId],
  );
  await reachTenants(service.owner, (client, tenants) => writeMissingWords(client, resources, tenants));
  const headers = { apikey: key };
  const find = async (q: string) =>
    (await list(`/customers?q=${encodeURIComponent(q)}`, headers)).data.map((item) => item.id);
  const id = await service.createCustomer({ companyName: 'Weidenhof Nordseite-Ostseite' }, { headers });
  const word = 'weidenhof';
  for (let place = 0; place < word.length; place++) {
    const [before, letter, after] = [word.slice(0, place), word.charAt(place), word.slice(place + 1)];
    const swapped = before + after.charAt(0) + letter + after.slice(1);
    for (const q of [before + after, `${before}y${after}`, `${before}y${letter}${after}`, swapped]) {
      assert.deepEqual(await find(q), [id], q);
    }
  }
  for (const q of ['nord ost', 'nordsiete ostseite', 'weid nord ost', 'ost weidnhof'])
    assert.deepEqual(await find(q), [id], q);
  assert.equal((await find('nord')).length, 50);
  // Some of the other names begin like this too.
  assert.ok((await listAll('/customers?q=no%20os', headers)).some((item) => item.id === id));
  assert.deepEqual(await find('nord.ost.weidenhof.nord.ost.xyzzy'), []);
});

test('a filter tells long texts apart that begin alike', async () => {
  const headers = { apikey: (await createTenant()).key };
  const cities = [...[98, 99, 100, 101, 150].map((length) => 'ü'.repeat(length)), '🌿'.repeat(60), '🌿'];
  for (const city of cities)
    await service.createCustomer({ address: { ...validCustomer.address, city } }, { headers });
  for (const city of cities) {
    const { data } = await list(`/customers?city=${encodeURIComponent(city)}`, headers);
    assert.deepEqual(
      data.map(({ address }) => (address as { city: string }).city),
      [city],
    );
  }
});

const badQueries: Record<string, string[]> = {
  'limit=0': ['limit: out_of_range'],
  'limit=501': ['limit: out_of_range'],
  'limit=1.5': ['limit: out_of_range'],
  'limit=x&sort=size&foo=1': ['limit: out_of_range', 'sort: invalid_choice', 'foo: unknown_parameter'],
  'sort=name&sort=name': ['sort: repeated_parameter'],
  'count=yes': ['count: invalid_choice'],
  'include=data': ['include: invalid_choice'],
  'externalId=%00': ['externalId: invalid_text'],
  'customerExternalId=%00': ['customerExternalId: invalid_text'],
  'productExternalId=P-1': ['productExternalId: unknown_parameter'],
  'customerId=5': ['customerId: invalid_uuid'],
  'hasKey=ja': ['hasKey: invalid_choice'],
  'updatedSince=2026-01-01': ['updatedSince: invalid_timestamp'],
  'updatedSince=2026-02-30T00:00:00Z': ['updatedSince: invalid_timestamp'],
  'cursor=x': ['cursor: invalid_cursor'],
  'cursor=WyJuYW1lIiwiYSIsImIiXQ': ['cursor: invalid_cursor'],
  'city=%00': ['city: invalid_text'],
  'dryRun=true': ['dryRun: unknown_parameter'],
};

for (const [query, expected] of Object.entries(badQueries)) {
  test(`a list with ${query} is refused with the reason`, async () => {
    const response = await get(`/sites?${query}`);
    assert.equal(response.statusCode, 400, response.body);
    assert.deepEqual(codesOf(response), expected);
  });
}

test('a cursor of another order is refused', async () => {
  const headers = { apikey: (await createTenant()).key };
  for (let index = 0; index < 2; index++) await service.createCustomer({}, { headers });
  const { nextCursor } = await list('/customers?limit=1&sort=name', headers);
  const response = await get(`/customers?sort=-name&cursor=${nextCursor}`, { headers });
  assert.deepEqual(codesOf(response), ['cursor: invalid_cursor']);
});

test('fields of our own resources are checked as strictly, with codes of their own', async () => {
  const customerId = await service.createCustomer({ externalId: 'codes' });
  await service.createCustomer({ externalId: 'other codes' });
  const cases: [path: string, body: object, codes: string[]][] = [
    ['/product', { name: 'x', kind: 'PLANT', gtin: '4006381333932' }, ['gtin: invalid_gtin']],
    [
      '/product',
      { name: 'x', kind: 'PLANT', currency: 'EURO' },
      ['currency: too_long', 'currency: invalid_currency'],
    ],
    ['/product', { name: 'x', kind: 'PLANT', unitCode: 'h8' }, ['unitCode: invalid_unit_code']],
    ['/product', { name: 'x', kind: 'PLANT', vatRate: 100.01 }, ['vatRate: too_large']],
    [
      '/customer/site/plant',
      { siteId: customerId },
      ['botanicalName: required_one_of', 'siteId: reference_not_found'],
    ],
    [
      '/customer/site/container',
      { cultureSystem: 'SAND' },
      ['name: required', 'cultureSystem: invalid_choice'],
    ],
    [
      '/customer/contract',
      { customerId, startDate: '2026-02-01', type: 'CARE', endDate: '2026-01-31' },
      ['endDate: date_order'],
    ],
    [
      '/customer/contact-person',
      { customerId, customerExternalId: 'other codes', lastName: 'x' },
      ['customerExternalId: ambiguous'],
    ],
    ['/customer/contact-person', { lastName: 'x' }, ['customerId: required']],
    [
      '/employee',
      { firstName: ' ', lastName: 'x', email: 'x' },
      ['firstName: blank', 'email: invalid_email'],
    ],
  ];
  for (const [path, body, codes] of cases) {
    const response = await post(path, body);
    assert.equal(response.statusCode, 400, JSON.stringify(body));
    assert.deepEqual(codesOf(response).sort(), codes.sort());
  }
  const response = await put('/customers/by-external-id/one', { ...validCustomer, externalId: 'other' });
  assert.deepEqual(codesOf(response), ['externalId: differs_from_path']);
});
