// Visit intervals of the known shape and the visit days they produce.
import { type DayName, dayNames, fromDayNumber, partsOf, toDayNumber, weekOf } from './calendar-days.ts';
import { hasShape, type ObjectShape } from './shape.ts';

export const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
export type Frequency = (typeof frequencies)[number];

export interface AttendingInterval {
  frequency: Frequency;
  interval?: number;
  byDay?: DayName[];
  weekOfMonth?: 1 | 2 | 3 | 4 | -1;
  byMonth?: number[];
  startDate?: string;
  endDate?: string;
  timeFrom?: string;
  timeUntil?: string;
  durationInMinutes?: number;
  toleranceInDays?: number;
}

export interface Visit {
  /** YYYY-MM-DD */
  day: string;
  interval: AttendingInterval;
}

/** After JSCalendar's recurrence rule. */
export const attendingIntervalShape: ObjectShape = {
  type: 'object',
  title: 'AttendingInterval',
  description: 'A recurring visit, such as every second Tuesday.',
  properties: {
    frequency: { type: 'string', enum: frequencies, description: 'Unit of `interval`.' },
    interval: { type: 'integer', minimum: 1, maximum: 52, description: 'Every how many units; 1 if absent.' },
    byDay: {
      type: 'array',
      items: { type: 'string', enum: dayNames },
      description: 'Days of the week. Without them, the weekday or date of `startDate` decides.',
    },
    weekOfMonth: {
      type: 'integer',
      enum: [1, 2, 3, 4, -1],
      description: 'Week of the month that holds the day; -1 is the last.',
    },
    byMonth: {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 12 },
      description: 'Months with visits; all if absent.',
    },
    startDate: { type: 'string', format: 'date', description: 'First possible day.' },
    endDate: { type: 'string', format: 'date', description: 'Last possible day.' },
    timeFrom: { type: 'string', format: 'time', description: 'Earliest arrival at the site, `HH:mm`.' },
    timeUntil: { type: 'string', format: 'closing-time', description: 'Latest departure, up to `24:00`.' },
    durationInMinutes: { type: 'integer', minimum: 1, maximum: 1440, description: 'Length of a visit.' },
    toleranceInDays: {
      type: 'integer',
      minimum: 0,
      maximum: 31,
      description: 'By how many days a visit may move.',
    },
  },
  required: ['frequency'],
  additionalProperties: false,
};

/** Whether visits can be planned with it. Other items are shown as they are. */
export function isAttendingInterval(item: unknown): item is AttendingInterval {
  return hasShape(attendingIntervalShape, item);
}

/**
 * Whether a rule names a day. Where it has no first day, `origin` stands in for it, so that "every two weeks" begins with
 * the week in which one looks.
 */
function namesDay(rule: AttendingInterval, day: number, origin: number): boolean {
  const { frequency, interval = 1, byDay, weekOfMonth, byMonth } = rule;
  const start = rule.startDate ? toDayNumber(rule.startDate) : origin;
  if (rule.startDate && day < start) return false;
  if (rule.endDate && day > toDayNumber(rule.endDate)) return false;
  const here = partsOf(day);
  const first = partsOf(start);
  if (byMonth && byMonth.length > 0 && !byMonth.includes(here.month)) return false;
  const days = byDay && byDay.length > 0 ? byDay.map((name) => dayNames.indexOf(name)) : undefined;
  if (days && !days.includes(here.weekday)) return false;
  if (weekOfMonth !== undefined) {
    const isThere =
      weekOfMonth === -1 ? here.date > here.monthLength - 7 : Math.ceil(here.date / 7) === weekOfMonth;
    if (!isThere) return false;
  }
  const isDivisible = (distance: number) => ((distance % interval) + interval) % interval === 0;
  // All named days of the month or year; without named days, the first day decides.
  const isRightDay = () => {
    if (days) return true;
    if (weekOfMonth !== undefined) return here.weekday === first.weekday;
    // A month without the 31st has its visit on its last day.
    return here.date === Math.min(first.date, here.monthLength);
  };
  switch (frequency) {
    case 'DAILY':
      return isDivisible(day - start);
    case 'WEEKLY':
      return (
        isDivisible(weekOf(day) - weekOf(start)) && (days !== undefined || here.weekday === first.weekday)
      );
    case 'MONTHLY':
      return isDivisible((here.year - first.year) * 12 + here.month - first.month) && isRightDay();
    case 'YEARLY': {
      const isRightMonth = days !== undefined || (byMonth?.length ?? 0) > 0 || here.month === first.month;
      return isDivisible(here.year - first.year) && isRightMonth && isRightDay();
    }
  }
}

const horizonInDays = 731;

/** The next visits from `today` on, of all rules; each rule has a day once. */
export function nextVisits(intervals: readonly AttendingInterval[], today: string, count: number): Visit[] {
  const origin = toDayNumber(today);
  const visits: Visit[] = [];
  for (let day = origin; day < origin + horizonInDays && visits.length < count; day += 1) {
    for (const interval of intervals) {
      if (namesDay(interval, day, origin)) visits.push({ day: fromDayNumber(day), interval });
    }
  }
  return visits
    .sort((one, other) =>
      `${one.day}${one.interval.timeFrom ?? ''}`.localeCompare(
        `${other.day}${other.interval.timeFrom ?? ''}`,
      ),
    )
    .slice(0, count);
}
