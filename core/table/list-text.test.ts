import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayNames } from '../calendar/calendar-days.ts';
import type { OpeningHours } from '../calendar/opening-hours.ts';
import type { AttendingInterval } from '../calendar/visits.ts';
import { readList, writeList } from './list-text.ts';

function hours(days: readonly number[], ...times: [opens: string, closes: string][]): OpeningHours[] {
  return days.flatMap((day) =>
    times.map(([opens, closes]) => ({ dayOfWeek: dayNames[day]!, opens, closes })),
  );
}
const write = (kind: string, items: readonly object[], language: 'de' | 'en' = 'de') =>
  writeList(kind, items, JSON.stringify(items), language);

test('opening hours are written as people write them', () => {
  const week = [...hours([0, 1, 2, 3, 4], ['08:00', '17:00']), ...hours([5], ['09:30', '13:00'])];
  assert.equal(write('OpeningHours', week), 'Mo–Fr 08:00–17:00; Sa 09:30–13:00');
  assert.equal(write('OpeningHours', week, 'en'), 'Mon–Fri 08:00–17:00; Sat 09:30–13:00');
  const breaks = hours([0, 2], ['08:00', '12:00'], ['13:00', '24:00']);
  assert.equal(write('OpeningHours', breaks), 'Mo, Mi 08:00–12:00, 13:00–24:00');
  const season = week
    .slice(0, 1)
    .map((item) => ({ ...item, validFrom: '2026-03-01', validUntil: '2026-10-31' }));
  assert.equal(write('OpeningHours', season), 'Mo 08:00–17:00 (ab 01.03.2026 bis 31.10.2026)');
});

test('opening hours are read as people write them', () => {
  const week = hours([0, 1, 2, 3, 4], ['08:00', '17:30']);
  for (const text of [
    'Mo-Fr 8-17:30',
    'Montag bis Freitag: 8.00 - 17.30 Uhr',
    'mo. – fr. 8 bis 17:30 Uhr',
    'Monday to Friday 08:00–17:30',
    'Mo, Di, Mi, Do und Fr 8:00–17:30; Sa geschlossen',
  ]) {
    assert.deepEqual(readList('OpeningHours', text), week, text);
  }
  assert.deepEqual(
    readList('OpeningHours', 'täglich 0–24'),
    hours([0, 1, 2, 3, 4, 5, 6], ['00:00', '24:00']),
  );
  const longFriday = [...hours([0, 1, 2, 3], ['07:00', '15:30']), ...hours([4], ['07:00', '13:00'])];
  for (const text of [
    'Mo–Do 7–15:30, Fr 7–13',
    'Mo.-Do. 07.00-15.30 Uhr, Fr. 07.00-13.00 Uhr, Sa geschlossen',
    'Mo bis Do von 7 bis 15:30 Uhr und Fr von 7 bis 13 Uhr',
    'Mo-Do: 0700-1530 / Fr: 0700-1300',
    'Montag - Donnerstag 7:00 - 15:30 Uhr Freitag 7:00 - 13:00 Uhr',
  ])
    assert.deepEqual(readList('OpeningHours', text), longFriday, text);
  const always = hours([0, 1, 2, 3, 4, 5, 6], ['00:00', '24:00']);
  for (const text of ['24h', '24/7', 'rund um die Uhr', 'tägl. 0-24', 'Mo-So 24 Stunden'])
    assert.deepEqual(readList('OpeningHours', text), always, text);
  assert.deepEqual(readList('OpeningHours', 'tägl. 6-18'), hours([0, 1, 2, 3, 4, 5, 6], ['06:00', '18:00']));
  const split = hours([0, 2, 4], ['08:00', '12:00'], ['14:00', '18:00']);
  for (const text of ['Mo/Mi/Fr 8-12 u. 14-18 Uhr', 'Mo, Mi, Fr 8–12 + 14–18', '8-12 / 14-18 Uhr Mo, Mi, Fr'])
    assert.deepEqual(readList('OpeningHours', text), split, text);
  for (const text of ['werktags 8-17:30', '8:00 - 17:30 (Mo-Fr)'])
    assert.deepEqual(readList('OpeningHours', text), week, text);
  assert.deepEqual(readList('OpeningHours', 'Sa–Mo 9–12'), hours([5, 6, 0], ['09:00', '12:00']));
  for (const text of [
    'nach Absprache',
    'Mo–Fr',
    '8–17',
    'Mo 8–25',
    'Mo 8–17 (ab 31.02.2026)',
    'Mo 8–17 Fr',
    'nach Vereinbarung',
    'Mo-Fr 8-17, sonst nach Vereinbarung',
  ]) {
    assert.equal(readList('OpeningHours', text), undefined, text);
  }
});

