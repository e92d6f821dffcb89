import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, type TestService } from '../../helpers/service.ts';

describe('the history that the office reads', () => {
  let service: TestService;
  let person: OfficePerson;
  before(async () => {
    service = await startService();
    person = await createPerson(service);
  });

  test('has the changes of one object, the newest first, with who made them', async () => {
    const id = await service.createCustomer();
    await service.createCustomer();
    await person.call('PATCH', `/customers/${id}`, { companyName: 'Neu GmbH' });
    const { data, nextCursor } = (await person.call('GET', `/history/customer/${id}`)).json();
    assert.deepEqual(
      data.map(({ action }: { action: string }) => action),
      ['CHANGED', 'CREATED'],
    );
    assert.equal(data[0].actor, person.name);
    assert.equal(data[0].changes.companyName.to, 'Neu GmbH');
    assert.equal(nextCursor, null);
  });

  test('of everything goes on where a page ended', async () => {
    for (let count = 0; count < 3; count += 1) await service.createCustomer();
    const first = (await person.call('GET', '/history?limit=2')).json();
    const second = (await person.call('GET', `/history?limit=2&before=${first.nextCursor}`)).json();
    const positions = [...first.data, ...second.data].map(({ cursor }) => Number(cursor));
    assert.deepEqual(
      positions,
      [...positions].sort((one, other) => other - one),
    );
    assert.equal(new Set(positions).size, 4);
  });

  test('is that of the own business only', async () => {
    const other = await service.createTenant('Andere GmbH');
    const stranger = await createPerson(service, { tenantId: other.tenantId });
    const id = await service.createCustomer();
    assert.deepEqual((await stranger.call('GET', `/history/customer/${id}`)).json().data, []);
    assert.deepEqual((await stranger.call('GET', '/history')).json().data, []);
    assert.deepEqual((await stranger.call('GET', `/named/customers?ids=${id}`)).json().data, []);
  });

  test('refuses cursors and limits that are none', async () => {
    assert.equal((await person.call('GET', '/history?before=x')).statusCode, 400);
    assert.equal((await person.call('GET', '/history?before=99999999999999999999')).statusCode, 400);
    assert.equal((await person.call('GET', '/history?limit=0')).statusCode, 400);
    assert.equal((await person.call('GET', '/history/customer/nothing')).statusCode, 404);
    const id = await service.createCustomer();
    assert.equal((await person.call('GET', `/history/%00/${id}`)).statusCode, 404);
  });

  test('one call finds objects by many ids, and leaves out those that do not exist', async () => {
    const ids = [await service.createCustomer(), await service.createCustomer()];
    const missing = '0198c0de-0000-7000-8000-000000000009';
    const { data } = (await person.call('GET', `/named/customers?ids=${[...ids, missing].join(',')}`)).json();
    assert.deepEqual(data.map(({ id }: { id: string }) => id).sort(), [...ids].sort());
    assert.equal((await person.call('GET', '/named/customers?ids=1,2')).statusCode, 400);
    assert.equal((await person.call('GET', '/named/customers')).statusCode, 400);
    assert.equal(
      (await person.call('GET', `/named/customers?ids=${Array(101).fill(missing)}`)).statusCode,
      400,
    );
  });
});
