// The work of planning, in steps: the largest sites that are accepted cost no more than their size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayNames } from '../../core/calendar/calendar-days.ts';
import { countSteps, Pace } from '../../core/pace.ts';
import { ApiError } from '../../server/errors.ts';
import { findVisits } from '../../server/features/visits/visit-page.ts';
import { type Place, parseVisitRequest } from '../../server/features/visits/visit-request.ts';
import { InterruptedPages } from '../../server/http/interrupted-pages.ts';
import {
  type AppointmentRow,
  addAppointments,
  maxAppointments,
} from '../../server/resources/plan-exceptions.ts';
import { createPerson } from '../helpers/office.ts';
import { listen } from '../helpers/raw-client.ts';
import { startService, validSite } from '../helpers/service.ts';

const service = await startService({ BODY_LIMIT_BYTES: 1024 * 1024 });
const port = await listen(service.app);
const verwaltung = await createPerson(service);
const customerId = await service.createCustomer();
const employeeId = (await service.post('/employee', { firstName: 'Jo', lastName: 'Harms' })).json().id;

const list = <Item>(length: number, item: (index: number) => Item) =>
  Array.from({ length }, (_, index) => item(index));
const weekdayOf = (index: number) => dayNames[index % 7]!;
const week = list(5, (index) => ({ dayOfWeek: weekdayOf(index), opens: '08:00', closes: '17:00' }));
const over = { validFrom: '2020-01-01', validUntil: '2020-12-31' };
const hoursOver = (length: number) =>
  list(length, (index) => ({ dayOfWeek: weekdayOf(index), opens: '08:00', closes: '17:00', ...over }));

/** With a visit on the day that is asked for. Each has intervals and hours of its own, which nobody has read before. */
const ordinarySite = (minutes: number) => ({
  attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['WEDNESDAY'], durationInMinutes: minutes }],
  openingHours: week.map((hours) => ({ ...hours, opens: `08:${minutes}` })),
});

const timeOf = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

/** Sites that were the most expensive ones, by the number of their intervals and opening hours. */
const worstSites: Record<string, (length: number) => object> = {
  'that are closed for ever': (length) => ({
    attendingIntervals: list(length, () => ({ frequency: 'DAILY', interval: 2, toleranceInDays: 31 })),
    openingHours: hoursOver(length),
  }),
  'that differ in their times': (length) => ({
    attendingIntervals: list(length, (index) => ({
      ...{ frequency: 'DAILY', interval: 2, toleranceInDays: 31, durationInMinutes: 60 + index },
      timeFrom: `${String(index % 24).padStart(2, '0')}:${10 + (index % 50)}`,
    })),
    openingHours: hoursOver(length),
  }),
  'that are open for many minutes of a Sunday': (length) => ({
    attendingIntervals: list(length, (index) => ({
      ...{ frequency: 'DAILY', toleranceInDays: 31, durationInMinutes: 1440 - index },
      ...{ timeFrom: timeOf(index % 10), timeUntil: timeOf(1200 + index) },
    })),
    openingHours: list(length, (index) => ({
      ...{ dayOfWeek: 'SUNDAY', opens: timeOf(index * 14), closes: timeOf(index * 14 + 7) },
      validFrom: '2026-01-01',
    })),
  }),
  'that are open on Sundays in parts of the year': (length) => ({
    attendingIntervals: list(length, (index) => ({
      ...{ frequency: 'WEEKLY', byDay: dayNames.slice(0, 1 + (index % 6)), toleranceInDays: 31 },
    })),
    openingHours: list(length, (index) => ({
      ...{ dayOfWeek: 'SUNDAY', opens: '08:00', closes: '17:00' },
      ...{ validFrom: `2026-${String(1 + (index % 12)).padStart(2, '0')}-01`, validUntil: '2027-06-30' },
    })),
  }),
};

