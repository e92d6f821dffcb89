import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { keyOfTitles } from '../../core/table/remembered-choices.ts';
import { separators } from '../../server/engine/http/csv.ts';
import { CsvError } from '../../server/features/import/csv/csv-file.ts';
import { prepareCsv } from '../../server/features/import/csv/csv-input.ts';
import { resources } from '../../server/resources/index.ts';
import { createPerson } from '../helpers/office.ts';
import { startService } from '../helpers/service.ts';

const service = await startService();
const { app, owner, connection, tenant, createTenant, get } = service;
const folder = await mkdtemp(path.join(tmpdir(), 'stamm-import-test-'));
after(() => rm(folder, { recursive: true }));

const { user, password, host, port, database } = connection;
const credentials = `${encodeURIComponent(user ?? '')}:${encodeURIComponent(String(password ?? ''))}`;
const databaseUrl = `postgres://${credentials}@localhost:${port ?? 5432}/${database}?host=${encodeURIComponent(host!)}`;

interface Run {
  exitCode: number;
  stdout: string;
  stderr: string;
}

function stamm(...words: string[]): Promise<Run> {
  const main = path.resolve(import.meta.dirname, '../../server/main.ts');
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, stdout, stderr) =>
      resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** Writes a file and imports it. */
async function importFile(name: string, content: string | Buffer, ...options: string[]) {
  const file = path.join(folder, name);
  await writeFile(file, content);
  const run = await stamm('import', file, '--tenant', tenant.tenantId, '--json', ...options);
  return { ...run, file, json: run.stdout ? JSON.parse(run.stdout) : undefined };
}

const findOne = async (collection: string, externalId: string) => {
  const { data } = (await get(`/${collection}?externalId=${externalId}`)).json();
  assert.equal(data.length, 1, externalId);
  return data[0];
};

test('a German file with semicolons, Windows-1252, decimal commas and German days is understood', async () => {
  const customers = [
    'Firma;Adresse Straße;Adresse Hausnummer;PLZ;Ort;Externe ID;Status;Farbe',
    'Müller & Söhne;Große Straße;;20095;Köln;K-1;inaktiv;grün',
    ';;;;;;;',
  ].join('\r\n');
  const { json, exitCode, stderr } = await importFile('customers.csv', Buffer.from(customers, 'latin1'));
  assert.deepEqual([exitCode, json.created, json.lines, json.ignoredColumns], [0, 1, 1, ['Farbe']]);
  assert.match(stderr, /The column "Farbe" is not known and is ignored\./);
  const customer = await findOne('customers', 'K-1');
  assert.deepEqual(
    [customer.companyName, customer.address.houseNumber, customer.address.city, customer.status],
    ['Müller & Söhne', '', 'Köln', 'INACTIVE'],
  );

  const sites = [
    'Kunde externe ID;BEZEICHNUNG;address.streetName;Hausnummer;Adresse PLZ;Adresse Ort;Breitengrad;Längengrad;Termin nötig;Schluessel vorhanden;Anfahrtspauschale;Gültig ab;Gültig bis;Öffnungszeiten;Vorbereitungszeit in Minuten;Externe ID',
    'K-1;"Foyer; ""Nord""";Ballindamm;17a;20095;Hamburg;53,550;-0,5;ja;x;1.234,50;1.2.2026;2026-12-31;"[{""dayOfWeek"":""MONDAY"",""n"":1.50}]";1.000;S-1',
    'K-1;Hof;Ballindamm;17a;01067;Hamburg;53.5503;;Nein;0;1.234;;;;;S-2',
  ].join('\n');
  const { json: second } = await importFile('sites.csv', `\ufeff${sites}`);
  assert.deepEqual([second.created, second.failed], [2, 0]);
  const site = await findOne('sites', 'S-1');
  assert.deepEqual(
    [site.name, site.customerId, site.address.location, site.needsAppointment, site.hasKey, site.callOutFee],
    ['Foyer; "Nord"', customer.id, { lat: 53.55, lng: -0.5 }, true, true, 1234.5],
  );
  assert.deepEqual(
    [site.validFrom, site.validUntil, site.appointmentPreparationTimeInMinutes, site.openingHours],
    ['2026-02-01', '2026-12-31', 1000, [{ dayOfWeek: 'MONDAY', n: 1.5 }]],
  );
  const hof = await findOne('sites', 'S-2');
  assert.deepEqual(
    [hof.address.location, hof.callOutFee, hof.address.zipCode],
    [{ lat: 53.5503 }, 1234, '01067'],
  );
});

