// The public holidays at a site, by its postcode and time zone.
import table from '../../reference/holidays.json' with { type: 'json' };
import { stateOfPostcode } from './german-states.ts';

export interface Holiday {
  de: string;
  en: string;
}

/** Days of the form YYYY-MM-DD. */
export type Holidays = (day: string) => Holiday | undefined;

/** Zone names are in lower case here, because a zone has many spellings. */
const countriesOfZones: Record<string, string> = {
  'europe/berlin': 'DE',
  'europe/busingen': 'DE',
  'europe/vienna': 'AT',
  'europe/zurich': 'CH',
};

/** A country, or a German state such as `DE-BY`. Undefined where no holidays are known. */
export function holidayRegion(zipCode: string, timeZone: string): string | undefined {
  const [start = '', prefix] = /^\s*(?:(A|AT|CH|D|DE)[-\s])?\s*/i.exec(zipCode) ?? [];
  const country = prefix
    ? ({ A: 'AT', D: 'DE' }[prefix.toUpperCase()] ?? prefix.toUpperCase())
    : countriesOfZones[timeZone.toLowerCase()];
  const state = country === 'DE' ? stateOfPostcode(zipCode.slice(start.length).trimEnd()) : undefined;
  return state ? `DE-${state}` : country;
}

/** Holidays by year, each "month-day index-of-name states", with German states if it is not nationwide. */
const tables: Record<string, Record<string, string>> = table.countries;
const years = new Map<string, ReadonlyMap<string, Holiday>>();

export function holidaysOf(region: string | undefined): Holidays {
  const [country = '', state = ''] = region?.split('-') ?? [];
  const ofCountry = tables[country] ?? {};
  return (day) => {
    const year = day.slice(0, 4);
    const entries = ofCountry[year];
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
    const [de = '', en = ''] = table.names[Number(name)]!;
    days.set(`${year}-${day}`, { de, en });
  }
  return days;
}
