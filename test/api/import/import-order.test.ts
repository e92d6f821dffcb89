// An import is its lines sent one by one, only faster. Random lines over a few objects are sent both ways.
//
// One by one, a line that lacks its owner is sent again after each line that is stored: an import lets it wait. The same
// holds for a deletion with dependants, among lines that arrive together.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { untilLocked } from '../../helpers/locks.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress, validCustomer } from '../../helpers/service.ts';
import { readStored } from '../../helpers/stored-by-name.ts';
import { type Answer, openImport, sendImport } from './import-client.ts';

const service = await startService();
const { createTenant, get } = service;
const port = await listen(service.app);

interface Sent {
  type: string;
  action?: string;
  data: Record<string, unknown>;
  [member: string]: unknown;
}

/** With the id of an object that was there at the start in place of "id of …". */
function withIds(line: Sent, ids: ReadonlyMap<string, string>): Sent {
  const { id, ...data } = line.data;
  return id === undefined
    ? line
    : { ...line, data: { id: ids.get(String(id).slice('id of '.length)), ...data } };
}

const start: Sent[] = [
  { type: 'customer', data: { ...validCustomer, externalId: 'K-1', customerNumber: '1' } },
  { type: 'customer', data: { ...validCustomer, externalId: 'K-2' } },
  { type: 'customer', data: { ...validCustomer, externalId: 'former K-1' } },
  { type: 'contact-person', data: { externalId: 'P-1', customerExternalId: 'K-1', lastName: 'Petersen' } },
  {
    type: 'site',
    data: {
      ...siteBody('K-1'),
      externalId: 'S-1',
      contactPersonExternalId: 'P-1',
      serviceRecordRecipientExternalId: 'K-3',
    },
  },
];

function siteBody(customerExternalId: string) {
  const site = { name: 'Lobby', address: validAddress, needsAppointment: true, hasKey: false };
  return { ...site, customerExternalId };
}

async function startBusiness() {
  const { key, tenantId } = await createTenant();
  const { results } = await sendTogether(key, start);
  const ids = new Map<string, string>(results.map(({ externalId, id }) => [externalId, id]));
  const merged = { ids: [ids.get('former K-1')] };
  await service.post(`/customers/${ids.get('K-1')}/merge`, merged, { headers: { apikey: key } });
  return { key, tenantId, ids };
}

/** In one piece: lines that are close together are written together. */
function sendTogether(key: string, lines: readonly Sent[], query = '') {
  return sendImport({ port, key, query }, [lines.map((line) => JSON.stringify(line)).join('\n')]);
}

function isWaiting({ code, errors = [] }: Answer): boolean {
  const lacksOwner = errors.some(
    (error: Answer) => error.code === 'reference_not_found' && error.field.endsWith('ExternalId'),
  );
  return lacksOwner || code === 'has_dependants';
}

async function sendOneByOne(key: string, lines: readonly Sent[]): Promise<Answer[]> {
  const results: Answer[] = [];
  const send = async (index: number) => {
    const { results: answers } = await sendTogether(key, [lines[index]!]);
    results[index] = answers[0];
  };
  for (const index of lines.keys()) {
    await send(index);
    let isStored = results[index].status < 300;
    while (isStored) {
      isStored = false;
      for (const waiting of results.keys()) {
        if (isStored || !isWaiting(results[waiting])) continue;
        await send(waiting);
        isStored = results[waiting].status < 300;
      }
    }
  }
  return results;
}

function faultsOf({ status, code, field, errors = [] }: Answer): unknown {
  return { status, code, field, errors: errors.map((error: Answer) => [error.field, error.code]) };
}

async function readAll(key: string, path: string): Promise<Answer[]> {
  return (await get(path, { headers: { apikey: key } })).json().data;
}

