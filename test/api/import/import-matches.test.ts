// What the import page asks before it sends anything: names in a file, and rows that probably exist already.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, validAddress, validCustomer } from '../../helpers/service.ts';

const service = await startService();

async function startBusiness() {
  const tenant = await service.createTenant();
  const person = await createPerson(service, { tenantId: tenant.tenantId });
  const headers = { apikey: tenant.key };
  const create = async (path: string, body: object): Promise<string> => {
    const response = await service.post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  return { tenant, person, headers, create };
}

async function match({ call }: OfficePerson, name: string) {
  const { data } = (await call('POST', '/name-matches', { resource: 'customer', names: [name] })).json();
  return data[0];
}

test('a name that was assigned by hand is remembered for the business, until it is forgotten', async () => {
  const { person, tenant, create, headers } = await startBusiness();
  const colleague = await createPerson(service, { tenantId: tenant.tenantId });
  const id = await create('/customer', validCustomer);
  const other = await create('/customer', { ...validCustomer, companyName: 'Andere' });
  assert.deepEqual(await match(person, 'Alsterblk'), { name: 'Alsterblk', ids: [] });
  const remember = (body: object) =>
    person.call('PUT', '/remembered-names', { resource: 'customer', ...body });
  assert.equal((await remember({ name: ' Alsterblk ', id: other })).statusCode, 204);
  assert.equal((await remember({ name: 'ALSTERBLK', id })).statusCode, 204);
  assert.equal((await match(colleague, 'alsterblk')).rememberedId, id);

  const stranger = (await startBusiness()).person;
  assert.equal((await match(stranger, 'alsterblk')).rememberedId, undefined);
  const foreign = await stranger.call('PUT', '/remembered-names', { resource: 'customer', name: 'x', id });
  assert.equal(foreign.statusCode, 400);
  assert.equal(foreign.json().errors[0].code, 'reference_not_found');

  assert.equal((await remember({ name: 'alsterblk' })).statusCode, 204);
  assert.equal((await match(person, 'alsterblk')).rememberedId, undefined);

  // Deleted objects are not offered.
  await remember({ name: 'alsterblk', id });
  await service.delete(`/customers/${id}`, { headers });
  assert.equal((await match(person, 'alsterblk')).rememberedId, undefined);
});

test('what was chosen for a file or a word is remembered for the business, the latest ones', async () => {
  const { person, tenant } = await startBusiness();
  const colleague = await createPerson(service, { tenantId: tenant.tenantId });
  const found = async ({ call }: OfficePerson, ...keys: string[]) =>
    (await call('POST', '/choice-matches', { keys })).json().data;
  const remember = (key: string, choice?: string) =>
    person.call('PUT', '/remembered-choices', { key, ...(choice && { choice }) });
  assert.deepEqual(await found(person, 'titles'), [null]);
  assert.equal((await remember('titles', 'former')).statusCode, 204);
  assert.equal((await remember('titles', 'latest')).statusCode, 204);
  assert.deepEqual(await found(colleague, 'else', 'titles'), [null, 'latest']);
  assert.deepEqual(await found((await startBusiness()).person, 'titles'), [null]);
  assert.equal((await remember('titles')).statusCode, 204);
  assert.deepEqual(await found(person, 'titles'), [null]);

  await remember('oldest', 'x');
  await service.owner.query(
    `INSERT INTO remembered_choice (tenant_id, key_hash, choice, actor)
       SELECT $1, lpad(place::text, 64, '0'), 'x', 'x' FROM generate_series(1, 2000) AS place`,
    [tenant.tenantId],
  );
  await remember('newest', 'y');
  assert.deepEqual(await found(person, 'oldest', 'newest'), [null, 'y']);
});

test('an erasure forgets remembered names and the names of files', async () => {
  const { person, tenant, create, headers } = await startBusiness();
  const customerId = await create('/customer', validCustomer);
  const id = await create('/customer/contact-person', { customerId, lastName: 'Petersen' });
  await person.call('PUT', '/remembered-names', { resource: 'contact-person', name: 'Frau Pet.', id });
  await person.call('POST', '/imports', { fileName: 'Petersen.csv', resource: 'customer' });
  const erased = await service.delete(`/personal-data/${id}`, { headers });
  assert.ok(erased.statusCode < 300, erased.body);
  const { rows } = await service.owner.query(
    `SELECT (SELECT count(*) FROM remembered_name WHERE tenant_id = $1)::integer AS names,
       (SELECT count(*) FROM import_run WHERE tenant_id = $1 AND file_name IS NOT NULL)::integer AS files`,
    [tenant.tenantId],
  );
  assert.deepEqual(rows, [{ names: 0, files: 0 }]);
});

test('rows that probably exist are found by number, name and postcode, mail and telephone', async () => {
  const { person, create } = await startBusiness();
  const number = await create('/customer', { ...validCustomer, companyName: 'Eins', customerNumber: 'K-1' });
  const name = await create('/customer', { ...validCustomer, companyName: 'Bäckerei Möller' });
  const email = await create('/customer', {
    ...validCustomer,
    companyName: 'Drei',
    email: 'Info@drei.example',
  });
  const phone = await create('/customer', {
    ...validCustomer,
    companyName: 'Vier',
    phone: '+49 40 12 34 56',
  });
  await create('/customer', { ...validCustomer, companyName: 'Fünf', externalId: 'E-5' });
  const rows = [
    { row: 2, name: 'Neu', number: 'K-1' },
    { row: 3, name: 'baeckerei moeller', zipCode: validAddress.zipCode },
    { row: 4, name: 'Bäckerei Möller', zipCode: '99999' },
    { row: 5, name: 'Anders', email: 'info@DREI.example' },
    { row: 6, name: 'Anders', email: 'info@vier.example', phone: '040/123456' },
    { row: 7, name: 'Fünf', zipCode: validAddress.zipCode, externalId: 'E-5' },
    { row: 8, name: 'Anders', phone: '1' },
  ];
  const { data } = (await person.call('POST', '/duplicate-matches', { resource: 'customer', rows })).json();
  const found = data.map((one: { row: number; reason: string; entity: { id: string } }) => [
    one.row,
    one.reason,
    one.entity.id,
  ]);
  assert.deepEqual(found.sort(), [
    [2, 'number', number],
    [3, 'name', name],
    [5, 'email', email],
    [6, 'phone', phone],
  ]);
  const stranger = (await startBusiness()).person;
  const foreign = await stranger.call('POST', '/duplicate-matches', { resource: 'customer', rows });
  assert.deepEqual(foreign.json().data, []);
});

test('sites and people are compared within their customer, and every resource can be asked for', async () => {
  const { person, create } = await startBusiness();
  const customerId = await create('/customer', validCustomer);
  const id = await create('/customer/contact-person', {
    customerId,
    lastName: 'Petersen',
    firstName: 'Anke',
  });
  const ask = async (resource: string, rows: object[]) => {
    const response = await person.call('POST', '/duplicate-matches', { resource, rows });
    assert.equal(response.statusCode, 200, response.body);
    return response
      .json()
      .data.map(({ row, entity }: { row: number; entity: { id: string } }) => [row, entity.id]);
  };
  const petersen = { name: 'petersen', firstName: 'ANKE' };
  assert.deepEqual(
    await ask('contact-person', [
      { row: 1, ...petersen, ownerId: customerId },
      { row: 2, ...petersen, ownerId: randomUUID() },
      { row: 3, ...petersen, ownerId: 'kein Kunde' },
      { row: 4, name: 'Petersen', ownerId: customerId },
    ]),
    [[1, id]],
  );
  for (const resource of ['site', 'plant', 'container', 'contract', 'product', 'employee']) {
    assert.deepEqual(
      await ask(resource, [{ row: 1, name: 'x', number: 'y', email: 'a@b.example', phone: '040 999999' }]),
      [],
    );
  }
  const tooMany = Array.from({ length: 101 }, (_, row) => ({ row }));
  for (const rows of ['x', tooMany, [{ row: 'eins' }], [{ row: 1, name: 5 }]]) {
    const response = await person.call('POST', '/duplicate-matches', { resource: 'customer', rows });
    assert.equal(response.statusCode, 400);
  }
});
