// Findings that are kept in memory: after any changes, what they say equals a reading of all rows.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Pace } from '../../../core/pace.ts';
import { attentionChecksOf } from '../../../server/engine/attention/attention-checks.ts';
import { countEntries } from '../../../server/features/attention/attention-counts.ts';
import { type Pass, passesOf } from '../../../server/features/attention/attention-passes.ts';
import { firstPlace, type Place, readPart } from '../../../server/features/attention/attention-scan.ts';
import { KeptFindings } from '../../../server/features/attention/kept-findings.ts';
import { countsOf, pageOf } from '../../../server/features/attention/listed-findings.ts';
import { InterruptedPages } from '../../../server/http/interrupted-pages.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson } from '../../helpers/office.ts';
import { countRowsRead } from '../../helpers/rows-read.ts';
import { startService, validAddress, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const log = { warn: (...noted: unknown[]) => assert.fail(JSON.stringify(noted)) };
const checks = resources.flatMap(attentionChecksOf);
const wholeList = passesOf(checks);
const lists = [
  wholeList,
  passesOf(checks, ({ resource }) => resource === 'site'),
  passesOf(checks, ({ code }) => code === 'probable_duplicate'),
  passesOf(checks, ({ code }) => code === 'no_employee' || code === 'closed_visit'),
];

function readerOf(tenantId: string) {
  const deadline = performance.now() + 60_000;
  return { database: service.database, tenantId, log, deadline, pace: new Pace() };
}

async function demandEqual(kept: KeptFindings, tenantId: string, lists: readonly Pass[][]): Promise<void> {
  const found = await kept.read(readerOf(tenantId));
  assert.ok(found, 'the findings are kept');
  for (const passes of lists) {
    const whole = await readPart(readerOf(tenantId), passes, firstPlace);
    assert.deepEqual(pageOf(found, passes, { limit: 20_000 }), whole);
    const counts = await countEntries(readerOf(tenantId), passes, '', new InterruptedPages());
    assert.deepEqual(countsOf(found, passes), counts);
  }
}

async function startFoyers(sites: number) {
  const { key, tenantId } = await service.createTenant();
  const headers = { apikey: key };
  const customerId = await service.createCustomer({}, { headers });
  const person = await service.post('/employee', { firstName: 'Ida', lastName: 'Voss' }, { headers });
  for (let number = 0; number < sites; number++) {
    const name = number % 4 === 0 ? 'Foyer' : `Halle ${number}`;
    await service.post('/customer/site', { ...validSite(customerId), name }, { headers });
  }
  return { tenantId, headers, customerId, employeeId: person.json().id };
}

const week = [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' }];
const sunday = [{ frequency: 'WEEKLY', byDay: ['SUNDAY'] }];
const anyOf = fc.constantFrom;
const change = fc.record({
  kind: anyOf('customer', 'site', 'site', 'site', 'employee', 'contact-person'),
  action: anyOf(
    ...[
      'create',
      'create',
      'create',
      'patch',
      'patch',
      'delete',
      'restore',
      'merge',
      'undo',
      'leave',
      'reopen',
    ],
  ),
  target: fc.nat(),
  other: fc.nat(),
  name: anyOf('Foyer', 'foyer', 'Lobby'),
  zipCode: anyOf('20095', '99999'),
  isActive: fc.boolean(),
  refers: anyOf('nobody', 'employee', 'gone', 'unknown', 'awaited'),
  intervals: anyOf(undefined, sunday, [{ frequency: 'SOMETIMES' }]),
  validUntil: anyOf(undefined, '2020-01-01', '2999-01-01'),
  externalId: anyOf(undefined, 'A', 'B'),
  isLookedAt: anyOf(true, false, false),
  readsAll: fc.nat(40),
});
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

async function startBusiness() {
  const { key, tenantId } = await service.createTenant();
  const { call } = await createPerson(service, { tenantId });
  const headers = { apikey: key };
  const ids: Record<string, string[]> = { customer: [], site: [], employee: [], 'contact-person': [] };
  const merges: string[] = [];
  const pick = (kind: string, number: number) => ids[kind]![number % ids[kind]!.length] ?? randomUUID();
  const bodyOf = (one: Change): Record<string, unknown> => {
    const address = { ...validAddress, zipCode: one.zipCode, city: 'Nirgendheim' };
    const { name, other, externalId } = one;
    const customerId = pick('customer', other % 3);
    if (one.kind === 'customer') return { companyName: name, address };
    if (one.kind === 'employee')
      return { firstName: 'Ida', lastName: name, active: one.isActive, externalId };
    if (one.kind === 'contact-person') return { customerId, lastName: name, externalId };
    const references: Record<string, object> = {
      nobody: {},
      employee: {
        assignedEmployeeId: pick('employee', other),
        contactPersonId: pick('contact-person', other),
      },
      gone: { assignedEmployeeId: ids.employee![0], serviceRecordRecipientId: ids.customer![0] },
      unknown: { contactPersonId: randomUUID() },
      awaited: { assignedEmployeeExternalId: 'A', contactPersonExternalId: 'B' },
    };
    return {
      ...{ ...validSite(customerId), name, address, openingHours: week, ...references[one.refers] },
      ...{ attendingIntervals: one.intervals, validUntil: one.validUntil },
    };
  };
  const entryOf = async (number: number) => {
    const { data } = (await service.get('/attention?limit=500', { headers })).json();
    return data[number % data.length];
  };
  const left: object[] = [];
  const apply = async (one: Change): Promise<{ statusCode: number } | undefined> => {
    const { kind, action, target, other } = one;
    const id = pick(kind, target);
    const { path, collection } = resources.find(({ name }) => name === kind)!;
    if (action === 'create') {
      const created = await service.post(path, bodyOf(one), { headers });
      if (created.statusCode === 201) ids[kind]!.push(created.json().id);
      return created;
    }
    if (action === 'patch') {
      const { externalId: _, ...body } = bodyOf(one);
      return service.patch(`/${collection}/${id}`, body, { headers });
    }
    if (action === 'delete') return service.delete(`/${collection}/${id}?cascade=true`, { headers });
    if (action === 'restore') return service.post(`/${collection}/${id}/restore`, undefined, { headers });
    if (action === 'merge') {
      const merged = await service.post(
        `/${collection}/${id}/merge`,
        { ids: [pick(kind, other)] },
        { headers },
      );
      const { data = [] } = (await call('GET', '/imports')).json();
      if (merged.statusCode === 200) merges.push(...data.slice(0, 1).map((run: { id: string }) => run.id));
      return merged;
    }
    if (action === 'undo')
      return merges.length > 0 ? call('POST', `/imports/${merges.pop()}/undo`) : undefined;
    if (action === 'reopen')
      return left.length > 0 ? call('POST', '/attention/reopened', left.pop()) : undefined;
    const entry = await entryOf(target);
    if (!entry) return undefined;
    const named = { resource: entry.resource, field: entry.field, code: entry.code };
    // Also a member of a group that does not stand for it.
    left.push({ ...named, id: entry.duplicateIds?.at(other % 2 ? 0 : 99) ?? entry.id });
    return call('POST', '/attention/left', left.at(-1));
  };
  return { tenantId, headers, ids, apply };
}

test('whatever changes, the kept list and counts equal those that all rows give', async () => {
  const { tenantId, apply } = await startBusiness();
  const kept = new KeptFindings(resources);
  await kept.readAll(readerOf(tenantId));
  const statuses = new Set<string>();
  for (const one of fc.sample(change, { seed: 7, numRuns: 120 })) {
    // Rows are read while they change.
    const reading = one.readsAll === 0 ? kept.readAll(readerOf(tenantId)) : undefined;
    const response = await apply(one);
    await reading;
    if (response) statuses.add(`${one.action} ${response.statusCode}`);
    if (one.isLookedAt) await demandEqual(kept, tenantId, [wholeList]);
  }
  await demandEqual(kept, tenantId, lists);
  const done = [
    'create 201',
    'patch 200',
    'delete 200',
    'restore 200',
    'merge 200',
    'leave 204',
    'reopen 204',
  ];
  assert.deepEqual(new Set(done).difference(statuses), new Set());
});

test('former and new duplicates of a changed object are looked at, too', async () => {
  const { tenantId, headers } = await startFoyers(12);
  const kept = new KeptFindings(resources);
  await kept.readAll(readerOf(tenantId));
  const { data } = (await service.get('/sites?sort=name&limit=3', { headers })).json();
  for (const { id } of data)
    for (const name of ['Halle 1', 'Foyer', 'Halle 2']) {
      await service.patch(`/sites/${id}`, { name }, { headers });
      await demandEqual(kept, tenantId, [wholeList]);
    }
});

test('pages of the kept list are those of the database', async () => {
  const { tenantId, headers, customerId } = await startFoyers(8);
  const kept = new KeptFindings(resources);
  await kept.readAll(readerOf(tenantId));
  await service.post('/customer/site', { ...validSite(customerId), validUntil: '2020-01-01' }, { headers });
  const found = await kept.read(readerOf(tenantId));
  for (let from: Place | undefined = firstPlace; from; ) {
    const page = pageOf(found!, wholeList, { from, limit: 3 });
    assert.deepEqual(page, await readPart(readerOf(tenantId), wholeList, from, 3));
    from = page.next;
  }
});

test('after one change few rows are read, and all rows after many, another day or an emptied business', async () => {
  const { tenantId, headers, customerId, employeeId } = await startFoyers(150);
  const kept = new KeptFindings(resources);
  const look = () => kept.read(readerOf(tenantId));
  assert.equal(await look(), undefined, 'nothing was read yet');
  await kept.readAll(readerOf(tenantId));

  const rowsRead = await countRowsRead(service);
  await service.post('/customer/site', { ...validSite(customerId), name: 'Lobby' }, { headers });
  await service.patch(`/employees/${employeeId}`, { phone: '040 1' }, { headers });
  assert.ok(await look());
  const ofSites = [...(await rowsRead())].filter(([name]) => /^site/.test(name));
  assert.ok(
    ofSites.every(([, rows]) => rows < 75),
    JSON.stringify(ofSites),
  );

  const other = await startFoyers(1);
  assert.equal(await kept.read(readerOf(other.tenantId)), undefined, 'each business has its own');
  await service.owner.query(
    `UPDATE journal SET at = '2020-01-01' FROM journal_head AS head
     WHERE head.tenant_id = $1 AND journal.tenant_id = $1 AND position = last_position`,
    [tenantId],
  );
  assert.equal(await look(), undefined, 'another entry at the position, as in a restored database');
  // The look before has begun to read all rows.
  await until('the findings are kept again', async () => (await look()) !== undefined);
  await service.owner.query(
    'UPDATE journal_head SET last_position = last_position + 1 WHERE tenant_id = $1',
    [tenantId],
  );
  assert.equal(await look(), undefined, 'a position without an entry');
  await kept.readAll(readerOf(tenantId));
  await service.owner.query(
    `INSERT INTO journal (tenant_id, position, resource, resource_id, action, version, actor)
     SELECT $1, last_position + number, 'site', gen_random_uuid(), 'CHANGED', 1, 'demo'
     FROM journal_head, generate_series(1, 1001) AS number WHERE tenant_id = $1`,
    [tenantId],
  );
  await service.owner.query(
    'UPDATE journal_head SET last_position = last_position + 1001 WHERE tenant_id = $1',
    [tenantId],
  );
  assert.equal(await look(), undefined, 'many changes');
  await kept.stop();
});
