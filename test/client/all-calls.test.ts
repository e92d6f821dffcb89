// The calls beside reading and writing single objects, against the real service.
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createStamm, type ImportLine, type Stamm, StammError } from '../../client/src/index.ts';
import openapi from '../../generated/openapi.json' with { type: 'json' };
import { listen } from '../helpers/raw-client.ts';
import { startService, validAddress, validCustomer, validSite } from '../helpers/service.ts';
import { openUnreliableProxy } from './unreliable-proxy.ts';

const service = await startService();
const baseUrl = `http://127.0.0.1:${await listen(service.app)}`;
const proxy = await openUnreliableProxy(Number(new URL(baseUrl).port));

async function openClient(more: object = {}): Promise<Stamm> {
  const { key: apiKey } = await service.createTenant();
  return createStamm({ baseUrl, apiKey, ...more });
}

test('every collection and list of the document has its calls', async () => {
  const stamm = await openClient();
  const names = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    'get' in methods && /^\/api\/v1\/[\w-]+$/.test(path) ? [path.slice('/api/v1/'.length)] : [],
  );
  assert.ok(names.length >= 13);
  for (const name of names) {
    const key = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    assert.ok(key in stamm, name);
  }
});

test('a deleted object is listed and restored', async () => {
  const stamm = await openClient();
  const { id } = await stamm.customers.create(validCustomer);
  const site = await stamm.sites.create(validSite(id));
  await stamm.customers.delete(id, { cascade: true });
  const [deleted] = await Array.fromAsync(stamm.deleted.list({ resource: 'customer' }));
  assert.deepEqual([deleted?.id, deleted?.included], [id, [{ resource: 'site', count: 1 }]]);
  assert.equal((await stamm.customers.restore(id, { dryRun: true })).id, id);
  assert.equal((await stamm.deleted.page()).data.length, 1);
  const { restored } = await stamm.customers.restore(id);
  assert.deepEqual(restored.flatMap(({ ids }) => ids).sort(), [id, site.id].sort());
  assert.equal((await stamm.deleted.page()).data.length, 0);
});

test('duplicates are on the attention list, and merged into one', async () => {
  const stamm = await openClient();
  const keep = await stamm.customers.create({ ...validCustomer, externalId: 'K-1' });
  const other = await stamm.customers.create({ ...validCustomer, externalId: 'K-2', phone: '+49 40 1' });
  const found = await Array.fromAsync(stamm.attention.list({ resource: 'customer' }), ({ code }) => code);
  assert.ok(found.includes('probable_duplicate'), String(found));
  const asked = { ids: [other.id] };
  const refused = stamm.customers.mergeDuplicates(keep.id, asked, { ifVersion: 9 });
  await assert.rejects(refused, { code: 'version_mismatch' });
  assert.deepEqual((await stamm.customers.mergeDuplicates(keep.id, asked)).merged, [other.id]);
  const kept = await stamm.customers.get({ externalId: 'K-2' });
  assert.deepEqual([kept.id, kept.phone], [keep.id, '+49 40 1']);
});

test('the search finds objects of all types', async () => {
  const stamm = await openClient();
  const { id } = await stamm.customers.create({ ...validCustomer, companyName: 'Gärtnerei Wümme' });
  await stamm.employees.create({ firstName: 'Wümme', lastName: 'Harms' });
  const { data } = await stamm.search({ q: 'wümme' });
  assert.deepEqual(data.map(({ type }) => type).sort(), ['customer', 'employee']);
  const [customer] = (await stamm.search({ q: 'wümme', types: 'customer' })).data;
  assert.deepEqual([customer?.id, customer?.title], [id, 'Gärtnerei Wümme']);
});

