// The client as an ERP uses it: its own ids everywhere, none of ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStamm, type ImportLine, type ImportResult } from '../../client/src/index.ts';
import { listen } from '../helpers/raw-client.ts';
import { startService, validAddress, validCustomer } from '../helpers/service.ts';
import { openUnreliableProxy } from './unreliable-proxy.ts';

const service = await startService();
const baseUrl = `http://127.0.0.1:${await listen(service.app)}`;
const proxy = await openUnreliableProxy(Number(new URL(baseUrl).port));

async function openClient(more: object = {}) {
  const { key: apiKey } = await service.createTenant();
  return createStamm({ baseUrl, apiKey, ...more });
}

const siteOf = (customerExternalId: string, externalId: string) => ({
  externalId,
  customerExternalId,
  name: `Site ${externalId}`,
  address: validAddress,
  needsAppointment: true,
  hasKey: false,
});

/** A customer with two sites. */
async function openBusiness(more: object = {}) {
  const stamm = await openClient(more);
  const customer = await stamm.customers.create({ ...validCustomer, externalId: 'K 1/ä', comment: 'office' });
  const sites = [
    await stamm.sites.create(siteOf('K 1/ä', 'S-1')),
    await stamm.sites.create(siteOf('K 1/ä', 'S-2')),
  ];
  return { stamm, customerId: customer.id, siteIds: sites.map(({ id }) => id) };
}

test('an object is read, merged, replaced and deleted by its external id', async () => {
  const { stamm, customerId, siteIds } = await openBusiness();
  const byId = { externalId: 'K 1/ä' };
  assert.equal((await stamm.customers.get(byId)).id, customerId);
  const merged = await stamm.customers.merge(byId, { phone: '+49 40 1' });
  assert.deepEqual([merged.id, merged.comment, merged.phone], [customerId, 'office', '+49 40 1']);
  const replaced = await stamm.customers.replace('K 1/ä', { ...validCustomer, phone: '+49 40 2' });
  assert.equal(replaced.id, customerId);
  const stored = await stamm.customers.get(byId);
  assert.deepEqual([stored.comment, stored.phone, stored.version], [undefined, '+49 40 2', 3]);
  await stamm.sites.delete({ externalId: 'S-1' });
  await assert.rejects(stamm.sites.get(siteIds[0]!), { code: 'not_found' });
  await assert.rejects(stamm.sites.delete({ externalId: 'S-1' }), { code: 'not_found' });
});

test('a merge of an unknown external id creates, unless the caller forbids it', async () => {
  const stamm = await openClient();
  const byId = { externalId: 'K-9' };
  const body = { ...validCustomer, comment: 'new' };
  await assert.rejects(stamm.customers.merge(byId, body, { create: false }), { code: 'not_found' });
  const checked = await stamm.customers.merge(byId, body, { dryRun: true });
  assert.equal(checked.dryRun, true);
  assert.equal((await stamm.customers.page({ count: true })).total, 0);
  const created = await stamm.customers.merge(byId, body);
  assert.deepEqual([created.externalId, created.comment, created.version], ['K-9', 'new', 1]);
});

test('a version is checked by external id as well', async () => {
  const { stamm } = await openBusiness();
  const byId = { externalId: 'K 1/ä' };
  await stamm.customers.merge(byId, { comment: 'second' });
  const outdated = { ifVersion: 1 };
  const refused = { status: 412, code: 'version_mismatch' };
  await assert.rejects(stamm.customers.merge(byId, { comment: 'third' }, outdated), refused);
  await assert.rejects(stamm.customers.replace('K 1/ä', validCustomer, outdated), refused);
  await assert.rejects(stamm.customers.delete(byId, { ...outdated, cascade: true }), refused);
  assert.equal((await stamm.customers.get(byId)).comment, 'second');
});

test('a cascade lists what it deleted, and a deletion without it is refused while others depend', async () => {
  const { stamm, customerId, siteIds } = await openBusiness();
  const byId = { externalId: 'K 1/ä' };
  await assert.rejects(stamm.customers.delete(byId), { status: 409, code: 'has_dependants' });
  const everything = [
    { resource: 'site', ids: siteIds },
    { resource: 'customer', ids: [customerId] },
  ];
  const planned = await stamm.customers.delete(byId, { cascade: true, dryRun: true });
  assert.deepEqual(planned.deleted, everything);
  assert.equal((await stamm.sites.page({ count: true })).total, 2);
  const { deleted } = await stamm.customers.delete(byId, { cascade: true });
  assert.deepEqual(deleted, everything);
  assert.equal((await stamm.sites.page({ count: true })).total, 0);
});

test('a cascade whose answer is lost succeeds, with an empty list', async () => {
  const { stamm } = await openBusiness({ baseUrl: proxy.baseUrl });
  proxy.failures.push('cut-answer');
  const { deleted } = await stamm.customers.delete({ externalId: 'K 1/ä' }, { cascade: true });
  assert.deepEqual(deleted, []);
  assert.equal((await stamm.customers.page({ count: true })).total, 0);
});

