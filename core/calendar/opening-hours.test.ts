import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endsNextDay, isOpeningHours, type OpeningHours, toSeasons } from './opening-hours.ts';

test('items of one part of the year are a week, breaks in their order, and the whole year comes first', () => {
  const items: OpeningHours[] = [
    { dayOfWeek: 'MONDAY', opens: '14:00', closes: '18:00' },
    {
      dayOfWeek: 'SUNDAY',
      opens: '10:00',
      closes: '12:00',
      validFrom: '2026-12-01',
      validUntil: '2026-12-24',
    },
    { dayOfWeek: 'MONDAY', opens: '08:00', closes: '12:00' },
  ];
  const [always, advent, ...rest] = toSeasons(items);
  assert.equal(rest.length, 0);
  assert.deepEqual(
    always!.week[0]!.map(({ opens }) => opens),
    ['08:00', '14:00'],
  );
  assert.equal(always!.validFrom, undefined);
  assert.equal(advent!.validUntil, '2026-12-24');
  assert.equal(advent!.week[6]!.length, 1);
});

test('only the known shape is shown as a week', () => {
  assert.ok(isOpeningHours({ dayOfWeek: 'MONDAY', opens: '08:00', closes: '24:00' }));
  assert.ok(!isOpeningHours({ dayOfWeek: 'MONDAY', opens: '24:00', closes: '08:00' }));
  assert.ok(!isOpeningHours({ dayOfWeek: 'Mo', opens: '08:00', closes: '12:00' }));
  assert.ok(!isOpeningHours({ dayOfWeek: 'MONDAY', opens: '8:00', closes: '12:00' }));
  assert.ok(!isOpeningHours({ dayOfWeek: 'MONDAY', opens: '08:00', closes: '12:00', note: 'x' }));
  assert.ok(!isOpeningHours(null));
});

test('closing before opening, or at the same time, is on the next day', () => {
  assert.ok(endsNextDay({ dayOfWeek: 'FRIDAY', opens: '18:00', closes: '02:00' }));
  assert.ok(endsNextDay({ dayOfWeek: 'FRIDAY', opens: '08:00', closes: '08:00' }));
  assert.ok(!endsNextDay({ dayOfWeek: 'FRIDAY', opens: '08:00', closes: '24:00' }));
});
