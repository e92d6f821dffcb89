// A refused batch takes about as many statements as an accepted one, with any number of rows.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { noNames, skipOnCluster } from '../../helpers/cluster.ts';
import { createPerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, type Tenant, validCustomer, validSite } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const skip = skipOnCluster(noNames);
const service = await startService();
const target = { port: await listen(service.app), key: service.tenant.key };
const count = 200;
const numbers = Array.from({ length: count }, (_, index) => index);

/** Key look-ups, new connections and records of calls come as the machine has time for them. */
const isUpkeep = (text: string) => /\bauthenticate\(|^SET ROLE|record_key_use/.test(text);
const isRecord = (transaction: string[]) => transaction.some((text) => text.includes('recorded_request'));

/** How many statements and transactions the service sends while `work` runs. */
async function countStatements<Result>(work: () => Promise<Result>) {
  const { query } = pg.Client.prototype;
  const sent = new Map<pg.Client, string[][]>();
  pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
    const [statement] = parameters as [string | pg.QueryConfig];
    const text = typeof statement === 'string' ? statement : statement.text;
    const own = sent.getOrInsertComputed(this, () => []);
    if (own.length === 0 || text.startsWith('BEGIN')) own.push([]);
    if (!isUpkeep(text)) own.at(-1)!.push(text);
    return Reflect.apply(query, this, parameters);
  } as typeof query;
  try {
    const result = await work();
    const texts = [...sent.values()].flat().flatMap((own) => (isRecord(own) ? [] : own));
    const transactions = texts.filter((text) => text.startsWith('BEGIN')).length;
    return { result, texts, statements: texts.length, transactions };
  } finally {
    pg.Client.prototype.query = query;
  }
}

interface Sent {
  path: string;
  bodies: readonly object[];
  headers?: (index: number) => object;
}

/** Sends all bodies together. */
async function send({ path, bodies, headers = () => ({}) }: Sent) {
  const { result, statements, transactions } = await countStatements(() =>
    Promise.all(bodies.map((body, index) => service.post(path, body, { headers: { ...headers(index) } }))),
  );
  const answers = result.map((response) => ({ status: response.statusCode, ...response.json() }));
  return { answers, statements, transactions };
}

/** The number of batches depends on the machine, the statements of each do not. One transaction reads and one writes. */
const mostOfATransaction = 12;

function assertFew({ statements, transactions }: { statements: number; transactions: number }): void {
  assert.ok(transactions > 0 && transactions <= count / 4, `${transactions} transactions`);
  assert.ok(
    statements <= transactions * mostOfATransaction,
    `${statements} statements of ${transactions} transactions`,
  );
}

function customers(prefix: string, more: (index: number) => object = () => ({})): object[] {
  return numbers.map((index) => ({ ...validCustomer, externalId: `${prefix}-${index}`, ...more(index) }));
}

const goodCustomers = await send({ path: '/customer', bodies: customers('good') });

test('creations that arrive together share their statements', { skip }, () => {
  assert.deepEqual(new Set(goodCustomers.answers.map(({ status }) => status)), new Set([201]));
  assertFew(goodCustomers);
});

test('the same customers sent again are refused by about as many statements, each with its holder', {
  skip,
}, async () => {
  const refused = await send({ path: '/customer', bodies: customers('good') });
  assert.deepEqual(
    refused.answers.map(({ status, code, field, id }) => ({ status, code, field, id })),
    goodCustomers.answers.map(({ id }) => ({ status: 409, code: 'conflict', field: 'externalId', id })),
  );
  assertFew(refused);
});

test('of two taken values the holder of the external id is named, and otherwise the holder of the other', {
  skip,
}, async () => {
  const own = await send({
    path: '/customer',
    bodies: customers('numbered', (index) => ({ customerNumber: `N-${index}` })),
  });
  const refused = await send({
    path: '/customer',
    bodies: numbers.map((index) => ({
      ...validCustomer,
      customerNumber: `N-${index}`,
      externalId: index % 2 === 0 ? `good-${index}` : `fresh-${index}`,
    })),
  });
  assert.deepEqual(
    refused.answers.map(({ field, id }) => ({ field, id })),
    numbers.map((index) =>
      index % 2 === 0
        ? { field: 'externalId', id: goodCustomers.answers[index].id }
        : { field: 'customerNumber', id: own.answers[index].id },
    ),
  );
  assertFew(refused);
});

