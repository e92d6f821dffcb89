// Lists, reads, exports and changes that name objects by external ids.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { referencesOf } from '../../../server/engine/definition/definition.ts';
import { resources } from '../../../server/resources/index.ts';
import { readCsv } from '../../helpers/csv-reader.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { get, patch, post, put, createTenant } = service;
const port = await listen(service.app);

const names: Record<string, string> = {
  customer: 'K-1',
  'contact-person': 'A-1',
  contract: 'V-1',
  employee: 'M-1',
  product: 'P-1',
  container: 'G-1',
  site: 'S-1',
};

/** One object of each resource, with each of its references by external id. */
async function startBusiness(): Promise<{ apikey: string }> {
  const headers = { apikey: (await createTenant()).key };
  for (const definition of resources) {
    const { externalId: _own, ...example } = definition.example as Record<string, unknown>;
    for (const { column, externalName, resources: targets } of referencesOf(definition)) {
      delete example[column.path[0]!];
      example[externalName] = names[targets[0]!];
    }
    const body = { ...example, externalId: names[definition.name] ?? 'X-1' };
    const created = await post(definition.path, body, { headers });
    assert.equal(created.statusCode, 201, created.body);
  }
  return headers;
}

const business = await startBusiness();

async function list(path: string, headers: object = business): Promise<Record<string, unknown>[]> {
  const response = await get(path, { headers: { ...headers } });
  assert.equal(response.statusCode, 200, response.body);
  return response.json().data;
}

test('a list takes up to 100 external ids', async () => {
  const headers = { apikey: (await createTenant()).key };
  for (const externalId of ['a', 'b', 'c', 'b,c', 'ü 1'])
    await service.createCustomer({ externalId }, { headers });
  const find = async (ids: string) =>
    (await list(`/customers?externalId=${encodeURIComponent(ids)}`, headers)).map((one) => one.externalId);
  assert.deepEqual(await find('a,c,unknown,a'), ['a', 'c']);
  assert.deepEqual(await find('b,c'), ['b', 'c', 'b,c']);
  assert.deepEqual(await find('ü 1'), ['ü 1']);
  assert.deepEqual(await find(''), []);
  assert.deepEqual(await find(['a', ...Array.from({ length: 99 }, (_, index) => `x${index}`)].join()), ['a']);
  assert.deepEqual(await list('/customers?externalId=a'), [], 'of another tenant');
  const refusals = {
    [Array.from({ length: 101 }, (_, index) => `x${index}`).join()]: 'too_many_items',
    [`a,${'x'.repeat(101)}`]: 'too_long',
  };
  for (const [ids, code] of Object.entries(refusals)) {
    const refused = await get(`/customers?externalId=${ids}`, { headers });
    const [error] = refused.json().errors;
    assert.deepEqual([refused.statusCode, error.field, error.code], [400, 'externalId', code]);
  }
});

test('each reference filters by external id, whether its object has come or not', async () => {
  const stranger = { apikey: (await createTenant()).key };
  for (const definition of resources) {
    for (const { externalName, resources: targets } of referencesOf(definition)) {
      const address = `/${definition.collection}?${externalName}=`;
      assert.equal((await list(`${address}${names[targets[0]!]}`)).length, 1, address);
      assert.equal((await list(`${address}Z-1`)).length, 0, address);
      assert.equal((await list(`${address}${names[targets[0]!]}`, stranger)).length, 0, address);
    }
  }
  const waiting = { contractExternalId: 'LATER', serviceRecordRecipientExternalId: 'K-1' };
  const changed = await patch('/sites/by-external-id/S-1', waiting, { headers: { ...business } });
  assert.equal(changed.statusCode, 200, changed.body);
  assert.equal((await list('/sites?contractExternalId=LATER')).length, 1);
  assert.equal((await list('/sites?contractExternalId=V-1')).length, 0);
  assert.equal((await list('/sites?serviceRecordRecipientExternalId=K-1')).length, 1, 'a customer');
});

