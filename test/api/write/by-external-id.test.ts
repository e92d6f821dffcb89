// Objects by their external ids: reading, merging, deleting, and what the answers tell.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const { get, patch, put, post } = service;

async function startBusiness() {
  const headers = { apikey: (await service.createTenant()).key };
  const customerId = await service.createCustomer({ externalId: 'K-1', comment: 'kept' }, { headers });
  return { headers, customerId, path: '/customers/by-external-id/K-1' };
}

test('an object is read by its external id as by its id', async () => {
  const { headers, customerId, path } = await startBusiness();
  const byId = await get(`/customers/${customerId}`, { headers });
  const byExternalId = await get(path, { headers });
  assert.equal(byExternalId.body, byId.body);
  assert.equal(byExternalId.headers.etag, byId.headers.etag);
  const known = { ...headers, 'if-none-match': String(byId.headers.etag) };
  assert.equal((await get(path, { headers: known })).statusCode, 304);
  for (const unknown of ['K-2', 'k-1', '%00', '%F0%9F%8C%B5', 'a%2Fb', '__proto__']) {
    assert.equal((await get(`/customers/by-external-id/${unknown}`, { headers })).statusCode, 404, unknown);
  }
  assert.equal((await get(path)).statusCode, 404);
  assert.equal((await get(`${path}?colour=red`, { headers })).statusCode, 400);
});

test('an external id with any sign is found by its encoded path', async () => {
  const { headers } = await startBusiness();
  for (const externalId of ['a/b', 'ü ß', '100%', '?x=1#y', 'by-external-id', '%2F']) {
    const path = `/customers/by-external-id/${encodeURIComponent(externalId)}`;
    const body = { ...validCustomer, companyName: externalId };
    assert.equal((await patch(path, body, { headers })).statusCode, 201, externalId);
    assert.equal((await get(path, { headers })).json().externalId, externalId);
  }
});

test('a merge keeps what it does not name, and tells what it did', async () => {
  const { headers, customerId, path } = await startBusiness();
  const changed = await patch(path, { phone: '040 1234' }, { headers });
  assert.equal(changed.statusCode, 200, changed.body);
  const { id, comment, phone, version } = changed.json();
  assert.deepEqual([id, comment, phone, version], [customerId, 'kept', '040 1234', 2]);
  assert.deepEqual([changed.headers.etag, changed.headers['stamm-changed']], ['"2"', 'true']);
  const repeated = await patch(path, { phone: '040 1234', externalId: 'K-1' }, { headers });
  assert.deepEqual([repeated.headers.etag, repeated.headers['stamm-changed']], ['"2"', 'false']);
  const cleared = await patch(path, { comment: null }, { headers });
  assert.equal(Object.hasOwn(cleared.json(), 'comment'), false);
});

test('a complete merge of an unknown id creates, an incomplete one lists the missing fields', async () => {
  const { headers } = await startBusiness();
  const path = '/customers/by-external-id/K-9';
  assert.equal((await patch(`${path}?create=false`, validCustomer, { headers })).statusCode, 404);
  const incomplete = await patch(path, { companyName: 'Neu' }, { headers });
  assert.deepEqual([incomplete.statusCode, incomplete.json().errors[0].field], [400, 'address']);
  const tried = await patch(`${path}?dryRun=true`, validCustomer, { headers });
  assert.deepEqual([tried.statusCode, tried.json().dryRun], [200, true]);
  const created = await patch(path, { ...validCustomer, comment: null }, { headers });
  assert.deepEqual([created.statusCode, created.json().externalId], [201, 'K-9']);
  assert.deepEqual([created.headers.etag, created.headers['stamm-changed']], ['"1"', 'true']);
  assert.equal((await patch(`${path}?create=false`, { comment: 'x' }, { headers })).statusCode, 200);
  for (const query of ['create=no', 'create=true&create=true', 'Create=false']) {
    assert.equal((await patch(`${path}?${query}`, validCustomer, { headers })).statusCode, 400, query);
  }
});

test('a merge obeys its conditions and its path', async () => {
  const { headers, path } = await startBusiness();
  const send = async (address: string, condition: object, body: object = { comment: 'x' }) =>
    (await patch(address, body, { headers: { ...headers, ...condition } })).statusCode;
  assert.equal(await send(path, { 'if-match': '"7"' }), 412);
  assert.equal(await send(path, { 'if-match': '"1"' }), 200);
  assert.equal(await send(path, { 'if-none-match': '*' }), 412);
  const unknown = '/customers/by-external-id/K-8';
  assert.equal(await send(unknown, { 'if-match': '*' }, validCustomer), 412);
  assert.equal(await send(unknown, { 'if-none-match': '*' }, validCustomer), 201);
  const other = await patch(path, { externalId: 'K-7' }, { headers });
  assert.equal(other.json().errors[0].code, 'differs_from_path');
  assert.equal((await patch(path, [], { headers })).statusCode, 400);
  assert.equal((await patch('/customers/by-external-id/%00', validCustomer, { headers })).statusCode, 400);
});

