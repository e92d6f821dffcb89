// Calendar days and times as texts: YYYY-MM-DD and HH:mm. For counting, a day is the number of days since 1970, which no
// time zone can shift.

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

/** The first and the last day that a text can name. */
export const [firstDay, lastDay] = ['0001-01-01', '9999-12-31'];

/** Days that exist. Neither the calendar nor PostgreSQL has a year 0000. */
export function isDay(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

export function isTime(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(text);
}

/** An end time may also be 24:00. */
export function isClosingTime(text: string): boolean {
  return isTime(text) || text === '24:00';
}

const msPerDay = 86_400_000;

const maxRemembered = 5000;

/** Visits of thousands of sites ask for the same few days. */
export function remember<Key, Value>(
  calculate: (key: Key) => Value,
  most = maxRemembered,
): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= most) known.clear();
    const value = calculate(key);
    known.set(key, value);
    return value;
  };
}

export const toDayNumber = remember((day: string): number => {
  const [year = 1, month = 1, date = 1] = day.split('-').map(Number);
  // Date.UTC maps years up to 99 to the twentieth century.
  return new Date(0).setUTCFullYear(year, month - 1, date) / msPerDay;
});

export const fromDayNumber = remember((day: number): string =>
  new Date(day * msPerDay).toISOString().slice(0, 10),
);

export interface DayParts {
  readonly year: number;
  /** January is 1. */
  readonly month: number;
  readonly date: number;
  /** Monday is 0. */
  readonly weekday: number;
  readonly monthLength: number;
}

export const partsOf = remember((day: number): DayParts => {
  const date = new Date(day * msPerDay);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
    year,
    month,
    date: date.getUTCDate(),
    weekday: weekdayOf(day),
    monthLength: daysInMonth(year, month),
  };
});

/** 1970-01-05. */
export const firstMonday = 4;

export function weekOf(day: number): number {
  return Math.floor((day - firstMonday) / 7);
}

/** Monday is 0. */
export function weekdayOf(day: number): number {
  return day - firstMonday - weekOf(day) * 7;
}

const maxDays = 4096;

/** A small number for each of some neighbouring days, 0 at first. A day far from the others makes it forget them. */
export class DayBytes {
  #bytes = new Int8Array(0);
  #first = 0;

  get(day: number): number {
    return this.#bytes[day - this.#first] ?? 0;
  }

  set(day: number, value: number): void {
    if (day < this.#first || day >= this.#first + this.#bytes.length) this.#makeRoom(day);
    this.#bytes[day - this.#first] = value;
  }

  #makeRoom(day: number): void {
    const known = this.#bytes;
    const [from, until] = [Math.min(day, this.#first), Math.max(day + 1, this.#first + known.length)];
    const keeps = known.length > 0 && until - from <= maxDays;
    const [first, end] = keeps ? [from, until] : [day, day + 1];
    const margin = Math.max(32, (end - first) >> 1);
    this.#bytes = new Int8Array(end - first + 2 * margin);
    if (keeps) this.#bytes.set(known, this.#first - first + margin);
    this.#first = first - margin;
  }
}

/** Today in a time zone. */
export function todayIn(timeZone: string | undefined, now = new Date()): string {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
  } catch {
    return new Intl.DateTimeFormat('en-CA').format(now);
  }
}