test('an English file with commas is understood, and a file with tabs', async () => {
  const products =
    'Name,Kind,Article number,Net price,VAT rate,active,External id\r\nPot,container,A-1,1.125,7,yes,P-1\r\nBig pot,CONTAINER,A-2,"1,234.50",19,FALSE,P-2\r\n';
  assert.equal((await importFile('products.csv', products)).json.created, 2);
  const [small, big] = [await findOne('products', 'P-1'), await findOne('products', 'P-2')];
  assert.deepEqual(
    [small.kind, small.netPrice, small.vatRate, small.active, big.netPrice, big.active],
    ['CONTAINER', 1.125, 7, true, 1234.5, false],
  );
  const employees = 'First name\tLast name\tE-Mail\tExternal id\nJonas\tHarms\tj@x.example\tE-1\n';
  const { json } = await importFile('employees.CSV', employees);
  assert.equal(json.created, 1);
  assert.equal((await findOne('employees', 'E-1')).email, 'j@x.example');
});

test('what an export writes can be imported again without changing anything', async () => {
  for (const [language, collection] of [
    ['de', 'customers'],
    ['de', 'sites'],
    ['en', 'products'],
    ['en', 'sites'],
  ] as const) {
    const { body } = await get(`/${collection}.csv?locale=${language}`);
    const { json } = await importFile(`${language}-${collection}.csv`, body);
    const { lines, unchanged, failed, ignoredColumns } = json;
    assert.ok(lines > 0);
    assert.deepEqual([unchanged, failed, ignoredColumns], [lines, 0, []], `${language} ${collection}`);
  }
});

test('rejected rows go to a report, which can be corrected and imported', async () => {
  const rows = [
    'Firma;Straße;Hausnummer;PLZ;Ort;Telefon;Bemerkung;Externe ID;Notiz',
    'Gut;Weg;1;20095;Hamburg;+49 40 1;;R-1;',
    `;Weg;2;;Hamburg;'+49 40 2;"=1+1; ""x""\nzwei";R-2;@note`,
    "Auch gut;Weg;3;20095;Hamburg;;'t Hoekje;R-3;-",
  ].join('\r\n');
  const { json, exitCode, file } = await importFile('invalid.csv', rows);
  const report = path.join(folder, 'invalid.errors.csv');
  assert.deepEqual([exitCode, json.created, json.failed, json.report], [1, 2, 1, report]);
  const text = await readFile(report, 'utf8');
  const sentences = 'Firma: Pflichtfeld. Adresse PLZ: Pflichtfeld.';
  assert.equal(
    text,
    `\ufeffFirma;Straße;Hausnummer;PLZ;Ort;Telefon;Bemerkung;Externe ID;Notiz;Fehler\r\n;Weg;2;;Hamburg;'+49 40 2;"'=1+1; ""x""\nzwei";R-2;'@note;${sentences}\r\n`,
  );
  const corrected = text.replace('\r\n;Weg;2;;', '\r\nGut;Weg;2;20095;');
  const { json: second, stderr } = await importFile('invalid.errors.csv', corrected);
  assert.deepEqual([second.created, second.failed, second.report], [1, 0, undefined]);
  assert.doesNotMatch(stderr, /Fehler/);
  const stored = await findOne('customers', 'R-2');
  assert.deepEqual([stored.phone, stored.comment], ['+49 40 2', '=1+1; "x"\nzwei']);
  assert.deepEqual(
    [(await findOne('customers', 'R-1')).phone, (await findOne('customers', 'R-3')).comment],
    ['+49 40 1', "'t Hoekje"],
  );
  assert.equal(await readFile(file, 'utf8'), rows, 'the file itself is not touched');
});

