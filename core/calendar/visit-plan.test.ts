import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { runNow } from '../pace.ts';
import { dayNames, fromDayNumber, partsOf, toDayNumber } from './calendar-days.ts';
import { holidayRegion, holidaysOf } from './holidays.ts';
import { toMinutes } from './open-windows.ts';
import { endsNextDay, type OpeningHours } from './opening-hours.ts';
import {
  firstClosedVisit,
  type HolidayRule,
  holidayRules,
  nextVisits,
  type PlannedVisit,
  toVisitPlan,
  type VisitPlan,
  type VisitSite,
  visitsOn,
} from './visit-plan.ts';
import { type AttendingInterval, frequencies, toNamedDays } from './visits.ts';

const weekdays = dayNames.slice(0, 5);
const officeHours: OpeningHours[] = weekdays.map((dayOfWeek) => ({
  dayOfWeek,
  opens: '08:00',
  closes: '17:00',
}));

function planOf(
  site: Partial<VisitSite>,
  holidayRule: HolidayRule = 'MOVE',
  region: string | undefined = 'DE-HH',
) {
  const common = { openingHours: [], timeZone: 'Europe/Berlin', anchor: '2026-01-01' };
  const whole = { ...common, attendingIntervals: [], hasEmployee: true, hasPosition: true, ...site };
  return runNow(toVisitPlan(whole, holidaysOf(region), holidayRule));
}

function visitsBetween(plan: VisitPlan, from: string, until: string): PlannedVisit[] {
  const [first, last] = [toDayNumber(from), toDayNumber(until)];
  return Array.from({ length: last - first + 1 }, (_, index) => runNow(visitsOn(plan, first + index))).flat();
}

/** "2026-12-28 MOVED from 2026-12-25 HOLIDAY 08:00–17:00" */
function describeVisit({ date, status, movedFrom, reason, windows, conflicts }: PlannedVisit): string {
  return [
    date,
    status === 'PLANNED' ? undefined : status,
    movedFrom && `from ${movedFrom}`,
    reason,
    ...windows.map(({ from, until }) => `${from}–${until}`),
    ...conflicts,
  ]
    .filter(Boolean)
    .join(' ');
}

function visitsOf(
  site: Partial<VisitSite>,
  from: string,
  until: string,
  holidayRule?: HolidayRule,
  region?: string,
): string[] {
  return visitsBetween(planOf(site, holidayRule, region), from, until).map(describeVisit);
}

const fridays: AttendingInterval = { frequency: 'WEEKLY', byDay: ['FRIDAY'] };

describe('a visit on a public holiday', () => {
  const site = { attendingIntervals: [{ ...fridays, toleranceInDays: 3 }], openingHours: officeHours };

  test('moves to the nearest open day within the tolerance', () => {
    assert.deepEqual(visitsOf(site, '2026-12-20', '2026-12-30'), [
      '2026-12-24 MOVED from 2026-12-25 HOLIDAY 08:00–17:00',
    ]);
  });

  test('moves to the later of two days that are equally near', () => {
    const thursdays: AttendingInterval[] = [{ frequency: 'WEEKLY', byDay: ['THURSDAY'], toleranceInDays: 1 }];
    assert.deepEqual(visitsOf({ ...site, attendingIntervals: thursdays }, '2026-05-13', '2026-05-15'), [
      '2026-05-15 MOVED from 2026-05-14 HOLIDAY 08:00–17:00',
    ]);
  });

  test('is skipped where no open day lies within the tolerance', () => {
    assert.deepEqual(visitsOf({ attendingIntervals: [fridays] }, '2026-12-24', '2026-12-27'), [
      '2026-12-25 SKIPPED HOLIDAY',
    ]);
  });

  test('is skipped or kept if the business says so', () => {
    assert.deepEqual(visitsOf(site, '2026-12-23', '2026-12-28', 'SKIP'), ['2026-12-25 SKIPPED HOLIDAY']);
    assert.deepEqual(visitsOf(site, '2026-12-23', '2026-12-28', 'KEEP'), ['2026-12-25 08:00–17:00']);
  });

  test('names the holiday', () => {
    const [moved] = visitsBetween(planOf(site), '2026-12-24', '2026-12-24');
    assert.equal(moved?.holiday?.de, '1. Weihnachtstag');
    const [kept] = visitsBetween(planOf(site, 'KEEP'), '2026-12-25', '2026-12-25');
    assert.equal(kept?.holiday?.en, 'Christmas Day');
  });

  test('stays where only another state has the holiday', () => {
    const tuesdays: AttendingInterval = { frequency: 'WEEKLY', byDay: ['TUESDAY'] };
    const site = { attendingIntervals: [tuesdays] };
    assert.deepEqual(visitsOf(site, '2026-01-06', '2026-01-06', 'MOVE', 'DE-HH'), ['2026-01-06']);
    assert.deepEqual(visitsOf(site, '2026-01-06', '2026-01-06', 'MOVE', 'DE-BY'), [
      '2026-01-06 SKIPPED HOLIDAY',
    ]);
  });

  test('never moves to a weekend while no opening hours are known', () => {
    // Good Friday: Thursday and Saturday are equally near.
    const unknown = { attendingIntervals: [{ ...fridays, toleranceInDays: 1 }] };
    assert.deepEqual(visitsOf(unknown, '2026-04-01', '2026-04-07'), [
      '2026-04-02 MOVED from 2026-04-03 HOLIDAY',
    ]);
  });

  test('never moves to a day that has its own visit', () => {
    const both: AttendingInterval[] = [
      { frequency: 'WEEKLY', byDay: ['THURSDAY', 'FRIDAY'], toleranceInDays: 1 },
    ];
    assert.deepEqual(
      visitsOf({ attendingIntervals: both, openingHours: officeHours }, '2026-04-01', '2026-04-04'),
      ['2026-04-02 08:00–17:00', '2026-04-03 SKIPPED HOLIDAY'],
    );
  });
});

