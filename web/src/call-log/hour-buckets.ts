// Counts of hours as the bars of a chart: an hour each, or a day each in long periods.
import type { HourCount } from './requests.ts';

export interface Bucket {
  start: Date;
  end: Date;
  requests: number;
  refusals: number;
  failures: number;
}

const hourMs = 3_600_000;

/** Days begin at local midnight: one with a change of the clocks has 23 or 25 hours. */
export function toBuckets(counts: readonly HourCount[], from: Date, until: Date, isDaily: boolean): Bucket[] {
  const buckets: Bucket[] = [];
  let start = new Date(from);
  if (isDaily) start.setHours(0, 0, 0, 0);
  while (start < until) {
    const end = new Date(start.getTime() + hourMs);
    if (isDaily) {
      end.setTime(start.getTime());
      end.setDate(end.getDate() + 1);
    }
    buckets.push({ start, end, requests: 0, refusals: 0, failures: 0 });
    start = end;
  }
  for (const count of counts) {
    const at = new Date(count.hour);
    const bucket = buckets.find(({ start, end }) => at >= start && at < end);
    if (!bucket) continue;
    bucket.requests += count.requests;
    bucket.refusals += count.refusals;
    bucket.failures += count.failures;
  }
  return buckets;
}

/** A round number at the top of the axis that has room for the highest bar. */
export function axisTop(highest: number): number {
  if (highest <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 4, 5, 10].map((step) => step * power).find((top) => top >= highest)!;
}