test('opening hours are read as Dutch offices write them', () => {
  const [workdays, all] = [
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4, 5, 6],
  ];
  const cases: [text: string, items: OpeningHours[]][] = [
    ['ma-vr 8:00-17:00', hours(workdays, ['08:00', '17:00'])],
    ['Maandag t/m vrijdag van 8.00 tot 17.00 uur', hours(workdays, ['08:00', '17:00'])],
    ['ma t/m do 9-17 uur', hours([0, 1, 2, 3], ['09:00', '17:00'])],
    [
      'ma t/m do 9-17 uur, vr 9-15 uur, za gesloten',
      [...hours([0, 1, 2, 3], ['09:00', '17:00']), ...hours([4], ['09:00', '15:00'])],
    ],
    ['ma, wo en vr 8-12 en 13-17', hours([0, 2, 4], ['08:00', '12:00'], ['13:00', '17:00'])],
    ['zo gesloten', []],
    ['dagelijks 6-18', hours(all, ['06:00', '18:00'])],
    ['werkdagen 8-17', hours(workdays, ['08:00', '17:00'])],
    ['di-do 8-17', hours([1, 2, 3], ['08:00', '17:00'])],
  ];
  for (const [text, items] of cases) assert.deepEqual(readList('OpeningHours', text), items, text);
  // "ma" is Monday in Dutch, and Tuesday in French and Italian.
  for (const text of ['ma 8-17', 'ma-ve 8-17', 'ma-do 8-17', 'op afspraak'])
    assert.equal(readList('OpeningHours', text), undefined, text);
});

