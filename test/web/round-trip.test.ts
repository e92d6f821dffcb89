// Export, change in a spreadsheet, import: exactly the changed cells change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import readWorkbook, { type Row } from 'read-excel-file/universal';
import writeWorkbook from 'write-excel-file/node';
import { guessColumns } from '../../core/table/columns.ts';
import { nameKey, toLine } from '../../core/table/import-lines.ts';
import { openTable } from '../../core/table/table-file.ts';
import { describeDefinition } from '../../server/engine/definition/description.ts';
import { resources } from '../../server/resources/index.ts';
import { sendImport } from '../api/import/import-client.ts';
import { fullBody } from '../helpers/full-body.ts';
import { createPerson } from '../helpers/office.ts';
import { startService, validAddress } from '../helpers/service.ts';

const service = await startService();
const { app, tenant, post } = service;
const person = await createPerson(service);
const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
const headers = { apikey: tenant.key };

async function create(path: string, body: object): Promise<string> {
  const response = await post(path, body, { headers });
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

async function objectsOf(collection: string) {
  return (await app.inject({ url: `/api/v1/${collection}?limit=500`, headers })).json().data;
}

async function exportOf(collection: string, query = ''): Promise<Blob> {
  const { rawPayload } = await app.inject({ url: `/api/v1/${collection}.xlsx?locale=de${query}`, headers });
  return new Blob([new Uint8Array(rawPayload)]);
}

/** As the office's import page does it, with every column as guessed. */
async function importOf(name: string, file: Blob) {
  return sendImport({ port, key: tenant.key }, await linesOf(name, file));
}

async function linesOf(name: string, file: Blob): Promise<string[]> {
  const definition = describeDefinition(resources.find((resource) => resource.name === name)!);
  const { table, readRows } = await openTable(file);
  const columns = guessColumns(definition, table.titles);
  const rows = (await Array.fromAsync(readRows())).flat().slice(table.titleRow);
  const names = new Map<string, string[]>();
  for (const [index, column] of columns.entries()) {
    const cells = rows.map(({ cells }) => cells[index] ?? '').filter(Boolean);
    if (!column?.namedPath || cells.length === 0) continue;
    for (const resource of column.field.reference!.resources) {
      const answer = await person.call('POST', '/name-matches', { resource, names: cells });
      assert.equal(answer.statusCode, 200, answer.body);
      for (const { name, ids } of answer.json().data) {
        const key = nameKey(column.path, name);
        names.set(key, [...(names.get(key) ?? []), ...ids]);
      }
    }
  }
  return rows.map(({ cells }) => toLine({ type: name, columns, mark: table.thousandsMark, names }, cells));
}

/** Written by another program than ours, with the cells as they were read. */
async function rewrite(rows: Row[]): Promise<Blob> {
  const toCell = (value: unknown) => {
    if (value === null || value === undefined) return null;
    return value instanceof Date ? { value, format: 'dd.mm.yyyy' } : { value };
  };
  const data = rows.map((row) => row.map(toCell));
  return new Blob([new Uint8Array(await writeWorkbook(data as never).toBuffer())]);
}

const ids = new Map<string, string>();
for (const definition of resources) {
  const body = fullBody(definition, (resource) => ids.get(resource)!) as Record<string, unknown>;
  delete body.externalId;
  ids.set(definition.name, await create(definition.path, body));
}
// Without a number a contract has no name.
const unnumbered = await create('/customer/contract', {
  customerId: ids.get('customer'),
  type: 'CARE',
  startDate: '2026-01-01',
});
const bare = { customerId: ids.get('customer'), name: 'Kahl', address: validAddress };
const flags = { needsAppointment: false, hasKey: true };
await create('/customer/site', { ...bare, ...flags });
await create('/customer/site', { ...bare, ...flags, name: 'Vertraglich', contractId: unnumbered });
await create('/customer/site', {
  ...bare,
  ...flags,
  name: "'=x",
  comment: '',
  attendingIntervals: [],
  callOutFee: 1.234,
  contractExternalId: 'kommt-noch',
  openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' }],
});

test('an export that is imported again changes nothing, for every resource', async () => {
  for (const { name, collection } of resources) {
    const before = await objectsOf(collection);
    const { summary, results } = await importOf(name, await exportOf(collection));
    const count = before.length;
    assert.deepEqual(
      [summary.unchanged, summary.lines],
      [count, count],
      `${name} ${JSON.stringify(results)}`,
    );
    assert.deepEqual(await objectsOf(collection), before);
  }
});

test('two cells that were changed in a spreadsheet change these two fields and nothing else', async () => {
  const before = await objectsOf('sites');
  const [sheet] = await readWorkbook(await exportOf('sites'), { trim: false });
  const rows = sheet!.data;
  const place = (title: string) => rows[0]!.indexOf(title);
  const kahl = rows.findIndex((row) => row[0] === 'Kahl');
  rows[kahl]![place('Bemerkung')] = 'Hintereingang';
  rows[kahl]![place('Öffnungszeiten')] = 'Mo–Mi 8–12';
  const { summary } = await importOf('site', await rewrite(rows));
  assert.deepEqual(
    [summary.replaced, summary.unchanged, summary.created, summary.failed],
    [1, before.length - 1, 0, 0],
  );
  const hours = ['MONDAY', 'TUESDAY', 'WEDNESDAY'].map((dayOfWeek) => ({
    dayOfWeek,
    opens: '08:00',
    closes: '12:00',
  }));
  const after = await objectsOf('sites');
  const withoutTrace = ({ version: _version, updatedAt: _updatedAt, ...fields }: Record<string, unknown>) =>
    fields;
  assert.deepEqual(
    after.map(withoutTrace),
    before
      .map(withoutTrace)
      .map((site: Record<string, unknown>) =>
        site.name === 'Kahl' ? { ...site, comment: 'Hintereingang', openingHours: hours } : site,
      ),
  );
  assert.equal(after.find(({ name }: { name: string }) => name === 'Kahl').version, 2);
});

test('what others changed since the export stays, and a field that both changed is refused', async () => {
  const id = await create('/customer/site', { ...bare, ...flags, name: 'Gemeinsam', callOutFee: 10.5 });
  const stored = async () => (await objectsOf('sites')).find((site: { id: string }) => site.id === id);
  const [sheet] = await readWorkbook(await exportOf('sites'), { trim: false });
  const [titles, ...rows] = sheet!.data;
  const row = rows.find(([name]) => name === 'Gemeinsam')!;
  const sent = async (cells: Record<string, unknown>) => {
    const changed = titles!.map((title, place) => cells[String(title)] ?? row[place]);
    return importOf('site', await rewrite([titles!, changed as Row]));
  };
  const patch = (body: object) =>
    app.inject({ method: 'PATCH', url: `/api/v1/sites/${id}`, headers, payload: body });
  await patch({ hasKey: false, comment: 'Neu', address: { city: 'Kiel' }, callOutFee: 12.25 });
  await patch({ comment: 'Am neuesten' });
  assert.equal((await sent({})).summary.unchanged, 1);
  assert.equal((await sent({ 'Adresse Straße': 'Neuer Weg' })).summary.replaced, 1);
  // The same sheet again: its own change is no conflict.
  assert.equal(
    (await sent({ 'Adresse Straße': 'Neuer Weg', 'Gültig ab': new Date('2026-03-01') })).summary.replaced,
    1,
  );
  const { comment, hasKey, address, callOutFee, validFrom } = await stored();
  assert.deepEqual(
    [comment, hasKey, address.city, address.streetName, callOutFee, validFrom],
    ['Am neuesten', false, 'Kiel', 'Neuer Weg', 12.25, '2026-03-01'],
  );
  const { summary, results } = await sent({ 'Adresse Ort': 'Bonn', Anfahrtspauschale: 99 });
  assert.deepEqual([summary.failed, results[0].status, results[0].code], [1, 412, 'version_mismatch']);
  assert.equal(results[0].field, 'address.city');
  assert.equal((await sent({ 'Adresse Ort': 'Kiel' })).summary.unchanged, 1);
  // Without the journal nobody knows what the sender changed.
  await service.owner.query('UPDATE journal SET changes = NULL WHERE resource_id = $1', [id]);
  assert.equal((await sent({ Bemerkung: 'x' })).results[0].code, 'version_mismatch');
  const same = {
    Bemerkung: 'Am neuesten',
    'Adresse Straße': 'Neuer Weg',
    'Adresse Ort': 'Kiel',
    Anfahrtspauschale: 12.25,
  };
  const all = { ...same, 'Schlüssel vorhanden': 'nein', 'Gültig ab': new Date('2026-03-01') };
  assert.equal((await sent(all)).summary.unchanged, 1);
  assert.equal((await stored()).comment, 'Am neuesten');
});

test('the same sheet changes a cell twice, if nobody else has', async () => {
  const colleague = await createPerson(service);
  const id = await create('/customer/site', { ...bare, ...flags, name: 'Zweimal' });
  const [sheet] = await readWorkbook(await exportOf('sites', '&columns=comment'), { trim: false });
  const [titles, ...rows] = sheet!.data;
  const row = rows.find(([name]) => name === 'Zweimal')!;
  const sent = async (comment: string) => {
    row[titles!.indexOf('Bemerkung')] = comment as never;
    const response = await fetch(`http://127.0.0.1:${port}/app/import`, {
      method: 'POST',
      headers: {
        origin: `http://127.0.0.1:${port}`,
        'content-type': 'application/x-ndjson',
        cookie: person.cookie,
      },
      body: (await linesOf('site', await rewrite([titles!, row]))).join('\n'),
    });
    return JSON.parse((await response.text()).split('\n')[0]!).status;
  };
  assert.deepEqual([await sent('eins'), await sent('zwei')], [200, 200]);
  await colleague.call('PATCH', `/sites/${id}`, { comment: 'drei' });
  assert.equal(await sent('vier'), 412);
  assert.equal((await app.inject({ url: `/api/v1/sites/${id}`, headers })).json().comment, 'drei');
});

test('an emptied cell clears its field, and a row of another business is refused', async () => {
  const [sheet] = await readWorkbook(await exportOf('sites', '&columns=comment'), { trim: false });
  const rows = sheet!.data;
  const kahl = rows.find((row) => row[0] === 'Kahl')!;
  kahl[rows[0]!.indexOf('Bemerkung')] = null as never;
  const foreign = [...kahl];
  foreign[rows[0]!.indexOf('ID')] = '0190b7a8-0000-7000-8000-000000000000';
  const { summary, results } = await importOf('site', await rewrite([rows[0]!, kahl, foreign]));
  assert.deepEqual([summary.replaced, summary.failed], [1, 1]);
  assert.equal(results[1].code, 'not_found');
  assert.equal(
    (await objectsOf('sites')).find(({ name }: { name: string }) => name === 'Kahl').comment,
    undefined,
  );
});

test('an emptied name clears the reference, though its id is in a column of its own', async () => {
  const site = async () =>
    (await objectsOf('sites')).find(({ name }: { name: string }) => name === 'Vertraglich');
  const [sheet] = await readWorkbook(await exportOf('sites'), { trim: false });
  const [titles, ...rows] = sheet!.data;
  const row = rows.find(([name]) => name === 'Vertraglich')!;
  const place = titles!.indexOf('Vertrag');
  assert.equal(row[place], '(ohne Namen)');
  assert.equal(row[titles!.indexOf('Vertrag ID')], unnumbered);
  row[place] = null as never;
  const { summary } = await importOf('site', await rewrite([titles!, row]));
  assert.equal(summary.replaced, 1);
  assert.equal((await site()).contractId, undefined);
});

test('a changed name changes the reference, by name or number; an unknown or ambiguous one is refused', async () => {
  const other = await create('/customer', {
    companyName: 'Grün & Söhne',
    customerNumber: 'K-77',
    address: validAddress,
  });
  const employee = await create('/employee', { firstName: 'Aylin', lastName: 'Ö. Berger' });
  for (const firstName of ['Max', 'Moritz']) await create('/employee', { firstName, lastName: 'Doppelt' });
  const [sheet] = await readWorkbook(await exportOf('sites', '&columns=customerId,assignedEmployeeId'));
  const [titles, ...rows] = sheet!.data;
  const kahl = rows.find((row) => row[0] === 'Kahl')!;
  const change = (customer: string | null, person: string | null) => {
    const row = [...kahl];
    row[titles!.indexOf('Kunde')] = customer as never;
    row[titles!.indexOf('Mitarbeiter')] = person as never;
    return row;
  };
  const stored = async () => (await objectsOf('sites')).find(({ name }: { name: string }) => name === 'Kahl');
  for (const [customer, person] of [
    ['GRUEN & Söhne', 'Aylin Ö. Berger'],
    ['K-77', 'oe. berger, aylin'],
  ]) {
    await app.inject({
      method: 'PATCH',
      url: `/api/v1/sites/${(await stored()).id}`,
      headers: { ...headers, 'content-type': 'application/json' },
      payload: { customerId: ids.get('customer'), assignedEmployeeId: null },
    });
    const { summary } = await importOf('site', await rewrite([titles!, change(customer!, person!)]));
    assert.equal(summary.replaced, 1);
    assert.deepEqual([(await stored()).customerId, (await stored()).assignedEmployeeId], [other, employee]);
  }
  for (const row of [change('Niemand', null), change('K-77', 'Doppelt')]) {
    const { results } = await importOf('site', await rewrite([titles!, row]));
    assert.equal(results[0].errors?.[0]?.code, 'invalid_uuid', JSON.stringify(results));
  }
});