describe('opening hours', () => {
  test('narrow the times of a visit, and breaks part them', () => {
    const openingHours: OpeningHours[] = [
      { dayOfWeek: 'FRIDAY', opens: '08:00', closes: '12:00' },
      { dayOfWeek: 'FRIDAY', opens: '14:00', closes: '18:00' },
    ];
    const attendingIntervals = [{ ...fridays, timeFrom: '10:00', timeUntil: '16:00' }];
    assert.deepEqual(visitsOf({ attendingIntervals, openingHours }, '2026-11-20', '2026-11-20'), [
      '2026-11-20 10:00–12:00 14:00–16:00',
    ]);
  });

  test('move a visit from a closed day, and without a tolerance it is a conflict', () => {
    const saturdays: AttendingInterval = { frequency: 'WEEKLY', byDay: ['SATURDAY'] };
    const site = { openingHours: officeHours };
    const moving = [{ ...saturdays, toleranceInDays: 2 }];
    assert.deepEqual(visitsOf({ ...site, attendingIntervals: moving }, '2026-11-16', '2026-11-22'), [
      '2026-11-20 MOVED from 2026-11-21 CLOSED 08:00–17:00',
    ]);
    assert.deepEqual(visitsOf({ ...site, attendingIntervals: [saturdays] }, '2026-11-16', '2026-11-22'), [
      '2026-11-21 SKIPPED CLOSED closed',
    ]);
  });

  test('that are shorter than the visit are a conflict', () => {
    const openingHours: OpeningHours[] = [{ dayOfWeek: 'FRIDAY', opens: '08:00', closes: '09:00' }];
    const attendingIntervals = [{ ...fridays, durationInMinutes: 90 }];
    assert.deepEqual(visitsOf({ attendingIntervals, openingHours }, '2026-11-20', '2026-11-20'), [
      '2026-11-20 08:00–09:00 window_too_short',
    ]);
  });

  test('with dates replace the usual ones on the days that they cover', () => {
    const season = { validFrom: '2026-11-18', validUntil: '2026-11-30' };
    const openingHours: OpeningHours[] = [
      ...officeHours,
      { dayOfWeek: 'FRIDAY', opens: '10:00', closes: '11:00', ...season },
    ];
    const daily: AttendingInterval[] = [{ frequency: 'DAILY' }];
    assert.deepEqual(visitsOf({ attendingIntervals: daily, openingHours }, '2026-11-17', '2026-11-20'), [
      '2026-11-17 08:00–17:00',
      '2026-11-18 SKIPPED CLOSED closed',
      '2026-11-19 SKIPPED CLOSED closed',
      '2026-11-20 10:00–11:00',
    ]);
  });

  test('after midnight belong to the day on which they began', () => {
    const openingHours: OpeningHours[] = [{ dayOfWeek: 'FRIDAY', opens: '20:00', closes: '04:00' }];
    const daily: AttendingInterval[] = [{ frequency: 'DAILY' }];
    assert.deepEqual(visitsOf({ attendingIntervals: daily, openingHours }, '2026-11-20', '2026-11-21'), [
      '2026-11-20 20:00–04:00',
      '2026-11-21 SKIPPED CLOSED closed',
    ]);
    const early: AttendingInterval[] = [{ frequency: 'DAILY', timeUntil: '06:00' }];
    assert.deepEqual(visitsOf({ attendingIntervals: early, openingHours }, '2026-11-21', '2026-11-21'), [
      '2026-11-21 00:00–04:00',
    ]);
  });
});

