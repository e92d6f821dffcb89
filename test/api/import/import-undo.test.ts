// Undoing an import: as one step, where nothing was changed since.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { retentionSteps } from '../../../server/features/retention/retention.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const { patch, put } = service;
const origin = await service.app.listen({ host: '127.0.0.1', port: 0 });

async function sendLines(path: string, body: string, headers: Record<string, string>) {
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/x-ndjson', ...headers },
    body,
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const results = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    results.filter(({ status }) => status >= 400),
    [],
  );
  return { results, requestId: response.headers.get('x-request-id') };
}

async function startBusiness() {
  const tenant = await service.createTenant();
  const person = await createPerson(service, { tenantId: tenant.tenantId });
  const headers = { apikey: tenant.key };
  const read = async (path: string) => (await service.get(path, { headers })).json();
  return { tenant, person, headers, read };
}

async function beginImport({ call }: OfficePerson, fileName = 'kunden.csv'): Promise<string> {
  const response = await call('POST', '/imports', { fileName, resource: 'customer' });
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

/** Sends lines as a part of an import, and answers their results. */
async function sendPart({ cookie }: OfficePerson, importId: string | undefined, lines: readonly object[]) {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const headers = { cookie, ...(importId && { 'stamm-import': importId }) };
  return (await sendLines('/app/import', body, headers)).results;
}

const customerLine = (externalId: string, changes: object = {}) => ({
  type: 'customer',
  data: { ...validCustomer, externalId, ...changes },
});

async function listImports({ call }: OfficePerson) {
  const { data } = (await call('GET', '/recent-actions')).json();
  return data.flatMap(({ run }: { run: object | null }) => run ?? []);
}

async function undo({ call }: OfficePerson, id: string) {
  for (;;) {
    const response = await call('POST', `/imports/${id}/undo`);
    assert.equal(response.statusCode, 200, response.body);
    if (!response.json().isOpen) return response.json();
  }
}

async function readKept({ call }: OfficePerson, id: string, query = '') {
  return (await call('GET', `/imports/${id}/kept${query}`)).json().data;
}

test('everything that undoing kept is listed, page by page', async () => {
  const { person, headers } = await startBusiness();
  const importId = await beginImport(person);
  const lines = Array.from({ length: 101 }, (_, index) => customerLine(`K-${index}`));
  const created = await sendPart(person, importId, lines);
  for (const { id } of created) await patch(`/customers/${id}`, { comment: 'von Hand' }, { headers });
  assert.equal((await undo(person, importId)).kept, 101);
  const { data, next } = (await person.call('GET', `/imports/${importId}/kept`)).json();
  const rest = await readKept(person, importId, `?after=${next}`);
  const listed = [...data, ...rest].map(({ id }) => id);
  assert.deepEqual([data.length, rest.length, new Set(listed).size], [100, 1, 101]);
  assert.equal((await person.call('GET', `/imports/${importId}/kept?after=x`)).statusCode, 400);
});

test('an undone import: created objects go to the bin, changed ones are as before, deleted ones are back', async () => {
  const { person, read } = await startBusiness();
  const before = await sendPart(person, undefined, [
    customerLine('K-1', { comment: 'alt', address: { ...validAddress, location: { lat: 53.5, lng: 10 } } }),
    customerLine('K-2', { customerNumber: 'N-2' }),
    {
      type: 'site',
      data: { ...validSite(undefined as never), customerExternalId: 'K-2', externalId: 'S-2' },
    },
  ]);
  const [changedId, deletedId, deletedSiteId] = before.map(({ id }) => id);
  const states = await Promise.all([
    read(`/customers/${changedId}`),
    read(`/customers/${deletedId}`),
    read(`/sites/${deletedSiteId}`),
  ]);

  const importId = await beginImport(person);
  await sendPart(person, importId, [
    customerLine('K-1', { comment: 'neu', phone: '040 1' }),
    customerLine('K-3'),
    {
      type: 'site',
      data: { ...validSite(undefined as never), customerExternalId: 'K-3', externalId: 'S-3' },
    },
  ]);
  await sendPart(person, importId, [
    { type: 'customer', action: 'merge', data: { externalId: 'K-3', comment: 'zweiter Teil' } },
    { type: 'customer', action: 'delete', cascade: true, data: { externalId: 'K-2' } },
  ]);
  const [listed] = await listImports(person);
  assert.deepEqual(
    [listed.id, listed.fileName, listed.resource, listed.actor, listed.isOpen],
    [importId, 'kunden.csv', 'customer', 'Anke Petersen', true],
  );
  assert.deepEqual([listed.created, listed.changed, listed.deleted], [2, 2, 2]);

  const undone = await undo(person, importId);
  assert.deepEqual([undone.settled, undone.kept, undone.undoActor], [6, 0, 'Anke Petersen']);
  const after = await Promise.all([
    read(`/customers/${changedId}`),
    read(`/customers/${deletedId}`),
    read(`/sites/${deletedSiteId}`),
  ]);
  after.forEach((state, index) => {
    const { version, updatedAt: _now, ...fields } = state;
    const { version: former, updatedAt: _then, ...formerFields } = states[index];
    assert.deepEqual(fields, formerFields);
    assert.ok(version > former);
  });
  assert.equal((await read('/customers?count=true')).total, 2);
  assert.equal((await read('/deleted?resource=customer')).data.length, 1);
  assert.deepEqual(
    (await checkConsistency(service.owner, resources)).filter(({ count }) => count > 0),
    [],
  );

  // Undoing it again changes nothing.
  const { nextCursor } = await read('/changes?after=now');
  assert.deepEqual(await undo(person, importId), undone);
  assert.equal((await read('/changes?after=now')).nextCursor, nextCursor);
});

test('what was changed since is left as it is, and listed with who changed it', async () => {
  const { person, headers, read } = await startBusiness();
  const importId = await beginImport(person);
  const [touched, owner, untouched] = await sendPart(person, importId, [
    customerLine('K-1'),
    customerLine('K-2'),
    customerLine('K-3'),
  ]);
  await patch(`/customers/${touched.id}`, { comment: 'von Hand' }, { headers });
  // Nobody changed this one, but something belongs to it by now.
  await service.post('/customer/site', validSite(owner.id), { headers });
  // Somebody else wrote between two parts of the import.
  const [between] = await sendPart(person, importId, [customerLine('K-4')]);
  await patch(`/customers/${between.id}`, { phone: '040 2' }, { headers });
  await sendPart(person, importId, [
    { type: 'customer', action: 'merge', data: { externalId: 'K-4', comment: 'Import' } },
  ]);

  const undone = await undo(person, importId);
  assert.deepEqual([undone.settled, undone.kept], [5, 3]);
  const kept = await readKept(person, importId);
  const byId = new Map<string, { reason: string; actor: string | null; at: string | null }>(
    kept.map((one: { id: string }) => [one.id, one]),
  );
  assert.equal(byId.get(touched.id)?.reason, 'changed');
  assert.match(byId.get(touched.id)!.actor!, /^key …/);
  assert.ok(byId.get(touched.id)!.at);
  assert.equal(byId.get(owner.id)?.reason, 'has_dependants');
  assert.equal(byId.get(between.id)?.reason, 'changed');
  assert.equal((await read(`/customers/${touched.id}`)).comment, 'von Hand');
  // The newest change of the import goes; the one by hand before it stays.
  const { phone, comment } = await read(`/customers/${between.id}`);
  assert.deepEqual([phone, comment], ['040 2', undefined]);
  assert.equal((await service.get(`/customers/${untouched.id}`, { headers })).statusCode, 404);
});

test('a value that somebody else took meanwhile keeps a change from being undone', async () => {
  const { person, headers, read } = await startBusiness();
  const [{ id }] = await sendPart(person, undefined, [customerLine('K-1', { customerNumber: 'N-1' })]);
  const importId = await beginImport(person);
  await sendPart(person, importId, [customerLine('K-1', { customerNumber: 'N-9' })]);
  await service.post('/customer', { ...validCustomer, customerNumber: 'N-1' }, { headers });
  await undo(person, importId);
  assert.deepEqual(
    (await readKept(person, importId)).map(({ id, reason }: { id: string; reason: string }) => [id, reason]),
    [[id, 'conflict']],
  );
  assert.equal((await read(`/customers/${id}`)).customerNumber, 'N-9');
});

test('exact decimals and lists come back as they were', async () => {
  const { person, headers, read } = await startBusiness();
  const [customer] = await sendPart(person, undefined, [customerLine('K-1')]);
  const site = {
    ...validSite(customer.id),
    externalId: 'S-1',
    openingHours: [{ z: 1, a: 1.5, dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' }],
  };
  const exact = JSON.stringify(site).replace(/}$/, ',"callOutFee":12345678901234.12}');
  const created = await service.post('/customer/site', exact, { headers });
  assert.equal(created.statusCode, 201, created.body);
  const path = `/sites/${created.json().id}`;
  const before = (await service.get(path, { headers })).body;
  const importId = await beginImport(person);
  await sendPart(person, importId, [
    { type: 'site', action: 'merge', data: { externalId: 'S-1', callOutFee: 1, openingHours: [] } },
  ]);
  await undo(person, importId);
  const plain = (text: string) => text.replace(/"(version|updatedAt)":("[^"]*"|\d+),?/g, '');
  assert.equal(plain((await service.get(path, { headers })).body), plain(before));
  assert.equal((await read(path)).version, 3);
});

test('an import through the API is listed and can be undone too, all or nothing included', async () => {
  const { person, headers, read } = await startBusiness();
  const lines = ['A-1', 'A-2'].map((id) => `${JSON.stringify(customerLine(id))}\n`).join('');
  for (const mode of ['each', 'all-or-nothing']) {
    const { requestId } = await sendLines(`/api/v1/import?mode=${mode}`, lines, {
      ...headers,
      'stamm-import': randomUUID(),
    });
    const [listed] = await listImports(person);
    assert.deepEqual(
      [listed.id, listed.fileName, listed.actorType, listed.created],
      [requestId, null, 'KEY', 2],
    );
    await undo(person, listed.id);
    assert.equal((await read('/customers?count=true')).total, 0);
  }
});

test('a dry run, and an import that stored nothing, are not listed', async () => {
  const { person, headers } = await startBusiness();
  await beginImport(person);
  await sendLines('/api/v1/import?dryRun=true', JSON.stringify(customerLine('K-1')), headers);
  assert.deepEqual(await listImports(person), []);
});

test('a large import is undone in steps, also by two people at the same moment', async () => {
  const { person, tenant, read } = await startBusiness();
  const colleague = await createPerson(service, { tenantId: tenant.tenantId, name: 'Jonas Harms' });
  const importId = await beginImport(person);
  for (let part = 0; part < 3; part++) {
    const lines = Array.from({ length: 400 }, (_, index) => customerLine(`G-${part}-${index}`));
    await sendPart(person, importId, lines);
  }
  async function undoBeside({ call }: OfficePerson): Promise<number> {
    let steps = 0;
    for (;;) {
      const response = await call('POST', `/imports/${importId}/undo`);
      if (response.statusCode === 409) {
        assert.equal(response.json().code, 'request_in_progress');
        continue;
      }
      assert.equal(response.statusCode, 200, response.body);
      steps += 1;
      if (!response.json().isOpen) return steps;
    }
  }
  await Promise.all([undoBeside(person), undoBeside(colleague)]);
  const [listed] = await listImports(person);
  assert.deepEqual([listed.settled, listed.kept, listed.isOpen], [1200, 0, false]);
  assert.equal((await read('/customers?count=true')).total, 0);
  const { rows } = await service.owner.query(
    `SELECT count(*)::integer AS count, count(DISTINCT resource_id)::integer AS objects FROM journal
     WHERE tenant_id = $1 AND action = 'DELETED'`,
    [tenant.tenantId],
  );
  assert.deepEqual(rows, [{ count: 1200, objects: 1200 }]);
});

test('of two imports that are undone one after the other, the older one goes as a whole', async () => {
  const { person, headers, read } = await startBusiness();
  const older = await beginImport(person);
  const [first, second] = await sendPart(person, older, [customerLine('K-1'), customerLine('K-2')]);
  const newer = await beginImport(person);
  await sendPart(person, newer, [
    customerLine('K-1', { comment: 'neu' }),
    customerLine('K-2', { comment: 'neu' }),
  ]);
  await patch(`/customers/${second.id}`, { phone: '040 1' }, { headers });
  await undo(person, newer);
  await undo(person, older);
  assert.deepEqual(
    (await readKept(person, older)).map(({ id }: { id: string }) => id),
    [second.id],
  );
  assert.equal((await service.get(`/customers/${first.id}`, { headers })).statusCode, 404);
  assert.equal((await read(`/customers/${second.id}`)).comment, 'neu');
});

test('a part that arrives after the undoing is open again', async () => {
  const { person, read } = await startBusiness();
  const importId = await beginImport(person);
  await sendPart(person, importId, [customerLine('K-1')]);
  await undo(person, importId);
  await sendPart(person, importId, [customerLine('K-2')]);
  assert.equal((await listImports(person))[0].isOpen, true);
  await undo(person, importId);
  assert.equal((await read('/customers?count=true')).total, 0);
});

test('Pflege and other businesses neither see nor undo an import, nor join it', async () => {
  const { person, tenant, read } = await startBusiness();
  const care = await createPerson(service, { tenantId: tenant.tenantId, role: 'PFLEGE' });
  const stranger = (await startBusiness()).person;
  const importId = await beginImport(person);
  await sendPart(person, importId, [customerLine('K-1')]);
  for (const [method, path] of [
    ['GET', '/recent-actions'],
    ['GET', `/imports/${importId}/kept`],
    ['POST', `/imports/${importId}/undo`],
  ] as const) {
    assert.equal((await care.call(method, path)).statusCode, 403, path);
  }
  assert.deepEqual(await listImports(stranger), []);
  assert.equal((await stranger.call('POST', `/imports/${importId}/undo`)).statusCode, 404);
  assert.deepEqual(await readKept(stranger, importId), []);
  await sendPart(stranger, importId, [customerLine('K-1')]);
  assert.equal((await listImports(person))[0].created, 1);
  assert.equal((await read('/customers?count=true')).total, 1);
});

test('pages of recent actions hold every deletion once, and those of an import nowhere', async () => {
  const { person, headers } = await startBusiness();
  const names = (first: string) => Array.from({ length: 65 }, (_, index) => `${first}-${index}`);
  const [one, other] = [names('A'), names('B')];
  const imported = await beginImport(person);
  await sendPart(
    person,
    imported,
    [...one, ...other].map((name) => customerLine(name)),
  );
  const remove = (name: string) => service.delete(`/customers/by-external-id/${name}`, { headers });
  for (const name of one.slice(0, 30)) assert.equal((await remove(name)).statusCode, 204);
  const deleting = await beginImport(person);
  const lines = other.map((externalId) => ({ type: 'customer', action: 'delete', data: { externalId } }));
  await sendPart(person, deleting, lines);
  for (const name of one.slice(30)) assert.equal((await remove(name)).statusCode, 204);
  const shown: string[] = [];
  const sizes: number[] = [];
  for (let before = ''; ; ) {
    const { data, next } = (await person.call('GET', `/recent-actions${before}`)).json();
    for (const { run, deletion } of data) shown.push(run?.id ?? deletion.data.externalId);
    sizes.push(data.length);
    if (!next) break;
    before = `?before=${encodeURIComponent(next)}`;
  }
  const late = one.slice(30).toReversed();
  const early = one.slice(0, 30).toReversed();
  assert.deepEqual(shown, [...late, deleting, ...early, imported]);
  assert.deepEqual(sizes, [30, 30, 7]);
});

test('after 30 days an import is forgotten, with its parts', async () => {
  const { person, tenant } = await startBusiness();
  const importId = await beginImport(person);
  await sendPart(person, importId, [customerLine('K-1')]);
  await service.owner.query(
    `UPDATE import_run SET written_at = now() - interval '31 days' WHERE tenant_id = $1`,
    [tenant.tenantId],
  );
  assert.deepEqual(await listImports(person), []);
  assert.equal((await person.call('POST', `/imports/${importId}/undo`)).statusCode, 404);
  for (const step of Object.values(
    retentionSteps(service.database, {
      AUDIT_RETENTION_DAYS: 365,
      JOURNAL_CHANGES_RETENTION_DAYS: 365,
    }),
  ))
    await step();
  const { rows } = await service.owner.query(
    'SELECT (SELECT count(*) FROM import_run WHERE tenant_id = $1)::integer AS runs, (SELECT count(*) FROM import_chunk WHERE tenant_id = $1)::integer AS chunks',
    [tenant.tenantId],
  );
  assert.deepEqual(rows, [{ runs: 0, chunks: 0 }]);
});

test('a changed reference goes back to its former owner', async () => {
  const { person, headers, read } = await startBusiness();
  await sendPart(person, undefined, [customerLine('K-1'), customerLine('K-2')]);
  const path = '/sites/by-external-id/S-1';
  const created = await put(
    path,
    { ...validSite(undefined as never), customerExternalId: 'K-1' },
    { headers },
  );
  assert.equal(created.statusCode, 201, created.body);
  const { customerId } = await read(path);
  const importId = await beginImport(person);
  await sendPart(person, importId, [
    { type: 'site', action: 'merge', data: { externalId: 'S-1', customerExternalId: 'K-2' } },
  ]);
  assert.notEqual((await read(path)).customerId, customerId);
  await undo(person, importId);
  assert.equal((await read(path)).customerId, customerId);
});
