import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { unguardText } from '../../../core/table/csv/csv.ts';
import { titlesOf } from '../../../server/engine/definition/titles.ts';
import { resources } from '../../../server/resources/index.ts';
import { bodiesIn, readCsv } from '../../helpers/csv-reader.ts';
import { fullBody } from '../../helpers/full-body.ts';
import { startService, validAddress } from '../../helpers/service.ts';

const { app, tenant, createTenant, post, logLines } = await startService();
const other = await createTenant('Blatt & Co.');

function get(path: string, headers: Record<string, string> = {}, options: InjectOptions = {}) {
  return app.inject({ url: `/api/v1${path}`, headers: { apikey: tenant.key, ...headers }, ...options });
}

async function create(path: string, body: object, key = tenant.key): Promise<string> {
  const response = await post(path, body, { headers: { apikey: key } });
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

async function emptyTenant() {
  const { key } = await createTenant('Efeu & Farn');
  return {
    key,
    get: (path: string, headers: Record<string, string> = {}) => get(path, { apikey: key, ...headers }),
    create: (path: string, body: object) => create(path, body, key),
  };
}

const namesIn = (csv: string, column: number) => readCsv(csv, ',').map((cells) => cells[column]);

test('titles are unique within a resource, in both languages', () => {
  for (const definition of resources) {
    for (const language of ['de', 'en'] as const) {
      const titles = [...titlesOf(definition, language).values()];
      assert.equal(new Set(titles).size, titles.length, `${definition.name} ${language}: ${titles}`);
      assert.ok(titles.every((title) => /^\p{Lu}/u.test(title)));
    }
  }
  const site = resources.find(({ name }) => name === 'site')!;
  assert.equal(titlesOf(site, 'en').get('address.zipCode'), 'Address postcode');
  assert.equal(titlesOf(site, 'de').get('address.city'), 'Adresse Ort');
  assert.equal(titlesOf(site, 'de').get('address.location.lat'), 'Adresse Position Breitengrad');
});

test('an export of nothing has the titles and no lines', async () => {
  const { get } = await emptyTenant();
  for (const { collection } of resources) {
    const ndjson = await get(`/${collection}.ndjson`);
    assert.deepEqual([ndjson.statusCode, ndjson.body], [200, '']);
    assert.equal(ndjson.headers['content-type'], 'application/x-ndjson');
    const csv = await get(`/${collection}.csv`);
    assert.equal(csv.statusCode, 200);
    assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8; header=present');
    const [titles, ...lines] = readCsv(csv.body, ',');
    assert.deepEqual(lines, []);
    assert.deepEqual([titles![0], ...titles!.slice(-3)], ['Id', 'Version', 'Created at', 'Updated at']);
  }
});

test('an export leaves one line in the request log, like any other request', async () => {
  logLines.length = 0;
  await get('/sites.csv');
  await get('/sites.ndjson');
  const requests = logLines.filter((line) => JSON.parse(line).msg === 'request');
  assert.equal(requests.length, 2);
  assert.ok(logLines.every((line) => !line.includes('isCutOff')));
});

test('a file is named by its collection and the day', async () => {
  const today = () => new Date().toISOString().slice(0, 10);
  for (const extension of ['csv', 'ndjson']) {
    const before = today();
    const { headers } = await get(`/contact-persons.${extension}`);
    // Midnight may pass meanwhile.
    const names = [before, today()].map(
      (day) => `attachment; filename="contact-persons-${day}.${extension}"`,
    );
    assert.ok(names.includes(String(headers['content-disposition'])));
  }
});

test('the language is that of the locale, else of Accept-Language, else English', async () => {
  const { get } = await emptyTenant();
  const german = '\ufeffID;Firma;Adresse Straße;';
  const english = '\ufeffId,Company name,Address street,';
  const starts: [string, Record<string, string>, string][] = [
    ['', {}, english],
    ['?locale=de', {}, german],
    ['', { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' }, german],
    ['?locale=en', { 'accept-language': 'de' }, english],
  ];
  for (const [query, headers, start] of starts) {
    const { body } = await get(`/customers.csv${query}`, headers);
    assert.ok(body.startsWith(start), body.slice(0, 60));
    assert.ok(body.endsWith('\r\n'));
  }
});

test('lines of NDJSON are the items of the list', async () => {
  const own = await emptyTenant();
  for (const name of ['Ärztehaus', 'Bäckerei "Korn", Inh. Ö. Ähm', 'Café\nam Deich']) {
    await own.create('/customer', { companyName: name, address: validAddress });
  }
  const { body } = await own.get('/customers.ndjson?sort=-name');
  const list = await own.get('/customers?sort=-name');
  assert.ok(body.endsWith('\n'));
  const lines = body.split('\n').slice(0, -1);
  assert.equal(`[${lines.join(',')}]`, /"data":(\[.*\])/.exec(list.body)![1]);
});

test('filters, search, order and updatedSince are those of the list', async () => {
  const own = await emptyTenant();
  const at = (city: string) => ({ ...validAddress, city });
  await own.create('/customer', { companyName: 'Reederei Petersen', address: at('Hamburg') });
  await own.create('/customer', { companyName: 'Kanzlei Möller', address: at('Ahrensburg') });
  await own.create('/customer', {
    companyName: 'Hotel Seeblick',
    address: at('Hamburg'),
    status: 'INACTIVE',
  });
  const queries = ['', '?sort=name', '?sort=-updatedAt', '?city=Hamburg', '?city=Hamburg&status=INACTIVE'];
  const since = (await own.get('/customers?sort=-updatedAt')).json().data[1].updatedAt;
  for (const query of [...queries, '?q=Moeler', `?updatedSince=${since}`, '?city=Kiel']) {
    const listed = (await own.get(`/customers${query}`)).json().data.map((item: { id: string }) => item.id);
    const ndjson = (await own.get(`/customers.ndjson${query}`)).body.split('\n').slice(0, -1);
    const csv = namesIn((await own.get(`/customers.csv${query}`)).body, 0).slice(1);
    assert.deepEqual(
      ndjson.map((line) => JSON.parse(line).id),
      listed,
      query,
    );
    assert.deepEqual(csv, listed, query);
  }
});

test('contact persons are filtered by their language, in a file of any language', async () => {
  const own = await emptyTenant();
  const customerId = await own.create('/customer', { companyName: 'Werft', address: validAddress });
  await own.create('/customer/contact-person', { customerId, lastName: 'Hansen', language: 'de' });
  await own.create('/customer/contact-person', { customerId, lastName: 'Smith', language: 'en' });
  const { body } = await own.get('/contact-persons.csv?language=en&locale=de');
  const [titles, ...lines] = readCsv(body, ';');
  assert.equal(titles![2], 'Nachname');
  assert.deepEqual(
    lines.map((cells) => cells[2]),
    ['Smith'],
  );
});

test('the error of an export names every wrong parameter', async () => {
  const query =
    '?limit=5&cursor=x&count=true&sort=size&city=a&city=b&updatedSince=today&customerId=1&dryRun=true';
  const errorsOf = async (path: string) => {
    const response = await get(path);
    assert.equal(response.statusCode, 400, response.body);
    return response
      .json()
      .errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
  };
  const common = [
    'limit unknown_parameter',
    'cursor unknown_parameter',
    'count unknown_parameter',
    'sort invalid_choice',
    'city repeated_parameter',
    'updatedSince invalid_timestamp',
    'customerId invalid_uuid',
    'dryRun unknown_parameter',
  ];
  assert.deepEqual(await errorsOf(`/sites.csv${query}&locale=fr`), [...common, 'locale invalid_choice']);
  assert.deepEqual(await errorsOf(`/sites.ndjson${query}`), common);
  assert.deepEqual(await errorsOf('/sites.csv?locale=de&locale=en'), ['locale repeated_parameter']);
  assert.deepEqual(await errorsOf('/sites.ndjson?locale=de'), ['locale unknown_parameter']);
});

test('an export is read with GET and a key, and nothing else', async () => {
  for (const path of ['/sites.csv', '/sites.ndjson', '/sites.xlsx']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const) {
      assert.equal((await get(path, {}, { method })).statusCode, 403, `${method} ${path}`);
    }
    assert.equal((await get(path, { apikey: '' })).statusCode, 401);
  }
  assert.equal((await get('/sites.pdf')).statusCode, 403);
});

test("an export never holds another tenant's objects", async () => {
  await create('/product', { name: 'Ours', kind: 'PLANT' });
  await create('/product', { name: 'Theirs', kind: 'PLANT' }, other.key);
  for (const extension of ['csv', 'ndjson']) {
    const { body } = await get(`/products.${extension}`, { apikey: other.key });
    assert.ok(body.includes('Theirs') && !body.includes('Ours'));
  }
});

test('no text is taken for a formula, and numbers stay numbers', async () => {
  const own = await emptyTenant();
  const texts = ['=1+1', '+49 40 12', '-5', '@SUM(A1)', "'=1", '＝1', '=HYPERLINK("http://x";"y")'];
  // Where some spreadsheet would begin another cell, a formula could begin too.
  const within = {
    '\t=1': "'\t'=1",
    '\r=1': "'\r'=1",
    '\n=1': "'\n'=1",
    'a;=1': "a;'=1",
    'a,+1,-2': "a,'+1,'-2",
    "a\t@x;'=y": "a\t'@x;''=y",
    'a\r\n=1': "a\r\n'=1",
    'a;＝1': "a;'＝1",
  };
  const harmless = ["'t Hoekje", 'a=1', '5-3', '“=1”', 'a; b', "a;'b", 'a,1'];
  for (const description of [...texts, ...Object.keys(within), ...harmless]) {
    await own.create('/product', { name: 'x', kind: 'SERVICE', description, netPrice: 12.5 });
  }
  const cells = readCsv((await own.get('/products.csv?locale=de')).body, ';').slice(1);
  const written = cells.map((line) => line[9]);
  assert.deepEqual(written, [...texts.map((text) => `'${text}`), ...Object.values(within), ...harmless]);
  assert.deepEqual(
    written.map((cell) => unguardText(cell!)),
    [...texts, ...Object.keys(within), ...harmless],
    'an import takes away what was put there',
  );
  assert.ok(cells.every((line) => line[6] === '12,5'));

  const location = { lat: -33.8688, lng: -151.2093 };
  const customer = { companyName: '=cmd|x', address: { ...validAddress, location } };
  await own.create('/customer', customer);
  assert.match((await own.get('/customers.csv')).body, /,'=cmd\|x,.*,-33\.8688,-151\.2093,/);
  assert.match((await own.get('/customers.csv?locale=de')).body, /;"-33,8688";"-151,2093";/);
});

test('a cell with any separator has quotes, for every separator of the file', async () => {
  const own = await emptyTenant();
  for (const description of ['a;b', 'a,b', 'a\tb', 'a"b', 'a\nb'])
    await own.create('/product', { name: 'x', kind: 'SERVICE', description });
  for (const locale of ['de', 'en']) {
    const { body } = await own.get(`/products.csv?locale=${locale}`);
    for (const cell of ['"a;b"', '"a,b"', '"a\tb"', '"a""b"', '"a\nb"']) assert.ok(body.includes(cell), cell);
  }
});

const openingHours = [
  { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' },
  { note: 'mo–fr; "nach Absprache"', deep: [{ of: 12345678901234567890n.toString() }] },
];

/** One object of each resource with every field that it has, and one with as little as possible. */
async function fillEveryField(own: Awaited<ReturnType<typeof emptyTenant>>) {
  const unknown = '0198c0de-0000-7000-8000-000000000001';
  const address = {
    ...{
      streetName: 'Große Straße;Hof, "links"',
      houseNumber: '',
      zipCode: '01067',
      city: "'s-Hertogenbosch",
    },
    location: { lat: -0.000012, lng: 9.992812345678901 },
  };
  const customerId = await own.create('/customer', {
    ...{
      companyName: '=Ümläut & Söhne',
      address,
      customerNumber: 'K-1',
      email: 'a@b.example',
      phone: '+49 40',
    },
    ...{ vatId: 'DE1', comment: 'Zeile 1\r\nZeile 2 ', status: 'INACTIVE', externalId: '-ERP' },
  });
  const siteId = await own.create('/customer/site', {
    ...{
      customerId,
      name: ' Lobby ',
      address,
      needsAppointment: true,
      hasKey: false,
      comment: '',
      openingHours,
    },
    ...{ appointmentPreparationTimeInMinutes: 9007199254740991, serviceRecordRecipientId: unknown },
    ...{ attendingIntervals: [{ frequency: 'WEEKLY' }], callOutFee: JSON.rawJSON('12345678901234567890.10') },
    ...{
      assignedEmployeeId: unknown,
      contactPersonId: unknown,
      contractId: unknown,
      validFrom: '2026-01-01',
    },
    ...{ validUntil: '9999-12-31', timeZone: 'Europe/Vienna', externalId: 'S' },
  });
  await own.create('/customer/contact-person', {
    ...{
      customerId,
      lastName: "D'Arc",
      firstName: 'Zoë',
      salutation: 'DIVERSE',
      role: '@home',
      email: 'c@d.example',
    },
    ...{ phone: '040', mobile: '+49 170', language: 'en', comment: ';', externalId: 'P' },
  });
  await own.create('/customer/contract', {
    ...{
      customerId,
      startDate: '2026-02-28',
      type: 'CARE_AND_RENTAL',
      contractNumber: 'V',
      endDate: '2026-02-28',
    },
    ...{
      noticePeriodInMonths: 0,
      netPrice: 0,
      billingInterval: 'PER_VISIT',
      status: 'DRAFT',
      externalId: 'C',
    },
  });
  await own.create('/employee', {
    ...{
      firstName: 'Jo',
      lastName: 'Ng',
      employeeNumber: '007',
      email: 'e@f.example',
      phone: '1',
      active: false,
    },
    externalId: 'E',
  });
  await own.create('/product', {
    ...{ name: 'Dünger', kind: 'FERTILIZER', articleNumber: '000', gtin: '4006381333931', unitCode: 'LTR' },
    ...{ netPrice: 0.1, currency: 'CHF', vatRate: 8.1, description: 'a,b', active: false, externalId: 'D' },
  });
  await own.create('/customer/site/container', {
    ...{ name: 'Kübel', cultureSystem: 'SOIL', siteId, productId: unknown, material: 'METAL', color: 'weiß' },
    ...{
      lengthInCm: 1,
      widthInCm: 2,
      heightInCm: 3,
      diameterInCm: 4,
      volumeInLitres: 0.1,
      ownership: 'RENTED',
    },
    ...{ hasWaterLevelIndicator: false, labelCode: 'L', comment: 'x', externalId: 'G' },
  });
  await own.create('/customer/site/plant', {
    ...{
      siteId,
      botanicalName: 'Ficus',
      productId: unknown,
      commonName: 'Birkenfeige',
      quantity: 3,
      building: 'A',
    },
    ...{
      containerId: unknown,
      floor: '-1',
      room: '"0"',
      position: 'li.',
      heightInCm: 9,
      plantedOn: '2020-02-29',
    },
    ...{ removedOn: '2026-01-01', status: 'REMOVED', ownership: 'CUSTOMER', labelCode: 'M', comment: 'x' },
    externalId: 'B',
  });
  await own.create('/customer', { companyName: 'bare', address: validAddress });
  // Resources without a line above.
  const idOf = async (collection: string) => (await own.get(`/${collection}?limit=1`)).json().data[0]?.id;
  const ids = new Map<string, string>();
  for (const definition of resources) {
    const id =
      (await idOf(definition.collection)) ??
      (await own.create(
        definition.path,
        fullBody(definition, (resource) => ids.get(resource) ?? unknown),
      ));
    ids.set(definition.name, id);
  }
}

test('an export creates the same objects again, in both languages and for every field', async () => {
  const source = await emptyTenant();
  await fillEveryField(source);
  for (const language of ['de', 'en'] as const) {
    const copy = await emptyTenant();
    const copiedIds = new Map<string, string>();
    for (const definition of [...resources].sort((one) => (one.name === 'customer' ? -1 : 0))) {
      const items: { id: string }[] = (await source.get(`/${definition.collection}`)).json().data;
      const csv = (await source.get(`/${definition.collection}.csv?locale=${language}`)).body;
      const bodies = bodiesIn(csv, definition, language);
      assert.equal(bodies.length, items.length);
      for (const [index, body] of bodies.entries()) {
        const json = JSON.stringify(body).replace(/"[0-9a-f-]{36}"/g, (id) => copiedIds.get(id) ?? id);
        const id = await copy.create(definition.path, json as unknown as object);
        copiedIds.set(`"${items[index]!.id}"`, `"${id}"`);
      }
      const written = [definition.fields, items[0] as object] as const;
      // A reference has one of its two names.
      const absent = Object.keys(written[0]).filter(
        (name) => !(name in written[1]) && !definition.fields[name]!.twinOf,
      );
      assert.deepEqual(absent, [], `${definition.name}: the example has every field`);
      // Only what the service itself keeps differs.
      const kept = /"(id|version|createdAt|updatedAt)":("[^"]*"|\d+),?/g;
      const bare = async (from: typeof source) =>
        (await from.get(`/${definition.collection}.ndjson`)).body
          .replace(kept, '')
          .replace(/"[0-9a-f-]{36}"/g, (id) => copiedIds.get(id) ?? id);
      assert.equal(await bare(copy), await bare(source), `${definition.name} in ${language}`);
    }
  }
});