test('visits stay within the validity of the site, moved ones too', () => {
  const site = { attendingIntervals: [{ ...fridays, toleranceInDays: 3 }], openingHours: officeHours };
  const valid = { validFrom: '2026-12-18', validUntil: '2026-12-25' };
  assert.deepEqual(visitsOf({ ...site, ...valid }, '2026-12-01', '2027-01-31'), [
    '2026-12-18 08:00–17:00',
    '2026-12-24 MOVED from 2026-12-25 HOLIDAY 08:00–17:00',
  ]);
  assert.deepEqual(visitsOf({ ...site, validFrom: '2026-12-25' }, '2026-12-20', '2026-12-30'), [
    '2026-12-28 MOVED from 2026-12-25 HOLIDAY 08:00–17:00',
  ]);
});

test('an hour that the clocks skip is no time for a visit', () => {
  const sundays: AttendingInterval = {
    frequency: 'WEEKLY',
    byDay: ['SUNDAY'],
    timeFrom: '01:00',
    timeUntil: '04:00',
  };
  const attendingIntervals = [{ ...sundays, durationInMinutes: 150 }];
  assert.deepEqual(visitsOf({ attendingIntervals }, '2026-03-22', '2026-04-04'), [
    '2026-03-22 01:00–04:00',
    '2026-03-29 01:00–04:00 window_too_short',
  ]);
  const longer = [{ ...sundays, durationInMinutes: 240 }];
  assert.deepEqual(visitsOf({ attendingIntervals: longer }, '2026-10-18', '2026-10-25'), [
    '2026-10-18 01:00–04:00 window_too_short',
    '2026-10-25 01:00–04:00',
  ]);
});

test('a site without an employee or a position has visits with these conflicts', () => {
  const site = { attendingIntervals: [fridays], hasEmployee: false, hasPosition: false };
  assert.deepEqual(visitsOf(site, '2026-11-20', '2026-11-20'), ['2026-11-20 no_employee no_position']);
});

test('the next visits leave out skipped ones', () => {
  const plan = planOf({ attendingIntervals: [fridays] });
  const days = runNow(nextVisits(plan, '2026-12-18', 3)).map(({ date }) => date);
  assert.deepEqual(days, ['2026-12-18', '2027-01-08', '2027-01-15']);
});

const time = fc.integer({ min: 0, max: 23 }).map((hour) => `${String(hour).padStart(2, '0')}:30`);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const dayBetween = (first: string, last: string) =>
  fc.integer({ min: toDayNumber(first), max: toDayNumber(last) }).map(fromDayNumber);
