// Finds conflicts among the visits of one employee on one day.
import type { Steps } from '../pace.ts';

export interface LoadedVisit {
  /** Minutes since the day began, if the time is agreed. */
  readonly start?: number | undefined;
  readonly durationInMinutes: number;
  /** Minutes that are kept free before the visit. */
  readonly preparationInMinutes: number;
}

export type DayConflict = 'double_booked' | 'too_much_for_the_day';

/** The longest working day that German law allows. */
export const longestDayInMinutes = 600;

export function* findDayConflicts<Visit extends LoadedVisit>(
  visits: readonly Visit[],
): Steps<Map<Visit, DayConflict[]>> {
  const found = new Map<Visit, DayConflict[]>();
  const note = (visit: Visit, conflict: DayConflict) => {
    const own = found.getOrInsertComputed(visit, () => []);
    if (!own.includes(conflict)) own.push(conflict);
  };
  const timed = visits
    .filter((visit) => visit.start !== undefined)
    .toSorted((one, other) => beginOf(one) - beginOf(other));
  // Among earlier visits, the one that ends last overlaps with the next if any does.
  let last: Visit | undefined;
  for (const visit of timed) {
    yield;
    if (last && beginOf(visit) < endOf(last)) {
      note(last, 'double_booked');
      note(visit, 'double_booked');
    }
    if (!last || endOf(visit) > endOf(last)) last = visit;
  }
  let minutes = 0;
  for (const visit of visits) minutes += visit.durationInMinutes + visit.preparationInMinutes;
  yield;
  if (minutes > longestDayInMinutes) for (const visit of visits) note(visit, 'too_much_for_the_day');
  return found;
}

function beginOf({ start = 0, preparationInMinutes }: LoadedVisit): number {
  return start - preparationInMinutes;
}

/** An appointment without a length takes a moment. */
function endOf({ start = 0, durationInMinutes }: LoadedVisit): number {
  return start + Math.max(durationInMinutes, 1);
}