test('lines of NDJSON have their report too', async () => {
  const good = { type: 'employee', data: { firstName: 'Anke', lastName: 'Petersen', externalId: 'N-1' } };
  const bad = '{"type":"product","data":{"name":"Pot","netPrice":12345678901234567890.12}}';
  const { json, exitCode } = await importFile(
    'lines.ndjson',
    `${JSON.stringify(good)}\n\n${bad}\nnonsense\n`,
  );
  assert.deepEqual([exitCode, json.created, json.failed], [1, 1, 2]);
  const report = await readFile(path.join(folder, 'lines.errors.ndjson'), 'utf8');
  const [first, second] = report.split('\n');
  assert.ok(first!.startsWith(bad.slice(0, -1)), 'numbers stay exact');
  assert.equal(JSON.parse(first!).errors[0].code, 'required');
  assert.equal(second, 'nonsense');
  const corrected = first!.replace('"name":"Pot"', '"name":"Pot","kind":"CONTAINER","externalId":"N-2"');
  const { json: again } = await importFile('lines.errors.ndjson', corrected);
  assert.equal(again.created, 1);
  assert.match((await get('/products?externalId=N-2')).body, /"netPrice":12345678901234567890\.12,/);
});

test('a dry run stores nothing, and all or nothing stores nothing beside a rejected row', async () => {
  const rows = 'Vorname;Nachname;Externe ID\nA;B;D-1\n;B;D-2\n';
  const dry = await importFile('dry.csv', rows, '--dry-run');
  assert.deepEqual([dry.json.created, dry.json.failed, dry.json.dryRun, dry.exitCode], [1, 1, true, 1]);
  const all = await importFile('all.csv', rows, '--mode', 'all-or-nothing');
  assert.deepEqual([all.json.created, all.json.failed, all.json.notStored], [0, 1, 1]);
  const report = await readFile(path.join(folder, 'all.errors.csv'), 'utf8');
  assert.equal(report.split('\r\n').length, 3, 'titles and the rejected row');
  assert.deepEqual((await get('/employees?externalId=D-1')).json().data, []);
});

test('the journal says that the command line did it, in one tenant only', async () => {
  const stranger = await createTenant();
  await importFile('who.csv', 'Vorname;Nachname;Externe ID\nA;B;W-1\n');
  const { rows } = await owner.query(
    `SELECT tenant_id, actor, request_id FROM journal WHERE external_id = 'W-1'`,
  );
  assert.deepEqual(rows, [{ tenant_id: tenant.tenantId, actor: 'command line', request_id: null }]);
  const theirs = await app.inject({ url: '/api/v1/employees', headers: { apikey: stranger.key } });
  assert.deepEqual(theirs.json().data, []);
});

test('for people there are sentences, and an exit code', async () => {
  const file = path.join(folder, 'people.csv');
  await writeFile(file, 'Vorname;Nachname\nA;B\n;C\n');
  const { exitCode, stdout } = await stamm('import', file, '--tenant', tenant.tenantId);
  assert.equal(exitCode, 1);
  assert.match(
    stdout,
    /^2 rows: 1 created, 0 replaced, 0 unchanged, 1 failed\.\nThe rejected rows are in .*people\.errors\.csv\./,
  );
});