const customerName = fc.constantFrom('K-1', 'K-2', 'K-3', 'former K-1');
const siteName = fc.constantFrom('S-1', 'S-2');
/** K-3 can be a customer or a contact person, and the site at the start waits for either. */
const personName = fc.constantFrom('P-1', 'P-2', 'K-3');
const comment = fc.constantFrom('first', 'second', 'third', undefined);
const customerNumber = fc.constantFrom(undefined, undefined, '1', '2');
const writing = fc.constantFrom('replace', 'replace', 'merge', 'create');
const flag = fc.constantFrom(false, false, true);
const version = fc.constantFrom(undefined, undefined, 1, 2);

const lineArbitrary = (mayWaitForDependants: boolean): fc.Arbitrary<Sent> =>
  fc.oneof(
    fc
      .record({ action: writing, externalId: customerName, comment, customerNumber })
      .map(
        ({ action, ...data }): Sent => ({ type: 'customer', action, data: { ...validCustomer, ...data } }),
      ),
    fc
      .record({
        action: writing,
        externalId: siteName,
        customer: customerName,
        comment,
        person: fc.option(personName),
      })
      .map(
        ({ action, customer, person, ...data }): Sent => ({
          type: 'site',
          action,
          data: { ...siteBody(customer), ...data, ...(person && { contactPersonExternalId: person }) },
        }),
      ),
    fc.record({ action: writing, externalId: personName, customer: customerName, comment }).map(
      ({ action, customer, ...data }): Sent => ({
        type: 'contact-person',
        action,
        data: { lastName: 'Petersen', customerExternalId: customer, ...data },
      }),
    ),
    fc.record({ name: fc.constantFrom('K-1', 'K-2', 'former K-1'), comment, version, isRenamed: flag }).map(
      ({ name, comment, version, isRenamed }): Sent => ({
        type: 'customer',
        action: 'merge',
        version,
        data: { id: `id of ${name}`, comment, ...(isRenamed && { externalId: 'K-3' }) },
      }),
    ),
    fc.record({ comment, version, customer: fc.option(customerName), person: fc.option(personName) }).map(
      ({ comment, version, customer, person }): Sent => ({
        type: 'site',
        action: 'merge',
        version,
        data: {
          id: 'id of S-1',
          comment,
          ...(customer && { customerExternalId: customer }),
          ...(person && { contactPersonExternalId: person }),
        },
      }),
    ),
    fc
      .record({ externalId: siteName, comment })
      .map(({ ...data }): Sent => ({ type: 'site', action: 'merge', data })),
    fc
      .record({
        name: fc.constantFrom('K-1', 'K-2', 'K-3', 'former K-1', 'P-1', 'P-2', 'S-1', 'S-2'),
        byId: flag,
        cascade: flag,
      })
      .map(
        ({ name, byId, cascade }): Sent => ({
          type: { K: 'customer', f: 'customer', P: 'contact-person', S: 'site' }[name[0]!]!,
          action: 'delete',
          cascade: cascade || !mayWaitForDependants,
          // A deletion that waits is not tried again when its object gets another name.
          data:
            (byId && ['P-1', 'S-1'].includes(name)) ||
            ((byId || !cascade) && ['K-1', 'K-2', 'former K-1'].includes(name))
              ? { id: `id of ${name}` }
              : { externalId: name },
        }),
      ),
  );

async function compare(lines: readonly Sent[], filling: readonly Sent[] = []): Promise<void> {
  const single = await startBusiness();
  const expected = await sendOneByOne(
    single.key,
    lines.map((line) => withIds(line, single.ids)),
  );
  const stored = await readStored(service, single.key);

  const each = await startBusiness();
  const { results } = await sendTogether(each.key, [
    ...filling,
    ...lines.map((line) => withIds(line, each.ids)),
  ]);
  const own = results.filter(({ line }) => line > filling.length);
  own.sort((one, other) => one.line - other.line);
  assert.deepEqual(own.map(faultsOf), expected.map(faultsOf));
  if (filling.length === 0) assert.deepEqual(await readStored(service, each.key), stored);
  else assert.deepEqual((await readStored(service, each.key)).objects, stored.objects);

  const all = await startBusiness();
  const sound = lines
    .filter((_, index) => expected[index].status < 300)
    .map((line) => withIds(line, all.ids));
  const together = await sendTogether(all.key, [...filling, ...sound], '?mode=all-or-nothing');
  assert.deepEqual(
    together.results.filter(({ status }) => status >= 300),
    [],
  );
  if (filling.length === 0) assert.deepEqual(await readStored(service, all.key), stored);
  else assert.deepEqual((await readStored(service, all.key)).objects, stored.objects);
}

