import assert from 'node:assert/strict';
import { test } from 'node:test';
import readWorkbook, { type Row } from 'read-excel-file/universal';
import { readCsv } from '../../helpers/csv-reader.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { app, tenant, createTenant, post } = service;
const person = await createPerson(service);

async function create(path: string, body: object, key = tenant.key): Promise<string> {
  const response = await post(path, body, { headers: { apikey: key } });
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

async function workbookOf(path: string, key = tenant.key): Promise<Row[]> {
  const response = await app.inject({ url: `/api/v1${path}`, headers: { apikey: key } });
  assert.equal(response.statusCode, 200, response.body);
  const [sheet] = await readWorkbook(new Blob([new Uint8Array(response.rawPayload)]), { trim: false });
  return sheet!.data;
}

const column = (rows: Row[], title: string) =>
  rows.slice(1).map((row) => row[rows[0]!.indexOf(title)] ?? null);

const customerId = await create('/customer', {
  companyName: 'Möbelhaus "Süd" & Söhne',
  address: validAddress,
});
const assignedEmployeeId = await create('/employee', { firstName: 'Jonas', lastName: 'Harms' });
const siteId = await create('/customer/site', {
  customerId,
  assignedEmployeeId,
  name: '=1+1',
  address: { ...validAddress, zipCode: '01067', location: { lat: 53.55, lng: 9.99 } },
  needsAppointment: true,
  hasKey: false,
  comment: ' Zeile 1\r\nZeile 2 \u0001 _x0041_',
  validFrom: '2026-03-01',
  callOutFee: 24.9,
  openingHours: [
    { dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' },
    { dayOfWeek: 'TUESDAY', opens: '08:00', closes: '17:00' },
    { dayOfWeek: 'WEDNESDAY', opens: '08:00', closes: '17:00' },
  ],
  attendingIntervals: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY', 'FRIDAY'] }],
});

test('a workbook has names beside ids, dates and numbers as such, and lists in words', async () => {
  const rows = await workbookOf('/sites.xlsx?locale=de');
  const cell = (title: string) => column(rows, title)[0];
  assert.deepEqual(
    [cell('Bezeichnung'), cell('Kunde'), cell('Kunde ID'), cell('Mitarbeiter'), cell('ID')],
    ['=1+1', 'Möbelhaus "Süd" & Söhne', customerId, 'Jonas Harms', siteId],
  );
  assert.deepEqual([cell('Anfahrtspauschale'), cell('Adresse PLZ')], [24.9, '01067']);
  assert.deepEqual(cell('Gültig ab'), new Date('2026-03-01T00:00:00Z'));
  assert.deepEqual(
    [cell('Öffnungszeiten'), cell('Besuchsintervalle'), cell('Termin nötig')],
    ['Mo–Mi 08:00–17:00', 'alle 2 Wochen Di, Fr', 'ja'],
  );
  // As Excel itself writes what XML cannot hold.
  assert.equal(cell('Bemerkung'), ' Zeile 1_x000D_\nZeile 2 _x0001_ _x005F_x0041_');
  assert.ok(rows[0]!.indexOf('ID') > rows[0]!.indexOf('Geändert am'));
  assert.equal(column(await workbookOf('/sites.xlsx?locale=en'), 'Opening hours')[0], 'Mon–Wed 08:00–17:00');
});

test('a table has the chosen columns, the name and the id', async () => {
  const rows = await workbookOf('/sites.xlsx?locale=de&columns=customerId,address.city,createdAt');
  assert.deepEqual(rows[0], [
    'Bezeichnung',
    'Kunde',
    'Adresse Ort',
    'Angelegt am',
    'Version',
    'ID',
    'Kunde ID',
  ]);
  const address = await workbookOf('/sites.xlsx?locale=de&columns=address');
  assert.deepEqual(
    address[0]!.slice(1, -2),
    ['Straße', 'Hausnummer', 'PLZ', 'Ort'].map((name) => `Adresse ${name}`),
  );
  const people = await workbookOf('/employees.xlsx?locale=de&columns=phone');
  assert.deepEqual(people[0], ['Nachname', 'Vorname', 'Telefon', 'Version', 'ID']);
  const unknown = await app.inject({
    url: '/api/v1/sites.xlsx?columns=price',
    headers: { apikey: tenant.key },
  });
  assert.deepEqual([unknown.statusCode, unknown.json().errors[0].code], [400, 'invalid_choice']);
});

test("the office's CSV is written as an office writes, under a name in its language", async () => {
  const german = await person.call(
    'GET',
    '/tables/sites.csv?locale=de&columns=validFrom,callOutFee,customerId',
  );
  assert.match(
    String(german.headers['content-disposition']),
    /^attachment; filename="sites-[\d-]{10}\.csv"; filename\*=UTF-8''Standorte-[\d-]{10}\.csv$/,
  );
  assert.deepEqual(readCsv(german.body, ';'), [
    ['Bezeichnung', 'Kunde', 'Anfahrtspauschale', 'Gültig ab', 'Version', 'ID', 'Kunde ID'],
    ["'=1+1", 'Möbelhaus "Süd" & Söhne', '24,9', '01.03.2026', '1', siteId, customerId],
  ]);
  const english = await person.call('GET', '/tables/sites.csv?locale=en&columns=validFrom,callOutFee');
  assert.deepEqual(readCsv(english.body, ',')[1], ["'=1+1", '24.9', '2026-03-01', '1', siteId]);
  const contracts = await person.call('GET', '/contracts.xlsx?locale=de');
  assert.match(String(contracts.headers['content-disposition']), /''Vertr%C3%A4ge-/);
});

test('a nurse gets no file, and a tenant no names of another', async () => {
  const nurse = await createPerson(service, { role: 'PFLEGE' });
  for (const path of ['/sites.xlsx', '/tables/sites.csv']) {
    assert.equal((await nurse.call('GET', path)).statusCode, 403, path);
  }
  const other = await createTenant('Blatt & Co.');
  const foreign = await create('/customer', { companyName: 'Fremd', address: validAddress }, other.key);
  // Any id is stored where the object may arrive later.
  const site = {
    customerId: foreign,
    name: 'Foyer',
    address: validAddress,
    needsAppointment: false,
    hasKey: false,
  };
  await create('/customer/site', { ...site, serviceRecordRecipientId: customerId }, other.key);
  const rows = await workbookOf('/sites.xlsx?locale=de', other.key);
  assert.equal(rows.length, 2);
  assert.deepEqual(column(rows, 'Kunde'), ['Fremd']);
  assert.deepEqual(column(rows, 'Empfänger der Servicenachweise'), ['(ohne Namen)']);
  assert.deepEqual(column(rows, 'Empfänger der Servicenachweise ID'), [customerId]);
});

test('a workbook over several pages is complete', async () => {
  const other = await createTenant('Viele');
  const lines = Array.from({ length: 1203 }, (_, index) => ({
    type: 'product',
    data: { name: `Farn ${index}`, kind: 'PLANT', netPrice: index },
  }));
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  await sendImport({ port: Number(port), key: other.key }, lines);
  const rows = await workbookOf('/products.xlsx?locale=en', other.key);
  assert.equal(new Set(column(rows, 'Name')).size, 1203);
  const prices = column(rows, 'Net price').map(Number);
  assert.equal(
    prices.reduce((sum, price) => sum + price, 0),
    (1202 * 1203) / 2,
  );
});