async function createSite(site: object): Promise<string> {
  const body = { ...validSite(customerId), assignedEmployeeId: employeeId, ...site };
  const response = await service.post('/customer/site', body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

async function stepsOf(work: () => Promise<{ statusCode: number; body: string }>): Promise<number> {
  const before = countSteps();
  const response = await work();
  assert.equal(response.statusCode, 200, response.body);
  return countSteps() - before;
}

const visitSteps = (siteId: string, until = '2026-11-18') =>
  stepsOf(() => service.get(`/visits?from=2026-11-18&until=${until}&siteId=${siteId}&limit=500`));
const attentionSteps = () => stepsOf(() => service.get('/attention?code=closed_visit'));

for (const [index, [name, siteOf]] of Object.entries(worstSites).entries()) {
  test(`a day of 100 intervals and opening hours ${name} costs at most ten ordinary sites`, async () => {
    const usual = await visitSteps(await createSite(ordinarySite(10 + index)));
    const worst = await visitSteps(await createSite(siteOf(100)));
    assert.ok(worst <= 10 * usual, `${worst} steps, ${usual} for an ordinary site`);
  });

  test(`the work grows with the number of intervals and opening hours ${name}, and with the days`, async () => {
    const [small, large] = [await createSite(siteOf(25)), await createSite(siteOf(100))];
    const [ofSmall, ofLarge] = [await visitSteps(small), await visitSteps(large)];
    assert.ok(ofLarge <= 5 * ofSmall, `${ofSmall} and ${ofLarge} steps`);
    const ofDays = await visitSteps(large, '2026-12-07');
    assert.ok(ofDays <= 20 * ofLarge, `${ofLarge} and ${ofDays} steps`);
  });
}

test('the check for closed visits grows with the days and intervals of a site', async () => {
  const before = await attentionSteps();
  await createSite(worstSites['that are open on Sundays in parts of the year']!(100));
  const added = (await attentionSteps()) - before;
  assert.ok(added <= 92 * 20, `${added} steps`);
});

test('the worst sites leave time for others, in lists and in calendars', async () => {
  for (const siteOf of Object.values(worstSites)) await createSite(siteOf(100));
  const made = await verwaltung.call('PUT', `/calendar-feeds/employee/${employeeId}`, { language: 'en' });
  const calendar = new URL(made.json().address).pathname;
  const heavy = [
    () => service.get('/visits?from=2026-11-01&until=2027-01-31&limit=500'),
    () => service.get('/attention?count=true'),
    () => service.app.inject({ method: 'GET', url: calendar }),
  ];
  for (const call of heavy) {
    let isDone = false;
    const answer = call().finally(() => {
      isDone = true;
    });
    let probes = 0;
    while (!isDone) {
      assert.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200);
      probes++;
    }
    assert.equal((await answer).statusCode, 200, (await answer).body);
    assert.ok(probes > 3, `${probes} probes were answered meanwhile`);
  }
});

test('a page that runs out of time ends early, and is refused only if it is empty', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const owner = await service.createCustomer({}, { headers });
  for (let count = 0; count < 40; count++) {
    const site = { ...validSite(owner), ...worstSites['that differ in their times']!(100) };
    assert.equal((await service.post('/customer/site', site, { headers })).statusCode, 201);
  }
  const find = (day: string, demandTime: () => void) => {
    const asked = parseVisitRequest({
      from: day,
      until: day,
      limit: '500',
      city: validSite(owner).address.city,
    });
    const reader = {
      tenantId: tenant.tenantId,
      deadline: performance.now() + 60_000,
      report: () => assert.fail(),
    };
    const pace = new Pace(demandTime);
    return findVisits(service.database, { ...reader, pace }, { ...asked, limit: 4000 }, interrupted);
  };
  const interrupted = new InterruptedPages<Place>();
  let turns = 0;
  const countTurn = () => void turns++;
  const isNamed = (await find('2026-11-18', () => {})).visits.length > 0;
  const [named, unnamed] = isNamed ? ['2026-11-18', '2026-11-19'] : ['2026-11-19', '2026-11-18'];
  const all = await find(named, countTurn);
  assert.deepEqual([all.visits.length, all.next], [4000, undefined]);
  let left = turns / 2;
  const early = await find(named, () => {
    if (left-- < 0) throw new ApiError('overloaded');
  });
  assert.ok(early.visits.length > 0 && early.visits.length < 4000, String(early.visits.length));
  assert.equal(early.next!.siteId, early.visits.at(-1)!.site.id);
  const refuse = () => {
    throw new ApiError('overloaded');
  };
  await assert.rejects(find(unnamed, refuse), { code: 'overloaded' });
  // Each retry has time for one turn.
  for (let retries = 0; ; retries++) {
    let isOver = false;
    const oneTurn = () => {
      if (isOver) refuse();
      isOver = true;
    };
    const page = await find(unnamed, oneTurn).catch((error) => assert.equal(error.code, 'overloaded'));
    if (page) {
      assert.deepEqual(page, { visits: [], next: undefined });
      break;
    }
    assert.ok(retries < 1000, 'each retry goes on behind the one before');
  }
});

