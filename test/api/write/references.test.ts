// References by external id: in any order of arrival the same objects end up linked.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { linkWaiting } from '../../../server/engine/write/links.ts';
import { resources } from '../../../server/resources/index.ts';
import { untilLocked } from '../../helpers/locks.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { get, patch, post, put, createTenant } = service;

/** Everything below its owner by external ids alone. */
function objectsOf(prefix: string): Record<string, { path: string; type: string; body: object }> {
  const id = (name: string) => `${prefix}-${name}`;
  return {
    contact: {
      path: '/customer/contact-person',
      type: 'contact-person',
      body: { externalId: id('contact'), customerExternalId: id('customer'), lastName: 'Krüger' },
    },
    contract: {
      path: '/customer/contract',
      type: 'contract',
      body: {
        externalId: id('contract'),
        customerExternalId: id('customer'),
        startDate: '2026-01-01',
        type: 'CARE',
      },
    },
    employee: {
      path: '/employee',
      type: 'employee',
      body: { externalId: id('employee'), firstName: 'Ada', lastName: 'Grün' },
    },
    product: {
      path: '/product',
      type: 'product',
      body: { externalId: id('product'), name: 'Monstera', kind: 'PLANT' },
    },
    container: {
      path: '/customer/site/container',
      type: 'container',
      body: {
        externalId: id('container'),
        name: 'Kübel',
        cultureSystem: 'SOIL',
        productExternalId: id('product'),
      },
    },
    site: {
      path: '/customer/site',
      type: 'site',
      body: {
        externalId: id('site'),
        customerExternalId: id('customer'),
        name: 'Lobby',
        address: validAddress,
        needsAppointment: true,
        hasKey: false,
        contactPersonExternalId: id('contact'),
        contractExternalId: id('contract'),
        assignedEmployeeExternalId: id('employee'),
        serviceRecordRecipientExternalId: id('contact'),
      },
    },
    plant: {
      path: '/customer/site/plant',
      type: 'plant',
      body: {
        externalId: id('plant'),
        siteExternalId: id('first-site'),
        productExternalId: id('product'),
        containerExternalId: id('container'),
      },
    },
  };
}

const names = Object.keys(objectsOf(''));

async function startBusiness() {
  const { key, tenantId } = await createTenant();
  const headers = { apikey: key };
  const prefix = randomUUID().slice(0, 8);
  await service.createCustomer({ externalId: `${prefix}-customer` }, { headers });
  const first = await post(
    '/customer/site',
    {
      externalId: `${prefix}-first-site`,
      customerExternalId: `${prefix}-customer`,
      name: 'First',
      address: validAddress,
      needsAppointment: false,
      hasKey: false,
    },
    { headers },
  );
  assert.equal(first.statusCode, 201, first.body);
  return { headers, tenantId, prefix, objects: objectsOf(prefix) };
}

type Business = Awaited<ReturnType<typeof startBusiness>>;

async function find(collection: string, externalId: string, headers: Business['headers']) {
  const response = await get(`/${collection}?externalId=${externalId}`, { headers });
  return response.json().data[0];
}

/** Fails unless each reference is an id, and none is kept any more. */
async function assertLinked({ headers, prefix }: Business) {
  const objects = Object.fromEntries(
    await Promise.all(
      [
        ['contact', 'contact-persons'],
        ['contract', 'contracts'],
        ['employee', 'employees'],
        ['product', 'products'],
        ['container', 'containers'],
        ['site', 'sites'],
        ['plant', 'plants'],
      ].map(
        async ([name, collection]) => [name, await find(collection!, `${prefix}-${name}`, headers)] as const,
      ),
    ),
  );
  const { contact, contract, employee, product, container, site, plant } = objects;
  assert.deepEqual(
    {
      site: [site.contactPersonId, site.serviceRecordRecipientId, site.contractId, site.assignedEmployeeId],
      container: container.productId,
      plant: [plant.productId, plant.containerId],
    },
    {
      site: [contact.id, contact.id, contract.id, employee.id],
      container: product.id,
      plant: [product.id, container.id],
    },
  );
  const kept = [site, container, plant].flatMap((object) =>
    Object.keys(object).filter((name) => /.ExternalId$/.test(name)),
  );
  assert.deepEqual(kept, []);
  const { data } = (await get('/attention?code=pending_reference', { headers })).json();
  assert.deepEqual(data, []);
}