test('sites of unknown owners are refused by about as many statements as sites that are stored', {
  skip,
}, async () => {
  const site = (owner: object) => ({ ...validSite(''), customerId: undefined, ...owner });
  const good = await send({
    path: '/customer/site',
    bodies: numbers.map((index) => site({ customerExternalId: `good-${index}` })),
  });
  assert.deepEqual(new Set(good.answers.map(({ status }) => status)), new Set([201]));
  const refused = await send({
    path: '/customer/site',
    bodies: numbers.map((index) =>
      site(index % 2 === 0 ? { customerExternalId: `nobody-${index}` } : { customerId: randomUUID() }),
    ),
  });
  assert.deepEqual(
    refused.answers.map(({ status, errors }) => [
      status,
      errors.map(({ field, code }: never) => [field, code]),
    ]),
    numbers.map((index) => [
      400,
      [[index % 2 === 0 ? 'customerExternalId' : 'customerId', 'reference_not_found']],
    ]),
  );
  assertFew(refused);
});

test('rows of many tenants are explained together, and each learns of its own holder only', {
  skip,
}, async () => {
  const tenants: Tenant[] = [];
  while (tenants.length < 20) tenants.push(await service.createTenant());
  const headers = (index: number) => ({ apikey: tenants[index % tenants.length]!.key });
  const bodies = numbers.map((index) => ({
    ...validCustomer,
    // The same values at each tenant.
    externalId: `shared-${Math.floor(index / tenants.length)}`,
  }));
  const good = await send({ path: '/customer', bodies, headers });
  const refused = await send({ path: '/customer', bodies, headers });
  assert.deepEqual(
    refused.answers.map(({ status, id }) => [status, id]),
    good.answers.map(({ id }) => [409, id]),
  );
  assertFew(refused);
});

test('creations with Idempotency-Keys are repeated, and refused, by about as many statements', {
  skip,
}, async () => {
  const headers = (index: number) => ({ 'idempotency-key': `key-${index}` });
  const good = await send({ path: '/customer', bodies: customers('keyed'), headers });
  const repeated = await send({ path: '/customer', bodies: customers('keyed'), headers });
  assert.deepEqual(repeated.answers, good.answers);
  assertFew(repeated);
  const otherKeys = (index: number) => ({ 'idempotency-key': `other-${index}` });
  const refused = await send({ path: '/customer', bodies: customers('keyed'), headers: otherKeys });
  assert.deepEqual(
    refused.answers.map(({ status, id }) => [status, id]),
    good.answers.map(({ id }) => [409, id]),
  );
  assertFew(refused);
  // A refused creation leaves its key free.
  const kept = await service.owner.query(`SELECT FROM idempotent_request WHERE key LIKE 'other-%'`);
  assert.equal(kept.rowCount, 0);
});

async function importLines(bodies: readonly object[]) {
  const lines = bodies.map((data) => JSON.stringify({ type: 'customer', data })).join('\n');
  const { result, statements, transactions } = await countStatements(() => sendImport(target, [lines]));
  // The lines may arrive in several parts. Beside what each of them takes, the import opens its connections.
  assert.ok(transactions <= count / 20, `${transactions} transactions`);
  assert.ok(statements <= 12 + transactions * 8, `${statements} statements of ${transactions} transactions`);
  return result;
}

test('an import explains replacements and creations that are refused together', { skip }, async () => {
  const numbered = (prefix: string) =>
    customers('imported', (index) => ({ customerNumber: `${prefix}-${index}` }));
  const created = await importLines(numbered('I'));
  const replaced = await importLines(numbered('J'));
  assert.deepEqual([created.summary.created, replaced.summary.replaced], [count, count]);

  const holders = await send({
    path: '/customer',
    bodies: numbers.map((index) => ({ ...validCustomer, customerNumber: `K-${index}` })),
  });
  const refusedReplacements = await importLines(numbered('K'));
  const refusedCreations = await importLines(
    numbers.map((index) => ({ ...validCustomer, customerNumber: `K-${index}` })),
  );
  for (const { results } of [refusedReplacements, refusedCreations]) {
    assert.deepEqual(
      results.map(({ status, code, field, id }) => ({ status, code, field, id })),
      holders.answers.map(({ id }) => ({ status: 409, code: 'conflict', field: 'customerNumber', id })),
    );
  }
});