const rowsOf = (siteId: string, count: number) =>
  Array.from(
    { length: count },
    (_, index) => ({ site_id: siteId, id: `${siteId}-${index}` }) as AppointmentRow,
  );
const sitesOf = (...ids: string[]) =>
  ids.map((id) => ({ id, appointments: undefined as readonly { id: string }[] | undefined }));

test('a site is planned with all of its appointments, or in the next piece', () => {
  const found = [...rowsOf('a', 1000), ...rowsOf('c', maxAppointments)].slice(0, maxAppointments + 1);
  const whole = addAppointments(sitesOf('a', 'b', 'c', 'd') as never, found);
  assert.deepEqual(
    whole.map(({ id, appointments }) => [id, appointments?.length]),
    [
      ['a', 1000],
      ['b', 0],
    ],
  );
});

test('a site with more appointments than a piece takes is planned with the first ones', () => {
  const whole = addAppointments(sitesOf('a', 'b') as never, rowsOf('a', maxAppointments + 1));
  assert.deepEqual(
    whole.map(({ id, appointments }) => [id, appointments?.length]),
    [['a', maxAppointments]],
  );
});

test('a range with few visits reads each site once, and not once per day', async () => {
  const tenant = await service.createTenant();
  const headers = { apikey: tenant.key };
  const owner = await service.createCustomer({}, { headers });
  const create = async (attendingIntervals: object[]) => {
    const body = { ...validSite(owner), attendingIntervals };
    const answer = await service.post('/customer/site', body, { headers });
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.json().id;
  };
  // More lists than a request keeps for its next days.
  const later = await create(
    list(100, (index) => ({ frequency: 'DAILY', startDate: '2030-01-01', durationInMinutes: 1 + index })),
  );
  const { rows: columns } = await service.owner.query(`
    SELECT string_agg(column_name, ', ') AS names FROM information_schema.columns
    WHERE table_name = 'site' AND is_generated = 'NEVER' AND column_name <> 'id'`);
  await service.owner.query(
    `INSERT INTO site (id, ${columns[0].names}) SELECT gen_random_uuid(), ${columns[0].names}
     FROM site, generate_series(1, 900) WHERE id = $1`,
    [later],
  );
  const find = async (until: string) => {
    let count = 0;
    const queryInTenants: typeof service.database.queryInTenants = (...asked) => {
      count++;
      return service.database.queryInTenants(...asked);
    };
    const reader = {
      tenantId: tenant.tenantId,
      deadline: performance.now() + 60_000,
      report: () => assert.fail(),
      pace: new Pace(),
    };
    const asked = parseVisitRequest({ from: '2026-11-16', until });
    const interrupted = new InterruptedPages<Place>();
    const page = await findVisits({ ...service.database, queryInTenants }, reader, asked, interrupted);
    return { count, days: page.visits.map(({ visit }) => visit.date) };
  };
  const day = await find('2026-11-16');
  assert.deepEqual(await find('2026-11-22'), day);
  assert.deepEqual(day.days, []);
  for (const weekday of ['FRIDAY', 'WEDNESDAY'])
    await create([{ frequency: 'WEEKLY', byDay: [weekday], startDate: '2026-11-16' }]);
  assert.deepEqual((await find('2026-11-22')).days, ['2026-11-18', '2026-11-20']);
});
