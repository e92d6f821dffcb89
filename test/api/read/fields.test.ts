// `fields=` and `include=`: lists, reads and changes hold what was asked for, and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { valueAt } from '../../../core/definition/definition.ts';
import { type Definition, embeddedName, referencesOf } from '../../../server/engine/definition/definition.ts';
import type { Fields } from '../../../server/engine/definition/fields.ts';
import { resources } from '../../../server/resources/index.ts';
import { fullBody, uncrowded } from '../../helpers/full-body.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress } from '../../helpers/service.ts';

const service = await startService();
const { get, patch, createTenant } = service;

type Entity = Record<string, unknown>;

/** Two objects of each resource with a value in every field, each reference to the first ones. */
async function fill(): Promise<{ headers: { apikey: string }; ids: Record<string, string> }> {
  const headers = { apikey: (await createTenant()).key };
  const ids: Record<string, string> = {};
  for (const definition of resources) {
    const full = fullBody(definition, (resource) => ids[resource]!);
    for (const copy of ['', '-2']) {
      const unique = definition.uniqueFields.map((name) => [name, `${name}${copy}`]);
      const body = { ...full, ...Object.fromEntries(unique), ...(copy && uncrowded(definition)) };
      const created = await service.post(definition.path, body, { headers });
      assert.equal(created.statusCode, 201, created.body);
      ids[definition.name] ??= created.json().id;
    }
  }
  return { headers, ids };
}

const { headers, ids } = await fill();

async function read(path: string): Promise<Entity> {
  const response = await get(path, { headers });
  assert.equal(response.statusCode, 200, `${path} ${response.body}`);
  return response.json();
}

const whole = new Map<string, Entity>();
for (const { name, collection } of resources) whole.set(name, await read(`/${collection}/${ids[name]}`));

function pathsOf(fields: Fields, parent = ''): string[] {
  return Object.entries(fields).flatMap(([name, field]) => [
    parent + name,
    ...(field.fields ? pathsOf(field.fields, `${parent}${name}.`) : []),
  ]);
}

const common = ['id', 'version', 'createdAt', 'updatedAt'];
const ownPaths = (definition: Definition) => [...common, ...pathsOf(definition.fields)];
const targetOf = (resource: string) => resources.find(({ name }) => name === resource)!;

/** The object as it is expected, built in the plainest way from the whole ones. */
function pick(object: Entity, paths: readonly string[]): Entity {
  const keep = (value: Entity, parent: string): Entity =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const path = parent + name;
        if (paths.includes(path) || path === 'id') return [[name, member]];
        if (!paths.some((chosen) => chosen.startsWith(`${path}.`))) return [];
        return [[name, keep(member as Entity, `${path}.`)]];
      }),
    );
  return keep(object, '');
}

const several = { numRuns: 15, seed: 33 };