test('include=externalIds adds the external id of each reference to reads, lists, exports and changes', async () => {
  const headers = await startBusiness();
  const waiting = { contractExternalId: 'LATER' };
  assert.equal((await patch('/sites/by-external-id/S-1', waiting, { headers })).statusCode, 200);
  const { data: feed } = (await get('/changes?include=data,externalIds&limit=1000', { headers })).json();
  for (const definition of resources) {
    const path = `/${definition.collection}`;
    const [plain] = await list(path, headers);
    const expected: Record<string, unknown> = { ...plain };
    for (const { externalName, resources: targets } of referencesOf(definition))
      expected[externalName] = names[targets[0]!];
    if (definition.name === 'site') expected.contractExternalId = 'LATER';
    const address = `${path}/${plain!.id}?include=externalIds`;
    const read = await get(address, { headers });
    assert.deepEqual(read.json(), expected);
    const named = `${path}/by-external-id/${plain!.externalId}?include=externalIds`;
    assert.equal((await get(named, { headers })).body, read.body);
    assert.deepEqual(await list(`${path}?include=externalIds`, headers), [expected]);
    assert.equal((await get(`${path}.ndjson?include=externalIds`, { headers })).body, `${read.body}\n`);
    const entry = feed.findLast((one: { resource: string }) => one.resource === definition.name);
    assert.deepEqual(entry.data, expected);
    for (const { externalName } of referencesOf(definition))
      assert.equal(read.body.split(`"${externalName}":`).length, 2, `${externalName} once`);
  }
});

test('a CSV with external ids has one column for each', async () => {
  const headers = await startBusiness();
  const csv = await get('/sites.csv?include=externalIds&locale=en', { headers });
  const [titles, cells] = readCsv(csv.body, ',');
  const row = Object.fromEntries(titles!.map((title, index) => [title, cells![index]]));
  assert.equal(row['Customer external id'], 'K-1');
  assert.equal(row['Contract external id'], 'V-1');
  assert.equal(row['Assigned employee external id'], 'M-1');
  assert.equal(titles!.length, new Set(titles).size);
  const german = await get('/sites.csv?include=externalIds&locale=de', { headers });
  assert.ok(readCsv(german.body, ';')[0]!.includes('Kunde externe ID'));
});

test('a read with external ids shows a changed external id under the same version', async () => {
  const headers = await startBusiness();
  const path = '/sites/by-external-id/S-1?include=externalIds';
  const { etag } = (await get(path, { headers })).headers;
  const [customer] = await list('/customers', headers);
  assert.equal(
    (await patch(`/customers/${customer!.id}`, { externalId: 'K-2' }, { headers })).statusCode,
    200,
  );
  const again = await get(path, { headers: { ...headers, 'if-none-match': String(etag) } });
  assert.deepEqual([again.statusCode, again.json().customerExternalId], [200, 'K-2']);
});

test('an unknown inclusion is refused wherever there is one', async () => {
  for (const path of ['/sites', '/sites.csv', '/sites.ndjson', '/sites/by-external-id/S-1', '/changes']) {
    const refused = await get(`${path}?include=everything`, { headers: { ...business } });
    assert.equal(refused.statusCode, 400, path);
    assert.equal(refused.json().errors[0].code, 'invalid_choice');
  }
});

test('an empty search is no search', async () => {
  for (const q of ['', '%20', '%00']) assert.deepEqual(await list(`/sites?q=${q}`), await list('/sites'), q);
});

test('a missing owner is reported with both of its names', async () => {
  const body = { name: 'Lobby', address: validAddress, needsAppointment: true, hasKey: false };
  const headers = { ...business };
  const { results } = await sendImport({ port, key: business.apikey }, [{ type: 'site', data: body }]);
  const refusals = [
    (await post('/customer/site', body, { headers })).json(),
    (await put('/sites/by-external-id/S-9', body, { headers })).json(),
    (await patch('/sites/by-external-id/S-9', body, { headers })).json(),
    results[0],
  ];
  for (const { errors } of refusals) {
    assert.deepEqual(
      errors.map((error: Record<string, unknown>) => [error.field, error.code, error.message]),
      [['customerId', 'required', 'Required: send customerId or customerExternalId.']],
    );
  }
});
