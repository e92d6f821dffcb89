// Visit intervals of the known shape, and the days that they name.

import { hasShape, type ObjectShape } from '../definition/shape.ts';
import type { Steps } from '../pace.ts';
import {
  type DayName,
  type DayParts,
  dayNames,
  firstDay,
  lastDay,
  partsOf,
  toDayNumber,
  weekOf,
} from './calendar-days.ts';

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

/** Follows JSCalendar's recurrence rule. */
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

/** Whether an interval names a day. */
type NamesDay = (day: number, here: DayParts) => boolean;

/** An interval of a site, read once. */
export interface Rule {
  interval: AttendingInterval;
  /** Index of the interval among the known ones of the site. */
  index: number;
  names: NamesDay;
  tolerance: number;
  /** The days between which its visits lie. */
  first: number;
  last: number;
}

interface Visited {
  /** Items of another shape are left out. */
  readonly attendingIntervals: readonly unknown[];
  readonly validFrom?: string | undefined;
  readonly validUntil?: string | undefined;
  readonly anchor: string;
}

const itemsPerStep = 10;
const knownIntervals = new WeakMap<readonly unknown[], readonly AttendingInterval[]>();

/** Checks a list once, even if several sites share it. */
function* checkIntervals(items: readonly unknown[]): Steps<readonly AttendingInterval[]> {
  const known = knownIntervals.get(items);
  if (known) return known;
  const intervals: AttendingInterval[] = [];
  for (const [index, item] of items.entries()) {
    if (index % itemsPerStep === 0) yield;
    if (isAttendingInterval(item)) intervals.push(item);
  }
  knownIntervals.set(items, intervals);
  return intervals;
}

export function* readIntervals(site: Visited): Steps<readonly Rule[]> {
  const intervals = yield* checkIntervals(site.attendingIntervals);
  const anchor = toDayNumber(site.anchor);
  const validFrom = toDayNumber(site.validFrom ?? firstDay);
  const validUntil = toDayNumber(site.validUntil ?? lastDay);
  return intervals.map((interval, index) => ({
    interval,
    index,
    names: toNamedDays(interval, anchor),
    tolerance: interval.toleranceInDays ?? 0,
    first: Math.max(validFrom, toDayNumber(interval.startDate ?? firstDay)),
    last: Math.min(validUntil, toDayNumber(interval.endDate ?? lastDay)),
  }));
}

const allMonths = Array.from({ length: 12 }, (_, index) => index + 1);

/** `anchor` stands in for the first day of an interval that has none: "every two weeks" counts from its week. */
export function toNamedDays(interval: AttendingInterval, anchor: number): NamesDay {
  const { frequency, interval: step = 1, byDay = [], weekOfMonth, byMonth = [] } = interval;
  const start = interval.startDate ? toDayNumber(interval.startDate) : anchor;
  const earliest = interval.startDate ? start : -Infinity;
  const latest = interval.endDate ? toDayNumber(interval.endDate) : Infinity;
  const first = partsOf(start);
  const hasDays = byDay.length > 0;
  const days = dayNames.map((name) => byDay.includes(name));
  const months = new Set(byMonth.length === 0 ? allMonths : byMonth);
  const isDivisible = (distance: number) => distance % step === 0;
  // Take all named days of the month or year. Without named days, the first day decides.
  const isRightDay = (here: DayParts) => {
    if (hasDays) return true;
    if (weekOfMonth !== undefined) return here.weekday === first.weekday;
    // A month without the 31st has its visit on its last day.
    return here.date === Math.min(first.date, here.monthLength);
  };
  const isInStep: Record<Frequency, NamesDay> = {
    DAILY: (day) => isDivisible(day - start),
    WEEKLY: (day, { weekday }) =>
      (hasDays || weekday === first.weekday) && isDivisible(weekOf(day) - weekOf(start)),
    MONTHLY: (_, here) =>
      isDivisible((here.year - first.year) * 12 + here.month - first.month) && isRightDay(here),
    YEARLY: (_, here) =>
      isDivisible(here.year - first.year) &&
      (hasDays || byMonth.length > 0 || here.month === first.month) &&
      isRightDay(here),
  };
  return (day, here) =>
    day >= earliest &&
    day <= latest &&
    (!hasDays || days[here.weekday]!) &&
    months.has(here.month) &&
    (weekOfMonth === undefined || isInWeekOfMonth(here, weekOfMonth)) &&
    isInStep[frequency](day, here);
}

function isInWeekOfMonth({ date, monthLength }: DayParts, week: number): boolean {
  return week === -1 ? date > monthLength - 7 : Math.ceil(date / 7) === week;
}
