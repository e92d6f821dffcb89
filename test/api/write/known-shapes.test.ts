// The server's verdict on lists, which fills the attention list, is the web app's, which shows and plans with them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { isClosingTime, isDay, isTime } from '../../../core/calendar/calendar-days.ts';
import { isOpeningHours, openingHoursShape } from '../../../core/calendar/opening-hours.ts';
import { attendingIntervalShape, isAttendingInterval } from '../../../core/calendar/visits.ts';
import { startService, validSite } from '../../helpers/service.ts';

/** Mostly the right values of a member, and those that are wrong by a hair. */
function nearly<Value>(right: fc.Arbitrary<Value>, ...wrong: unknown[]): fc.Arbitrary<unknown> {
  const others = fc.oneof(fc.constantFrom(...wrong), fc.jsonValue({ maxDepth: 1 }).filter(isStorable));
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: others });
}

function isStorable(value: unknown): boolean {
  return !/\\u|__proto__/.test(JSON.stringify(value));
}

const days = fc.constantFrom('MONDAY', 'SUNDAY');
const day = nearly(
  fc.constantFrom('2026-01-31', '2024-02-29', '0050-01-01'),
  ...['2025-02-30', '2025-02-29', '0000-01-01', '2026-1-1', '26-01-01', 20260101, ''],
);
const times = ['00:00', '09:30', '23:59'] as const;
const wrongTimes = ['24:30', '24:59', '24:01', '25:00', '9:30', '09:60', 930];
const time = nearly(fc.constantFrom(...times), '24:00', ...wrongTimes);
const closingTime = nearly(fc.constantFrom(...times, '24:00'), ...wrongTimes);
/** A double rounds it to 1, for the server and for the browser. */
const nearlyOne = JSON.rawJSON('1.00000000000000000001');
const integer = (min: number, max: number) =>
  nearly(fc.constantFrom(min, max), min - 1, max + 1, min + 0.5, String(min), nearlyOne);
const listOf = (item: fc.Arbitrary<unknown>) => nearly(fc.array(item, { maxLength: 3 }), {}, 'MONDAY');

const openingHours = fc.record(
  {
    dayOfWeek: nearly(days, 'Montag', 'monday', ['MONDAY']),
    opens: time,
    closes: closingTime,
    validFrom: day,
    validUntil: day,
    note: fc.constant('x'),
  },
  { requiredKeys: ['dayOfWeek', 'opens', 'closes'] },
);

const attendingInterval = fc.record(
  {
    frequency: nearly(fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'), 'HOURLY', 'daily'),
    interval: integer(1, 52),
    byDay: listOf(nearly(days, 'Mo')),
    weekOfMonth: nearly(fc.constantFrom(1, 4, -1), 0, 5, '1'),
    byMonth: listOf(integer(1, 12)),
    startDate: day,
    endDate: day,
    timeFrom: time,
    timeUntil: closingTime,
    durationInMinutes: integer(1, 1440),
    toleranceInDays: integer(0, 31),
  },
  { requiredKeys: ['frequency'] },
);

/** Most members of most items are absent, or hardly any item would be known. */
const sparse = (items: fc.Arbitrary<object>) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.tuple(items, fc.nat(3)).map(([item, kept]) => firstMembers(item, kept + 1)) },
    { weight: 1, arbitrary: items },
  );

function firstMembers(item: object, count: number): object {
  return Object.fromEntries(Object.entries(item).slice(0, count));
}

test('the shapes mean as JSON Schema what the shared rules make of them', () => {
  const formats = { date: isDay, time: isTime, 'closing-time': isClosingTime };
  const ajv = new Ajv({ strict: true, formats });
  for (const [shape, items, isKnown] of [
    [openingHoursShape, openingHours, isOpeningHours],
    [attendingIntervalShape, attendingInterval, isAttendingInterval],
  ] as const) {
    const validate = ajv.compile(shape);
    const verdicts = new Set<boolean>();
    const property = fc.property(sparse(items), (item) => {
      const sent = JSON.parse(JSON.stringify(item));
      verdicts.add(isKnown(sent));
      assert.equal(isKnown(sent), validate(sent));
    });
    fc.assert(property, { numRuns: 2000 });
    assert.equal(verdicts.size, 2, 'both verdicts occur');
  }
});

test('what the server stores as known is what the web app takes for known', async () => {
  const service = await startService();
  const site = validSite(await service.createCustomer());
  const verdicts = new Set<string>();
  let unknownLists = 0;
  const property = fc.asyncProperty(
    fc.array(sparse(openingHours), { maxLength: 2 }),
    fc.array(sparse(attendingInterval), { maxLength: 2 }),
    async (hours, intervals) => {
      const body = { ...site, openingHours: hours, attendingIntervals: intervals };
      const created = await service.post('/customer/site', body);
      assert.equal(created.statusCode, 201, created.body);
      const { id } = created.json();
      const seen = (await service.get(`/sites/${id}`)).json();
      const expected = [
        seen.openingHours.every(isOpeningHours),
        seen.attendingIntervals.every(isAttendingInterval),
      ];
      const { rows } = await service.owner.query(
        'SELECT opening_hours_is_known AS hours, attending_intervals_is_known AS intervals FROM site WHERE id = $1',
        [id],
      );
      assert.deepEqual([rows[0].hours, rows[0].intervals], expected, JSON.stringify(body));
      verdicts.add(String(expected));
      unknownLists += expected.filter((isKnown) => !isKnown).length;
    },
  );
  const hours = { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' };
  const examples: [object[], object[]][] = [
    [[{ ...hours, validFrom: '2025-02-30' }], []],
    [[hours], [{ frequency: 'DAILY', timeFrom: '24:30' }]],
    [[hours], [{ frequency: 'DAILY', timeUntil: '24:59' }]],
    [[hours], [{ frequency: 'DAILY', startDate: '0050-01-01' }]],
    [[hours], [{ frequency: 'DAILY', interval: nearlyOne }]],
  ];
  await fc.assert(property, { numRuns: 150, examples, endOnFailure: true });
  assert.equal(verdicts.size, 4, 'all combinations of verdicts occur');
  const { total } = (await service.get('/attention?code=unknown_shape&limit=1&count=true')).json();
  assert.equal(total, unknownLists);
});