test('visit intervals are written and read as people write them', () => {
  const cases: [item: AttendingInterval, de: string, en: string][] = [
    [
      { frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY', 'FRIDAY'] },
      'alle 2 Wochen Di, Fr',
      'every 2 weeks Tue, Fri',
    ],
    [
      { frequency: 'MONTHLY', byDay: ['MONDAY'], weekOfMonth: -1, durationInMinutes: 45 },
      'monatlich letzter Mo 45 Min.',
      'monthly last Mon 45 min',
    ],
    [
      { frequency: 'WEEKLY', interval: 1, timeFrom: '08:00', timeUntil: '12:00', toleranceInDays: 2 },
      'jede Woche 08:00–12:00 ± 2 Tage',
      'every week 08:00–12:00 ± 2 days',
    ],
    [
      { frequency: 'YEARLY', byMonth: [3, 5], startDate: '2026-03-01', timeFrom: '07:30' },
      'jährlich im Mär, Mai ab 01.03.2026 ab 07:30',
      'yearly in Mar, May from 2026-03-01 from 07:30',
    ],
    [
      { frequency: 'MONTHLY', weekOfMonth: 2, endDate: '2026-12-31' },
      'monatlich 2. Woche bis 31.12.2026',
      'monthly 2. week until 2026-12-31',
    ],
  ];
  for (const [item, de, en] of cases) {
    assert.equal(write('AttendingInterval', [item]), de);
    assert.equal(write('AttendingInterval', [item], 'en'), en);
    for (const text of [de, en, de.toUpperCase()]) {
      assert.deepEqual(readList('AttendingInterval', text), [item], text);
    }
  }
  for (const text of [
    'nach Bedarf',
    'Di',
    'wöchentlich wöchentlich',
    'alle 60 Wochen',
    'monatlich 9999 Min.',
  ]) {
    assert.equal(readList('AttendingInterval', text), undefined, text);
  }
});

test('visit intervals are read as offices write them', () => {
  const cases: [text: string, ...items: AttendingInterval[]][] = [
    ['14-tägig', { frequency: 'WEEKLY', interval: 2 }],
    ['14-tägl. Di', { frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
    ['vierzehntägig', { frequency: 'WEEKLY', interval: 2 }],
    ['10-tägig', { frequency: 'DAILY', interval: 10 }],
    ['2-wöchig', { frequency: 'WEEKLY', interval: 2 }],
    ['zweiwöchentlich', { frequency: 'WEEKLY', interval: 2 }],
    ['alle zwei Wochen', { frequency: 'WEEKLY', interval: 2 }],
    ['alle 6 Wo.', { frequency: 'WEEKLY', interval: 6 }],
    ['vierteljährlich', { frequency: 'MONTHLY', interval: 3 }],
    ['quartalsweise', { frequency: 'MONTHLY', interval: 3 }],
    ['halbjährlich im Mär, Sep', { frequency: 'MONTHLY', interval: 6, byMonth: [3, 9] }],
    ['2x im Monat', { frequency: 'MONTHLY', weekOfMonth: 1 }, { frequency: 'MONTHLY', weekOfMonth: 3 }],
    ['1 x monatlich', { frequency: 'MONTHLY', interval: 1 }],
    ['1x/Woche, 30 Min.', { frequency: 'WEEKLY', interval: 1, durationInMinutes: 30 }],
    ['2x wöchentlich Di, Fr', { frequency: 'WEEKLY', byDay: ['TUESDAY', 'FRIDAY'] }],
    ['4x im Jahr', { frequency: 'MONTHLY', interval: 3 }],
    ['zweimal pro Jahr', { frequency: 'MONTHLY', interval: 6 }],
    ['wöchentl. Mo', { frequency: 'WEEKLY', byDay: ['MONDAY'] }],
    ['mtl.', { frequency: 'MONTHLY' }],
    ['jeden Dienstag', { frequency: 'WEEKLY', byDay: ['TUESDAY'] }],
    ['jeden 1. Montag im Monat', { frequency: 'MONTHLY', weekOfMonth: 1, byDay: ['MONDAY'] }],
    ['14-tgl. (Do)', { frequency: 'WEEKLY', interval: 2, byDay: ['THURSDAY'] }],
    ['2 x mtl.', { frequency: 'MONTHLY', weekOfMonth: 1 }, { frequency: 'MONTHLY', weekOfMonth: 3 }],
    ['1/4 jährlich', { frequency: 'MONTHLY', interval: 3 }],
    ['jeden 1. Mittwoch', { frequency: 'MONTHLY', weekOfMonth: 1, byDay: ['WEDNESDAY'] }],
    ['jeden letzten Freitag', { frequency: 'MONTHLY', weekOfMonth: -1, byDay: ['FRIDAY'] }],
    ['dienstags', { frequency: 'WEEKLY', byDay: ['TUESDAY'] }],
    ['1. Montag im Monat', { frequency: 'MONTHLY', weekOfMonth: 1, byDay: ['MONDAY'] }],
    [
      '1. u. 3. Mo im Monat',
      { frequency: 'MONTHLY', byDay: ['MONDAY'], weekOfMonth: 1 },
      { frequency: 'MONTHLY', byDay: ['MONDAY'], weekOfMonth: 3 },
    ],
    ['every other week', { frequency: 'WEEKLY', interval: 2 }],
    ['wekelijks ma', { frequency: 'WEEKLY', byDay: ['MONDAY'] }],
    ['om de 2 weken', { frequency: 'WEEKLY', interval: 2 }],
    ['om de week di', { frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
    ['elke drie maanden', { frequency: 'MONTHLY', interval: 3 }],
    ['1x per 6 weken', { frequency: 'WEEKLY', interval: 6 }],
    ['elke vrijdag', { frequency: 'WEEKLY', byDay: ['FRIDAY'] }],
    ['maandelijks, 45 min', { frequency: 'MONTHLY', durationInMinutes: 45 }],
    ['2x per maand', { frequency: 'MONTHLY', weekOfMonth: 1 }, { frequency: 'MONTHLY', weekOfMonth: 3 }],
    ['per kwartaal', { frequency: 'MONTHLY', interval: 3 }],
    ['4 keer per jaar', { frequency: 'MONTHLY', interval: 3 }],
  ];
  for (const [text, ...items] of cases) assert.deepEqual(readList('AttendingInterval', text), items, text);
  // The meaning of these texts is not certain, so nothing is guessed.
  for (const text of [
    '2x wöchentlich',
    '3x im Monat',
    '5x im Jahr',
    'nach Vereinbarung',
    'gerade KW',
    'Di',
    'tweewekelijks',
  ])
    assert.equal(readList('AttendingInterval', text), undefined, text);
});

const day = fc.constantFrom(...dayNames);
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const date = fc
  .date({ min: new Date('1000-01-01'), max: new Date('9998-01-01'), noInvalidDate: true })
  .map((moment) => moment.toISOString().slice(0, 10));
const openingHours = fc.record(
  {
    dayOfWeek: day,
    opens: time,
    closes: fc.oneof(time, fc.constant('24:00')),
    validFrom: date,
    validUntil: date,
  },
  { requiredKeys: ['dayOfWeek', 'opens', 'closes'] },
);
const interval = fc.record(
  {
    frequency: fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
    interval: fc.integer({ min: 1, max: 52 }),
    byDay: fc.array(day, { maxLength: 4 }),
    weekOfMonth: fc.constantFrom(1, 2, 3, 4, -1),
    byMonth: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
    startDate: date,
    endDate: date,
    timeFrom: time,
    timeUntil: fc.oneof(time, fc.constant('24:00')),
    durationInMinutes: fc.integer({ min: 1, max: 1440 }),
    toleranceInDays: fc.integer({ min: 0, max: 31 }),
  },
  { requiredKeys: ['frequency'] },
);

test('any list is read back as it was written; what words would change is written as JSON', () => {
  const lists = [
    ['OpeningHours', fc.array(fc.oneof({ weight: 9, arbitrary: openingHours }, fc.object() as never))],
    ['AttendingInterval', fc.array(fc.oneof({ weight: 9, arbitrary: interval }, fc.object() as never))],
  ] as const;
  for (const [kind, list] of lists) {
    fc.assert(
      fc.property(list as fc.Arbitrary<object[]>, fc.constantFrom('de', 'en'), (items, language) => {
        const json = JSON.stringify(items);
        const text = writeList(kind, items, json, language);
        if (text !== json) assert.deepEqual(readList(kind, text), JSON.parse(json));
      }),
      { numRuns: 500 },
    );
  }
});

test('known items seldom need JSON', () => {
  // An empty list of days or months has no words.
  const filled = interval.filter(({ byDay, byMonth }) => byDay?.length !== 0 && byMonth?.length !== 0);
  const kinds: [kind: string, item: fc.Arbitrary<object>][] = [
    ['OpeningHours', openingHours],
    ['AttendingInterval', filled],
  ];
  for (const [kind, item] of kinds) {
    const samples = fc.sample(fc.array(item, { minLength: 1, maxLength: 3 }), 300);
    const inWords = samples.filter((items) => !write(kind, items).startsWith('['));
    assert.ok(inWords.length > 150, `${kind}: ${inWords.length}`);
  }
});
