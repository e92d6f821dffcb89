// Measures how long a span of wall-clock time really is, including on days when the clocks change.
import { remember } from './calendar-days.ts';
import type { Span } from './open-windows.ts';

const msPerMinute = 60_000;
const minutesPerDay = 1440;

const formatsOf = remember(
  (timeZone: string) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    }),
);

/** Throws for a zone that this machine does not know. A zone has many spellings, but one in small letters. */
export function formatOf(timeZone: string): Intl.DateTimeFormat {
  return formatsOf(timeZone.toLowerCase());
}

/** Minutes that the zone's clocks are ahead of UTC. */
function offsetAt(timeZone: string, utcMs: number): number {
  const parts = formatOf(timeZone).formatToParts(utcMs);
  const part = (type: string) => Number(parts.find((found) => found.type === type)!.value);
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
  return (shown - utcMs) / msPerMinute;
}

/** The moment at which the zone's clocks show a time. A time that the clocks skip counts as the one after the gap. */
function toInstant(timeZone: string, minutes: number): number {
  const shown = minutes * msPerMinute;
  const before = shown - offsetAt(timeZone, shown - minutesPerDay * msPerMinute) * msPerMinute;
  const after = shown - offsetAt(timeZone, shown + minutesPerDay * msPerMinute) * msPerMinute;
  return (
    [before, after].find((instant) => instant + offsetAt(timeZone, instant) * msPerMinute === shown) ?? before
  );
}

const maxZones = 20;

/** Known changes of a zone's clocks. Sites with many intervals ask for the same days and times. */
const clocksOf = remember(
  (timeZone: string) => ({
    /** Whether the clocks change within the day or the next. */
    hasShift: remember((day: number) => {
      const noon = day * minutesPerDay * msPerMinute;
      const [start, end] = [noon - minutesPerDay * msPerMinute, noon + 3 * minutesPerDay * msPerMinute];
      return offsetAt(timeZone, start) !== offsetAt(timeZone, end);
    }),
    instantOf: remember((minutes: number) => toInstant(timeZone, minutes)),
  }),
  maxZones,
);

/** The lengths of spans of a day, in minutes. */
export function lengthsOn(timeZone: string, day: number): (span: Span) => number {
  const { hasShift, instantOf } = clocksOf(timeZone.toLowerCase());
  if (!hasShift(day)) return ({ start, end }) => end - start;
  const at = (minutes: number) => instantOf(day * minutesPerDay + minutes);
  return ({ start, end }) => (at(end) - at(start)) / msPerMinute;
}