test('repeated titles, a total and a note are left out and named, as in the office', async () => {
  const titles = 'Firma;Adresse Straße;Adresse Hausnummer;PLZ;Ort;Externe Id';
  const rows = [
    ...[titles, 'Erste;Weg;1;20095;Köln;L-1', titles, 'Summe GmbH;Weg;2;20095;Köln;L-2'],
    ...['Summe;;;;;2', '', 'Stand: 17.11.2026'],
  ];
  const { json, file } = await importFile('list.csv', rows.join('\n'));
  assert.deepEqual([json.lines, json.created, json.failed, json.leftOutRows], [2, 2, 0, [3, 5, 7]]);
  await findOne('customers', 'L-2');
  const { stdout, exitCode } = await stamm('import', file, '--tenant', tenant.tenantId);
  assert.equal(exitCode, 0);
  assert.deepEqual(stdout.trim().split('\n'), [
    'Rows that repeat the titles are left out: 3.',
    'Row 5 ("Summe · 2") is not part of the data and is left out.',
    'Row 7 ("Stand: 17.11.2026") is not part of the data and is left out.',
    '2 rows: 0 created, 0 replaced, 2 unchanged, 0 failed.',
  ]);
});

test('files of other programs pass at the first try, and what cannot be read is on the attention list', async () => {
  const { key, tenantId } = await createTenant();
  const importOffice = async (name: string, ...options: string[]) => {
    const file = path.resolve(import.meta.dirname, '../office-files', name);
    const run = await stamm('import', file, '--tenant', tenantId, ...options);
    assert.equal(run.exitCode, 0, run.stdout + run.stderr);
    return run.stdout;
  };
  assert.match(await importOffice('sap-business-one-kunden.csv'), /7 rows: 7 created/);
  const customers = await importOffice('excel-kundenliste.xlsx', '--dry-run');
  assert.match(customers, /Leading zeros added in "PLZ": 4, such as "1067" → "01067"/);
  assert.match(customers, /Row 9 \("Zwischensumme Dresden · 10081\.25"\) is not part of the data/);
  const sites = await importOffice('standorte-oeffnungszeiten.csv');
  assert.match(
    sites,
    /Not readable, kept in the comment in "Öffnungszeiten": 1, such as "nach Vereinbarung"/,
  );
  assert.match(sites, /8 rows: 8 created/);
  const { data } = (
    await app.inject({ url: '/api/v1/attention?code=unread_cell', headers: { apikey: key } })
  ).json();
  assert.equal(data.length, 8);
  assert.deepEqual([data[0].resource, data[0].field], ['site', 'comment']);
  assert.match(await importOffice('pflanzenliste.csv'), /7 rows: 7 created/);
});

test('choices that the office made for a file and its words hold here too', async () => {
  const { key, tenantId } = await createTenant();
  const office = await createPerson(service, { tenantId });
  const remember = (key: string, choice: object | string) =>
    office.call('PUT', '/remembered-choices', {
      key,
      choice: typeof choice === 'string' ? choice : JSON.stringify(choice),
    });
  const file = path.join(folder, 'remembered.csv');
  await writeFile(file, 'Wer;Zustand;Nummer\nPraxis Sommer;schläft;4711\nHotel Elbe;aktiv;4712\n');
  await remember(keyOfTitles(['Wer', 'Zustand', 'Nummer'])!, {
    type: 'customer',
    paths: ['companyName', 'status', null],
    fixed: {
      'address.zipCode': '20095',
      'address.city': 'Hamburg',
      'address.streetName': 'Weg',
      'address.houseNumber': '1',
    },
    refused: [],
  });
  await remember('word customer status schlaeft', 'INACTIVE');
  const { stdout, stderr } = await stamm('import', file, '--tenant', tenantId);
  assert.match(stdout, /^Columns are as chosen in the web app for these titles\.$/m, stderr);
  assert.match(stdout, /2 rows: 2 created/);
  const { body } = await app.inject({ url: '/api/v1/customers', headers: { apikey: key } });
  const customers: { companyName: string; status: string; address: { city: string } }[] =
    JSON.parse(body).data;
  assert.deepEqual(
    new Set(customers.map(({ companyName, status, address }) => [companyName, status, address.city].join())),
    new Set(['Hotel Elbe,ACTIVE,Hamburg', 'Praxis Sommer,INACTIVE,Hamburg']),
  );
  const stranger = await createTenant();
  const theirs = await stamm('import', file, '--tenant', stranger.tenantId);
  assert.doesNotMatch(theirs.stdout, /chosen in the web app/);
});