for (const definition of resources) {
  const { collection, name, title } = definition;
  const references = referencesOf(definition);
  const address = `/${collection}/${ids[name]}`;

  test(`${title}: any choice of fields is the same in reads, lists and changes`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...ownPaths(definition)), { minLength: 1 }),
        async (paths) => {
          const query = `fields=${paths}`;
          const expected = pick(await read(`${address}?include=externalIds`), paths);
          assert.deepEqual(await read(`${address}?${query}`), expected);
          const externalId = whole.get(name)!.externalId;
          assert.deepEqual(await read(`/${collection}/by-external-id/${externalId}?${query}`), expected);
          const { data } = (await read(`/${collection}?${query}&id=${ids[name]}`)) as { data: Entity[] };
          assert.deepEqual(data, [expected]);
          const changes = (await read(`/changes?${query}&resource=${name}`)) as { data: { data: Entity }[] };
          assert.deepEqual(changes.data[0]!.data, expected);
        },
      ),
      several,
    );
  });

  test(`${title}: each reference embeds its object, whole or in part`, async () => {
    const names = references.map(embeddedName);
    const embedded = Object.fromEntries(
      references.map((one) => [embeddedName(one), whole.get(one.resources[0]!)]),
    );
    if (names.length > 0) {
      const expected = { ...whole.get(name), ...embedded };
      assert.deepEqual(await read(`${address}?include=${names}`), expected);
      const { data } = (await read(`/${collection}?include=${names}`)) as { data: Entity[] };
      assert.deepEqual(data[0], expected);
      const feed = (await read(`/changes?include=${names}&resource=${name}`)) as { data: { data: Entity }[] };
      assert.deepEqual(feed.data[0]!.data, expected);
    }
    for (const one of references) {
      const target = targetOf(one.resources[0]!);
      const inner = `${embeddedName(one)}.${target.nameField}`;
      const answer = await read(`${address}?fields=${inner}`);
      const part = {
        id: ids[target.name],
        [target.nameField]: valueAt(whole.get(target.name), target.nameField),
      };
      assert.deepEqual(answer, { id: ids[name], [embeddedName(one)]: part });
      assert.deepEqual(
        await read(`${address}?fields=externalId&include=${embeddedName(one)}`),
        {
          id: ids[name],
          externalId: whole.get(name)!.externalId,
          [embeddedName(one)]: whole.get(target.name),
        },
        'what is included stands beside the chosen fields',
      );
      assert.deepEqual(await read(`${address}?fields=${one.externalName}`), {
        id: ids[name],
        [one.externalName]: whole.get(target.name)!.externalId,
      });
    }
  });

  test(`${title}: a list with everything is one statement`, async () => {
    const names = ['externalIds', ...references.map(embeddedName)];
    const { query } = pg.Client.prototype;
    const texts: string[] = [];
    pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
      const [statement] = parameters as [string | pg.QueryConfig];
      texts.push(typeof statement === 'string' ? statement : statement.text);
      return Reflect.apply(query, this, parameters);
    } as typeof query;
    await read(`/${collection}?include=${names}`).finally(() => {
      pg.Client.prototype.query = query;
    });
    assert.equal(texts.filter((text) => text.includes(`FROM ${definition.table} AS subject`)).length, 1);
    assert.equal(
      texts.filter((text) => /^SELECT/.test(text) && text.includes(' AS named')).length,
      names.length > 1 ? 1 : 0,
    );
  });

  test(`${title}: every unknown field is named`, async () => {
    for (const path of [address, `/${collection}`, '/changes']) {
      const refused = await get(`${path}?fields=compnyName,id,adress.city,__proto__`, { headers });
      assert.equal(refused.statusCode, 400, path);
      const { errors } = refused.json();
      assert.deepEqual(
        errors.map((error: Entity) => [error.field, error.code]),
        ['compnyName', 'adress.city', '__proto__'].map((field) => [`fields.${field}`, 'unknown_field']),
      );
      assert.ok(errors[0].params.known.includes(definition.nameField));
    }
    const refusals = {
      'fields=': ['fields', 'unknown_field'],
      'fields=id&fields=version': ['fields', 'repeated_parameter'],
      [`fields=${Array(101).fill('id')}`]: ['fields', 'too_many_items'],
      'include=': ['include', 'invalid_choice'],
      'include=externalIds,everything': ['include', 'invalid_choice'],
    };
    for (const [query, expected] of Object.entries(refusals)) {
      const { errors } = (await get(`${address}?${query}`, { headers })).json();
      assert.deepEqual([errors[0].field, errors[0].code], expected, query);
    }
  });
}

test('an object that is not there, and one of another tenant, are embedded nowhere', async () => {
  const other = await fill();
  const site = await read(`/sites/${ids.site}`);
  const strange = { contactPersonId: other.ids['contact-person'], contractExternalId: 'LATER' };
  const changed = await patch(`/sites/${ids.site}`, strange, { headers });
  assert.equal(changed.statusCode, 200, changed.body);
  const { contactPerson, contract, customer } = await read(
    `/sites/${ids.site}?include=contactPerson,contract,customer`,
  );
  assert.deepEqual([contactPerson, contract], [undefined, undefined]);
  assert.equal((customer as Entity).id, ids.customer);
  const { contactPersonId, contractId } = site;
  await patch(`/sites/${ids.site}`, { contactPersonId, contractId, contractExternalId: null }, { headers });
});

test('a recipient of service records is a contact person or a customer', async () => {
  const recipients = { 'contact-person': 'lastName', customer: 'companyName' };
  for (const [resource, nameField] of Object.entries(recipients)) {
    await patch(`/sites/${ids.site}`, { serviceRecordRecipientId: ids[resource] }, { headers });
    const { serviceRecordRecipient } = await read(
      `/sites/${ids.site}?fields=serviceRecordRecipient.lastName,serviceRecordRecipient.companyName`,
    );
    const expected = { id: ids[resource], [nameField]: whole.get(resource)![nameField] };
    assert.deepEqual(serviceRecordRecipient, expected);
  }
});

