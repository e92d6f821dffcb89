// The times of a day at which a site can be visited, on the wall clock of the site.
import { dayNames, firstDay, lastDay, toDayNumber } from './calendar-days.ts';
import { endsNextDay, isOpeningHours } from './opening-hours.ts';
import type { Steps } from './pace.ts';
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

/** The opening hours of a day, in order. Hours with dates replace those without on the days that they cover. */
export type OpenOn = (day: number, weekday: number) => readonly Span[];

interface DatedSpan extends Span {
  first: number;
  last: number;
}

const itemsPerStep = 10;

const knownHours = new WeakMap<readonly unknown[], { openOn: OpenOn | undefined }>();

/**
 * From items as they are stored, of which some can have another shape. A list is read once, also where several sites have
 * it. Undefined where no hours are known.
 */
export function* readOpenHours(items: readonly unknown[]): Steps<{ openOn: OpenOn | undefined }> {
  const known = knownHours.get(items);
  if (known) return known;
  const hours = { openOn: yield* indexHours(items) };
  knownHours.set(items, hours);
  return hours;
}

function* indexHours(items: readonly unknown[]): Steps<OpenOn | undefined> {
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
  if (!isKnown) return undefined;
  const week = usual.map(joinSpans);
  const covered = joinSpans(dated.flat().map(({ first, last }) => ({ start: first, end: last })));
  if (covered.length === 0) return (_, weekday) => week[weekday]!;
  return (day, weekday) =>
    covered.some(({ start, end }) => start <= day && day <= end)
      ? joinSpans(dated[weekday]!.filter(({ first, last }) => first <= day && day <= last))
      : week[weekday]!;
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

/** The spans of a day in which an interval allows a visit; none if the site is closed then. */
export function spansOf(
  { timeFrom, timeUntil }: AttendingInterval,
  openOn: OpenOn | undefined,
  day: number,
  weekday: number,
): Span[] {
  const start = timeFrom ? toMinutes(timeFrom) : 0;
  const until = timeUntil ? toMinutes(timeUntil) : undefined;
  const end = until === undefined || until > start ? until : until + minutesPerDay;
  if (!openOn) return timeFrom || timeUntil ? [{ start, end: end ?? minutesPerDay }] : [];
  const spans = [...openOn(day, weekday)];
  // Hours after midnight belong to the day before, unless the interval names its own times.
  if (timeFrom || timeUntil) {
    for (const span of openOn(day - 1, (weekday + 6) % 7))
      spans.push({ start: span.start - minutesPerDay, end: span.end - minutesPerDay });
  }
  if ((end ?? 0) > minutesPerDay) {
    for (const span of openOn(day + 1, (weekday + 1) % 7))
      spans.push({ start: span.start + minutesPerDay, end: span.end + minutesPerDay });
  }
  if (spans.length === 0) return [];
  return (
    joinSpans(spans)
      .map((span) => ({ start: Math.max(span.start, start), end: Math.min(span.end, end ?? Infinity) }))
      // A visit begins on its day.
      .filter((span) => span.start < span.end && span.start < minutesPerDay)
  );
}