test('merges of one unknown id at the same moment make one object', async () => {
  const { headers } = await startBusiness();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      patch('/customers/by-external-id/K-5', { ...validCustomer, phone: String(index) }, { headers }),
    ),
  );
  const statuses = answers.map(({ statusCode }) => statusCode);
  assert.deepEqual([statuses.filter((status) => status === 201).length, Math.min(...statuses)], [1, 200]);
  assert.equal(new Set(answers.map((answer) => answer.json().id)).size, 1);
  const versions = answers.map((answer) => answer.json().version).toSorted((one, other) => one - other);
  assert.deepEqual(versions, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.equal(answers.find(({ statusCode }) => statusCode === 201)!.json().version, 1);
});

test('a replacement tells its version and whether anything changed', async () => {
  const { headers, customerId, path } = await startBusiness();
  const tell = async (body: object) => {
    const response = await put(path, body, { headers });
    return [response.json(), response.headers.etag, response.headers['stamm-changed']];
  };
  assert.deepEqual(await tell(validCustomer), [{ id: customerId, version: 2, changed: true }, '"2"', 'true']);
  assert.deepEqual(await tell(validCustomer), [
    { id: customerId, version: 2, changed: false },
    '"2"',
    'false',
  ]);
});

test('an object is deleted by its external id as by its id', async () => {
  const { headers, path } = await startBusiness();
  const stale = { ...headers, 'if-match': '"7"' };
  assert.equal((await service.delete(path, { headers: stale })).statusCode, 412);
  assert.equal((await service.delete(`${path}?dryRun=true`, { headers })).statusCode, 200);
  assert.equal((await service.delete(path)).statusCode, 404);
  assert.equal((await service.delete(path, { headers })).statusCode, 204);
  assert.equal((await service.delete(path, { headers })).statusCode, 404);
});

test('a cascade takes everything along that belongs to an object, and tells what', async () => {
  const { headers, customerId, path } = await startBusiness();
  const create = async (address: string, body: object): Promise<string> => {
    const response = await post(address, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const contact = await create('/customer/contact-person', { customerId, lastName: 'Krüger' });
  const contract = await create('/customer/contract', { customerId, startDate: '2026-01-01', type: 'CARE' });
  const site = await create('/customer/site', validSite(customerId));
  const container = await create('/customer/site/container', {
    siteId: site,
    name: 'Kübel',
    cultureSystem: 'SOIL',
  });
  const plants = [
    await create('/customer/site/plant', { siteId: site, botanicalName: 'Monstera' }),
    await create('/customer/site/plant', { siteId: site, botanicalName: 'Ficus' }),
  ];
  const otherId = await service.createCustomer({}, { headers });
  const before = (await get('/changes?limit=1000', { headers })).json().nextCursor;

  const refused = await service.delete(path, { headers });
  assert.deepEqual([refused.statusCode, refused.json().dependants.length], [409, 3]);
  assert.equal((await service.delete(`${path}?cascade=yes`, { headers })).statusCode, 400);
  const tried = await service.delete(`${path}?cascade=true&dryRun=true`, { headers });
  assert.equal((await get(path, { headers })).statusCode, 200);
  const deleted = await service.delete(`${path}?cascade=true`, { headers });
  assert.deepEqual(tried.json(), { ...deleted.json(), dryRun: true, attention: [], ignoredFields: [] });
  assert.deepEqual(
    Object.fromEntries(deleted.json().deleted.map(({ resource, ids }: never) => [resource, ids])),
    {
      'contact-person': [contact],
      contract: [contract],
      container: [container],
      plant: plants,
      site: [site],
      customer: [customerId],
    },
  );
  assert.equal(deleted.json().deleted.at(-1).resource, 'customer');
  const { data } = (await get(`/changes?after=${before}`, { headers })).json();
  assert.deepEqual(
    data.map(({ action, id }: never) => [action, id]),
    deleted.json().deleted.flatMap(({ ids }: { ids: string[] }) => ids.map((id) => ['DELETED', id])),
  );
  assert.equal((await get(`/customers/${otherId}`, { headers })).statusCode, 200);
});

test('a cascade of more than one deletion takes is refused with what belongs to it', async () => {
  const { headers, customerId, path } = await startBusiness();
  const site = (await post('/customer/site', validSite(customerId), { headers })).json().id;
  await service.owner.query(
    `INSERT INTO plant (tenant_id, id, site_id, botanical_name, quantity)
     SELECT tenant_id, gen_random_uuid(), id, 'Monstera', 1 FROM site, generate_series(1, 10001) WHERE id = $1`,
    [site],
  );
  const refused = await service.delete(`${path}?cascade=true`, { headers });
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'has_dependants']);
});

test('an unknown field that clears is named as ignored', async () => {
  const { headers, customerId } = await startBusiness();
  const response = await patch(
    `/customers/${customerId}`,
    { coment: null, address: { zip: null }, phone: null, customerExternalId: null },
    { headers },
  );
  assert.equal(response.statusCode, 200, response.body);
  assert.equal(response.headers['stamm-ignored-fields'], 'address.zip, coment, customerExternalId');
});
