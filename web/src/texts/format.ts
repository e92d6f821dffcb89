// Dates, numbers and money as the chosen language writes them.
import { currentLanguage } from './language.ts';

/** Germany's and Britain's habits: an office in Hamburg that reads English still expects the day before the month. */
const locales = { de: 'de-DE', en: 'en-GB' } as const;

export function locale(): string {
  return locales[currentLanguage()];
}

export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 10, ...options }).format(value);
}

export function formatMoney(value: number, currency: unknown): string {
  try {
    return formatNumber(value, {
      style: 'currency',
      currency: typeof currency === 'string' ? currency : 'EUR',
    });
  } catch {
    return `${formatNumber(value)} ${currency}`;
  }
}

/** A calendar day, which has no time zone. */
export function formatDay(
  day: string,
  options: Intl.DateTimeFormatOptions = { dateStyle: 'medium' },
): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Intl.DateTimeFormat(locale(), { ...options, timeZone: 'UTC' }).format(
    Date.UTC(year, month - 1, date),
  );
}

/** A real day of the calendar, written YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Reads a typed day: 1.5.2026, 01/05/26, 1.5. (of this year), 2026-05-01. The day comes first in both languages. */
export function parseDay(text: string, today = new Date()): string | undefined {
  const trimmed = text.trim();
  if (isDay(trimmed)) return trimmed;
  const match = /^(\d{1,2})[./-]\s?(\d{1,2})(?:[./-]\s?(\d{4}|\d{2})?)?$/.exec(trimmed);
  if (!match) return undefined;
  const [, day = '', month = '', year = String(today.getFullYear())] = match;
  const written = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(written) ? written : undefined;
}

/** Whether both are days, and the wrong way round. */
export function isBefore(later: unknown, earlier: unknown): boolean {
  return isDay(String(later)) && isDay(String(earlier)) && String(later) < String(earlier);
}

export function formatTime(moment: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(moment),
  );
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

const justNow = { de: 'gerade eben', en: 'just now' } as const;

const onDays = { de: 'am', en: 'on' } as const;

/** "3 hours ago" for recent times, "on" the date for those older than a week. */
export function formatAgo(moment: string, now = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1000;
  if (seconds < -7 * 86_400) return `${onDays[currentLanguage()]} ${formatDay(moment.slice(0, 10))}`;
  // A clock that is a little behind makes no future.
  if (Math.abs(seconds) < 60) return justNow[currentLanguage()];
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length)!;
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}

export function decimalSeparator(): string {
  return currentLanguage() === 'de' ? ',' : '.';
}

/** Days of the week as the language names them, Monday first. */
export function weekdayNames(style: 'long' | 'short'): string[] {
  const format = new Intl.DateTimeFormat(locale(), { weekday: style, timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, index) => format.format(Date.UTC(2024, 0, 1 + index)));
}

export function monthNames(style: 'long' | 'short'): string[] {
  const format = new Intl.DateTimeFormat(locale(), { month: style, timeZone: 'UTC' });
  return Array.from({ length: 12 }, (_, index) => format.format(Date.UTC(2024, index, 1)));
}

const listedNumbers = 5;

/** The first of them, as in "7, 12, 1.040 …". */
export function listNumbers(numbers: readonly number[]): string {
  const shown = numbers.slice(0, listedNumbers).map((number) => formatNumber(number));
  return `${shown.join(', ')}${numbers.length > listedNumbers ? ' …' : ''}`;
}
