import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const customerId = await service.createCustomer();

async function createPerson(lastName = 'Geheimnisvoll'): Promise<string> {
  const body = {
    customerId,
    lastName,
    externalId: `${lastName}-${randomUUID()}`,
    email: 'a@geheim.example',
  };
  const response = await service.post('/customer/contact-person', body, {
    headers: { 'idempotency-key': randomUUID() },
  });
  assert.equal(response.statusCode, 201, response.body);
  const { id } = response.json();
  await service.patch(`/contact-persons/${id}`, { lastName: 'Rätselhaft', mobile: '0170 4711' });
  return id;
}

test('everything about one person is exported: the record, the sites that name it, and its history', async () => {
  const id = await createPerson();
  const site = await service.post('/customer/site', { ...validSite(customerId), contactPersonId: id });
  const response = await service.get(`/personal-data/${id}`);
  assert.equal(response.statusCode, 200, response.body);
  const { person, sites, history } = response.json();
  assert.equal(person.lastName, 'Rätselhaft');
  assert.deepEqual(sites, [site.json().id]);
  assert.deepEqual(
    history.map(({ action }: { action: string }) => action),
    ['CREATED', 'CHANGED'],
  );
  assert.deepEqual(history[1].changes.lastName, { from: 'Geheimnisvoll', to: 'Rätselhaft' });
});

test('an erased person is found nowhere: not in the record, the journal or the stored answers', async () => {
  const id = await createPerson('Unverwechselbar');
  assert.equal((await service.delete(`/personal-data/${id}`)).statusCode, 204);
  assert.equal((await service.get(`/contact-persons/${id}`)).statusCode, 404);
  for (const table of ['contact_person', 'journal', 'idempotent_request']) {
    const { rows } = await service.owner.query(`SELECT to_jsonb(kept)::text AS text FROM ${table} AS kept`);
    assert.ok(!rows.some(({ text }) => text.includes('Unverwechselbar')), table);
  }
  const stored = await service.owner.query(
    'SELECT fingerprint FROM idempotent_request WHERE resource_id = $1',
    [id],
  );
  assert.deepEqual(stored.rows, [{ fingerprint: '' }], 'the key stays taken, and says nothing');
  const { data } = (await service.get('/changes?limit=1000')).json();
  const entries = data.filter((entry: { id: string }) => entry.id === id);
  assert.deepEqual(
    entries.map(({ action, changes, externalId }: Record<string, unknown>) => [action, changes, externalId]),
    [
      ['CREATED', undefined, undefined],
      ['CHANGED', undefined, undefined],
      ['DELETED', undefined, undefined],
    ],
    'the feed still tells the deletion, and nothing about the person',
  );
});

test('a person that was only deleted can still be erased from bin and journal', async () => {
  const id = await createPerson();
  await service.delete(`/contact-persons/${id}`);
  const { person, deletedAt } = (await service.get(`/personal-data/${id}`)).json();
  assert.deepEqual([person.lastName, typeof deletedAt], ['Rätselhaft', 'string']);
  assert.equal((await service.delete(`/personal-data/${id}`)).statusCode, 204);
  assert.equal((await service.get(`/personal-data/${id}`)).json().person, null);
  assert.doesNotMatch((await service.get(`/personal-data/${id}`)).body, /Geheim|4711/);
});

test('nobody else can be exported or erased: no other tenant, no other resource', async () => {
  const id = await createPerson();
  const headers = { apikey: (await service.createTenant()).key };
  const siteId = (await service.post('/customer/site', validSite(customerId))).json().id;
  for (const [path, options] of [
    [`/personal-data/${id}`, { headers }],
    [`/personal-data/${randomUUID()}`, {}],
    ['/personal-data/x', {}],
    [`/personal-data/${siteId}`, {}],
  ] as const) {
    assert.equal((await service.delete(path, options)).statusCode, 404, path);
  }
  assert.equal((await service.get(`/personal-data/${siteId}`)).statusCode, 404);
  assert.equal((await service.get(`/contact-persons/${id}`)).statusCode, 200);
});

test('a long history and many references are exported completely, page by page', async () => {
  const { tenantId, key } = await service.createTenant();
  const headers = { apikey: key };
  const employee = { firstName: 'Ada', lastName: 'Version 0' };
  const { id } = (await service.post('/employee', employee, { headers })).json();
  const owner = (await service.post('/customer', validCustomer, { headers })).json().id;
  const site = (
    await service.post('/customer/site', { ...validSite(owner), assignedEmployeeId: id }, { headers })
  ).json();
  const versions = 1200;
  const sites = 5001;
  await service.owner.query(
    `INSERT INTO journal (tenant_id, position, resource, resource_id, action, version, actor, changes)
     SELECT $1, 1000 + version, 'employee', $2, 'CHANGED', version, 'command line',
       json_build_object('lastName', json_build_object('to', repeat('x', 2000)))
     FROM generate_series(2, $3::integer) AS version`,
    [tenantId, id, versions],
  );
  const { rows } = await service.owner.query(
    `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
     WHERE attrelid = 'site'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attname NOT IN ('id', 'external_id')`,
  );
  await service.owner.query(
    `INSERT INTO site (id, ${rows[0].columns}) SELECT gen_random_uuid(), ${rows[0].columns} FROM site, generate_series(2, $2::integer)
     WHERE id = $1`,
    [site.id, sites],
  );
  const response = await service.get(`/personal-data/${id}`, { headers });
  const exported = response.json();
  assert.deepEqual(
    exported.history.map(({ version }: { version: number }) => version),
    Array.from({ length: versions }, (_, place) => place + 1),
  );
  assert.equal(new Set(exported.sites).size, sites);
  assert.deepEqual(exported.references, [{ resource: 'site', ids: exported.sites }]);
});