test('a large cascade is deleted by about as many statements as a small one, and restored by a few for each hundred', {
  skip,
}, async () => {
  const countBoth = async (plants: number) => {
    const customerId = await service.createCustomer();
    const siteId = (await service.post('/customer/site', validSite(customerId))).json().id;
    const plant = (index: number) => ({
      type: 'plant',
      data: { siteId, botanicalName: 'Yucca', labelCode: `${plants}-${index}` },
    });
    const lines = Array.from({ length: plants }, (_, index) => JSON.stringify(plant(index)));
    assert.equal((await sendImport(target, [lines.join('\n')])).summary.created, plants);
    const path = `/customers/${customerId}`;
    const dryRun = await countStatements(() => service.delete(`${path}?cascade=true&dryRun=true`));
    assert.equal(dryRun.result.json().deleted[0].ids.length, plants);
    assert.deepEqual(
      dryRun.texts.filter((text) => /\bdelete from\b/i.test(text)),
      [],
      'decided, not written',
    );
    const deletion = await countStatements(() => service.delete(`${path}?cascade=true`));
    const restoration = await countStatements(() => service.post(`${path}/restore`, {}));
    assert.ok(deletion.texts.some((text) => /\bdelete from\b/i.test(text)));
    assert.equal(restoration.result.json().restored.at(-1).ids.length, plants);
    return [deletion.statements, restoration.statements];
  };
  const [few, many] = [await countBoth(2), await countBoth(1500)];
  const counts = `${few.join(', ')} and ${many.join(', ')}`;
  // A new connection, which the pool opens when it likes, takes a few of its own.
  for (const count of [...few, many[0]!]) assert.ok(count > 8 && count <= 25, counts);
  assert.ok(many[1]! <= 25 + 3 * 15, counts);
});

test('a page of the attention list, its overview and a dry run look at all checks by one statement', {
  skip,
}, async () => {
  const customerId = await service.createCustomer();
  const nowhere = { ...validSite(customerId), validUntil: '2020-01-01', contractId: randomUUID() };
  for (const name of ['Foyer', 'Bar']) await service.post('/customer/site', { ...nowhere, name });
  const person = await createPerson(service);
  const reads = (texts: string[]) => texts.filter((text) => /\bAS subject\b/.test(text)).length;

  const page = await countStatements(() => service.get('/attention?limit=2'));
  assert.equal(page.result.json().data.length, 2);
  const last = await countStatements(() =>
    service.get(`/attention?limit=500&cursor=${page.result.json().nextCursor}`),
  );
  assert.equal(last.result.json().nextCursor, null);
  const overview = await countStatements(() => person.call('GET', '/attention/overview'));
  const { data, count: found, isComplete } = overview.result.json();
  assert.deepEqual([data.length > 2, found >= data.length, isComplete], [true, true, true]);
  const left = await countStatements(() => person.call('GET', '/attention/left'));
  const dryRun = await countStatements(() => service.post('/customer/site?dryRun=true', nowhere));
  assert.ok(dryRun.result.json().attention.length >= 2, dryRun.result.body);
  for (const { texts } of [page, last, overview, left, dryRun]) assert.equal(reads(texts), 1);
});

test('changes of very large objects are sent in pieces, each changed once', { skip }, async () => {
  const tenant = await service.createTenant();
  const own = { ...target, key: tenant.key };
  const customerId = await service.createCustomer({}, { headers: { apikey: tenant.key } });
  const note = 'x'.repeat(900);
  const openingHours = Array.from({ length: 100 }, () => ({ note }));
  const lineOf = (data: object) => (_: unknown, index: number) => ({
    type: 'site',
    action: 'merge',
    data: { externalId: `large-${index}`, ...data },
  });
  const large = Array.from({ length: 40 }, lineOf({ ...validSite(customerId), openingHours }));
  assert.equal((await sendImport(own, large)).summary.created, large.length);
  const lengths: number[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
    const [{ name = '', values = [] }] = parameters as [pg.QueryConfig];
    if (name === 'update site') lengths.push(String(values[0]).length);
    return Reflect.apply(query, this, parameters);
  } as typeof query;
  try {
    const small = Array.from({ length: large.length }, lineOf({ comment: 'Seen' }));
    assert.equal((await sendImport(own, small)).summary.replaced, large.length);
  } finally {
    pg.Client.prototype.query = query;
  }
  assert.ok(lengths.length >= 4 && lengths.every((length) => length < 2 ** 20 + 200_000), String(lengths));
  const { rows } = await service.owner.query(
    `SELECT version, count(*)::integer AS count FROM site WHERE tenant_id = $1 AND comment = 'Seen' GROUP BY version`,
    [tenant.tenantId],
  );
  assert.deepEqual(rows, [{ version: 2, count: large.length }]);
});
