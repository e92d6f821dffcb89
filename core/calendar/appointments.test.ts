// The plan with appointments and absences, for any site. docs/visits.md has the rules.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { countSteps, runNow } from '../pace.ts';
import { type Absence, coveredBy, toCover } from './absences.ts';
import { type Appointment, appointmentStatuses } from './appointments.ts';
import { dayNames, fromDayNumber, toDayNumber } from './calendar-days.ts';
import { findDayConflicts, type LoadedVisit, longestDayInMinutes } from './day-load.ts';
import { holidaysOf } from './holidays.ts';
import { type PlannedVisit, toVisitPlan, type VisitSite, visitsOn } from './visit-plan.ts';

const weekdays = dayNames.slice(0, 5);
const office = weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '08:00', closes: '17:00' }));
const fridays = { frequency: 'WEEKLY', byDay: ['FRIDAY'], durationInMinutes: 60, toleranceInDays: 3 };

function planOf(site: Partial<VisitSite>) {
  const whole: VisitSite = {
    attendingIntervals: [fridays],
    openingHours: office,
    timeZone: 'Europe/Berlin',
    anchor: '2026-01-01',
    hasEmployee: true,
    hasPosition: true,
    ...site,
  };
  return runNow(toVisitPlan(whole, holidaysOf('DE-HH'), 'MOVE'));
}

function between(plan: ReturnType<typeof planOf>, from: string, until: string): PlannedVisit[] {
  const visits: PlannedVisit[] = [];
  for (let day = toDayNumber(from); day <= toDayNumber(until); day += 1)
    visits.push(...runNow(visitsOn(plan, day)));
  return visits;
}

function appointment(changes: Partial<Appointment>): Appointment {
  return { id: 'a', date: '2026-12-23', status: 'CONFIRMED', ...changes };
}

const described = ({ date, status, movedFrom, windows, durationInMinutes, conflicts }: PlannedVisit) =>
  [
    date,
    status,
    ...(movedFrom ? [`from ${movedFrom}`] : []),
    ...windows.map(({ from, until }) => `${from}–${until}`),
    durationInMinutes,
    ...conflicts,
  ].join(' ');

function visitsWith(appointments: Appointment[], site: Partial<VisitSite> = {}) {
  return between(planOf({ appointments, ...site }), '2026-12-14', '2026-12-27').map(described);
}

test('an appointment replaces the visits of its planned day, and an extra one adds a visit', () => {
  const friday = '2026-12-18 PLANNED 08:00–17:00 60';
  const christmas = '2026-12-24 MOVED from 2026-12-25 08:00–17:00 60';
  assert.deepEqual(visitsWith([]), [friday, christmas]);
  assert.deepEqual(visitsWith([appointment({ plannedDate: '2026-12-25', timeFrom: '09:00' })]), [
    friday,
    '2026-12-23 APPOINTMENT from 2026-12-25 09:00–10:00 60',
  ]);
  assert.deepEqual(visitsWith([appointment({ date: '2026-12-22', durationInMinutes: 30 })]), [
    friday,
    '2026-12-22 APPOINTMENT 08:00–17:00 30',
    christmas,
  ]);
  const cancelled = appointment({ date: '2026-12-18', plannedDate: '2026-12-18', status: 'CANCELLED' });
  assert.deepEqual(visitsWith([cancelled]), ['2026-12-18 CANCELLED 60', christmas]);
  const extra = appointment({ date: '2026-12-19' });
  assert.deepEqual(visitsWith([extra], { attendingIntervals: [] }), [
    '2026-12-19 APPOINTMENT  outside_hours',
  ]);
});

test('two visits of a planned day become one appointment that takes as long as both', () => {
  const attendingIntervals = [fridays, { ...fridays, durationInMinutes: 90 }];
  const moved = appointment({ date: '2026-12-17', plannedDate: '2026-12-18' });
  assert.equal(
    visitsWith([moved], { attendingIntervals })[0],
    '2026-12-17 APPOINTMENT from 2026-12-18 08:00–17:00 150',
  );
});