test('a tag of a read with others changes with them, and still guards a write', async () => {
  const path = `/sites/${ids.site}?include=customer`;
  const { etag } = (await get(path, { headers })).headers;
  const known = { ...headers, 'if-none-match': String(etag) };
  assert.equal((await get(path, { headers: known })).statusCode, 304);
  await patch(`/customers/${ids.customer}`, { comment: 'Changed meanwhile' }, { headers });
  const again = await get(path, { headers: known });
  assert.deepEqual([again.statusCode, again.json().customer.comment], [200, 'Changed meanwhile']);
  const guarded = { ...headers, 'if-match': String(etag) };
  assert.equal((await patch(`/sites/${ids.site}`, { comment: 'a' }, { headers: guarded })).statusCode, 200);
  assert.equal((await patch(`/sites/${ids.site}`, { comment: 'b' }, { headers: guarded })).statusCode, 412);
});

test('a choice of own fields is not sent again while the version stays', async () => {
  const path = `/customers/${ids.customer}?fields=companyName`;
  const first = await get(path, { headers });
  const { version } = await read(`/customers/${ids.customer}`);
  assert.equal(first.headers.etag, `"${version}"`);
  assert.equal(first.headers['cache-control'], 'private, no-cache');
  const known = { ...headers, 'if-none-match': String(first.headers.etag) };
  assert.equal((await get(path, { headers: known })).statusCode, 304);
});

test('a page with large included objects ends at 4 MB, and a choice of small fields does not', async () => {
  const headers = { apikey: (await createTenant()).key };
  const address = { ...validAddress, streetName: 'x'.repeat(90_000) };
  const customerId = await service.createCustomer({ address }, { headers });
  const site = { customerId, name: 'Lobby', address: validAddress, needsAppointment: false, hasKey: false };
  await Promise.all(Array.from({ length: 100 }, () => service.post('/customer/site', site, { headers })));
  const page = async (query: string) => {
    const response = await get(`/sites?limit=100&${query}`, { headers });
    return { bytes: response.body.length, ...response.json() };
  };
  const large = await page('include=customer');
  assert.ok(large.bytes < 4.1 * 1024 * 1024 && large.data.length < 50 && large.nextCursor);
  for (const query of [
    'fields=name,customer.companyName',
    'fields=name,customer.companyName&include=externalIds',
  ]) {
    const small = await page(query);
    assert.deepEqual([small.data.length, small.nextCursor], [100, null]);
  }
  const customers = await Promise.all(
    Array.from({ length: 50 }, () => service.createCustomer({ address }, { headers })),
  );
  const list = (await get('/customers?limit=100&fields=companyName', { headers })).json();
  assert.equal(list.data.length, customers.length + 1);
});

test('Pflege sees no hidden field, chosen or included', async () => {
  const carer = await createPerson(service, { role: 'PFLEGE' });
  const customerId = await service.createCustomer();
  const create = async (path: string, body: object) => (await service.post(path, body)).json().id;
  const contact = await create('/customer/contact-person', {
    customerId,
    lastName: 'A',
    mobile: '0171 5550199',
  });
  const contract = await create('/customer/contract', {
    ...{ customerId, type: 'CARE', startDate: '2026-01-01', netPrice: 129.9 },
  });
  const site = await create('/customer/site', {
    ...{ customerId, name: 'Lobby', address: validAddress, needsAppointment: false, hasKey: false },
    ...{ callOutFee: 24.9, contactPersonId: contact, contractId: contract },
  });
  for (const path of [`/sites/${site}`, '/sites']) {
    const seen = await carer.call('GET', `${path}?include=contactPerson,contract`);
    assert.equal(seen.statusCode, 200, seen.body);
    assert.match(seen.body, /"lastName":"A"/);
    assert.doesNotMatch(seen.body, /netPrice|callOutFee|mobile|5550199|129\.9|24\.9/);
    for (const field of ['callOutFee', 'contactPerson.mobile', 'name,contract.netPrice']) {
      const refused = await carer.call('GET', `${path}?fields=${field}`);
      assert.deepEqual([refused.statusCode, refused.json().code], [403, 'role_insufficient'], field);
    }
  }
});
