// Days, times and dates inside texts that people write, in German, English and Dutch.
import { type DayName, dayNames, isClosingTime, isDay } from './calendar-days.ts';

export type TextLanguage = 'de' | 'en';

const shortDays: Record<TextLanguage, readonly string[]> = {
  de: ['Mo', 'Di', 'Mi', 'Do', 'Fr', 'Sa', 'So'],
  en: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
};

const dayWords = new Map<string, DayName>(
  [
    ['mo', 'mon', 'montag', 'montags', 'monday', 'mondays', 'maandag'],
    ['di', 'tue', 'tues', 'dienstag', 'dienstags', 'tuesday', 'tuesdays', 'dinsdag'],
    ['mi', 'wed', 'mittwoch', 'mittwochs', 'wednesday', 'wednesdays', 'wo', 'woensdag'],
    ['do', 'thu', 'thur', 'thurs', 'donnerstag', 'donnerstags', 'thursday', 'thursdays', 'donderdag'],
    ['fr', 'fri', 'freitag', 'freitags', 'friday', 'fridays', 'vr', 'vrijdag'],
    [
      'sa',
      'sat',
      'samstag',
      'samstags',
      'sonnabend',
      'sonnabends',
      'saturday',
      'saturdays',
      'za',
      'zaterdag',
    ],
    ['so', 'sun', 'sonntag', 'sonntags', 'sunday', 'sundays', 'zo', 'zondag'],
  ].flatMap((words, index) => words.map((word) => [word, dayNames[index]!] as const)),
);

const dayWord = `(?:${[...dayWords.keys()].sort((one, other) => other.length - one.length).join('|')})(?![a-zäöüß])\\.?`;
const dash = '\\s*(?:-|–|—|bis|to|until|t/m|tot(?: en met)?)\\s*';
/** One day or a range of days. */
const daySpan = `${dayWord}(?:${dash}${dayWord})?`;
const listComma = '\\s*(?:,|\\+|&|/|und|u\\.|and|en)\\s*';
/** "Mo–Fr, So" */
export const dayList = `${daySpan}(?:${listComma}${daySpan})*`;

export function writeDays(days: readonly DayName[], language: TextLanguage): string {
  return days.map((day) => shortDays[language][dayNames.indexOf(day)]!).join(', ');
}

/** Runs of three and more days become a range: "Mo–Fr, So". */
export function writeDayRanges(days: readonly DayName[], language: TextLanguage): string {
  const names = shortDays[language];
  const numbers = days.map((day) => dayNames.indexOf(day));
  const parts: string[] = [];
  for (let start = 0; start < numbers.length; ) {
    let end = start;
    while (numbers[end + 1] === numbers[end]! + 1) end += 1;
    const [first, last] = [names[numbers[start]!]!, names[numbers[end]!]!];
    if (end - start >= 2) parts.push(`${first}–${last}`);
    else parts.push(...(start === end ? [first] : [first, last]));
    start = end + 1;
  }
  return parts.join(', ');
}

/** The days of a text that matches `dayList`, in lower case. */
export function readDays(text: string): DayName[] {
  const spans = text.match(new RegExp(daySpan, 'g')) ?? [];
  return spans.flatMap((span) => {
    const words = span.match(new RegExp(dayWord, 'g'))!.map((word) => dayWords.get(word.replace('.', ''))!);
    const [first, last = first] = words.map((day) => dayNames.indexOf(day));
    const days: DayName[] = [];
    for (let day = first!; ; day = (day + 1) % 7) {
      days.push(dayNames[day]!);
      if (day === last) return days;
    }
  });
}

/** "ma" is Monday in Dutch, and Tuesday in French and Italian. */
const isDutch = /\b(?:wo|vr|za|zo|uur|gesloten|elke|om de)\b|t\/m|dag\b|lijks\b/;

/** The entries of a list, which a semicolon or a line break ends. */
export function splitEntries(text: string): string[] {
  const lower = text.toLowerCase();
  return (isDutch.test(lower) ? lower.replace(/\bma\b/g, 'maandag') : lower)
    .split(/[;\n]/)
    .map((part) => part.trim())
    .filter(Boolean);
}

/** "8", "8.30", "08:30", "0830" */
export const timeWord = '(?:(?:[01]\\d|2[0-4])[0-5]\\d|(?:[01]?\\d|2[0-4])(?:[:.][0-5]\\d)?)(?![\\d:])';
/** "08:00–17:30 Uhr" */
export const timeSpan = `(${timeWord})\\s*(?:uhr|uur|h)?${dash}(${timeWord})\\s*(?:uhr\\b|uur\\b|h\\b)?`;

