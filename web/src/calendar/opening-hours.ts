// Opening hours of the known shape (after schema.org's OpeningHoursSpecification), as a week.
import { type DayName, dayNames } from './visits.ts';

export interface OpeningHours {
  dayOfWeek: DayName;
  opens: string;
  closes: string;
  validFrom?: string;
  validUntil?: string;
}

const knownMembers = new Set(['dayOfWeek', 'opens', 'closes', 'validFrom', 'validUntil']);
const day = /^\d{4}-\d{2}-\d{2}$/;

export function isOpeningHours(item: unknown): item is OpeningHours {
  if (typeof item !== 'object' || item === null) return false;
  const hours = item as Record<string, unknown>;
  return (
    dayNames.includes(hours.dayOfWeek as DayName) &&
    /^([01]\d|2[0-3]):[0-5]\d$/.test(String(hours.opens)) &&
    /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(String(hours.closes)) &&
    [hours.validFrom, hours.validUntil].every((date) => date === undefined || day.test(String(date))) &&
    Object.keys(hours).every((name) => knownMembers.has(name))
  );
}

/** Items that hold for the same part of the year, as a week; the one that always holds comes first. */
export interface Season {
  validFrom?: string;
  validUntil?: string;
  week: OpeningHours[][];
}

export function toSeasons(items: readonly OpeningHours[]): Season[] {
  const seasons = new Map<string, Season>();
  for (const item of items) {
    const { validFrom, validUntil } = item;
    const key = `${validFrom ?? ''} ${validUntil ?? ''}`;
    const season = seasons.get(key) ?? { validFrom, validUntil, week: dayNames.map(() => []) };
    season.week[dayNames.indexOf(item.dayOfWeek)]!.push(item);
    seasons.set(key, season);
  }
  for (const { week } of seasons.values()) {
    for (const hours of week) hours.sort((one, other) => one.opens.localeCompare(other.opens));
  }
  return [...seasons.entries()]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([, season]) => season);
}

/** Closing before opening means the next day. */
export function endsNextDay({ opens, closes }: OpeningHours): boolean {
  return closes <= opens;
}
