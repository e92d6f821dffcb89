import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Pace } from '../../../core/pace.ts';
import { isOverloaded } from '../../../server/database/errors.ts';
import { attentionChecksOf } from '../../../server/engine/attention/attention-checks.ts';
import type { ApiError } from '../../../server/errors.ts';
import { type Counting, countEntries } from '../../../server/features/attention/attention-counts.ts';
import { type Interruption, readPage } from '../../../server/features/attention/attention-page.ts';
import { passesOf } from '../../../server/features/attention/attention-passes.ts';
import { firstPlace } from '../../../server/features/attention/attention-scan.ts';
import { InterruptedPages } from '../../../server/http/interrupted-pages.ts';
import { resources } from '../../../server/resources/index.ts';
import { holdTable } from '../../helpers/locks.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validSite } from '../../helpers/service.ts';

const service = await startService();

async function startTenant() {
  const { tenantId, key } = await service.createTenant();
  const headers = { apikey: key };
  const position = { lat: 53.5, lng: 10 };
  const address = { ...validAddress, location: position };
  const customerId = await service.createCustomer({ address }, { headers });
  const person = await createPerson(service, { tenantId });
  const createSite = async (body: object) => {
    const site = { ...validSite(customerId), address, ...body };
    return (await service.post('/customer/site', site, { headers })).json().id as string;
  };
  const codes = async () => {
    const { data } = (await service.get('/attention', { headers })).json();
    return data.map(({ id, code }: { id: string; code: string }) => `${id} ${code}`) as string[];
  };
  const left = async () => (await person.call('GET', '/attention/left')).json().data;
  return { tenantId, headers, customerId, person, createSite, codes, left };
}

const passes = passesOf(resources.flatMap(attentionChecksOf));

/** Counts in requests whose time is up after one statement of `maxRows` rows. */
async function countInParts(tenantId: string, maxRows: number) {
  const reader = {
    database: service.database,
    tenantId,
    deadline: performance.now() + 600_000,
    pace: new Pace(),
    log: console,
  };
  const interrupted = new InterruptedPages<Counting>();
  for (let requests = 1; ; requests++) {
    try {
      const counts = await countEntries(reader, passes, '', interrupted, { mustEnd: () => true, maxRows });
      return { requests, counts };
    } catch (error) {
      assert.equal((error as ApiError).code, 'overloaded');
    }
  }
}

test('an entry that is left as it is comes back when it finds something else, or when somebody says so', async () => {
  const { headers, person, createSite, codes, left } = await startTenant();
  const id = await createSite({ validUntil: '2020-01-01' });
  const entry = { resource: 'site', id, field: 'validUntil', code: 'validity_ended' };
  assert.deepEqual(await codes(), [`${id} validity_ended`]);

  const leaving = await person.call('POST', '/attention/left', { ...entry, reason: ' Saisonbetrieb ' });
  assert.equal(leaving.statusCode, 204, leaving.body);
  assert.deepEqual(await codes(), []);
  assert.deepEqual((await person.call('GET', '/attention/counts')).json().data, []);
  const [kept] = await left();
  assert.deepEqual([kept.id, kept.reason, kept.leftBy], [id, 'Saisonbetrieb', 'Anke Petersen']);
  assert.ok(Date.parse(kept.leftAt) <= Date.now());

  await service.patch(`/sites/${id}`, { name: 'Other name' }, { headers });
  assert.deepEqual(await codes(), [], 'another field says nothing about the finding');
  await service.patch(`/sites/${id}`, { validUntil: '2021-01-01' }, { headers });
  assert.deepEqual(await codes(), [`${id} validity_ended`]);
  assert.deepEqual(await left(), []);

  assert.equal((await person.call('POST', '/attention/left', entry)).statusCode, 204);
  assert.equal((await left())[0].reason, null);
  assert.equal((await person.call('POST', '/attention/reopened', entry)).statusCode, 204);
  assert.deepEqual(await codes(), [`${id} validity_ended`]);
  const counts = (await person.call('GET', '/attention/counts')).json().data;
  assert.deepEqual(counts, [{ resource: 'site', code: 'validity_ended', count: 1 }]);
});

test('counts go on where the time was up, and add up to all', async () => {
  const { tenantId, createSite, person } = await startTenant();
  for (const weekday of ['SUNDAY', 'SATURDAY'])
    await createSite({
      name: weekday,
      openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' }],
      attendingIntervals: [{ frequency: 'WEEKLY', byDay: [weekday] }],
    });
  const { requests, counts } = await countInParts(tenantId, 1);
  // One request judges both sites, two count them, and a last one finds no more.
  assert.equal(requests, 1 + 2 + 1);
  assert.deepEqual(counts, [
    { resource: 'site', code: 'no_employee', count: 2 },
    { resource: 'site', code: 'closed_visit', count: 2 },
  ]);
  assert.deepEqual((await person.call('GET', '/attention/counts')).json(), { data: counts });
});

