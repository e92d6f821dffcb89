import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { siteColumns } from '../../../bench/data/tenants.ts';
import { countSteps, Pace, runNow, type Steps } from '../../../core/pace.ts';
import { attentionChecksOf } from '../../../server/engine/attention/attention-checks.ts';
import { ApiError } from '../../../server/errors.ts';
import { type Counting, countEntries } from '../../../server/features/attention/attention-counts.ts';
import { passesOf } from '../../../server/features/attention/attention-passes.ts';
import { firstPlace, readPart } from '../../../server/features/attention/attention-scan.ts';
import { forgetEndedVerdicts } from '../../../server/features/attention/attention-verdicts.ts';
import { InterruptedPages } from '../../../server/http/interrupted-pages.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validSite } from '../../helpers/service.ts';

const service = await startService();
const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const week = weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '08:00', closes: '17:00' }));
const everySecondMonday = [{ frequency: 'WEEKLY', interval: 2, byDay: ['MONDAY'] }];
const everySunday = [{ frequency: 'WEEKLY', byDay: ['SUNDAY'] }];

async function startTenant() {
  const { tenantId, key } = await service.createTenant();
  const headers = { apikey: key };
  const address = { ...validAddress, location: { lat: 53.5, lng: 10 } };
  const customerId = await service.createCustomer({ address }, { headers });
  const person = { firstName: 'Ida', lastName: 'Voss' };
  const employeeId = (await service.post('/employee', person, { headers })).json().id;
  const planned = {
    assignedEmployeeId: employeeId,
    openingHours: week,
    attendingIntervals: everySecondMonday,
  };
  const site = { ...validSite(customerId), address, ...planned };
  const list = async (query = '') => {
    const response = await service.get(`/attention?limit=500&${query}`, { headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const codes = async (query = '') => (await list(query)).data.map(({ code }: { code: string }) => code);
  const createSite = async (body: object) => {
    const created = await service.post('/customer/site', { ...site, ...body }, { headers });
    return created.json().id as string;
  };
  return { tenantId, headers, customerId, employeeId, list, codes, createSite };
}

async function countVerdicts(tenantId: string): Promise<number> {
  const { rows } = await service.owner.query(
    'SELECT count(*)::integer AS count FROM attention_verdict WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0].count;
}

test('a verdict holds until the site, the rule for holidays or the day changes', async () => {
  const { tenantId, headers, codes, createSite } = await startTenant();
  const id = await createSite({});
  const other = await createSite({ name: 'Bar', attendingIntervals: everySunday });
  for (const query of ['code=no_position', '', '', 'code=closed_visit'])
    assert.deepEqual(await codes(query), query === 'code=no_position' ? [] : ['closed_visit'], query);
  assert.equal(await countVerdicts(tenantId), 2);

  await service.patch(`/sites/${id}`, { attendingIntervals: everySunday }, { headers });
  await service.patch(`/sites/${other}`, { attendingIntervals: everySecondMonday }, { headers });
  const [entry] = (await service.get('/attention', { headers })).json().data;
  assert.deepEqual([entry.id, entry.code], [id, 'closed_visit']);

  const readerNow = () => ({
    ...{ database: service.database, tenantId, pace: new Pace(), log: service.app.log },
    deadline: performance.now() + 60_000,
  });
  const spoiled = async (set: string) => {
    await service.owner.query(`UPDATE attention_verdict SET codes = '{}', ${set} WHERE tenant_id = $1`, [
      tenantId,
    ]);
    const passes = passesOf(resources.flatMap(attentionChecksOf));
    return (await readPart(readerNow(), passes, firstPlace)).findings.map(({ check }) => check.code);
  };
  assert.deepEqual(await spoiled('until = current_date - 1'), ['closed_visit'], 'judged on another day');
  assert.deepEqual(await spoiled("judged_by = 'KEEP 0.0.0'"), ['closed_visit'], 'judged by other rules');
  assert.deepEqual(await spoiled('version = version'), [], 'a verdict that holds is believed');
});

test('an entry that is left and taken back follows the verdict', async () => {
  const { tenantId, codes, createSite } = await startTenant();
  const person = await createPerson(service, { tenantId });
  const id = await createSite({ attendingIntervals: everySunday });
  const entry = { resource: 'site', id, field: 'attendingIntervals', code: 'closed_visit' };
  assert.equal((await person.call('POST', '/attention/left', entry)).statusCode, 204);
  assert.deepEqual(await codes(), []);
  assert.equal((await person.call('POST', '/attention/reopened', entry)).statusCode, 204);
  assert.deepEqual(await codes(), ['closed_visit']);
});

test('upkeep forgets verdicts about deleted sites when they end', async () => {
  const { tenantId, headers, codes, createSite } = await startTenant();
  const id = await createSite({});
  await codes();
  await service.delete(`/sites/${id}`, { headers });
  await service.owner.query('UPDATE attention_verdict SET until = current_date - 2 WHERE tenant_id = $1', [
    tenantId,
  ]);
  await forgetEndedVerdicts(service.database);
  assert.equal(await countVerdicts(tenantId), 0);
});

const manySites = 12_000;
let large: Awaited<ReturnType<typeof startTenant>>;
before(async () => {
  large = await startTenant();
  const columns = {
    ...siteColumns('number'),
    // PostgreSQL 15 has no uuidv7().
    id: `('0198c0de-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid`,
    tenant_id: `'${large.tenantId}'::uuid`,
    customer_id: `'${large.customerId}'::uuid`,
    assigned_employee_id: `'${large.employeeId}'::uuid`,
    opening_hours: `'${JSON.stringify(week)}'::json`,
    // The last one is closed on Sundays.
    attending_intervals: `CASE WHEN number < ${manySites} THEN '${JSON.stringify(everySecondMonday)}'::json
      ELSE '${JSON.stringify(everySunday)}'::json END`,
    attending_intervals_is_known: 'true',
  };
  await service.owner.query(
    `INSERT INTO site (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM generate_series(1, ${manySites}) AS number`,
  );
});

test('a large business is judged once, and its page is among the entries that are counted', async () => {
  const { tenantId, list } = large;
  const steps = async (query: string) => {
    const before = countSteps();
    const answer = await list(query);
    assert.deepEqual(
      answer.data.map(({ code }: { code: string }) => code),
      ['closed_visit'],
    );
    return { answer, steps: countSteps() - before };
  };
  const first = await steps('count=true');
  assert.deepEqual([first.answer.total, first.answer.nextCursor], [1, null]);
  assert.ok(first.steps >= manySites, `${first.steps} steps`);
  assert.equal(await countVerdicts(tenantId), manySites);
  for (const query of ['', 'count=true', 'code=closed_visit']) {
    const again = await steps(query);
    assert.ok(again.steps < 100, `${again.steps} steps for ${query}`);
  }
});

test('verdicts made before time was up are kept', async () => {
  const { tenantId, createSite } = await startTenant();
  for (const name of ['Bar', 'Foyer', 'Lounge']) await createSite({ name });
  const reader = { database: service.database, tenantId, deadline: performance.now() + 60_000, log: console };
  const passes = passesOf(resources.flatMap(attentionChecksOf));
  let judged = 0;
  const pace = {
    run: (work: Steps<unknown>) => {
      if (++judged === 3) throw new ApiError('overloaded');
      return runNow(work);
    },
  };
  await assert.rejects(readPart({ ...reader, pace: pace as unknown as Pace }, passes, firstPlace), {
    code: 'overloaded',
  });
  assert.equal(await countVerdicts(tenantId), 2);
});

test('pages with the total are the pages without it', async () => {
  const { tenantId, headers } = large;
  await service.owner.query(
    `UPDATE site SET valid_until = '2020-01-01' WHERE tenant_id = $1 AND hashtext(id::text) % 50 = 0`,
    [tenantId],
  );
  for (let cursor = ''; ; ) {
    const [plain, counted] = await Promise.all(
      ['', '&count=true'].map((count) => service.get(`/attention?limit=100${cursor}${count}`, { headers })),
    );
    const { total, ...page } = counted!.json();
    assert.deepEqual(page, plain!.json());
    assert.ok(total > 100, `${total} entries`);
    if (!page.nextCursor) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
});

test('a count that the deadline interrupted goes on where it stopped', async () => {
  const reader = {
    database: service.database,
    tenantId: large.tenantId,
    deadline: performance.now() + 60_000,
    pace: new Pace(),
    log: service.app.log,
  };
  const passes = passesOf(resources.flatMap(attentionChecksOf));
  const counting = new InterruptedPages<Counting>();
  const count = (mustEnd: () => boolean) =>
    countEntries(reader, passes, '', counting, { mustEnd, maxRows: manySites / 3 });
  const whole = await count(() => false);
  assert.equal(whole.length, 2, JSON.stringify(whole));
  for (let requests = 0; requests < 3; requests++) {
    await assert.rejects(
      count(() => true),
      { code: 'overloaded' },
    );
  }
  assert.deepEqual(await count(() => true), whole);
  assert.equal(counting.find(large.tenantId, ''), undefined);
});