/** The last version that the feed tells of each object, which must be the one that is stored. */
async function assertJournalComplete({ headers }: Business) {
  const { data } = (await get('/changes?limit=1000', { headers })).json();
  const versions = new Map<string, number>();
  for (const { id, version, action } of data) {
    assert.equal(version, (versions.get(id) ?? 0) + 1);
    assert.equal(action, version === 1 ? 'CREATED' : 'CHANGED');
    versions.set(id, version);
  }
  for (const collection of ['sites', 'containers', 'plants']) {
    for (const object of (await get(`/${collection}`, { headers })).json().data) {
      assert.equal(versions.get(object.id), object.version);
    }
  }
}

const anyOrder = fc.shuffledSubarray(names, { minLength: names.length });

test('objects created in any order end up linked', async () => {
  await fc.assert(
    fc.asyncProperty(anyOrder, async (order) => {
      const business = await startBusiness();
      for (const name of order) {
        const { path, body } = business.objects[name]!;
        const response = await post(path, body, { headers: business.headers });
        assert.equal(response.statusCode, 201, response.body);
      }
      await assertLinked(business);
      await assertJournalComplete(business);
    }),
    { numRuns: 15 },
  );
});

test('objects put in any order end up linked, and a second run changes nothing', async () => {
  const collections: Record<string, string> = Object.fromEntries(
    resources.map(({ name, collection }) => [name, collection]),
  );
  await fc.assert(
    fc.asyncProperty(anyOrder, anyOrder, async (first, second) => {
      const business = await startBusiness();
      const send = async (name: string) => {
        const { type, body } = business.objects[name]!;
        const path = `/${collections[type]}/by-external-id/${business.prefix}-${name}`;
        return put(path, body, { headers: business.headers });
      };
      for (const name of first) assert.equal((await send(name)).statusCode, 201);
      const before = (await get('/changes?limit=1000', { headers: business.headers })).json().nextCursor;
      for (const name of second) assert.equal((await send(name)).statusCode, 200);
      await assertLinked(business);
      const after = (await get('/changes?limit=1000', { headers: business.headers })).json().nextCursor;
      assert.equal(after, before);
    }),
    { numRuns: 8 },
  );
});

test('objects that arrive at the same moment end up linked', async () => {
  for (let round = 0; round < 12; round++) {
    const business = await startBusiness();
    const sent = names.map((name) => {
      const { path, body } = business.objects[name]!;
      return post(path, body, { headers: business.headers });
    });
    for (const response of await Promise.all(sent)) assert.equal(response.statusCode, 201, response.body);
    await linkWaiting(service.database, resources);
    await assertLinked(business);
    await assertJournalComplete(business);
  }
});

test('lines of an import in any order, and requests beside it, end up linked', async () => {
  const port = await listen(service.app);
  await fc.assert(
    fc.asyncProperty(anyOrder, fc.subarray(names), fc.boolean(), async (order, beside, isOneTransaction) => {
      const business = await startBusiness();
      const lines = order
        .filter((name) => !beside.includes(name))
        .map((name) => ({ type: business.objects[name]!.type, data: business.objects[name]!.body }));
      const query = isOneTransaction ? '?mode=all-or-nothing' : '';
      const imported = sendImport({ port, key: business.headers.apikey, query }, lines);
      const posted = beside.map((name) =>
        post(business.objects[name]!.path, business.objects[name]!.body, { headers: business.headers }),
      );
      await Promise.all([imported, ...posted]);
      await linkWaiting(service.database, resources);
      await assertLinked(business);
      await assertJournalComplete(business);
    }),
    { numRuns: 12 },
  );
});