test('random lines have the same results together as one by one', async () => {
  const lines = fc.array(lineArbitrary(true), { minLength: 2, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(lines, (some) => compare(some)),
    { numRuns: 12, endOnFailure: true },
  );
});

test('random lines have the same results together as one by one, also over the border of what is written together', async () => {
  const lines = fc.array(lineArbitrary(false), { minLength: 4, maxLength: 9 });
  const before = fc.integer({ min: 491, max: 499 });
  await fc.assert(
    fc.asyncProperty(lines, before, (some, count) => {
      const filling = Array.from({ length: count }, () => ({
        type: 'employee',
        data: { firstName: 'Jonas', lastName: 'Harms' },
      }));
      return compare(some, filling);
    }),
    { numRuns: 3, endOnFailure: true },
  );
});

test('of two merges of one object by its id, the later one wins, also over the border', async () => {
  const { key, ids } = await startBusiness();
  const merge = (text: string) => ({
    type: 'site',
    action: 'merge',
    data: { id: ids.get('S-1'), comment: text },
  });
  const filling = Array.from({ length: 499 }, () => ({ type: 'customer', data: validCustomer }));
  const { summary } = await sendTogether(key, [...filling, merge('first'), merge('second')]);
  assert.deepEqual([summary.created, summary.replaced], [499, 2]);
  assert.equal((await readAll(key, '/sites'))[0].comment, 'second');
});

test('what a line has deleted cannot be merged into by its id', async () => {
  const { key, ids } = await startBusiness();
  const { results } = await sendTogether(key, [
    { type: 'site', action: 'delete', data: { externalId: 'S-1' } },
    { type: 'site', action: 'merge', data: { id: ids.get('S-1'), comment: 'lost' } },
  ]);
  assert.deepEqual(
    results.map(({ status, code }) => code ?? status),
    [200, 'not_found'],
  );
});

test('a name is brought after what waited for it and is gone, and before what finds it', async () => {
  const person = {
    type: 'contact-person',
    data: { externalId: 'P-2', customerExternalId: 'K-1', lastName: 'Harms' },
  };
  const waitFor = (externalId: string) => ({
    type: 'site',
    action: 'merge',
    data: { externalId: 'S-1', contactPersonExternalId: externalId },
  });
  const remove = (type: string, externalId: string) => ({ type, action: 'delete', data: { externalId } });
  await compare([waitFor('P-2'), remove('site', 'S-1'), person]);
  await compare([remove('contact-person', 'P-1'), waitFor('P-1'), person]);
});

test('a name does not link what has stopped to wait for it', async () => {
  const customer = { type: 'customer', data: { ...validCustomer, externalId: 'K-3' } };
  await compare([{ type: 'site', data: { ...siteBody('K-1'), externalId: 'S-1' } }, customer]);
  await compare([{ type: 'site', action: 'delete', data: { externalId: 'S-1' } }, customer]);
});

test('what waits for a name gets the first object that has it, of either resource', async () => {
  const customer = { type: 'customer', data: { ...validCustomer, externalId: 'K-3' } };
  const person = {
    type: 'contact-person',
    data: { externalId: 'K-3', customerExternalId: 'K-1', lastName: 'Harms' },
  };
  await compare([person, customer]);
  await compare([customer, person]);
});

test('a deletion takes along what moved below its object in the same import', async () => {
  await compare([
    { type: 'site', action: 'merge', data: { externalId: 'S-1', customerExternalId: 'K-2' } },
    { type: 'customer', action: 'delete', cascade: true, data: { externalId: 'K-2' } },
  ]);
});

test('an object that two names find waits once', async () => {
  const person = { lastName: 'Petersen', customerExternalId: 'K-1', externalId: 'K-3' };
  await compare([
    { type: 'site', data: { ...siteBody('K-1'), externalId: 'S-1' } },
    { type: 'contact-person', data: person },
    { type: 'site', action: 'merge', data: { id: 'id of S-1', contactPersonExternalId: 'K-3' } },
  ]);
});

test('a line that waits keeps its place among lines that are written in smaller parts', async () => {
  const person = (action: string) => ({
    ...{ type: 'contact-person', action },
    data: { lastName: 'Petersen', customerExternalId: 'K-3', externalId: 'P-2' },
  });
  await compare([
    person('replace'),
    // Nobody has read what belongs to the site when its new customer is deleted.
    { type: 'site', action: 'merge', data: { externalId: 'S-1', customerExternalId: 'K-2' } },
    { type: 'customer', action: 'merge', data: { id: 'id of K-1', externalId: 'K-3' } },
    person('create'),
    { type: 'customer', action: 'delete', cascade: true, data: { externalId: 'K-2' } },
  ]);
});

test('a name links what is below an object that is to be deleted', async () => {
  const contact = { type: 'contact-person', data: { lastName: 'Harms', customerExternalId: 'K-2' } };
  await compare([
    { ...contact, data: { ...contact.data, externalId: 'K-3' } },
    { type: 'customer', action: 'delete', cascade: true, data: { externalId: 'former K-1' } },
  ]);
});

test('a part that a race takes back comes before what finds its object by a former name', async () => {
  const { key, tenantId, ids } = await startBusiness();
  const opened = openImport({ port, key });
  const merge = (data: object) => ({ type: 'customer', action: 'merge', data });
  const first = [
    merge({ id: ids.get('K-1'), comment: 'first' }),
    { type: 'contact-person', data: { externalId: 'P-2', customerExternalId: 'K-2', lastName: 'Harms' } },
    { type: 'site', data: { ...siteBody('K-2'), externalId: 'S-2', contactPersonExternalId: 'P-2' } },
  ];
  await service.owner.query('BEGIN');
  await service.owner.query(
    `INSERT INTO contact_person (tenant_id, id, customer_id, last_name, external_id) VALUES ($1, $2, $3, 'Harms', 'P-2')`,
    [tenantId, randomUUID(), ids.get('K-2')],
  );
  opened.send(first.map((line) => JSON.stringify(line)).join('\n'));
  await untilLocked(service.owner);
  opened.send(merge({ externalId: 'former K-1', comment: 'second' }));
  await untilLocked(service.owner, 2);
  // The site stands on a contact person that somebody else has stored first.
  await service.owner.query('COMMIT');
  opened.end();
  const results = (await opened.rest()).slice(0, -1);
  assert.deepEqual(
    results.map(({ line, status }) => [line, status]),
    [
      [1, 200],
      [2, 200],
      [3, 201],
      [4, 200],
    ],
  );
  const customers = await readAll(key, '/customers');
  assert.equal(customers.find(({ externalId }) => externalId === 'K-1').comment, 'second');
});

test('a day that one part frees is free for the next part', async () => {
  const { key, tenantId } = await startBusiness();
  const appointment = (externalId: string, plannedDate: string) => {
    const data = { externalId, siteExternalId: 'S-1', date: '2026-12-23', plannedDate };
    return { type: 'appointment', data };
  };
  await sendTogether(key, [appointment('A-1', '2026-12-24')]);
  const opened = openImport({ port, key });
  await service.owner.query('BEGIN');
  await service.owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  opened.send(appointment('A-1', '2026-12-25'));
  await untilLocked(service.owner);
  opened.send(appointment('A-2', '2026-12-24'));
  // The next part is decided by now, if it does not wait for the one before it.
  for (let count = 0; count < 50; count++) await readAll(key, '/sites');
  await service.owner.query('COMMIT');
  opened.end();
  const results = (await opened.rest()).slice(0, -1);
  assert.deepEqual(
    results.map(({ status }) => status),
    [200, 201],
  );
});