test('an appointment that does not fit into the opening hours or its own times is a conflict', () => {
  const cases: [Partial<Appointment>, string][] = [
    [{ timeFrom: '16:30', durationInMinutes: 60 }, '16:30–17:30 60 outside_hours'],
    [{ timeFrom: '16:00', durationInMinutes: 60 }, '16:00–17:00 60'],
    [{ timeFrom: '09:00', timeUntil: '09:30', durationInMinutes: 60 }, '09:00–09:30 60 window_too_short'],
    [{ timeFrom: '23:00', durationInMinutes: 120 }, '23:00–01:00 120 outside_hours'],
    [{ timeUntil: '12:00', durationInMinutes: 60 }, '00:00–12:00 60'],
    [{ timeFrom: '07:00', timeUntil: '24:00' }, '07:00–24:00 '],
  ];
  for (const [changes, expected] of cases) {
    const [visit] = visitsWith([appointment({ date: '2026-12-16', ...changes })]);
    assert.equal(visit, `2026-12-16 APPOINTMENT ${expected}`);
  }
});

const day = (first: string, last: string) =>
  fc.integer({ min: toDayNumber(first), max: toDayNumber(last) }).map(fromDayNumber);
const time = fc.integer({ min: 0, max: 23 }).map((hour) => `${String(hour).padStart(2, '0')}:15`);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const interval = fc.record({
  frequency: fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY'),
  interval: fc.integer({ min: 1, max: 3 }),
  toleranceInDays: fc.integer({ min: 0, max: 31 }),
  durationInMinutes: fc.integer({ min: 1, max: 600 }),
});
const appointments = fc
  .uniqueArray(
    fc.record({
      date: day('2026-03-01', '2026-05-31'),
      plannedDate: optional(day('2026-03-01', '2026-05-31')),
      timeFrom: optional(time),
      timeUntil: optional(time),
      durationInMinutes: optional(fc.integer({ min: 1, max: 1440 })),
      status: fc.constantFrom(...appointmentStatuses),
    }),
    { maxLength: 12, selector: ({ plannedDate }) => plannedDate ?? Symbol('extra') },
  )
  .map((items) => items.map((item, index): Appointment => ({ id: `a${index}`, ...item })));
const site = fc.record({
  attendingIntervals: fc.array(interval, { maxLength: 3 }),
  openingHours: fc.constantFrom([], office),
  appointments,
});

