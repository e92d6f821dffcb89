// The author of a change is identified by an id that nobody can choose.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, type TestService, validCustomer } from '../../helpers/service.ts';

interface Entry {
  id: string;
  action: string;
  actor: string;
  actorId?: string;
  actorType: string;
  actorEmail?: string;
}

describe('the journal names who did it', () => {
  let service: TestService;
  let vera: OfficePerson;
  let key: string;
  before(async () => {
    service = await startService();
    vera = await createPerson(service, { name: 'Vera A' });
    key = `key …${service.tenant.key.slice(-4)}`;
  });

  async function changesOf(id: string): Promise<Entry[]> {
    const { data } = (await service.get('/changes?limit=1000')).json();
    return data.filter((entry: Entry) => entry.id === id);
  }

  async function createAs(person: OfficePerson): Promise<string> {
    const response = await person.call('POST', '/customer', validCustomer);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  }

  test('a person has an id in every entry of every kind', async () => {
    const id = await createAs(vera);
    await vera.call('PATCH', `/customers/${id}`, { companyName: 'Neu GmbH' });
    await vera.call('PUT', '/customers/by-external-id/who-1', validCustomer);
    await vera.call('DELETE', `/customers/${id}`);
    const entries = await changesOf(id);
    assert.deepEqual(
      entries.map(({ action, actor, actorId, actorType }) => [action, actor, actorId, actorType]),
      ['CREATED', 'CHANGED', 'DELETED'].map((action) => [action, 'Vera A', vera.id, 'PERSON']),
    );
    const { data } = (await vera.call('GET', '/changes?limit=1000')).json();
    assert.ok(data.every(({ actorId }: Entry) => actorId === vera.id));
  });

  test('the lines of an import have it too, in both modes', async () => {
    const origin = `http://127.0.0.1:${await listen(service.app)}`;
    for (const mode of ['each', 'all-or-nothing']) {
      const line = { type: 'customer', data: { ...validCustomer, externalId: `who-${mode}` } };
      const response = await fetch(`${origin}/app/import?mode=${mode}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', cookie: vera.cookie, origin },
        body: JSON.stringify(line),
      });
      const { id } = JSON.parse((await response.text()).split('\n')[0]!);
      const [entry] = await changesOf(id);
      assert.deepEqual([entry!.actorId, entry!.actorType], [vera.id, 'PERSON'], mode);
    }
  });

  test('the key of the business has a type of its own and no id', async () => {
    const [entry] = await changesOf(await service.createCustomer());
    assert.deepEqual([entry!.actor, entry!.actorType, 'actorId' in entry!], [key, 'KEY', false]);
  });

  test('nobody looks like the key, the command line or a colleague by taking their name', async () => {
    for (const name of [key, 'command line', 'demo', 'Vera A']) {
      const person = await createPerson(service, { name });
      const id = await createAs(person);
      const [entry] = await changesOf(id);
      assert.deepEqual([entry!.actor, entry!.actorId, entry!.actorType], [name, person.id, 'PERSON']);
      const { data } = (await vera.call('GET', `/history/customer/${id}`)).json();
      assert.equal(data[0].actorEmail, person.email, 'the office sees the address beside the name');
    }
  });

  test('what somebody did stays theirs after they have left or changed their name', async () => {
    const person = await createPerson(service, { name: 'Kurz Hier' });
    const id = await createAs(person);
    await vera.call('PATCH', `/people/${person.id}`, { name: 'Vera A' });
    const renamed = (await vera.call('GET', `/history/customer/${id}`)).json().data[0];
    assert.deepEqual([renamed.actor, renamed.actorEmail], ['Kurz Hier', person.email]);
    await vera.call('DELETE', `/people/${person.id}`);
    const left = (await vera.call('GET', `/history/customer/${id}`)).json().data[0];
    assert.deepEqual([left.actor, left.actorId, left.actorEmail], ['Kurz Hier', person.id, undefined]);
  });

  test('a key names the person who made it by id and address', async () => {
    const { key: before } = (await vera.call('GET', '/key')).json();
    assert.deepEqual([before.createdBy, before.createdById], ['command line', null]);
    const tenant = await service.createTenant('Blatt & Co.');
    const other = await createPerson(service, { tenantId: tenant.tenantId, name: 'command line' });
    await other.call('POST', '/key');
    const { key: after } = (await other.call('GET', '/key')).json();
    assert.deepEqual([after.createdById, after.createdByEmail], [other.id, other.email]);
  });

  test('a line of the request log names the person; one of the API names nobody', async () => {
    const start = service.logLines.length;
    await vera.call('GET', '/customers');
    await service.get('/customers');
    const [office, api] = service.logLines.slice(start).map((line) => JSON.parse(line));
    assert.deepEqual([office.personId, office.person], [vera.id, 'Vera A']);
    assert.deepEqual([api.personId, api.person], [undefined, undefined]);
  });
});
