import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runNow } from '../pace.ts';
import { nextVisits, type PlannedVisit, toVisitPlan } from './visit-plan.ts';
import { type AttendingInterval, isAttendingInterval } from './visits.ts';

function visitsOf(attendingIntervals: AttendingInterval[], today: string, count: number): PlannedVisit[] {
  const site = { openingHours: [], timeZone: 'Europe/Berlin', hasEmployee: true, hasPosition: true };
  const plan = runNow(toVisitPlan({ ...site, attendingIntervals, anchor: today }, () => undefined, 'MOVE'));
  return runNow(nextVisits(plan, today, count));
}

function daysOf(rule: AttendingInterval, today: string, count = 4): string[] {
  return visitsOf([rule], today, count).map(({ date }) => date);
}

describe('next visits', () => {
  test('come every week on the day of the first one, where no day is named', () => {
    const rule: AttendingInterval = { frequency: 'WEEKLY', startDate: '2026-01-07' };
    assert.deepEqual(daysOf(rule, '2026-01-08', 2), ['2026-01-14', '2026-01-21']);
  });

  test('of every second week keep to the weeks of the first day, across the turn of the year', () => {
    const rule: AttendingInterval = {
      frequency: 'WEEKLY',
      interval: 2,
      byDay: ['TUESDAY', 'FRIDAY'],
      startDate: '2026-12-01',
    };
    assert.deepEqual(daysOf(rule, '2026-12-16', 5), [
      '2026-12-18',
      '2026-12-29',
      '2027-01-01',
      '2027-01-12',
      '2027-01-15',
    ]);
  });

  test('of every week begin in the present week, where no first day is given', () => {
    const rule: AttendingInterval = { frequency: 'WEEKLY', interval: 2, byDay: ['MONDAY'] };
    assert.deepEqual(daysOf(rule, '2026-11-18', 2), ['2026-11-30', '2026-12-14']);
  });

  test('are today, if today is one of the days', () => {
    assert.deepEqual(daysOf({ frequency: 'WEEKLY', byDay: ['SUNDAY'] }, '2026-11-15', 1), ['2026-11-15']);
  });

  test('in the last week of a month are its last seven days', () => {
    const rule: AttendingInterval = { frequency: 'MONTHLY', byDay: ['MONDAY'], weekOfMonth: -1 };
    assert.deepEqual(daysOf(rule, '2026-02-01', 3), ['2026-02-23', '2026-03-30', '2026-04-27']);
  });

  test('in the second week of a month are its days eight to fourteen', () => {
    const rule: AttendingInterval = { frequency: 'MONTHLY', byDay: ['THURSDAY'], weekOfMonth: 2 };
    assert.deepEqual(daysOf(rule, '2026-01-01', 3), ['2026-01-08', '2026-02-12', '2026-03-12']);
  });

  test('on a day of the month without a week are all of them, as calendars count', () => {
    const rule: AttendingInterval = {
      frequency: 'MONTHLY',
      interval: 2,
      byDay: ['FRIDAY'],
      startDate: '2026-01-01',
    };
    assert.deepEqual(daysOf(rule, '2026-01-20', 4), ['2026-01-23', '2026-01-30', '2026-03-06', '2026-03-13']);
  });

  test('of a month without the 31st are on its last day', () => {
    const rule: AttendingInterval = { frequency: 'MONTHLY', startDate: '2026-01-31' };
    assert.deepEqual(daysOf(rule, '2026-02-01', 3), ['2026-02-28', '2026-03-31', '2026-04-30']);
  });

  test('stay within the months of a season and end with the last day', () => {
    const rule: AttendingInterval = {
      frequency: 'MONTHLY',
      byMonth: [4, 5, 10],
      startDate: '2026-01-15',
      endDate: '2027-04-15',
    };
    assert.deepEqual(daysOf(rule, '2026-01-01', 9), ['2026-04-15', '2026-05-15', '2026-10-15', '2027-04-15']);
  });

  test('of every third day are counted from the first, whether summer time begins meanwhile or not', () => {
    const rule: AttendingInterval = { frequency: 'DAILY', interval: 3, startDate: '2026-03-27' };
    assert.deepEqual(daysOf(rule, '2026-03-28', 3), ['2026-03-30', '2026-04-02', '2026-04-05']);
  });

  test('of a year come on its day, on 29 February in years that have one and else the day before', () => {
    const rule: AttendingInterval = { frequency: 'YEARLY', startDate: '2028-02-29' };
    assert.deepEqual(daysOf(rule, '2028-01-01', 2), ['2028-02-29', '2029-02-28']);
  });

  test('of a rule that began in the first century are counted from then', () => {
    const rule: AttendingInterval = { frequency: 'YEARLY', interval: 2, startDate: '0050-03-01' };
    assert.deepEqual(daysOf(rule, '2026-01-01', 1), ['2026-03-01']);
  });

  test('of several intervals come together in the order of days and times', () => {
    const weekly: AttendingInterval = { frequency: 'WEEKLY', byDay: ['MONDAY'], timeFrom: '10:00' };
    const monthly: AttendingInterval = { frequency: 'MONTHLY', startDate: '2026-06-01', timeFrom: '08:00' };
    const found = visitsOf([weekly, monthly], '2026-06-01', 3);
    assert.deepEqual(
      found.map(({ date, interval }) => `${date} ${interval?.timeFrom}`),
      ['2026-06-01 08:00', '2026-06-01 10:00', '2026-06-08 10:00'],
    );
  });

  test('of a rule that is over are none', () => {
    assert.deepEqual(daysOf({ frequency: 'DAILY', endDate: '2026-01-01' }, '2026-01-02'), []);
  });
});

test('only rules of the known shape are planned with', () => {
  assert.ok(
    isAttendingInterval({ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'], timeUntil: '24:00' }),
  );
  assert.ok(!isAttendingInterval({ frequency: 'WEEKLY', interval: 53 }));
  assert.ok(!isAttendingInterval({ frequency: 'HOURLY' }));
  assert.ok(!isAttendingInterval({ frequency: 'WEEKLY', colour: 'green' }));
  assert.ok(!isAttendingInterval({ frequency: 'DAILY', startDate: '2026-02-30' }));
  assert.ok(!isAttendingInterval({ frequency: 'DAILY', timeFrom: '24:30' }));
  assert.ok(!isAttendingInterval({ frequency: 'DAILY', timeFrom: '24:00' }));
  assert.ok(!isAttendingInterval({ frequency: 'DAILY', timeUntil: '24:59' }));
  assert.ok(!isAttendingInterval('every week'));
});
