// The public holidays at a site, by its postcode and time zone.
import { stateOfPostcode } from './german-states.ts';
import { holidayNames, holidayTable } from './holiday-table.ts';

export interface Holiday {
  de: string;
  en: string;
}

/** Days of the form YYYY-MM-DD. */
export type Holidays = (day: string) => Holiday | undefined;

const countriesOfZones: Record<string, string> = {
  'Europe/Berlin': 'DE',
  'Europe/Busingen': 'DE',
  'Europe/Vienna': 'AT',
  'Europe/Zurich': 'CH',
};

/** A country, or a German state such as `DE-BY`. Undefined where no holidays are known. */
export function holidayRegion(zipCode: string, timeZone: string): string | undefined {
  const [start = '', prefix] = /^\s*(?:(A|AT|CH|D|DE)[-\s])?\s*/i.exec(zipCode) ?? [];
  const country = prefix
    ? ({ A: 'AT', D: 'DE' }[prefix.toUpperCase()] ?? prefix.toUpperCase())
    : countriesOfZones[timeZone];
  const state = country === 'DE' ? stateOfPostcode(zipCode.slice(start.length).trimEnd()) : undefined;
  return state ? `DE-${state}` : country;
}

const years = new Map<string, ReadonlyMap<string, Holiday>>();

export function holidaysOf(region: string | undefined): Holidays {
  const [country = '', state = ''] = region?.split('-') ?? [];
  const table = holidayTable[country] ?? {};
  return (day) => {
    const year = day.slice(0, 4);
    const entries = table[year];
    if (!entries) return undefined;
    const key = `${region} ${year}`;
    const holidays = years.get(key) ?? readYear(entries, year, state);
    years.set(key, holidays);
    return holidays.get(day);
  };
}

function readYear(entries: string, year: string, state: string): ReadonlyMap<string, Holiday> {
  const days = new Map<string, Holiday>();
  for (const entry of entries.split(', ')) {
    const [day, name, ...states] = entry.split(' ');
    if (states.length > 0 && !states.includes(state)) continue;
    const [de, en] = holidayNames[Number(name)]!;
    days.set(`${year}-${day}`, { de, en });
  }
  return days;
}
