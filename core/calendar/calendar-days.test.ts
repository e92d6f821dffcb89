import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  fromDayNumber,
  isClosingTime,
  isDay,
  isTime,
  partsOf,
  toDayNumber,
  todayIn,
  weekOf,
} from './calendar-days.ts';

test('a day is one that the calendar has', () => {
  for (const day of ['2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31']) assert.ok(isDay(day), day);
  for (const text of ['2025-02-29', '2025-02-30', '1900-02-29', '2025-04-31', '0000-01-01', '2025-1-1', ''])
    assert.ok(!isDay(text), text);
});

test('24:00 is a time at which something ends, and never begins', () => {
  for (const time of ['00:00', '23:59']) assert.ok(isTime(time) && isClosingTime(time), time);
  for (const text of ['24:01', '24:30', '24:59', '25:00', '8:00', '08:60']) {
    assert.ok(!isTime(text) && !isClosingTime(text), text);
  }
  assert.deepEqual([isTime('24:00'), isClosingTime('24:00')], [false, true]);
});

test('every number of a day is the day that it was made from, with the parts of its text', () => {
  const first = toDayNumber('0001-01-01');
  const last = toDayNumber('9999-12-31');
  fc.assert(
    fc.property(fc.integer({ min: first, max: last }), (number) => {
      const day = fromDayNumber(number);
      assert.ok(isDay(day), day);
      assert.equal(toDayNumber(day), number);
      const { year, month, date, weekday, monthLength } = partsOf(number);
      assert.deepEqual([year, month, date], day.split('-').map(Number));
      assert.equal(isDay(day.replace(/\d\d$/, String(monthLength))), true);
      assert.equal(isDay(day.replace(/\d\d$/, String(monthLength + 1))), false);
      assert.equal(weekOf(number), weekOf(number - weekday), 'a week begins on Monday');
    }),
  );
});

test('today is the day of the place, not of the reader', () => {
  const moment = new Date('2026-11-15T23:30:00Z');
  assert.equal(todayIn('Europe/Berlin', moment), '2026-11-16');
  assert.equal(todayIn('America/New_York', moment), '2026-11-15');
});
