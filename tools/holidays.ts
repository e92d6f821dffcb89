// Makes reference/holidays.json from date-holidays. Loading that package takes 0.2 s and 50 MB, so only this file does.
import { readFile } from 'node:fs/promises';
import Holidays from 'date-holidays';
import { germanStates } from '../core/calendar/german-states.ts';

const years = Array.from({ length: 31 }, (_, index) => 2020 + index);
const regions = { DE: germanStates, AT: [], CH: [] } as const;

const packageFile = new URL('../node_modules/date-holidays/package.json', import.meta.url);
const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
const source = `date-holidays ${version}, ${years[0]} to ${years.at(-1)}`;

/** The table takes seconds to make, so it names its source. */
export function isHolidayTableCurrent(committed: string): boolean {
  return committed.includes(JSON.stringify(source));
}

export function holidayTable(): string {
  const names: [de: string, en: string][] = [];
  const lines = (entries: string[]) => `\n${entries.join(',\n')}\n`;
  const countries = Object.entries(regions).map(([country, states]) => {
    const ofYears = years.map((year) => `"${year}": ${JSON.stringify(yearOf(country, states, year, names))}`);
    return `"${country}": {${lines(ofYears)}}`;
  });
  const parts = [
    `"source": ${JSON.stringify(source)}`,
    `"names": [${lines(names.map((name) => JSON.stringify(name)))}]`,
    `"countries": {${lines(countries)}}`,
  ];
  return `{${lines(parts)}}\n`;
}

function yearOf(country: string, states: readonly string[], year: number, names: [string, string][]): string {
  const nationwide = publicHolidays(new Holidays(country), year);
  const days = new Map([...nationwide].map(([day, name]) => [day, { name, states: [] as string[] }]));
  for (const state of states) {
    for (const [day, name] of publicHolidays(new Holidays(country, state), year)) {
      if (nationwide.has(day)) continue;
      const entry = days.get(day) ?? { name, states: [] };
      entry.states.push(state);
      days.set(day, entry);
    }
  }
  return [...days]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([day, entry]) => [day.slice(5), indexOf(names, entry.name), ...entry.states].join(' '))
    .join(', ');
}

function publicHolidays(holidays: Holidays, year: number): Map<string, [de: string, en: string]> {
  const english = new Map(holidays.getHolidays(year, 'en').map(({ rule, name }) => [rule, name]));
  return new Map(
    holidays
      .getHolidays(year, 'de')
      .filter(({ type }) => type === 'public')
      .map(({ date, name, rule }) => [date.slice(0, 10), [name, english.get(rule) ?? name]]),
  );
}

function indexOf(names: [string, string][], name: [string, string]): number {
  const index = names.findIndex(([de, en]) => de === name[0] && en === name[1]);
  return index === -1 ? names.push(name) - 1 : index;
}
