// Merging duplicates: one object stays, everything moves to it, and the former ids and external ids keep answering.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { resources } from '../../../server/resources/index.ts';
import { untilLocked } from '../../helpers/locks.ts';
import { createPerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { type Answer, sendImport } from '../import/import-client.ts';

const service = await startService();
const port = await listen(service.app);

async function startBusiness() {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const create = async (path: string, body: object): Promise<string> => {
    const response = await service.post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const merge = (path: string, body: unknown, more: { query?: string; headers?: object } = {}) =>
    service.post(`${path}/merge${more.query ?? ''}`, body, { headers: { ...headers, ...more.headers } });
  const mergeWell = async (path: string, body: unknown) => {
    const response = await merge(path, body);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const read = async (path: string, status = 200) => {
    const response = await service.get(path, { headers });
    assert.equal(response.statusCode, status, response.body);
    return response.json();
  };
  const createCustomer = (members: object = {}) => create('/customer', { ...validCustomer, ...members });
  const entries = async () => (await read('/changes?limit=500')).data as Entry[];
  const importLines = async (lines: readonly object[]): Promise<Answer[]> => {
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    return (await sendImport({ port, key: tenant.key }, [text])).results;
  };
  return { tenant, headers, create, createCustomer, importLines, merge, mergeWell, read, entries };
}

interface Entry {
  resource: string;
  id: string;
  action: string;
  changes?: Record<string, { from?: unknown; to?: unknown }>;
  mergedInto?: string;
}

/** Two customers, the second with everything that can refer to one. */
async function startWithTwo() {
  const business = await startBusiness();
  const { create, createCustomer } = business;
  const winner = await createCustomer({ externalId: 'A', phone: '040 1' });
  const loser = await createCustomer({
    externalId: 'B',
    customerNumber: 'K-2',
    phone: '040 2',
    email: 'b@b.example',
  });
  const contact = await create('/customer/contact-person', { customerId: loser, lastName: 'Petersen' });
  const contract = await create('/customer/contract', {
    customerId: loser,
    startDate: '2026-01-01',
    type: 'CARE',
  });
  const site = await create('/customer/site', {
    ...validSite(loser),
    serviceRecordRecipientId: loser,
    contactPersonId: contact,
    contractId: contract,
  });
  return { ...business, winner, loser, contact, contract, site };
}

async function assertConsistent() {
  const faults = await checkConsistency(service.owner, resources);
  assert.deepEqual(
    faults.filter(({ count }) => count > 0),
    [],
  );
}

test('a merge moves everything that refers to the other object, and fills the fields that the first lacks', async () => {
  const { mergeWell, read, winner, loser, contact, contract, site } = await startWithTwo();
  const merged = await mergeWell(`/customers/${winner}`, { ids: [loser] });
  assert.deepEqual(
    [merged.id, merged.merged, merged.moved.toSorted(byResource)],
    [
      winner,
      [loser],
      [
        { resource: 'contact-person', count: 1 },
        { resource: 'contract', count: 1 },
        { resource: 'site', count: 1 },
      ],
    ],
  );
  const { externalId, customerNumber, phone, email, version } = await read(`/customers/${winner}`);
  assert.deepEqual([externalId, customerNumber, phone, email], ['A', 'K-2', '040 1', 'b@b.example']);
  assert.equal(version, merged.version);
  const moved = await read(`/sites/${site}`);
  assert.deepEqual([moved.customerId, moved.serviceRecordRecipientId, moved.version], [winner, winner, 2]);
  assert.equal((await read(`/contact-persons/${contact}`)).customerId, winner);
  assert.equal((await read(`/contracts/${contract}`)).customerId, winner);
  await assertConsistent();
});

function byResource(one: { resource: string }, other: { resource: string }): number {
  return one.resource < other.resource ? -1 : 1;
}

test('each field comes from the object that was chosen for it, exact numbers included', async () => {
  const { headers, create, createCustomer, mergeWell, read } = await startBusiness();
  const customerId = await createCustomer();
  const fee = '12345678901234567.89';
  const winner = await create('/customer/site', { ...validSite(customerId), comment: 'erste' });
  const other = await service.post(
    '/customer/site',
    JSON.stringify({ ...validSite(customerId), name: 'Foyer', comment: 'zweite' }).replace(
      '{',
      `{"callOutFee":${fee},`,
    ),
    { headers },
  );
  assert.equal(other.statusCode, 201, other.body);
  const { id } = other.json();
  await mergeWell(`/sites/${winner}`, { ids: [id], fields: { name: id, comment: winner, callOutFee: id } });
  const merged = await read(`/sites/${winner}`);
  assert.deepEqual([merged.name, merged.comment], ['Foyer', 'erste']);
  const { rows } = await service.owner.query('SELECT call_out_fee::text AS fee FROM site WHERE id = $1', [
    winner,
  ]);
  assert.equal(rows[0].fee, fee);
});

test('former ids and external ids answer as the object that stays: read, change, refer, upsert', async () => {
  const { headers, create, mergeWell, read, winner, loser } = await startWithTwo();
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  assert.equal((await read(`/customers/${loser}`)).id, winner);
  assert.equal((await read(`/customers/${loser.toUpperCase()}`)).id, winner);
  assert.equal((await read('/customers/by-external-id/B')).id, winner);
  assert.equal((await read('/customers/by-external-id/b', 404)).code, 'not_found');

  const patched = await service.patch(`/customers/${loser}`, { comment: 'x' }, { headers });
  assert.deepEqual([patched.statusCode, patched.json().id], [200, winner]);

  const byId = await create('/customer/site', validSite(loser));
  const { customerId: _, ...site } = validSite(loser);
  const byExternalId = await create('/customer/site', { ...site, customerExternalId: 'B', externalId: 'S' });
  const twice = await create('/customer/site', { ...site, customerId: loser, customerExternalId: 'B' });
  const recipient = await create('/customer/site', {
    ...validSite(winner),
    serviceRecordRecipientExternalId: 'B',
  });
  for (const id of [byId, byExternalId, twice]) assert.equal((await read(`/sites/${id}`)).customerId, winner);
  assert.equal((await read(`/sites/${recipient}`)).serviceRecordRecipientId, winner);

  const put = async (externalId: string, body: object) => {
    const response = await service.put(`/customers/by-external-id/${externalId}`, body, { headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  assert.equal((await put('B', { ...validCustomer, companyName: 'Vom ERP' })).id, winner);
  const { externalId, companyName } = await read(`/customers/${winner}`);
  assert.deepEqual([externalId, companyName], ['A', 'Vom ERP']);
  assert.equal((await put('B', { ...validCustomer, companyName: 'Vom ERP' })).changed, false);

  for (const query of ['', '?create=false']) {
    const merged = await service.patch(
      `/customers/by-external-id/B${query}`,
      { phone: `1${query}` },
      { headers },
    );
    assert.deepEqual([merged.statusCode, merged.json().id, merged.json().externalId], [200, winner, 'A']);
  }
  const same = await service.put('/sites/by-external-id/S', { ...site, customerId: loser }, { headers });
  assert.deepEqual([same.json().id, same.json().changed], [byExternalId, false]);
  const moved = await service.patch(
    '/sites/by-external-id/S',
    { serviceRecordRecipientId: loser },
    { headers },
  );
  assert.equal(moved.json().serviceRecordRecipientId, winner);
  assert.equal((await read('/customers?count=true')).total, 1);
  await assertConsistent();
});

test('a creation with a former external id is a conflict that names the object that stays', async () => {
  const { headers, createCustomer, mergeWell, winner, loser } = await startWithTwo();
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  const refused = await service.post('/customer', { ...validCustomer, externalId: 'B' }, { headers });
  assert.deepEqual(
    [refused.statusCode, refused.json().field, refused.json().id],
    [409, 'externalId', winner],
  );
  const other = await createCustomer();
  const taken = await service.patch(`/customers/${other}`, { externalId: 'B' }, { headers });
  assert.deepEqual([taken.statusCode, taken.json().id], [409, winner]);
  const own = await service.patch(`/customers/${winner}`, { externalId: 'B' }, { headers });
  assert.equal(own.statusCode, 200, own.body);
});

test('an import reaches the object that stays by former names, line by line', async () => {
  const { importLines, mergeWell, read, winner, loser } = await startWithTwo();
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  const lines = [
    { type: 'customer', data: { ...validCustomer, externalId: 'A', comment: 'a' } },
    { type: 'customer', data: { ...validCustomer, externalId: 'B', comment: 'b' } },
    { type: 'customer', action: 'merge', data: { externalId: 'B', phone: '7' } },
    { type: 'customer', action: 'merge', data: { id: loser, email: 'i@i.example' } },
    { type: 'customer', action: 'create', data: { ...validCustomer, externalId: 'B' } },
    { type: 'customer', action: 'delete', data: { externalId: 'B' } },
    { type: 'site', data: { ...validSite(loser), externalId: 'S1' } },
    {
      type: 'site',
      data: { ...validSite(loser), customerId: undefined, customerExternalId: 'B', externalId: 'S2' },
    },
  ];
  const results = await importLines(lines);
  const outcomes = results.filter(({ line }) => line).sort((one, other) => one.line - other.line);
  assert.deepEqual(
    outcomes.map(({ status, id }) => [status, id]).slice(0, 4),
    Array(4).fill([200, winner]),
    JSON.stringify(results),
  );
  assert.deepEqual(
    outcomes.slice(4, 6).map(({ code }) => code),
    ['conflict', 'merged_object'],
    JSON.stringify(results),
  );
  const { externalId, comment, phone, email } = await read(`/customers/${winner}`);
  assert.deepEqual([externalId, comment, phone, email], ['A', 'b', '7', 'i@i.example']);
  for (const id of ['S1', 'S2']) assert.equal((await read(`/sites/by-external-id/${id}`)).customerId, winner);
});

test('a former name deletes nothing', async () => {
  const { headers, mergeWell, read, winner, loser } = await startWithTwo();
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  for (const path of [`/customers/${loser}`, '/customers/by-external-id/B']) {
    const refused = await service.delete(`${path}?cascade=true`, { headers });
    assert.deepEqual(
      [refused.statusCode, refused.json().code, refused.json().id],
      [409, 'merged_object', winner],
    );
  }
  await read(`/customers/${winner}`);
});

test('the feed tells each move and the deletion, with the object that it was merged into', async () => {
  const { mergeWell, entries, winner, loser, contact, site } = await startWithTwo();
  const before = (await entries()).length;
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  const told = (await entries()).slice(before);
  const moved = { from: loser, to: winner };
  const find = (id: string) => told.filter((entry) => entry.id === id);
  assert.deepEqual(find(site)[0]!.changes, { customerId: moved, serviceRecordRecipientId: moved });
  assert.deepEqual(find(contact)[0]!.changes, { customerId: moved });
  assert.deepEqual(
    find(loser).map(({ action, mergedInto }) => [action, mergedInto]),
    [['DELETED', winner]],
  );
  assert.deepEqual(
    find(winner).map(({ action }) => action),
    ['CHANGED'],
  );
  assert.equal(told.length, 5);
});

test('merges of merged objects form no chain and no circle', async () => {
  const { createCustomer, mergeWell, read } = await startBusiness();
  const [a, b, c] = [
    await createCustomer({ externalId: 'A' }),
    await createCustomer({ externalId: 'B' }),
    await createCustomer({ externalId: 'C' }),
  ] as const;
  await mergeWell(`/customers/${b}`, { ids: [a] });
  await mergeWell(`/customers/${c}`, { ids: [b] });
  for (const path of [a, b, 'by-external-id/A', 'by-external-id/B'])
    assert.equal((await read(`/customers/${path}`)).id, c);
  const back = await mergeWell(`/customers/${a}`, { ids: [c, b] });
  assert.deepEqual([back.id, back.merged, back.moved], [c, [], []]);
  const d = await createCustomer();
  assert.equal((await mergeWell(`/customers/${d}`, { ids: [a] })).merged[0], c);
  for (const path of [a, b, c, 'by-external-id/B']) assert.equal((await read(`/customers/${path}`)).id, d);
});

test('a write that waits for a merge finds the object that stays, by either name of the merged one', async () => {
  const { tenant, headers, merge, read, createCustomer, winner } = await startWithTwo();
  const loser = await createCustomer({ externalId: 'waited-for' });
  const { owner } = service;
  await owner.query('BEGIN');
  await owner.query('SELECT FROM customer WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
    tenant.tenantId,
    loser,
  ]);
  const merging = merge(`/customers/${winner}`, { ids: [loser] });
  await untilLocked(owner);
  const body = { ...validCustomer, comment: 'afterwards' };
  const putting = service.put('/customers/by-external-id/waited-for', body, { headers });
  const patching = service.patch(`/customers/${loser}`, { phone: '040 1' }, { headers });
  await untilLocked(owner, 2);
  await owner.query('ROLLBACK');
  const responses = await Promise.all([merging, putting, patching]);
  for (const response of responses) {
    assert.equal(response.statusCode, 200, response.body);
    assert.equal(response.json().id, winner);
  }
  assert.equal((await read('/customers/by-external-id/waited-for')).id, winner);
});

test('a repeated merge changes nothing, and merges sent together happen once', async () => {
  const { merge, mergeWell, read, createCustomer, winner, loser, site } = await startWithTwo();
  const third = await createCustomer();
  const responses = await Promise.all([
    merge(`/customers/${winner}`, { ids: [loser] }),
    merge(`/customers/${winner}`, { ids: [loser] }),
    merge(`/customers/${loser}`, { ids: [winner] }),
    merge(`/customers/${third}`, { ids: [loser] }),
    merge(`/customers/${winner}`, { ids: [third] }),
  ]);
  assert.deepEqual(
    responses.map(({ statusCode }) => statusCode),
    Array(5).fill(200),
    responses.map(({ body }) => body).join('\n'),
  );
  const merged = responses.flatMap((response) => response.json().merged as string[]);
  assert.equal(merged.length, 2);
  const survivor = (await read(`/customers/${loser}`)).id;
  for (const id of [winner, loser, third]) assert.equal((await read(`/customers/${id}`)).id, survivor);
  assert.equal((await read(`/sites/${site}`)).customerId, survivor);
  const { version } = await read(`/customers/${survivor}`);
  assert.equal((await mergeWell(`/customers/${winner}`, { ids: [loser] })).version, version);
  await assertConsistent();
});

test('sites that are created while their customer is merged end up at the object that stays', async () => {
  const { headers, merge, read, winner, loser } = await startWithTwo();
  const sites = Array.from({ length: 20 }, () =>
    service.post('/customer/site', validSite(loser), { headers }),
  );
  const [merged, ...created] = await Promise.all([merge(`/customers/${winner}`, { ids: [loser] }), ...sites]);
  assert.equal(merged!.statusCode, 200, merged!.body);
  for (const response of created) {
    assert.equal(response.statusCode, 201, response.body);
    assert.equal((await read(`/sites/${response.json().id}`)).customerId, winner);
  }
});

test('versions that differ from those that were read are refused, and a former ETag never fits', async () => {
  const { headers, merge, read, winner, loser } = await startWithTwo();
  for (let count = 0; count < 3; count++)
    await service.patch(`/customers/${loser}`, { comment: String(count) }, { headers });
  const refusals = [
    await merge(`/customers/${winner}`, { ids: [loser] }, { headers: { 'if-match': '"7"' } }),
    await merge(`/customers/${winner}`, { ids: [loser], versions: { [loser]: 1 } }),
  ];
  assert.deepEqual(
    refusals.map(({ statusCode }) => statusCode),
    [412, 412],
  );
  const versions = { [loser]: 4, [winner]: 1 };
  const merged = await merge(
    `/customers/${winner}`,
    { ids: [loser], versions },
    { headers: { 'if-match': '"1"' } },
  );
  assert.deepEqual([merged.statusCode, merged.json().version, merged.headers.etag], [200, 5, '"5"']);
  const late = await service.patch(
    `/customers/${loser}`,
    { comment: 'late' },
    { headers: { ...headers, 'if-match': '"4"' } },
  );
  assert.equal(late.statusCode, 412);
  assert.equal((await read(`/customers/${loser}`)).version, 5);
  const again = await merge(
    `/customers/${winner}`,
    { ids: [loser], versions },
    { headers: { 'if-match': '"1"' } },
  );
  assert.equal(again.statusCode, 200, 'a retry after a lost answer');
});

test('a dry run tells what would move, and moves nothing', async () => {
  const { merge, read, entries, winner, loser, site } = await startWithTwo();
  const before = await entries();
  const tried = await merge(`/customers/${winner}`, { ids: [loser] }, { query: '?dryRun=true' });
  assert.deepEqual([tried.statusCode, tried.json().moved.length], [200, 3]);
  assert.equal((await read(`/sites/${site}`)).customerId, loser);
  assert.deepEqual(await entries(), before);
});

test('a rejected merge names every invalid member, in both languages', async () => {
  const { merge, winner, loser } = await startWithTwo();
  const codes = async (body: unknown) => {
    const response = await merge(`/customers/${winner}`, body);
    assert.equal(response.statusCode, 400, response.body);
    return response
      .json()
      .errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
  };
  assert.deepEqual(await codes([]), [' type']);
  assert.deepEqual(await codes({}), ['ids required']);
  assert.deepEqual(await codes({ ids: 'x' }), ['ids type']);
  assert.deepEqual(await codes({ ids: Array(21).fill(loser) }), ['ids too_many_items']);
  assert.deepEqual(await codes({ ids: [loser, 'x', 5] }), ['ids.1 invalid_uuid', 'ids.2 invalid_uuid']);
  assert.deepEqual(await codes({ ids: [loser, randomUUID()] }), ['ids.1 reference_not_found']);
  assert.deepEqual(
    await codes({ ids: [loser], fields: { nope: loser, phone: randomUUID() }, versions: { [loser]: 'x' } }),
    ['fields.nope unknown_parameter', 'fields.phone invalid_choice', `versions.${loser} type`],
  );
  const german = await merge(
    `/customers/${randomUUID()}`,
    { ids: [loser] },
    { headers: { 'accept-language': 'de' } },
  );
  assert.deepEqual([german.statusCode, german.json().message], [404, 'Nicht gefunden.']);
});

test('fields that do not fit each other are refused like any body', async () => {
  const { create, createCustomer, merge } = await startBusiness();
  const customerId = await createCustomer();
  const early = await create('/customer/site', { ...validSite(customerId), validUntil: '2026-01-01' });
  const late = await create('/customer/site', { ...validSite(customerId), validFrom: '2026-06-01' });
  const refused = await merge(`/sites/${early}`, { ids: [late] });
  assert.deepEqual([refused.statusCode, refused.json().errors[0].code], [400, 'date_order']);
  const merged = await merge(`/sites/${early}`, { ids: [late], fields: { validFrom: early } });
  assert.equal(merged.statusCode, 200, merged.body);
});

test('a restored object has its names for itself again, without what moved', async () => {
  const { headers, mergeWell, read, winner, loser, site } = await startWithTwo();
  await mergeWell(`/customers/${winner}`, { ids: [loser], fields: { customerNumber: winner } });
  const { data } = await read('/deleted');
  assert.deepEqual(
    data.map(({ id }: { id: string }) => id),
    [loser],
  );
  const restored = await service.app.inject({
    method: 'POST',
    url: `/api/v1/customers/${loser}/restore`,
    headers,
  });
  assert.equal(restored.statusCode, 200, restored.body);
  assert.equal((await read(`/customers/${loser}`)).id, loser);
  assert.equal((await read('/customers/by-external-id/B')).id, loser);
  assert.equal((await read(`/sites/${site}`)).customerId, winner);
  const deleted = await service.delete(`/customers/${loser}`, { headers });
  assert.equal(deleted.statusCode, 204, deleted.body);
  await read(`/customers/${loser}`, 404);
});

test('what was deleted before a merge comes back at the object that stays', async () => {
  const { headers, mergeWell, read, winner, loser, site } = await startWithTwo();
  await service.delete(`/sites/${site}`, { headers });
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  const restored = await service.app.inject({
    method: 'POST',
    url: `/api/v1/sites/${site}/restore`,
    headers,
  });
  assert.equal(restored.statusCode, 200, restored.body);
  const { customerId, serviceRecordRecipientId } = await read(`/sites/${site}`);
  assert.deepEqual([customerId, serviceRecordRecipientId], [winner, winner]);
  await assertConsistent();
});

test('once the object that stays is gone, its former names are free', async () => {
  const { headers, create, createCustomer, mergeWell, read } = await startBusiness();
  const winner = await createCustomer({ externalId: 'A' });
  const loser = await createCustomer({ externalId: 'B' });
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  await service.delete(`/customers/${winner}`, { headers });
  await read(`/customers/${loser}`, 404);
  await read('/customers/by-external-id/B', 404);
  const refused = await service.post('/customer/site', validSite(loser), { headers });
  assert.deepEqual([refused.statusCode, refused.json().errors[0].code], [400, 'reference_not_found']);
  await create('/customer', { ...validCustomer, externalId: 'B' });
});

test('an erasure of a merged person, by any of its ids, leaves nothing of either record', async () => {
  const { headers, create, createCustomer, mergeWell, read, tenant } = await startBusiness();
  const customerId = await createCustomer();
  const winner = await create('/customer/contact-person', {
    customerId,
    lastName: 'Petersen',
    externalId: 'P-Petersen',
  });
  const loser = await create('/customer/contact-person', {
    customerId,
    lastName: 'Petersenn',
    externalId: 'Q-Petersenn',
  });
  await service.patch(`/contact-persons/${loser}`, { lastName: 'Petersens' }, { headers });
  await mergeWell(`/contact-persons/${winner}`, { ids: [loser] });
  const exported = await read(`/personal-data/${loser}`);
  assert.equal(exported.person.id, winner);
  assert.deepEqual(new Set(exported.history.map(({ id }: { id: string }) => id)), new Set([winner, loser]));
  const erased = await service.delete(`/personal-data/${loser}`, { headers });
  assert.equal(erased.statusCode, 204, erased.body);
  for (const table of ['contact_person', 'journal', 'deleted_object', 'former_external_id', 'search_word']) {
    const { rows } = await service.owner.query(
      `SELECT * FROM ${table} AS entry WHERE tenant_id = $1 AND entry::text ILIKE '%petersen%'`,
      [tenant.tenantId],
    );
    assert.deepEqual(rows, [], table);
  }
});

test('a tenant merges and reaches nothing of another', async () => {
  const { mergeWell, winner, loser } = await startWithTwo();
  const other = await startBusiness();
  const own = await other.createCustomer({ externalId: 'B' });
  const foreign = await other.merge(`/customers/${own}`, { ids: [loser] });
  assert.deepEqual([foreign.statusCode, foreign.json().errors[0].code], [400, 'reference_not_found']);
  assert.equal((await other.merge(`/customers/${winner}`, { ids: [own] })).statusCode, 404);
  await mergeWell(`/customers/${winner}`, { ids: [loser] });
  await other.read(`/customers/${loser}`, 404);
  assert.equal((await other.read('/customers/by-external-id/B')).id, own);
});

test('Verwaltung merges in the office, and Pflege does not', async () => {
  const { tenant, winner, loser } = await startWithTwo();
  const merge = async (role: 'VERWALTUNG' | 'PFLEGE') => {
    const { call } = await createPerson(service, { tenantId: tenant.tenantId, role });
    return call('POST', `/customers/${winner}/merge`, { ids: [loser] });
  };
  assert.equal((await merge('PFLEGE')).json().code, 'role_insufficient');
  assert.equal((await merge('VERWALTUNG')).statusCode, 200);
});

test('thousands of references move in pieces of the same size', async () => {
  const { importLines, mergeWell, read, winner, loser } = await startWithTwo();
  await importLines(
    Array.from({ length: 2500 }, (_, index) => ({
      type: 'site',
      data: { ...validSite(loser), externalId: `S${index}` },
    })),
  );
  const merged = await mergeWell(`/customers/${winner}`, { ids: [loser] });
  assert.equal(merged.moved.find(({ resource }: { resource: string }) => resource === 'site').count, 2501);
  assert.equal((await read(`/sites?customerId=${winner}&count=true&limit=1`)).total, 2501);
  await assertConsistent();
});