test('thousands of objects are counted in pieces, which add up', async () => {
  const { tenantId, customerId, person } = await startTenant();
  // Pairs of duplicates, and sites past their validity.
  await service.owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number, address_zip_code,
       address_city, status)
     SELECT $1, ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, 'Kunde ' || number / 2, 'Weg', '1',
       '20095', 'Hamburg', 'ACTIVE' FROM generate_series(2, 6001) AS number`,
    [tenantId],
  );
  await service.owner.query(
    `INSERT INTO site (tenant_id, id, customer_id, name, address_street_name, address_house_number, address_zip_code,
       address_city, needs_appointment, has_key, opening_hours, opening_hours_is_known, attending_intervals,
       attending_intervals_is_known, valid_until, time_zone)
     SELECT $1, ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, $2, 'Ort ' || number, 'Weg', '1', '20095',
       'Hamburg', false, false, '[]', true, '[]', true, '2020-01-01', 'Europe/Berlin' FROM generate_series(1, 6000) AS number`,
    [tenantId, customerId],
  );
  const { requests, counts } = await countInParts(tenantId, 4000);
  assert.ok(requests >= 2, String(requests));
  assert.deepEqual(counts, [
    { resource: 'customer', code: 'probable_duplicate', count: 3000 },
    { resource: 'site', code: 'validity_ended', count: 6000 },
  ]);
  assert.deepEqual((await person.call('GET', '/attention/counts')).json(), { data: counts });
});

test('a page that is out of time with nothing found is rejected, and its retry goes on behind it', async () => {
  const { tenantId, createSite } = await startTenant();
  for (const name of ['A', 'B', 'C']) await createSite({ name });
  const last = await createSite({ name: 'D', validUntil: '2020-01-01' });
  const interrupted = new InterruptedPages<Interruption>();
  const deadline = performance.now() + 600_000;
  const reader = { database: service.database, tenantId, deadline, pace: new Pace(), log: console };
  const asked = { limit: 10, passes, from: firstPlace, filters: '' };
  // Time for one row: the customer, then one site after the other.
  const read = () => readPage(reader, asked, interrupted, { mustEnd: () => true, maxRows: 1 });
  for (let retry = 0; retry < 4; retry++) await assert.rejects(read(), { code: 'overloaded' });
  const { findings, next } = await read();
  assert.deepEqual([findings.map(({ id }) => id), next?.id], [[last], last]);
  await assert.rejects(read(), { code: 'overloaded' }, 'a page that was read begins again');
});

test('a statement that takes too long is sent again for half as many rows', async () => {
  const { tenantId, createSite } = await startTenant();
  const last = await createSite({ name: 'A', validUntil: '2020-01-01' });
  const asked = { limit: 10, passes, from: firstPlace, filters: '' };
  const pages = new InterruptedPages<Interruption>();
  const counts = new InterruptedPages<Counting>();
  const read = (ms: number) => {
    const deadline = performance.now() + ms;
    const reader = { database: service.database, tenantId, deadline, pace: new Pace(), log: console };
    return Promise.allSettled([
      readPage(reader, asked, pages, { maxRows: 400 }),
      countEntries(reader, passes, '', counts, { maxRows: 400 }),
    ]);
  };
  const held = await holdTable(service.owner, 'site');
  try {
    for (const rows of [200, 100, 100]) {
      for (const { reason } of (await read(1500)) as PromiseRejectedResult[]) assert.ok(isOverloaded(reason));
      const kept = pages.find(tenantId, JSON.stringify(['', firstPlace]));
      assert.deepEqual([kept, counts.find(tenantId, '')?.rows], [{ place: firstPlace, rows }, rows]);
    }
  } finally {
    await held.release();
  }
  const [page, count] = await read(600_000);
  assert.ok(page.status === 'fulfilled' && count.status === 'fulfilled');
  assert.deepEqual(
    page.value.findings.map(({ id }) => id),
    [last],
  );
  assert.equal(count.value.length, 1);
});

test('a visit on a closed day can be left, and comes back with other hours', async () => {
  const { headers, person, createSite, codes, left } = await startTenant();
  const employee = await service.post('/employee', { firstName: 'Ida', lastName: 'Voss' }, { headers });
  const hours = (dayOfWeek: string) => [{ dayOfWeek, opens: '08:00', closes: '17:00' }];
  const id = await createSite({
    attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['SUNDAY'] }],
    openingHours: hours('MONDAY'),
    assignedEmployeeId: employee.json().id,
  });
  const entry = { resource: 'site', id, field: 'attendingIntervals', code: 'closed_visit' };
  assert.deepEqual(await codes(), [`${id} closed_visit`]);
  const counts = async () => (await person.call('GET', '/attention/counts')).json().data;
  assert.deepEqual(await counts(), [{ resource: 'site', code: 'closed_visit', count: 1 }]);
  assert.equal((await person.call('POST', '/attention/left', entry)).statusCode, 204);
  assert.deepEqual([await codes(), await counts(), (await left()).length], [[], [], 1]);
  await service.patch(`/sites/${id}`, { openingHours: hours('TUESDAY') }, { headers });
  assert.deepEqual([await codes(), await left()], [[`${id} closed_visit`], []]);
  await service.patch(`/sites/${id}`, { openingHours: hours('SUNDAY') }, { headers });
  assert.deepEqual(await codes(), []);
  assert.equal((await person.call('POST', '/attention/left', entry)).statusCode, 404);
});

test('duplicates that are left come back with a third one', async () => {
  const { person, createSite, codes } = await startTenant();
  const ids = [await createSite({}), await createSite({})].sort();
  assert.deepEqual(await codes(), [`${ids[0]} probable_duplicate`]);
  const entry = { resource: 'site', id: ids[0], field: 'name', code: 'probable_duplicate' };
  assert.equal((await person.call('POST', '/attention/left', entry)).statusCode, 204);
  assert.deepEqual(await codes(), []);
  await createSite({});
  assert.deepEqual(await codes(), [`${ids[0]} probable_duplicate`]);
});

test('only listed entries can be left, by Verwaltung, in its own business', async () => {
  const { tenantId, person, createSite, codes } = await startTenant();
  const id = await createSite({ validUntil: '2020-01-01' });
  const entry = { resource: 'site', id, field: 'validUntil', code: 'validity_ended' };
  const care = await createPerson(service, { tenantId, role: 'PFLEGE' });
  assert.equal((await care.call('POST', '/attention/left', entry)).statusCode, 403);
  const stranger = (await startTenant()).person;
  for (const [asker, body, status] of [
    [stranger, entry, 404],
    [person, { ...entry, id: randomUUID() }, 404],
    [person, { ...entry, field: 'name' }, 404],
    [person, { ...entry, code: 'x' }, 400],
    [person, { ...entry, reason: 'x'.repeat(151) }, 400],
    [person, { ...entry, reason: 'NUL \0' }, 400],
  ] as const) {
    assert.equal(
      (await asker.call('POST', '/attention/left', body)).statusCode,
      status,
      JSON.stringify(body),
    );
  }
  assert.equal((await stranger.call('POST', '/attention/reopened', entry)).statusCode, 204);
  assert.deepEqual(await codes(), [`${id} validity_ended`]);
});

test('what was left of a deleted object is forgotten, and an erasure forgets every reason', async () => {
  const { tenantId, headers, customerId, person, createSite, left } = await startTenant();
  const leave = (id: string) =>
    person.call('POST', '/attention/left', {
      ...{
        resource: 'site',
        id,
        field: 'validUntil',
        code: 'validity_ended',
        reason: 'Petersen weiß Bescheid',
      },
    });
  const gone = await createSite({ name: 'A', validUntil: '2020-01-01' });
  const stays = await createSite({ name: 'B', validUntil: '2020-01-01' });
  await leave(gone);
  await service.delete(`/sites/${gone}`, { headers });
  await leave(stays);
  const { rows } = await service.owner.query('SELECT object_id FROM left_attention WHERE tenant_id = $1', [
    tenantId,
  ]);
  assert.deepEqual(rows, [{ object_id: stays }]);
  const contact = await service.post(
    '/customer/contact-person',
    { customerId, lastName: 'Petersen' },
    { headers },
  );
  const erasure = await service.delete(`/personal-data/${contact.json().id}`, { headers });
  assert.equal(erasure.statusCode, 204, erasure.body);
  assert.equal((await left())[0].reason, null);
});

test('all entries of one kind are left together, in parts, and come back together', async () => {
  const { tenantId, person, createSite, codes } = await startTenant();
  const attendingIntervals = [
    { frequency: 'WEEKLY', interval: 1, byDay: ['MONDAY'], startDate: '2026-01-05' },
  ];
  for (let place = 0; place < 3; place++) await createSite({ name: `Foyer ${place}`, attendingIntervals });
  const own = async () => (await codes()).filter((entry) => entry.endsWith(' no_employee')).length;
  const before = await own();
  assert.equal(before, 3);
  const kind = { resource: 'site', field: 'assignedEmployeeId', code: 'no_employee' };
  const left = await person.call('POST', '/attention/left/all', { ...kind, reason: 'Geht reihum' });
  assert.equal(left.statusCode, 200, left.body);
  assert.deepEqual([left.json().left, left.json().next], [3, null]);
  assert.equal(await own(), 0);
  assert.equal((await person.call('POST', '/attention/left/all', kind)).json().left, 0);
  const { rows } = await service.owner.query(
    'SELECT count(*)::integer AS count FROM left_attention WHERE tenant_id = $1',
    [tenantId],
  );
  assert.equal(rows[0].count, 3);
  const back = await person.call('POST', '/attention/reopened/all', { ...kind, since: left.json().at });
  assert.equal(back.statusCode, 204, back.body);
  assert.equal(await own(), 3);
  const judged = { resource: 'site', field: 'address.location', code: 'no_position' };
  assert.equal((await person.call('POST', '/attention/left/all', judged)).statusCode, 400);
});
