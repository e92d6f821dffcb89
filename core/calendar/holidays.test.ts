import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fromDayNumber, toDayNumber } from './calendar-days.ts';
import { type GermanState, germanStates, stateOfPostcode } from './german-states.ts';
import { holidayRegion, holidaysOf } from './holidays.ts';

/** Days from Easter Sunday, as the calendars of these years print it. */
const easterSundays = { 2024: '2024-03-31', 2025: '2025-04-20', 2026: '2026-04-05', 2027: '2027-03-28' };
const repentanceDays = { 2024: '11-20', 2025: '11-19', 2026: '11-18', 2027: '11-17' };

const nationwide = { fixed: ['01-01', '05-01', '10-03', '12-25', '12-26'], easter: [-2, 1, 39, 50] };

const epiphany = '01-06';
const womensDay = '03-08';
const assumption = '08-15';
const childrensDay = '09-20';
const reformation = '10-31';
const allSaints = '11-01';
const corpusChristi = 60;

/** The holidays of each state beside the nationwide ones, from the states' laws. */
const laws: Record<GermanState, { fixed: string[]; easter?: number[]; repentanceDay?: true }> = {
  BB: { fixed: [reformation], easter: [0, 49] },
  BE: { fixed: [womensDay] },
  BW: { fixed: [epiphany, allSaints], easter: [corpusChristi] },
  BY: { fixed: [epiphany, allSaints], easter: [corpusChristi] },
  HB: { fixed: [reformation] },
  HE: { fixed: [], easter: [corpusChristi] },
  HH: { fixed: [reformation] },
  MV: { fixed: [womensDay, reformation] },
  NI: { fixed: [reformation] },
  NW: { fixed: [allSaints], easter: [corpusChristi] },
  RP: { fixed: [allSaints], easter: [corpusChristi] },
  SH: { fixed: [reformation] },
  SL: { fixed: [assumption, allSaints], easter: [corpusChristi] },
  SN: { fixed: [reformation], repentanceDay: true },
  ST: { fixed: [epiphany, reformation] },
  TH: { fixed: [childrensDay, reformation] },
};

/** Berlin had one more in 2025, 80 years after the war. */
const single: { [key: string]: string[] } = { 'BE 2025': ['05-08'] };

function daysInYear(region: string | undefined, year: number): string[] {
  const holidays = holidaysOf(region);
  const first = toDayNumber(`${year}-01-01`);
  const days = Array.from({ length: 366 }, (_, index) => fromDayNumber(first + index));
  return days.filter((day) => day.startsWith(String(year)) && holidays(day));
}

function expectedDays(state: GermanState | undefined, year: keyof typeof easterSundays): string[] {
  const law = state ? laws[state] : { fixed: [] };
  const fixed = [
    ...nationwide.fixed,
    ...law.fixed,
    ...(law.repentanceDay ? [repentanceDays[year]] : []),
    ...(single[`${state} ${year}`] ?? []),
  ].map((day) => `${year}-${day}`);
  const easter = toDayNumber(easterSundays[year]);
  const movable = [...nationwide.easter, ...(law.easter ?? [])].map((days) => fromDayNumber(easter + days));
  return [...fixed, ...movable].sort();
}

describe('public holidays of', () => {
  for (const state of germanStates) {
    test(`${state} from 2024 to 2027 are those of its law`, () => {
      for (const year of [2024, 2025, 2026, 2027] as const)
        assert.deepEqual(daysInYear(`DE-${state}`, year), expectedDays(state, year));
    });
  }

  test('Germany without a state are the nationwide ones', () => {
    for (const year of [2024, 2025, 2026, 2027] as const)
      assert.deepEqual(daysInYear('DE', year), expectedDays(undefined, year));
  });

  test('Austria and Switzerland hold their national days and not the German one', () => {
    assert.equal(holidaysOf('AT')('2026-10-26')?.de, 'Nationalfeiertag');
    assert.equal(holidaysOf('CH')('2026-08-01')?.de, 'Bundesfeiertag');
    assert.equal(holidaysOf('AT')('2026-10-03'), undefined);
  });

  test('years and regions that nobody knows are none', () => {
    assert.deepEqual(daysInYear('DE-BY', 1999), []);
    assert.deepEqual(daysInYear('FR', 2026), []);
    assert.deepEqual(daysInYear(undefined, 2026), []);
  });

  test('have a German and an English name', () => {
    assert.deepEqual(holidaysOf('DE')('2026-04-03'), { de: 'Karfreitag', en: 'Good Friday' });
  });
});

describe('the state of a postcode', () => {
  const capitals: Record<GermanState, string> = {
    BB: '14467',
    BE: '10117',
    BW: '70173',
    BY: '80331',
    HB: '28195',
    HE: '65183',
    HH: '20095',
    MV: '19053',
    NI: '30159',
    NW: '40213',
    RP: '55116',
    SH: '24103',
    SL: '66111',
    SN: '01067',
    ST: '39104',
    TH: '99084',
  };
  test('is right for all sixteen capitals', () => {
    for (const [state, postcode] of Object.entries(capitals)) assert.equal(stateOfPostcode(postcode), state);
  });

  test('is right beside the borders of states', () => {
    const places = {
      '23562': 'SH', // Lübeck
      '23966': 'MV', // Wismar
      '27568': 'HB', // Bremerhaven
      '27498': 'SH', // Helgoland
      '89073': 'BW', // Ulm
      '89231': 'BY', // Neu-Ulm
      '55246': 'HE', // Mainz-Kostheim, part of Wiesbaden
      '63739': 'BY', // Aschaffenburg
      '68623': 'HE', // Lampertheim
      '96515': 'TH', // Sonneberg
      '01968': 'BB', // Senftenberg
      '12529': 'BB', // Schönefeld
    };
    for (const [postcode, state] of Object.entries(places)) assert.equal(stateOfPostcode(postcode), state);
  });

  test('is unknown for other texts', () => {
    for (const text of ['', '1010', '123456', 'SW1A 1AA', '00100'])
      assert.equal(stateOfPostcode(text), undefined);
  });
});

test('the region follows from the postcode and the time zone', () => {
  assert.equal(holidayRegion('80331', 'Europe/Berlin'), 'DE-BY');
  assert.equal(holidayRegion(' D-80331 ', 'Europe/Berlin'), 'DE-BY');
  assert.equal(holidayRegion('', 'Europe/Berlin'), 'DE');
  assert.equal(holidayRegion('1010', 'Europe/Vienna'), 'AT');
  assert.equal(holidayRegion('A-1010', 'Europe/Berlin'), 'AT');
  assert.equal(holidayRegion('CH-8001', 'Europe/Berlin'), 'CH');
  assert.equal(holidayRegion('80331', 'europe/BERLIN'), 'DE-BY');
  assert.equal(holidayRegion('10115', 'Europe/Paris'), undefined);
});

test('a postcode with line breaks, as in cells of several lines, has a region', () => {
  assert.equal(holidayRegion('20095\nHamburg', 'Europe/Berlin'), 'DE');
  assert.equal(holidayRegion('\u2028A-1010\r\nWien', 'Europe/Berlin'), 'AT');
  assert.equal(holidayRegion('\n20095\r\n', 'Europe/Berlin'), 'DE-HH');
});