test('an external id that nothing has yet is kept, answered and on the attention list', async () => {
  const { headers, prefix, objects } = await startBusiness();
  const { id } = (await post('/customer/site', objects.site!.body, { headers })).json();
  const site = (await get(`/sites/${id}`, { headers })).json();
  assert.equal(site.contactPersonExternalId, `${prefix}-contact`);
  assert.equal(site.contactPersonId, undefined);
  const { data } = (await get('/attention?code=pending_reference', { headers })).json();
  assert.deepEqual(
    data.map((entry: { id: string; field: string }) => [entry.id, entry.field]),
    [
      'serviceRecordRecipientExternalId',
      'assignedEmployeeExternalId',
      'contactPersonExternalId',
      'contractExternalId',
    ].map((field) => [id, field]),
  );
  const tried = await post('/customer/site?dryRun=true', objects.site!.body, {
    headers: { ...headers, 'accept-language': 'de' },
  });
  assert.equal(tried.json().code, 'conflict');
});

test('an object that gets the awaited external id later is linked, with a version and an entry of its author', async () => {
  const { headers, prefix, objects } = await startBusiness();
  const { id } = (await post('/customer/site', objects.site!.body, { headers })).json();
  const employee = (await post('/employee', { firstName: 'Ada', lastName: 'Grün' }, { headers })).json();
  const renamed = await patch(`/employees/${employee.id}`, { externalId: `${prefix}-employee` }, { headers });
  const site = await get(`/sites/${id}`, { headers });
  assert.deepEqual([site.json().assignedEmployeeId, site.json().version], [employee.id, 2]);
  const { data } = (await get('/changes?limit=1000', { headers })).json();
  const { actor, requestId, changes, action } = data.at(-1);
  assert.deepEqual(
    [actor.startsWith('key …'), requestId, action],
    [true, renamed.headers['x-request-id'], 'CHANGED'],
  );
  assert.deepEqual(changes, {
    assignedEmployeeId: { to: employee.id },
    assignedEmployeeExternalId: { from: `${prefix}-employee` },
  });
});

test('of another tenant no object is linked', async () => {
  const one = await startBusiness();
  const other = await startBusiness();
  const { id } = (await post('/customer/site', one.objects.site!.body, { headers: one.headers })).json();
  const body = { firstName: 'Ada', lastName: 'Grün', externalId: `${one.prefix}-employee` };
  assert.equal((await post('/employee', body, { headers: other.headers })).statusCode, 201);
  assert.equal((await get(`/sites/${id}`, { headers: one.headers })).json().assignedEmployeeId, undefined);
});

test('either name of a reference replaces and clears the other', async () => {
  const { headers, prefix, objects } = await startBusiness();
  const { id } = (await post('/customer/site', objects.site!.body, { headers })).json();
  const change = async (body: object) => {
    const response = await patch(`/sites/${id}`, body, { headers });
    assert.equal(response.statusCode, 200, response.body);
    const { contactPersonId, contactPersonExternalId } = response.json();
    return [contactPersonId, contactPersonExternalId];
  };
  const anyId = randomUUID();
  assert.deepEqual(await change({ contactPersonId: anyId }), [anyId, undefined]);
  assert.deepEqual(await change({ contactPersonExternalId: 'later' }), [undefined, 'later']);
  assert.deepEqual(await change({ comment: 'unrelated' }), [undefined, 'later']);
  assert.deepEqual(await change({ contactPersonId: null }), [undefined, undefined]);
  const contact = (await post('/customer/contact-person', objects.contact!.body, { headers })).json();
  const both = { contactPersonId: contact.id, contactPersonExternalId: `${prefix}-contact` };
  assert.deepEqual(await change(both), [contact.id, undefined]);
  assert.deepEqual(await change({ contactPersonExternalId: null }), [undefined, undefined]);
  assert.deepEqual(await change({ contactPersonExternalId: `${prefix}-contact` }), [contact.id, undefined]);
});