const mistakes: [what: string, content: string, type: string | undefined, sentence: RegExp][] = [
  [
    'titles that fit several types',
    'Bezeichnung;Externe ID\nx;1\n',
    undefined,
    /Say it with --type: customer, /,
  ],
  ['titles that no type has', 'a;b\n1;2\n', 'site', /No column .* is one of a site\. Known are: Kunde ID,/],
  [
    'two columns for one field',
    'Firma;companyName\nx;y\n',
    'customer',
    /"Firma" and "companyName" .* mean the same/,
  ],
  ['an empty file', '', undefined, /is empty/],
  [
    'quotation marks that are never closed',
    '"Firma;Ort\nx;y\n',
    'customer',
    /cannot be read after row 0: a quotation mark is never closed\./,
  ],
];
for (const [what, content, type, sentence] of mistakes) {
  test(`${what} are reported in a sentence`, async () => {
    const file = path.join(folder, 'mistake.csv');
    await writeFile(file, content);
    const definition = resources.find(({ name }) => name === type);
    const expected = (error: unknown) => error instanceof CsvError && sentence.test(error.message);
    await assert.rejects(prepareCsv(file, resources, definition), expected);
  });
}

test('a mistake at the command line gives a sentence, and stores nothing', async () => {
  const { exitCode, stdout, stderr } = await importFile('mistake.csv', 'Bezeichnung\nx\n');
  assert.deepEqual([exitCode, stdout], [1, '']);
  assert.match(stderr, /^The titles of .* do not tell/m);
  assert.doesNotMatch(stderr, /\n\s+at /, 'a sentence, not a stack');
  const rows = 'Vorname;Nachname\nA;B\n';
  assert.match(
    (await importFile('x.csv', rows, '--mode', 'some')).stderr,
    /--mode must be each or all-or-nothing/,
  );
  assert.match((await importFile('x.csv', rows, '--type', 'tree')).stderr, /There is no type "tree"/);
});

test('missing arguments of the command line are named', async () => {
  const noTenant = await stamm('import', 'x.csv');
  assert.match(noTenant.stderr, /^Missing: --tenant\./);
  const noFile = await stamm('import', '--tenant', tenant.tenantId);
  assert.match(noFile.stderr, /^Missing: FILE\./);
  const nowhere = await stamm('import', path.join(folder, 'nowhere.csv'), '--tenant', tenant.tenantId);
  assert.match(nowhere.stderr, /^There is no file /);
  const nobody = await importFile(
    'x.csv',
    'Vorname;Nachname\nA;B\n',
    '--tenant',
    tenant.tenantId.replace(/^.{8}/, '00000000'),
  );
  assert.match(nobody.stderr, /^There is no tenant /m);
});

test('a template has the titles of its type, and can be filled in', async () => {
  const { stdout } = await stamm('template', 'employee');
  assert.equal(stdout, '\ufeffVorname;Nachname;Personalnummer;E-Mail;Telefon;Aktiv;Externe ID\n');
  const english = await stamm('template', 'employee', '--language', 'en');
  const titles = english.stdout.trimEnd();
  assert.equal(titles.split(separators.de)[2], 'Employee number');
  const { json } = await importFile('template.csv', `${english.stdout}Anke;Petersen;M-7;;;ja;T-1\n`);
  assert.equal(json.created, 1);
  const { exitCode, stderr } = await stamm('template', 'tree');
  assert.deepEqual([exitCode, /There is no type "tree"/.test(stderr)], [1, true]);
});