test('an export is a stream, and one that breaks off fails', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  await stamm.employees.create({ firstName: 'Jonas', lastName: 'Harms' });
  await stamm.employees.create({ firstName: 'Mia', lastName: 'Öz' });
  const csv = await text(await stamm.employees.export('csv', { q: 'öz', locale: 'en' }));
  assert.match(csv, /Mia/);
  assert.doesNotMatch(csv, /Jonas/);
  const lines = await text(await stamm.employees.export('ndjson'));
  assert.equal(lines.trim().split('\n').length, 2);
  const workbook = await new Response(await stamm.employees.export('xlsx')).bytes();
  assert.equal(Buffer.from(workbook.subarray(0, 2)).toString(), 'PK');
  const cut = { 'content-length': '1000', connection: 'close' };
  proxy.failures.push({ status: 200, headers: cut, body: 'id;Vorname\n' });
  const broken = await stamm.employees.export('csv');
  await assert.rejects(text(broken), { name: 'StammError', code: 'connection_failed' });
});

test('a person is exported and erased, with texts that hold a comma', async () => {
  const stamm = await openClient();
  const customerId = (await stamm.customers.create({ ...validCustomer, comment: 'Ask Petersen, Ute' })).id;
  const { id } = await stamm.contactPersons.create({ customerId, lastName: 'Petersen', firstName: 'Ute' });
  const { resource, person } = await stamm.personalData.get(id);
  assert.deepEqual([resource, person?.id], ['contact-person', id]);
  await stamm.personalData.erase(id, { dryRun: true });
  assert.equal((await stamm.contactPersons.get(id)).id, id);
  await stamm.personalData.erase(id, { texts: ['Petersen, Ute'] });
  await assert.rejects(stamm.contactPersons.get(id), StammError);
  assert.equal((await stamm.customers.get(customerId)).comment, 'Ask […]');
});

test('a webhook is created, changed, tested and deleted', async () => {
  const stamm = await openClient();
  const { id, secret } = await stamm.webhooks.create({ url: 'https://erp.example/', actions: ['DELETED'] });
  assert.match(secret, /^whsec_/);
  assert.deepEqual((await stamm.webhooks.change(id, { actions: null })).actions, null);
  assert.deepEqual(await stamm.webhooks.list(), [await stamm.webhooks.get(id)]);
  await stamm.webhooks.delete(id);
  await assert.rejects(stamm.webhooks.test(id), { code: 'not_found' });
});

test('a dry run of a change answers the object as it would be, and what needs attention', async () => {
  const stamm = await openClient();
  const customerId = (await stamm.customers.create(validCustomer)).id;
  const { id } = await stamm.sites.create({ ...validSite(customerId), externalId: 'S-1' });
  const change = { name: 'Foyer', address: { ...validAddress, zipCode: '99999', city: 'Nirgendheim' } };
  for (const reference of [id, { externalId: 'S-1' }]) {
    const tried = await stamm.sites.merge(reference, change, { dryRun: true });
    assert.deepEqual([tried.dryRun, tried.id, tried.name, tried.ignoredFields], [true, id, 'Foyer', []]);
    assert.deepEqual(
      tried.attention.map(({ code }) => code),
      ['no_position'],
    );
  }
  assert.equal((await stamm.sites.get(id)).name, validSite(customerId).name);
});

test('import lines compile only with fields that their type has', () => {
  const address = validAddress;
  const lines: ImportLine[] = [
    { type: 'customer', data: { externalId: 'K-1', companyName: 'Rathaus Café', address } },
    { type: 'customer', action: 'merge', data: { externalId: 'K-1', phone: null } },
    { type: 'site', action: 'delete', cascade: true, data: { externalId: 'S-1' } },
    // @ts-expect-error
    { type: 'customer', data: { externalId: 'K-1', compnyName: 'Rathaus Café', address } },
    // @ts-expect-error
    { type: 'customer', action: 'merge', data: { externalId: 'K-1', companyName: 5 } },
    // @ts-expect-error
    { type: 'customer', data: { externalId: 'K-1', address } },
    // @ts-expect-error
    { type: 'custmer', data: { externalId: 'K-1', companyName: 'Rathaus Café', address } },
  ];
  assert.equal(lines.length, 7);
});