test('lists find objects by external ids, and name the external ids of owners', async () => {
  const { stamm, customerId } = await openBusiness();
  await stamm.sites.create(siteOf('K 1/ä', 'S-3'));
  await stamm.customers.create({ ...validCustomer, externalId: 'K-2' });
  await stamm.sites.create(siteOf('K-2', 'S-4'));
  const find = async (query: Parameters<typeof stamm.sites.list>[0]) =>
    (await Array.fromAsync(stamm.sites.list(query), ({ externalId }) => externalId)).sort();
  assert.deepEqual(await find({ externalId: 'S-1,S-3,unknown' }), ['S-1', 'S-3']);
  assert.deepEqual(await find({ customerExternalId: 'K 1/ä', limit: 2 }), ['S-1', 'S-2', 'S-3']);
  assert.deepEqual(await find({ customerExternalId: 'unknown' }), []);

  const included = await Array.fromAsync(stamm.sites.list({ include: 'externalIds', externalId: 'S-4' }));
  assert.equal(included[0]!.customerExternalId, 'K-2');
  const one = await stamm.sites.get({ externalId: 'S-1' }, { include: 'externalIds' });
  assert.deepEqual([one.customerExternalId, one.customerId], ['K 1/ä', customerId]);
  assert.equal((await stamm.sites.get({ externalId: 'S-1' })).customerExternalId, undefined);
});

test('lists and reads have the chosen fields, and objects that they refer to', async () => {
  const { stamm, customerId } = await openBusiness();
  const chosen = { fields: ['name', 'customer.companyName'] } as const;
  const customer = { id: customerId, companyName: validCustomer.companyName };
  const site = await stamm.sites.get({ externalId: 'S-1' }, chosen);
  assert.deepEqual(site, { id: site.id, name: site.name, customer });
  assert.deepEqual(await Array.fromAsync(stamm.sites.list({ ...chosen, externalId: 'S-1' })), [site]);
  assert.deepEqual((await stamm.sites.page({ ...chosen, externalId: 'S-1' })).data, [site]);
  const whole = await stamm.sites.get(site.id, { include: ['customer', 'externalIds'] });
  assert.deepEqual([whole.customer?.id, whole.customerExternalId], [customerId, 'K 1/ä']);
  const feed = stamm.changes.list({ resource: 'customer', fields: ['companyName'] });
  assert.deepEqual((await feed.next()).value?.data, customer);
});

test('import lines merge, create, replace and delete, and each result names its type and external id', async () => {
  const { stamm, customerId, siteIds } = await openBusiness();
  const external = (externalId: string, more: object = {}) => ({ externalId, ...more });
  const lines: ImportLine[] = [
    { type: 'customer', action: 'merge', data: external('K 1/ä', { phone: '+49 40 1' }) },
    { type: 'customer', action: 'create', data: { ...validCustomer, externalId: 'K 1/ä' } },
    { type: 'customer', action: 'create', data: { ...validCustomer, externalId: 'K-2' } },
    { type: 'site', action: 'replace', data: siteOf('K-2', 'S-1') },
    { type: 'site', action: 'delete', data: external('S-2') },
    { type: 'site', action: 'delete', data: external('unknown') },
    { type: 'contact-person', action: 'merge', data: external('P-1', { phone: '1' }) },
  ];
  const results: ImportResult[] = [];
  const run = stamm.import(lines);
  let next = await run.next();
  for (; !next.done; next = await run.next()) results.push(next.value);
  const summary = next.value;
  results.sort((one, other) => one.line - other.line);
  assert.deepEqual(
    results.map(({ line, type, externalId, status, code }) => [line, type, externalId, code ?? status]),
    [
      [1, 'customer', 'K 1/ä', 200],
      [2, 'customer', 'K 1/ä', 'conflict'],
      [3, 'customer', 'K-2', 201],
      [4, 'site', 'S-1', 200],
      [5, 'site', 'S-2', 200],
      [6, 'site', 'unknown', 'not_found'],
      [7, 'contact-person', 'P-1', 'validation_failed'],
    ],
  );
  assert.deepEqual([results[0]!.id, results[1]!.id, results[4]!.id], [customerId, customerId, siteIds[1]]);
  const { created, replaced, deleted, failed } = summary;
  assert.deepEqual(
    { created, replaced, deleted, failed },
    { created: 1, replaced: 2, deleted: 1, failed: 3 },
  );
  const merged = await stamm.customers.get(customerId);
  assert.deepEqual([merged.comment, merged.phone], ['office', '+49 40 1']);
});

test('an import that deletes with cascade lists what went, also after a broken connection', async () => {
  const { stamm, customerId, siteIds } = await openBusiness({ baseUrl: proxy.baseUrl });
  const line = { type: 'customer', action: 'delete', cascade: true, data: { externalId: 'K 1/ä' } } as const;
  const [result] = await Array.fromAsync(stamm.import([line]));
  assert.deepEqual(result!.deleted, [
    { resource: 'site', ids: siteIds },
    { resource: 'customer', ids: [customerId] },
  ]);

  const fresh = await openBusiness({ baseUrl: proxy.baseUrl });
  proxy.failures.push('cut-answer');
  const [repeated] = await Array.fromAsync(fresh.stamm.import([line]));
  assert.deepEqual([repeated!.status, repeated!.id], [200, fresh.customerId]);
  assert.equal((await fresh.stamm.sites.page({ count: true })).total, 0);
});
