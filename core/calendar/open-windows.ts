// The times of a day at which a site can be visited, on the wall clock of the site.

import type { Steps } from '../pace.ts';
import {
  dayNames,
  firstDay,
  firstMonday,
  lastDay,
  remember,
  toDayNumber,
  weekdayOf,
} from './calendar-days.ts';
import { endsNextDay, isOpeningHours } from './opening-hours.ts';
import type { AttendingInterval } from './visits.ts';

/** `until` may be 24:00. An `until` that is not after `from` lies on the next day. */
export interface VisitWindow {
  from: string;
  until: string;
}

/** Minutes since the day began; beyond 1440 on the next day. */
export interface Span {
  start: number;
  end: number;
}

const minutesPerDay = 1440;

export function toMinutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function toTime(minutes: number): string {
  const ofDay = minutes > minutesPerDay ? minutes - minutesPerDay : minutes;
  return `${String(Math.floor(ofDay / 60)).padStart(2, '0')}:${String(ofDay % 60).padStart(2, '0')}`;
}

export function toWindow({ start, end }: Span): VisitWindow {
  return { from: toTime(start), until: toTime(end) };
}

/** The times of an interval that allows this span and nothing else. */
export function toTimes({ start, end }: Span): Pick<AttendingInterval, 'timeFrom' | 'timeUntil'> {
  return { timeFrom: toTime(start), timeUntil: toTime(end) };
}

/**
 * The opening hours of a day and of so many days around it, in order, in minutes of that day. Hours with dates replace those
 * without on the days that they cover.
 */
export type OpenOn = (day: number, around: Around) => readonly Span[];

/** The day alone, with the day before, or with the day after too. */
type Around = 0 | 1 | 2;

interface DatedSpan extends Span {
  first: number;
  last: number;
}

const itemsPerStep = 10;

export interface OpenHours {
  /** Undefined where no hours are known. */
  openOn: OpenOn | undefined;
  /** Whether no hours have dates. */
  isWeekly: boolean;
}

const knownHours = new WeakMap<readonly unknown[], OpenHours>();

/** Reads items as they are stored; some can have another shape. A list that several sites share is read once. */
export function* readOpenHours(items: readonly unknown[]): Steps<OpenHours> {
  const known = knownHours.get(items);
  if (known) return known;
  const hours = yield* indexHours(items);
  knownHours.set(items, hours);
  return hours;
}

function* indexHours(items: readonly unknown[]): Steps<OpenHours> {
  const usual = dayNames.map((): Span[] => []);
  const dated = dayNames.map((): DatedSpan[] => []);
  let isKnown = false;
  for (const [index, item] of items.entries()) {
    if (index % itemsPerStep === 0) yield;
    if (!isOpeningHours(item)) continue;
    isKnown = true;
    const weekday = dayNames.indexOf(item.dayOfWeek);
    const start = toMinutes(item.opens);
    const end = toMinutes(item.closes) + (endsNextDay(item) ? minutesPerDay : 0);
    if (item.validFrom === undefined && item.validUntil === undefined) usual[weekday]!.push({ start, end });
    else {
      const first = toDayNumber(item.validFrom ?? firstDay);
      const last = toDayNumber(item.validUntil ?? lastDay);
      dated[weekday]!.push({ start, end, first, last });
    }
  }
  if (!isKnown) return { openOn: undefined, isWeekly: true };
  const week = usual.map(joinSpans);
  const covered = joinSpans(dated.flat().map(({ first, last }) => ({ start: first, end: last })));
  const isWeekly = covered.length === 0;
  const hoursOf: HoursOf = (day) =>
    covered.some(({ start, end }) => start <= day && day <= end)
      ? joinSpans(dated[weekdayOf(day)]!.filter(({ first, last }) => first <= day && day <= last))
      : week[weekdayOf(day)]!;
  return { openOn: toOpenOn(hoursOf, isWeekly), isWeekly };
}

type HoursOf = (day: number) => readonly Span[];

/** Each day is read once: every interval of the site asks for it, and for each day to which a visit could move. */
function toOpenOn(hoursOf: HoursOf, isWeekly: boolean): OpenOn {
  const find = remember((key: number): readonly Span[] => {
    const [day, around] = [Math.floor(key / 3), key % 3];
    const shifted = (by: number) =>
      hoursOf(day + by).map(({ start, end }) => ({
        start: start + by * minutesPerDay,
        end: end + by * minutesPerDay,
      }));
    if (around === 0) return hoursOf(day);
    return joinSpans([...shifted(0), ...shifted(-1), ...(around === 2 ? shifted(1) : [])]);
  });
  // All weeks are the same, so one stands for them.
  return (day, around) => find((isWeekly ? firstMonday + weekdayOf(day) : day) * 3 + around);
}

function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** The times at which an interval allows a visit. */
export interface Times {
  start: number;
  /** Undefined if nothing ends it. */
  end: number | undefined;
  isGiven: boolean;
  around: Around;
}

export function timesOf({ timeFrom, timeUntil }: Pick<AttendingInterval, 'timeFrom' | 'timeUntil'>): Times {
  const start = timeFrom ? toMinutes(timeFrom) : 0;
  const until = timeUntil ? toMinutes(timeUntil) : undefined;
  const end = until === undefined || until > start ? until : until + minutesPerDay;
  const isGiven = Boolean(timeFrom || timeUntil);
  // Hours after midnight belong to the day before, unless the interval names its own times.
  const around = !isGiven ? 0 : (end ?? 0) > minutesPerDay ? 2 : 1;
  return { start, end, isGiven, around };
}

/** The part of a span in which an interval allows a visit. A visit begins on its day. */
function clip(span: Span, { start, end = Infinity }: Times): Span | undefined {
  const part = { start: Math.max(span.start, start), end: Math.min(span.end, end) };
  return part.start < part.end && part.start < minutesPerDay ? part : undefined;
}

/** The spans of a day in which an interval allows a visit; none if the site is closed then. */
export function spansOf(times: Times, openOn: OpenOn | undefined, day: number): Span[] {
  if (openOn) return openOn(day, times.around).flatMap((span) => clip(span, times) ?? []);
  return times.isGiven ? [{ start: times.start, end: times.end ?? minutesPerDay }] : [];
}
