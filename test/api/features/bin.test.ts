// The bin: a deleted object can be restored for 30 days, as one. For every other call it is gone.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { retentionSteps } from '../../../server/features/retention/retention.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const { get, patch, post, put } = service;

async function startBusiness() {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const create = async (path: string, body: object): Promise<string> => {
    const response = await post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const remove = async (path: string, status = 204) => {
    const response = await service.delete(path, { headers });
    assert.equal(response.statusCode, status, response.body);
  };
  const restore = (path: string, query = '') =>
    service.app.inject({ method: 'POST', url: `/api/v1${path}/restore${query}`, headers });
  const list = async (query = '') => {
    const response = await get(`/deleted${query}`, { headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const read = async (path: string) => (await get(path, { headers })).json();
  return { tenant, headers, create, remove, restore, list, read };
}

async function findInconsistencies() {
  return (await checkConsistency(service.owner, resources)).filter(({ count }) => count > 0);
}

/** A customer with a site, two plants, a container and a contact person. */
async function createEstate({ create }: Awaited<ReturnType<typeof startBusiness>>, mark = '') {
  const customerId = await create('/customer', {
    ...validCustomer,
    externalId: `K${mark}`,
    customerNumber: `N${mark}`,
  });
  const contactId = await create('/customer/contact-person', { customerId, lastName: 'Petersen' });
  const siteId = await create('/customer/site', {
    ...validSite(customerId),
    externalId: `S${mark}`,
    contactPersonId: contactId,
    callOutFee: 12.5,
    openingHours: [{ z: 1, a: 1.5, dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' }],
  });
  const containerId = await create('/customer/site/container', {
    siteId,
    name: 'Kübel',
    cultureSystem: 'SOIL',
  });
  const plants = [
    await create('/customer/site/plant', { siteId, botanicalName: 'Ficus lyrata', labelCode: `P1${mark}` }),
    await create('/customer/site/plant', { siteId, botanicalName: 'Monstera', containerId }),
  ];
  return { customerId, contactId, siteId, containerId, plants };
}

test('a restored object is as it was, with its id and the next version', async () => {
  const business = await startBusiness();
  const { siteId } = await createEstate(business);
  const body = {
    ...validCustomer,
    externalId: 'K-2',
    comment: '“quoted” \\ ünï',
    address: { ...validAddress, location: { lat: 53.55, lng: 9.99 } },
  };
  const id = await business.create('/customer', body);
  await patch(`/customers/${id}`, { phone: '040 1' }, { headers: business.headers });
  const path = `/customers/${id}`;
  const before = await business.read(path);
  await business.remove(path);
  assert.equal((await get(path, { headers: business.headers })).statusCode, 404);
  const restored = await business.restore(path);
  assert.equal(restored.statusCode, 200, restored.body);
  assert.deepEqual(restored.json(), { id, version: 3, restored: [{ resource: 'customer', ids: [id] }] });
  assert.equal(restored.headers.etag, '"3"');
  const { updatedAt: _updated, ...after } = await business.read(path);
  const { updatedAt: _before, ...expected } = before;
  assert.deepEqual(after, { ...expected, version: 3 });
  assert.equal((await business.read(`/sites/${siteId}`)).version, 1);
  assert.deepEqual(await findInconsistencies(), []);
});

test('lists and decimals come back character by character', async () => {
  const business = await startBusiness();
  const { customerId } = await createEstate(business);
  const lists = '[{"z":1.50,"a":[1e2,null],"Z":"ä"}]';
  const site = JSON.stringify(validSite(customerId)).replace(
    /}$/,
    `,"openingHours":${lists},"attendingIntervals":${lists},"callOutFee":24.90}`,
  );
  const response = await post('/customer/site', site, { headers: business.headers });
  const path = `/sites/${response.json().id}`;
  const before = (await get(path, { headers: business.headers })).body;
  await business.remove(path);
  const inBin = (await get('/deleted', { headers: business.headers })).body;
  assert.ok(inBin.includes(`"data":${before}`), inBin);
  assert.equal((await business.restore(path)).statusCode, 200);
  const after = (await get(path, { headers: business.headers })).body;
  const withoutTimes = (text: string) => text.replace(/"version":\d+|"updatedAt":"[^"]+"/g, '');
  assert.equal(withoutTimes(after), withoutTimes(before));
});

test('a cascade is one entry of the bin and restores as one, from any of its parts', async () => {
  const business = await startBusiness();
  const { customerId, contactId, siteId, containerId, plants } = await createEstate(business);
  const site = await business.read(`/sites/${siteId}`);
  for (const path of [`/customers/${customerId}`, `/plants/${plants[0]}`]) {
    await business.remove(`/customers/${customerId}?cascade=true`, 200);
    const { data } = await business.list();
    assert.deepEqual(
      data.map(({ resource, id, included, deletedWith }: never) => [resource, id, included, deletedWith]),
      [
        [
          'customer',
          customerId,
          [
            { resource: 'contact-person', count: 1 },
            { resource: 'container', count: 1 },
            { resource: 'plant', count: 2 },
            { resource: 'site', count: 1 },
          ],
          undefined,
        ],
      ],
    );
    const found = (await business.list('?resource=plant')).data;
    assert.deepEqual(new Set(found.map(({ id }: never) => id)), new Set(plants));
    assert.deepEqual(found[0].deletedWith, { resource: 'customer', id: customerId });
    const restored = await business.restore(path);
    assert.equal(restored.statusCode, 200, restored.body);
    assert.deepEqual(
      restored.json().restored.map(({ resource, ids }: never) => [resource, ids]),
      [
        ['customer', [customerId]],
        ['contact-person', [contactId]],
        ['site', [siteId]],
        ['container', [containerId]],
        ['plant', plants.toSorted()],
      ],
    );
    assert.deepEqual((await business.list()).data, []);
  }
  const { version: _version, updatedAt: _updated, ...again } = await business.read(`/sites/${siteId}`);
  const { version: _before, updatedAt: _then, ...expected } = site;
  assert.deepEqual(again, expected);
  assert.deepEqual(await findInconsistencies(), []);
});

test('the feed tells a deletion, then a creation with the same id and the next version', async () => {
  const business = await startBusiness();
  const id = await business.create('/customer', { ...validCustomer, externalId: 'K-9' });
  await business.remove(`/customers/${id}`);
  await business.restore(`/customers/${id}`);
  const { data } = (await get('/changes?include=data', { headers: business.headers })).json();
  assert.deepEqual(
    data.map(({ action, version, id: changed, externalId, data: now }: never) => [
      action,
      version,
      changed,
      externalId,
      (now as { version: number } | undefined)?.version,
    ]),
    [
      ['CREATED', 1, id, 'K-9', 2],
      ['DELETED', 1, id, 'K-9', 2],
      ['CREATED', 2, id, 'K-9', 2],
    ],
  );
});

test('a restoration sent twice, or together, happens once', async () => {
  const business = await startBusiness();
  const { customerId } = await createEstate(business);
  await business.remove(`/customers/${customerId}?cascade=true`, 200);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => business.restore(`/customers/${customerId}`)),
  );
  const counts = answers.map((answer) => {
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json().restored.length;
  });
  assert.deepEqual(counts.toSorted(), [0, 0, 0, 0, 0, 5]);
  assert.deepEqual(new Set(answers.map((answer) => answer.json().version)), new Set([2]));
});

test('a dry run restores nothing', async () => {
  const business = await startBusiness();
  const id = await business.create('/customer', validCustomer);
  await business.remove(`/customers/${id}`);
  assert.equal((await business.restore(`/customers/${id}`, '?dryRun=true')).statusCode, 200);
  assert.equal((await get(`/customers/${id}`, { headers: business.headers })).statusCode, 404);
  assert.equal((await business.list()).data.length, 1);
});

test('a dry run of a deletion puts nothing into the bin', async () => {
  const business = await startBusiness();
  const id = await business.create('/customer', validCustomer);
  await business.remove(`/customers/${id}?dryRun=true`, 200);
  assert.deepEqual((await business.list()).data, []);
});

test('a value that is taken by now is a conflict that names field and holder', async () => {
  const business = await startBusiness();
  const { customerId, siteId, plants } = await createEstate(business);
  await business.remove(`/customers/${customerId}?cascade=true`, 200);
  const taker = await put('/customers/by-external-id/K', validCustomer, { headers: business.headers });
  assert.equal(taker.statusCode, 201, 'for every other call the external id is free');
  const conflict = await business.restore(`/customers/${customerId}`);
  assert.equal(conflict.statusCode, 409);
  const { code, field, id, resource } = conflict.json();
  assert.deepEqual([code, field, id, resource], ['conflict', 'externalId', taker.json().id, 'customer']);
  await patch(
    `/customers/${taker.json().id}`,
    { externalId: null, customerNumber: 'N' },
    { headers: business.headers },
  );
  assert.equal((await business.restore(`/customers/${customerId}`)).json().field, 'customerNumber');
  await patch(`/customers/${taker.json().id}`, { customerNumber: null }, { headers: business.headers });

  // Also of something that went along.
  const other = await business.create('/customer/site', validSite(taker.json().id));
  const labelled = await business.create('/customer/site/plant', {
    siteId: other,
    botanicalName: 'Yucca',
    labelCode: 'P1',
  });
  const refused = (await business.restore(`/sites/${siteId}`)).json();
  assert.deepEqual([refused.field, refused.id, refused.resource], ['labelCode', labelled, 'plant']);
  await business.remove(`/plants/${labelled}`);
  assert.equal((await business.restore(`/plants/${plants[0]}`)).statusCode, 200);
});

test('what belongs to a deleted owner says which one to restore first', async () => {
  const business = await startBusiness();
  const { siteId, customerId, plants, contactId } = await createEstate(business);
  await business.remove(`/plants/${plants[0]}`);
  await business.remove(`/contact-persons/${contactId}`);
  await business.remove(`/customers/${customerId}?cascade=true`, 200);
  const refused = await business.restore(`/plants/${plants[0]}`);
  assert.equal(refused.statusCode, 409);
  const { code, field, resource, id, restorable } = refused.json();
  assert.deepEqual(
    [code, field, resource, id, restorable],
    ['owner_deleted', 'siteId', 'site', siteId, true],
  );
  assert.equal((await business.restore(`/customers/${customerId}`)).statusCode, 200);
  assert.equal((await business.restore(`/plants/${plants[0]}`)).statusCode, 200);
  assert.equal((await business.restore(`/contact-persons/${contactId}`)).statusCode, 200);
});

test('references by external id that waited are linked when their object comes back', async () => {
  const business = await startBusiness();
  const employee = await business.create('/employee', {
    firstName: 'Ada',
    lastName: 'Aydin',
    externalId: 'E-1',
  });
  const customerId = await business.create('/customer', validCustomer);
  await business.remove(`/employees/${employee}`);
  const waiting = await business.create('/customer/site', {
    ...validSite(customerId),
    assignedEmployeeExternalId: 'E-1',
  });
  await business.restore(`/employees/${employee}`);
  assert.equal((await business.read(`/sites/${waiting}`)).assignedEmployeeId, employee);

  // The other way round: it comes back, and what it waited for has arrived meanwhile.
  const late = await business.create('/customer/site', {
    ...validSite(customerId),
    assignedEmployeeExternalId: 'E-2',
  });
  await business.remove(`/sites/${late}`);
  const second = await business.create('/employee', { firstName: 'Bo', lastName: 'Berg', externalId: 'E-2' });
  await business.restore(`/sites/${late}`);
  assert.equal((await business.read(`/sites/${late}`)).assignedEmployeeId, second);
});

test('a tenant sees and restores nothing of another', async () => {
  const [mine, theirs] = [await startBusiness(), await startBusiness()];
  const id = await mine.create('/customer', validCustomer);
  await mine.remove(`/customers/${id}`);
  assert.deepEqual((await theirs.list()).data, []);
  assert.deepEqual((await theirs.list(`?id=${id}`)).data, []);
  assert.equal((await theirs.restore(`/customers/${id}`)).statusCode, 404);
  assert.equal((await mine.restore(`/sites/${id}`)).statusCode, 404);
  for (const unknown of [randomUUID(), 'x', '%00']) {
    assert.equal((await mine.restore(`/customers/${unknown}`)).statusCode, 404, unknown);
  }
  assert.equal((await mine.restore(`/customers/${id.toUpperCase()}`)).statusCode, 200);
});

test('pages follow each other without gaps, the newest first, also within one moment', async () => {
  const business = await startBusiness();
  const ids: string[] = [];
  for (let index = 0; index < 7; index++) {
    ids.push(await business.create('/customer', { ...validCustomer, companyName: `Firma ${index}` }));
  }
  for (const id of ids) await business.remove(`/customers/${id}`);
  await service.owner.query('UPDATE deleted_object SET deleted_at = now() WHERE tenant_id = $1', [
    business.tenant.tenantId,
  ]);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await business.list(`?limit=3&cursor=${cursor}`);
    seen.push(...page.data.map(({ id }: never) => id));
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, ids.toReversed());
});

test('the bin is searched by any text, and names each invalid parameter', async () => {
  const business = await startBusiness();
  const { customerId, plants } = await createEstate(business);
  await business.remove(`/customers/${customerId}?cascade=true`, 200);
  const find = async (query: string) =>
    (await business.list(`?${query}`)).data.map(({ id }: never) => id as string);
  assert.deepEqual(await find('q=ficus%20LYRATA'), [plants[0]]);
  assert.deepEqual(await find('q=P1'), [plants[0]]);
  assert.deepEqual(await find('q=Monstera&resource=site'), []);
  assert.ok((await find('q=ballindamm')).includes(customerId));
  assert.deepEqual(await find(`id=${plants[1]}`), [plants[1]]);
  assert.deepEqual(await find('q='), [customerId]);
  assert.deepEqual(await find('q=100%25_'), []);
  const refused = await get('/deleted?limit=0&cursor=x&resource=tree&id=1&q=a%00&page=2', {
    headers: business.headers,
  });
  assert.equal(refused.statusCode, 400);
  const several = await get('/deleted?limit=0&cursor=x&resource=tree&id=1&q=a%00', {
    headers: business.headers,
  });
  assert.deepEqual(
    several
      .json()
      .errors.map(({ field }: never) => field)
      .toSorted(),
    ['cursor', 'id', 'limit', 'q', 'resource'],
  );
  assert.equal((await get('/deleted?q=a&q=b', { headers: business.headers })).statusCode, 400);
});

test('after 30 days an object is gone, before upkeep and after it', async () => {
  const business = await startBusiness();
  const [old, young] = [
    await business.create('/customer', validCustomer),
    await business.create('/customer', validCustomer),
  ];
  for (const id of [old, young]) await business.remove(`/customers/${id}`);
  await service.owner.query(
    `UPDATE deleted_object SET deleted_at = now() - interval '30 days 1 second' WHERE id = $1`,
    [old],
  );
  assert.deepEqual(
    (await business.list()).data.map(({ id }: never) => id),
    [young],
  );
  assert.equal((await business.restore(`/customers/${old}`)).statusCode, 404);
  for (const step of Object.values(
    retentionSteps(service.database, {
      AUDIT_RETENTION_DAYS: 365,
      JOURNAL_CHANGES_RETENTION_DAYS: 365,
    }),
  ))
    await step();
  const { rows } = await service.owner.query('SELECT id FROM deleted_object WHERE tenant_id = $1', [
    business.tenant.tenantId,
  ]);
  assert.deepEqual(rows, [{ id: young }]);
});

test('the office still knows the name of what the bin has forgotten, until the journal forgets values', async () => {
  const business = await startBusiness();
  const { tenantId } = business.tenant;
  const { cookie } = await createPerson(service, { tenantId });
  const carer = await createPerson(service, { tenantId, role: 'PFLEGE' });
  const customerId = await business.create('/customer', { ...validCustomer, companyName: 'Floristik Möwe' });
  const contractId = await business.create('/customer/contract', {
    customerId,
    startDate: '2026-03-01',
    type: 'CARE',
    netPrice: 99,
  });
  await business.remove(`/customers/${customerId}?cascade=true`, 200);
  const deletedNames = async (path: string, headers = { cookie }) =>
    (await service.app.inject({ url: `/app/named/${path}`, headers })).json().deleted;
  const restorable = await deletedNames(`customers?ids=${customerId}`);
  assert.deepEqual(
    restorable.map(({ id, address }: never) => [id, typeof address]),
    [[customerId, 'object']],
  );
  await service.owner.query('DELETE FROM deleted_object WHERE tenant_id = $1', [tenantId]);
  assert.deepEqual(await deletedNames(`customers?ids=${customerId}`), [
    { id: customerId, companyName: 'Floristik Möwe' },
  ]);
  assert.deepEqual(await deletedNames(`contracts?ids=${contractId}`), [
    { id: contractId, startDate: '2026-03-01', type: 'CARE' },
  ]);
  assert.deepEqual(await deletedNames(`customers?ids=${customerId}`, { cookie: carer.cookie }), []);

  await service.owner.query('UPDATE journal SET at = $2 WHERE tenant_id = $1', [tenantId, '2020-01-01']);
  for (const step of Object.values(
    retentionSteps(service.database, {
      AUDIT_RETENTION_DAYS: 365,
      JOURNAL_CHANGES_RETENTION_DAYS: 365,
    }),
  ))
    await step();
  assert.deepEqual(await deletedNames(`customers?ids=${customerId}`), []);
});

test('an erasure goes past the bin, and takes its content', async () => {
  const business = await startBusiness();
  const { customerId, contactId } = await createEstate(business);
  const second = await business.create('/customer/contact-person', { customerId, lastName: 'Quast' });
  const erase = async (id: string, query = '') => {
    const response = await service.delete(`/personal-data/${id}${query}`, { headers: business.headers });
    assert.equal(response.statusCode, 204, response.body);
  };
  await erase(contactId);
  assert.equal((await business.restore(`/contact-persons/${contactId}`)).statusCode, 404);

  await business.remove(`/contact-persons/${second}`);
  const exported = await business.read(`/personal-data/${second}`);
  assert.equal(exported.person.lastName, 'Quast');
  assert.deepEqual(exported.history.at(-1).changes, { lastName: { from: 'Quast' } });
  assert.equal(exported.deletedAt, (await business.list(`?id=${second}`)).data[0].deletedAt);
  await erase(second);
  assert.deepEqual((await business.list(`?id=${second}`)).data, []);
  const forgotten = await business.read(`/personal-data/${second}`);
  assert.equal(forgotten.person, null);
  assert.doesNotMatch(JSON.stringify(forgotten.history), /Quast/);

  // Of a customer everything goes that could not come back without it.
  await business.remove(`/customers/${customerId}?cascade=true`, 200);
  await erase(customerId);
  assert.deepEqual((await business.list('?q=a')).data, []);
  const { rowCount } = await service.owner.query('SELECT FROM deleted_object WHERE tenant_id = $1', [
    business.tenant.tenantId,
  ]);
  assert.equal(rowCount, 0);
  assert.deepEqual(await findInconsistencies(), []);
});

test('texts that an erasure names are redacted in the bin, and numbers stay exact', async () => {
  const business = await startBusiness();
  const { customerId, contactId, siteId } = await createEstate(business);
  await patch(
    `/sites/${siteId}`,
    { comment: 'Frau Petersen fragen', callOutFee: 24.9 },
    { headers: business.headers },
  );
  await business.remove(`/sites/${siteId}?cascade=true`, 200);
  const erased = await service.delete(`/personal-data/${contactId}?text=petersen`, {
    headers: business.headers,
  });
  assert.equal(erased.statusCode, 204, erased.body);
  const { rows } = await service.owner.query(
    'SELECT content::text, search_text FROM deleted_object WHERE tenant_id = $1',
    [business.tenant.tenantId],
  );
  assert.doesNotMatch(JSON.stringify(rows), /petersen/i);
  assert.equal((await business.restore(`/sites/${siteId}`)).statusCode, 200);
  const { comment, callOutFee, customerId: owner } = await business.read(`/sites/${siteId}`);
  assert.deepEqual([comment, callOutFee, owner], ['Frau […] fragen', 24.9, customerId]);
});

test('the office restores what it deleted; Pflege sees no bin', async () => {
  const person = await createPerson(service, { name: 'Ute Brandt' });
  const carer = await createPerson(service, { role: 'PFLEGE' });
  const id = await service.createCustomer({ companyName: 'Papierkorb GmbH' });
  assert.equal((await person.call('DELETE', `/customers/${id}`)).statusCode, 204);
  const [entry] = (await person.call('GET', `/deleted?id=${id}`)).json().data;
  assert.deepEqual([entry.actor, entry.actorId, entry.actorType], ['Ute Brandt', person.id, 'PERSON']);
  assert.equal(entry.data.companyName, 'Papierkorb GmbH');
  assert.equal((await carer.call('GET', '/deleted')).statusCode, 403);
  assert.equal((await carer.call('POST', `/customers/${id}/restore`)).statusCode, 403);
  assert.equal((await person.call('POST', `/customers/${id}/restore`)).statusCode, 200);
});
