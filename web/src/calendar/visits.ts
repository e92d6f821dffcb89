// Visit intervals of the known shape (after JSCalendar's recurrence rule), and the days that follow from them.
// Days are counted as whole days since 1970, which no time zone and no summer time can shift.

export const dayNames = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;
export type DayName = (typeof dayNames)[number];

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

const knownMembers = new Set([
  'frequency',
  'interval',
  'byDay',
  'weekOfMonth',
  'byMonth',
  'startDate',
  'endDate',
  'timeFrom',
  'timeUntil',
  'durationInMinutes',
  'toleranceInDays',
]);

function isDay(value: unknown): boolean {
  return (
    typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && fromNumber(toNumber(value)) === value
  );
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Whether we can plan with it. Whatever else was sent is shown as it is. */
export function isAttendingInterval(item: unknown): item is AttendingInterval {
  if (typeof item !== 'object' || item === null) return false;
  const rule = item as Record<string, unknown>;
  const isTime = (value: unknown) => typeof value === 'string' && /^([01]\d|2[0-4]):[0-5]\d$/.test(value);
  const checks: [string, (value: unknown) => boolean][] = [
    ['interval', (value) => isWhole(value, 1, 52)],
    ['byDay', (value) => Array.isArray(value) && value.every((day) => dayNames.includes(day))],
    ['weekOfMonth', (value) => [1, 2, 3, 4, -1].includes(value as number)],
    ['byMonth', (value) => Array.isArray(value) && value.every((month) => isWhole(month, 1, 12))],
    ['startDate', isDay],
    ['endDate', isDay],
    ['timeFrom', isTime],
    ['timeUntil', isTime],
    ['durationInMinutes', (value) => isWhole(value, 1, 1440)],
    ['toleranceInDays', (value) => isWhole(value, 0, 31)],
  ];
  return (
    frequencies.includes(rule.frequency as Frequency) &&
    Object.keys(rule).every((name) => knownMembers.has(name)) &&
    checks.every(([name, isRight]) => rule[name] === undefined || isRight(rule[name]))
  );
}

const msPerDay = 86_400_000;

function toNumber(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return Date.UTC(year, month - 1, date) / msPerDay;
}

function fromNumber(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

function partsOf(day: number) {
  const date = new Date(day * msPerDay);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    date: date.getUTCDate(),
    /** Monday is 0. */
    weekday: (date.getUTCDay() + 6) % 7,
    monthLength: new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  };
}

/** 1970-01-05 was a Monday. */
function weekOf(day: number): number {
  return Math.floor((day - 4) / 7);
}

/**
 * Whether a rule names a day. Where it has no first day, `origin` stands in for it, so that "every two weeks" begins with
 * the week in which one looks.
 */
function namesDay(rule: AttendingInterval, day: number, origin: number): boolean {
  const { frequency, interval = 1, byDay, weekOfMonth, byMonth } = rule;
  const start = rule.startDate ? toNumber(rule.startDate) : origin;
  if (rule.startDate && day < start) return false;
  if (rule.endDate && day > toNumber(rule.endDate)) return false;
  const here = partsOf(day);
  const first = partsOf(start);
  if (byMonth && byMonth.length > 0 && !byMonth.includes(here.month + 1)) return false;
  const days = byDay && byDay.length > 0 ? byDay.map((name) => dayNames.indexOf(name)) : undefined;
  if (days && !days.includes(here.weekday)) return false;
  if (weekOfMonth !== undefined) {
    const isThere =
      weekOfMonth === -1 ? here.date > here.monthLength - 7 : Math.ceil(here.date / 7) === weekOfMonth;
    if (!isThere) return false;
  }
  const isDivisible = (distance: number) => ((distance % interval) + interval) % interval === 0;
  // Named days are all of them in the month or year, as calendars count; without any, the first day decides.
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

/** The next visits from `today` on, of all rules together, each day once a rule. */
export function nextVisits(intervals: readonly AttendingInterval[], today: string, count: number): Visit[] {
  const origin = toNumber(today);
  const visits: Visit[] = [];
  for (let day = origin; day < origin + horizonInDays && visits.length < count; day += 1) {
    for (const interval of intervals) {
      if (namesDay(interval, day, origin)) visits.push({ day: fromNumber(day), interval });
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

/** The calendar day that it is now in a time zone. */
export function todayIn(timeZone: string | undefined, now = new Date()): string {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
  } catch {
    return new Intl.DateTimeFormat('en-CA').format(now);
  }
}