/** HH:mm, or undefined where it is no time. */
export function readTime(text: string): string | undefined {
  const [hour = '', minute = '00'] = text.replace(/^(\d\d)(\d\d)$/, '$1:$2').split(/[:.]/);
  const time = `${hour.padStart(2, '0')}:${minute}`;
  return isClosingTime(time) ? time : undefined;
}

export const dateWord =
  '(?:\\d{4}-\\d{2}-\\d{2}|\\d{1,2}\\.\\s?\\d{1,2}\\.\\s?(?:\\d{4}|\\d{2})|\\d{1,2}/\\d{1,2}/(?:\\d{4}|\\d{2}))';

/** 31.12.2026 in German; the form that every spreadsheet reads in English. */
export function writeDate(date: string, language: TextLanguage): string {
  return language === 'de' ? date.split('-').reverse().join('.') : date;
}

const monthWords = new Map(
  [
    ['jan', 'januar', 'jänner', 'january'],
    ['feb', 'februar', 'feber', 'february'],
    ['mär', 'mrz', 'märz', 'maerz', 'mar', 'march'],
    ['apr', 'april'],
    ['mai', 'may'],
    ['jun', 'juni', 'june'],
    ['jul', 'juli', 'july'],
    ['aug', 'august'],
    ['sep', 'sept', 'september'],
    ['okt', 'oct', 'oktober', 'october'],
    ['nov', 'november'],
    ['dez', 'dec', 'dezember', 'december'],
  ].flatMap((words, index) => words.map((word) => [word, String(index + 1)] as const)),
);

/**
 * Accepts 31.12.2026, 31.12.26, 31/12/2026, 31-12-2026, 2026-12-31, 2026/12/31, 31. Dezember 2026 and December 31, 2026, also
 * with the midnight that databases add. The day comes before the month in both languages.
 */
export function readDate(written: string): string | undefined {
  const text = written.replace(/[ T]0?0:00(:00(\.0+)?)?Z?$/, '');
  if (isDay(text)) return text;
  const turned = text.replace(/^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/, '$3.$2.$1');
  if (turned !== text) return readNumberedDate(turned);
  return readNumberedDate(text) ?? readNamedDate(text);
}

function readNamedDate(text: string): string | undefined {
  const match =
    /^(?<day>\d{1,2})\.?\s*(?<month>\p{L}+)\.?,?\s*(?<year>\d{4}|\d{2})$/u.exec(text) ??
    /^(?<month>\p{L}+)\.?\s*(?<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?<year>\d{4})$/u.exec(text);
  const { day = '', month = '', year = '' } = match?.groups ?? {};
  const number = monthWords.get(month.normalize('NFC').toLowerCase());
  return number === undefined ? undefined : toIsoDate(day, number, year);
}

function toIsoDate(day: string, month: string, year: string): string | undefined {
  const date = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(date) ? date : undefined;
}

function readNumberedDate(text: string): string | undefined {
  const match = /^(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d{2})$/.exec(text);
  if (!match) return undefined;
  const [, day = '', , month = '', year = ''] = match;
  return toIsoDate(day, month, year);
}

/** Days since the end of 1899, as spreadsheets count: 1960 to 2119. */
const serial = /^([2-7]\d{4}|80\d{3})(?:[.,]\d+)?$/;
const serialZero = Date.UTC(1899, 11, 30);
const dayMs = 86_400_000;

/** A date that a program wrote: 46023, 20260101, or with a time. */
export function readLooseDate(text: string): string | undefined {
  const [, days] = serial.exec(text) ?? [];
  if (days) return new Date(serialZero + Number(days) * dayMs).toISOString().slice(0, 10);
  const [, year = '', month = '', day = ''] = /^((?:19|20)\d\d)(\d\d)(\d\d)$/.exec(text) ?? [];
  if (year) return toIsoDate(day, month, year);
  const [, date, time] = /^(\S+)(?:\s+|T)(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s?(?:Z|Uhr)?$/.exec(text) ?? [];
  if (date && time) return readDate(date);
  const [, weekdayless] = /^(?:mo|di|mi|do|fr|sa|so)[a-z]*\.?,?\s+(.+)$/i.exec(text) ?? [];
  return weekdayless && readDate(weekdayless);
}

/** 12/31/2026 of a file that writes the month first. */
export function swapDayAndMonth(text: string): string | undefined {
  const [, month = '', day = '', year = ''] = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/.exec(text) ?? [];
  return year ? toIsoDate(day, month, year) : undefined;
}
