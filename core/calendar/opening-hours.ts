// Opening hours of the known shape, as a week.

import { hasShape, type ObjectShape } from '../definition/shape.ts';
import { type DayName, dayNames } from './calendar-days.ts';

export interface OpeningHours {
  dayOfWeek: DayName;
  opens: string;
  closes: string;
  validFrom?: string;
  validUntil?: string;
}

/** Follows schema.org's OpeningHoursSpecification. Several items of a day describe breaks. */
export const openingHoursShape: ObjectShape = {
  type: 'object',
  title: 'OpeningHours',
  description: 'Opening hours of one day of the week. Several items of the same day describe breaks.',
  properties: {
    dayOfWeek: { type: 'string', enum: dayNames, description: 'Day of the week.' },
    opens: { type: 'string', format: 'time', description: 'Opening time at the site, `HH:mm`.' },
    closes: {
      type: 'string',
      format: 'closing-time',
      description: 'Closing time, up to `24:00`. A time before `opens` is on the next day.',
    },
    validFrom: { type: 'string', format: 'date', description: 'First day on which these hours apply.' },
    validUntil: { type: 'string', format: 'date', description: 'Last day on which these hours apply.' },
  },
  required: ['dayOfWeek', 'opens', 'closes'],
  additionalProperties: false,
};

export function isOpeningHours(item: unknown): item is OpeningHours {
  return hasShape(openingHoursShape, item);
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