describe('for any intervals and appointments', () => {
  const [first, last] = ['2026-01-20', '2026-07-10'];

  test('nothing disappears and nothing doubles', () => {
    fc.assert(
      fc.property(site, (input) => {
        const before = between(planOf({ ...input, appointments: [] }), first, last);
        const after = between(planOf(input), first, last);
        const replaced = new Set(input.appointments.flatMap(({ plannedDate }) => plannedDate ?? []));
        // Visits that nobody replaces are as they were.
        assert.deepEqual(
          after.filter((visit) => !visit.appointment).map(described),
          before.filter(({ plannedDate }) => !replaced.has(plannedDate!)).map(described),
        );
        const agreed = after.filter((visit) => visit.appointment);
        assert.deepEqual(
          agreed.map((visit) => `${visit.appointment!.id} ${visit.date}`).sort(),
          input.appointments.map(({ id, date }) => `${id} ${date}`).sort(),
        );
        for (const visit of agreed) {
          assert.equal(visit.status === 'CANCELLED', visit.appointment!.status === 'CANCELLED');
          assert.equal(visit.movedFrom !== undefined, (visit.plannedDate ?? visit.date) !== visit.date);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('a wide range equals its parts', () => {
    fc.assert(
      fc.property(site, day('2026-03-01', '2026-05-31'), (input, cut) => {
        const whole = between(planOf(input), first, last).map(described);
        const next = fromDayNumber(toDayNumber(cut) + 1);
        // A request for a part reads the appointments of that part, and those that replace visits near it.
        const near = (from: string, until: string) =>
          input.appointments.filter(
            ({ date, plannedDate = '' }) =>
              (from <= date && date <= until) ||
              (fromDayNumber(toDayNumber(from) - 31) <= plannedDate &&
                plannedDate <= fromDayNumber(toDayNumber(until) + 31)),
          );
        const part = (from: string, until: string) =>
          between(planOf({ ...input, appointments: near(from, until) }), from, until).map(described);
        assert.deepEqual([...part(first, cut), ...part(next, last)], whole);
      }),
      { numRuns: 200 },
    );
  });
});

test('the steps of a plan grow with its appointments, not with their square', () => {
  const stepsFor = (count: number) => {
    const items = Array.from({ length: count }, (_, index) =>
      appointment({ id: `a${index}`, date: fromDayNumber(toDayNumber('2026-01-01') + (index % 365)) }),
    );
    const before = countSteps();
    between(planOf({ appointments: items }), '2026-01-01', '2026-12-31');
    return countSteps() - before;
  };
  const [some, many] = [stepsFor(2000), stepsFor(20_000)];
  assert.ok(many < 12 * some, `${some} steps, then ${many}`);
});

const people = ['nils', 'merle', 'bülent', 'anke'];
const absence = fc
  .record({
    employeeId: fc.constantFrom(...people),
    from: day('2026-03-01', '2026-03-10'),
    length: fc.integer({ min: 0, max: 5 }),
    substituteEmployeeId: optional(fc.constantFrom(...people)),
  })
  .map(
    ({ length, ...item }): Absence => ({ ...item, until: fromDayNumber(toDayNumber(item.from) + length) }),
  );

test('the visits of somebody who is absent go to somebody who is there, or to nobody', () => {
  const here = (absences: readonly Absence[], id: string, on: number) =>
    !absences.some(
      ({ employeeId, from, until }) =>
        employeeId === id && toDayNumber(from) <= on && on <= toDayNumber(until),
    );
  fc.assert(
    fc.property(fc.array(absence, { maxLength: 8 }), (absences) => {
      const cover = toCover(absences);
      for (let on = toDayNumber('2026-02-28'); on <= toDayNumber('2026-03-16'); on += 1)
        for (const id of people) {
          const found = cover(id, on);
          if (here(absences, id, on)) assert.equal(found, id);
          if (found === undefined) continue;
          assert.ok(here(absences, found, on));
          assert.ok(coveredBy(absences, new Set([found])).includes(id));
        }
    }),
  );
});

test('a substitute who is absent passes the visits on, and two who cover each other cover nobody', () => {
  const days = { from: '2026-03-02', until: '2026-03-06' };
  const on = toDayNumber('2026-03-04');
  const nils = { employeeId: 'nils', ...days, substituteEmployeeId: 'merle' };
  const merle = { employeeId: 'merle', ...days, substituteEmployeeId: 'bülent' };
  assert.equal(toCover([nils, merle])('nils', on), 'bülent');
  assert.equal(toCover([nils, { ...merle, substituteEmployeeId: 'nils' }])('nils', on), undefined);
  assert.equal(toCover([nils])('nils', toDayNumber('2026-03-07')), 'nils');
  assert.equal(toCover([{ employeeId: 'nils', ...days }])('nils', on), undefined);
});

test('however many employees are asked for, a day reads each absence once', () => {
  const employees = Array.from({ length: 40 }, (_, index) => `e${index}`);
  let reads = 0;
  const absences = employees.flatMap((employeeId, index) =>
    Array.from({ length: 50 }, () => ({
      employeeId,
      get from() {
        reads++;
        return '2026-11-01';
      },
      until: '2026-11-30',
      substituteEmployeeId: employees[index + 1] ?? 'last',
    })),
  );
  const cover = toCover(absences);
  const day = toDayNumber('2026-11-18');
  assert.ok(employees.every((employeeId) => cover(employeeId, day) === 'last'));
  assert.equal(reads, absences.length);
});

test('visits of a day that overlap, or are too much together, are conflicts', () => {
  const visit = fc.record({
    start: optional(fc.integer({ min: 0, max: 1439 })),
    durationInMinutes: fc.integer({ min: 0, max: 200 }),
    preparationInMinutes: fc.integer({ min: 0, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(visit, { maxLength: 12 }), (visits: LoadedVisit[]) => {
      const found = runNow(findDayConflicts(visits));
      const sum = visits.reduce((all, one) => all + one.durationInMinutes + one.preparationInMinutes, 0);
      for (const one of visits) {
        const span = ({ start = 0, ...rest }: LoadedVisit) => [
          start - rest.preparationInMinutes,
          start + Math.max(1, rest.durationInMinutes),
        ];
        const [begin, end] = span(one) as [number, number];
        const overlaps = visits.some((other) => {
          const [otherBegin, otherEnd] = span(other) as [number, number];
          const isTimed = one.start !== undefined && other.start !== undefined;
          return other !== one && isTimed && begin < otherEnd && otherBegin < end;
        });
        const conflicts = found.get(one) ?? [];
        assert.equal(conflicts.includes('double_booked'), overlaps);
        assert.equal(conflicts.includes('too_much_for_the_day'), sum > longestDayInMinutes);
      }
    }),
  );
});