test('two names of one reference must agree', async () => {
  const { headers, prefix, objects } = await startBusiness();
  const contact = (await post('/customer/contact-person', objects.contact!.body, { headers })).json();
  const customer = await find('customers', `${prefix}-customer`, headers);
  const { customerExternalId, contactPersonExternalId, ...rest } = objects.site!.body as Record<
    string,
    unknown
  >;
  const agreeing = {
    ...rest,
    ...{ customerId: customer.id, customerExternalId },
    ...{ contactPersonId: contact.id, contactPersonExternalId },
  };
  const path = `/sites/by-external-id/${prefix}-site`;
  const faultsOf = async (body: object) =>
    (await put(path, body, { headers })).json().errors?.map(({ field, code }: never) => `${field}: ${code}`);
  assert.deepEqual(await faultsOf({ ...agreeing, contactPersonId: randomUUID() }), [
    'contactPersonExternalId: ambiguous',
  ]);
  assert.deepEqual(await faultsOf({ ...agreeing, contactPersonExternalId: 'nobody' }), [
    'contactPersonExternalId: ambiguous',
  ]);
  assert.deepEqual(await faultsOf({ ...agreeing, customerId: randomUUID() }), [
    'customerExternalId: ambiguous',
  ]);
  assert.equal(await faultsOf(agreeing), undefined);
  assert.equal((await get(path, { headers })).json().contactPersonId, contact.id);
});

test('a plant is known by the external id of its product', async () => {
  const { headers, prefix } = await startBusiness();
  const body = { siteExternalId: `${prefix}-first-site`, productExternalId: `${prefix}-product` };
  assert.equal((await post('/customer/site/plant', body, { headers })).statusCode, 201);
});

test('two transactions that cannot see each other do not miss each other', async () => {
  for (const order of [
    ['site', 'contact'],
    ['contact', 'site'],
  ]) {
    const { headers, tenantId, objects } = await startBusiness();
    await service.owner.query('BEGIN');
    await service.owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
    const sent = [];
    for (const [index, name] of order.entries()) {
      sent.push(post(objects[name]!.path, objects[name]!.body, { headers }));
      await untilLocked(service.owner, index + 1);
    }
    await service.owner.query('COMMIT');
    const [first, second] = (await Promise.all(sent)).map((response) => response.json().id);
    const [siteId, contactId] = order[0] === 'site' ? [first, second] : [second, first];
    const site = (await get(`/sites/${siteId}`, { headers })).json();
    assert.deepEqual([site.contactPersonId, site.serviceRecordRecipientId], [contactId, contactId]);
  }
});

test('an object does not wait for a writer of what refers to it, and the link follows', async () => {
  const business = await startBusiness();
  const { headers, objects } = business;
  const { id } = (await post('/customer/site', objects.site!.body, { headers })).json();
  await service.owner.query('BEGIN');
  await service.owner.query('SELECT FROM site WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE', [
    business.tenantId,
    id,
  ]);
  const employee = (await post('/employee', objects.employee!.body, { headers })).json();
  await linkWaiting(service.database, resources);
  assert.equal((await get(`/sites/${id}`, { headers })).json().assignedEmployeeId, undefined);
  await service.owner.query('COMMIT');
  await linkWaiting(service.database, resources);
  assert.equal((await get(`/sites/${id}`, { headers })).json().assignedEmployeeId, employee.id);
  assert.equal((await service.owner.query('SELECT FROM waiting_link')).rowCount, 0);
});

test('more references than one statement links are linked by and by', async () => {
  const { headers, prefix, tenantId } = await startBusiness();
  const site = await find('sites', `${prefix}-first-site`, headers);
  await service.owner.query(
    `INSERT INTO plant (tenant_id, id, site_id, product_external_id, quantity)
     SELECT $1, gen_random_uuid(), $2, 'common', 1 FROM generate_series(1, 1700)`,
    [tenantId, site.id],
  );
  const product = (
    await post('/product', { name: 'Monstera', kind: 'PLANT', externalId: 'common' }, { headers })
  ).json();
  const count = async () =>
    (await get(`/plants?limit=1&count=true&productId=${product.id}`, { headers })).json().total;
  assert.equal(await count(), 500);
  await linkWaiting(service.database, resources);
  assert.equal(await count(), 1700);
});