const season = dayBetween('2026-01-01', '2026-12-31');
const interval: fc.Arbitrary<AttendingInterval> = fc
  .record({
    frequency: fc.constantFrom(...frequencies),
    interval: fc.integer({ min: 1, max: 6 }),
    byDay: optional(fc.uniqueArray(fc.constantFrom(...dayNames))),
    weekOfMonth: optional(fc.constantFrom(1 as const, 2 as const, -1 as const)),
    byMonth: optional(fc.uniqueArray(fc.integer({ min: 1, max: 12 }))),
    startDate: optional(season),
    endDate: optional(season),
    timeFrom: optional(time),
    timeUntil: optional(time),
    durationInMinutes: optional(fc.integer({ min: 1, max: 600 })),
    toleranceInDays: optional(fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constant(28))),
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as AttendingInterval);
const openingHours: fc.Arbitrary<OpeningHours> = fc
  .record({
    dayOfWeek: fc.constantFrom(...dayNames),
    opens: time,
    closes: time,
    validFrom: optional(season),
    validUntil: optional(season),
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as OpeningHours);
const site = fc
  .record({
    attendingIntervals: fc.array(interval, { minLength: 1, maxLength: 1 }),
    openingHours: fc.array(openingHours, { maxLength: 10 }),
    validFrom: optional(season),
    validUntil: optional(season),
  })
  .map((value) => value as Partial<VisitSite>);
const holidayRule = fc.constantFrom(...holidayRules);

/** An implementation that is independent of the tested code. */
function isOpenAt(items: OpeningHours[], day: number, minute: number): boolean {
  return [0, -1].some((shift) => {
    const here = day + shift;
    const weekday = dayNames[partsOf(here).weekday]!;
    const isValid = (item: OpeningHours) =>
      (item.validFrom ?? '0000') <= fromDayNumber(here) && fromDayNumber(here) <= (item.validUntil ?? '9999');
    const valid = items.filter(isValid);
    const dated = valid.filter((item) => item.validFrom || item.validUntil);
    return (dated.length > 0 ? dated : valid).some((item) => {
      const opens = toMinutes(item.opens);
      const closes = toMinutes(item.closes) + (endsNextDay(item) ? 1440 : 0);
      const asked = minute - shift * 1440;
      return item.dayOfWeek === weekday && opens <= asked && asked < closes;
    });
  });
}

describe('for any intervals, hours and holidays', () => {
  const [from, until] = ['2026-03-01', '2026-06-30'];

  test('no visit lies outside the opening hours, the validity or a holiday that is not kept', () => {
    fc.assert(
      fc.property(site, holidayRule, (input, rule) => {
        const hours = input.openingHours as OpeningHours[];
        const holidays = holidaysOf('DE-BY');
        for (const visit of visitsBetween(planOf(input, rule, 'DE-BY'), from, until)) {
          if (visit.status === 'SKIPPED') continue;
          assert.ok(visit.date >= (input.validFrom ?? '') && visit.date <= (input.validUntil ?? '9999'));
          assert.ok(rule === 'KEEP' || !holidays(visit.date));
          if (hours.length === 0) continue;
          assert.ok(visit.windows.length > 0);
          for (const window of visit.windows) {
            const start = toMinutes(window.from);
            const end = toMinutes(window.until) + (window.until <= window.from ? 1440 : 0);
            for (const minute of [start, Math.floor((start + end) / 2), end - 1]) {
              const day = toDayNumber(visit.date) + Math.floor(minute / 1440);
              assert.ok(isOpenAt(hours, day, minute % 1440), `${describeVisit(visit)} at ${minute}`);
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('every day that an interval names has exactly one visit, which stays, moves within the tolerance or is skipped', () => {
    const several = fc.array(interval, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(site, several, holidayRule, (input, attendingIntervals, rule) => {
        const visits = visitsBetween(
          planOf({ ...input, attendingIntervals }, rule),
          '2026-01-29',
          '2026-07-31',
        );
        for (const [index, planned] of attendingIntervals.entries()) {
          const names = toNamedDays(planned, toDayNumber('2026-01-01'));
          const own = visits.filter((visit) => visit.rule === index);
          const taking = own.filter(({ status }) => status !== 'SKIPPED').map(({ date }) => date);
          assert.equal(new Set(taking).size, taking.length, 'two visits of an interval on one day');
          const origins = Map.groupBy(own, ({ date, movedFrom }) => movedFrom ?? date);
          for (let day = toDayNumber(from); day <= toDayNumber(until); day += 1) {
            const date = fromDayNumber(day);
            const isValid = date >= (input.validFrom ?? '') && date <= (input.validUntil ?? '9999');
            const found = origins.get(date) ?? [];
            assert.equal(found.length, Number(isValid && names(day, partsOf(day))), date);
            for (const visit of found) {
              const distance = Math.abs(toDayNumber(visit.date) - day);
              assert.ok(distance <= (visit.status === 'MOVED' ? (planned.toleranceInDays ?? 0) : 0));
              assert.equal(visit.reason === undefined, visit.status === 'PLANNED');
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a day has the same visits in every range', () => {
    fc.assert(
      fc.property(site, holidayRule, dayBetween(from, until), (input, rule, day) => {
        const wide = visitsBetween(planOf(input, rule), from, until).filter(({ date }) => date === day);
        assert.deepEqual(visitsBetween(planOf(input, rule), day, day), wide);
      }),
      { numRuns: 200 },
    );
  });

  test('a closed visit is found exactly where one is listed', () => {
    fc.assert(
      fc.property(site, holidayRule, (input, rule) => {
        const listed = visitsBetween(planOf(input, rule), from, until).find(
          ({ status, conflicts }) => status === 'SKIPPED' && conflicts.includes('closed'),
        );
        const days = toDayNumber(until) - toDayNumber(from) + 1;
        const first = runNow(firstClosedVisit(planOf(input, rule), from, days));
        assert.equal(first, listed && toDayNumber(listed.date));
      }),
    );
  });
});

test('two visits that want the same day are both there', () => {
  const both: AttendingInterval = { frequency: 'WEEKLY', byDay: ['THURSDAY', 'FRIDAY'] };
  const christmas = (toleranceInDays: number) =>
    visitsOf({ attendingIntervals: [{ ...both, toleranceInDays }] }, '2025-12-19', '2025-12-30');
  assert.deepEqual(christmas(3), [
    '2025-12-19',
    '2025-12-24 MOVED from 2025-12-25 HOLIDAY',
    '2025-12-29 MOVED from 2025-12-26 HOLIDAY',
  ]);
  assert.deepEqual(christmas(2), [
    '2025-12-19',
    '2025-12-24 MOVED from 2025-12-25 HOLIDAY',
    '2025-12-26 SKIPPED HOLIDAY',
  ]);
});

describe('a site that validation accepts', () => {
  const oddText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      '20095\nHamburg',
      'A-\r1010',
      '\u202820095\u2029',
      '\u202e20095',
      '',
      ' ',
      'D-\t20095\u0085',
      'CH-',
    ),
  );
  const oddDay = fc.oneof(fc.constantFrom('0001-01-01', '0099-12-31', '9999-12-31', '2050-12-31'), season);
  const oddZone = fc.oneof(
    fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
    fc.constantFrom('UTC', 'eUROPE/bERLIN', 'Etc/GMT+12', 'Pacific/Apia', 'Antarctica/Troll'),
  );
  const oddItem = fc.oneof(fc.jsonValue(), fc.constantFrom({}, [], { frequency: 'WEEKLY', colour: 'green' }));
  const oddInterval = fc
    .tuple(
      interval,
      fc.record(
        { startDate: oddDay, endDate: oddDay, interval: fc.integer({ min: 1, max: 52 }) },
        { requiredKeys: [] },
      ),
      fc.integer({ min: 0, max: 31 }),
    )
    .map(([usual, odd, toleranceInDays]) => ({ ...usual, ...odd, toleranceInDays }));
  const oddHours = fc
    .tuple(openingHours, fc.record({ validFrom: oddDay, validUntil: oddDay }, { requiredKeys: [] }))
    .map(([usual, odd]) => ({ ...usual, ...odd }));
  const oddSite = fc.record({
    attendingIntervals: fc.array(fc.oneof(oddInterval, oddItem), { maxLength: 4 }),
    openingHours: fc.array(fc.oneof(oddHours, oddItem), { maxLength: 6 }),
    validFrom: optional(oddDay),
    validUntil: optional(oddDay),
    timeZone: oddZone,
    anchor: oddDay,
  });

  test('is planned on every day without an error', () => {
    fc.assert(
      fc.property(oddSite, oddText, holidayRule, oddDay, (input, zipCode, rule, day) => {
        const plan = planOf(input as Partial<VisitSite>, rule, holidayRegion(zipCode, input.timeZone));
        for (const visit of runNow(visitsOn(plan, toDayNumber(day)))) {
          assert.match(visit.date, /^\d{4}-\d{2}-\d{2}$/);
          assert.match(visit.movedFrom ?? visit.date, /^\d{4}-\d{2}-\d{2}$/);
        }
        runNow(firstClosedVisit(plan, day, 92));
        runNow(nextVisits(plan, day, 3));
      }),
      { numRuns: 300 },
    );
  });
});

test('the machine may stand in any time zone', () => {
  const script = `
    const { nextVisits, toVisitPlan } = await import('./core/calendar/visit-plan.ts');
    const { holidaysOf } = await import('./core/calendar/holidays.ts');
    const { runNow } = await import('./core/pace.ts');
    const openingHours = [{ dayOfWeek: 'FRIDAY', opens: '08:00', closes: '17:00' }, { dayOfWeek: 'SUNDAY', opens: '00:00', closes: '06:00' }];
    const attendingIntervals = [{ frequency: 'DAILY', durationInMinutes: 330, toleranceInDays: 2 }, { frequency: 'MONTHLY', startDate: '2026-01-31' }];
    const site = { attendingIntervals, openingHours, timeZone: 'Europe/Berlin', anchor: '2026-01-01', hasEmployee: true, hasPosition: true };
    console.log(JSON.stringify(runNow(nextVisits(runNow(toVisitPlan(site, holidaysOf('DE-BE'), 'MOVE')), '2026-01-01', 400))));`;
  const results = ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu'].map(
    (TZ) => {
      const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
        cwd: new URL('../..', import.meta.url),
        env: { ...process.env, TZ },
        encoding: 'utf8',
      });
      assert.equal(run.status, 0, run.stderr);
      return run.stdout;
    },
  );
  assert.ok(results[0]!.length > 1000);
  assert.equal(new Set(results).size, 1);
});
