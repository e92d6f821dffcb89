// Computes what an absence changes on each day: the visits that move, and the work of the substitute.
import { type DayConflict, findDayConflicts, type LoadedVisit } from '../../../core/calendar/day-load.ts';
import { toMinutes } from '../../../core/calendar/open-windows.ts';
import { runNow } from '../../../core/pace.ts';
import { isTakingPlace, minutesOf } from './visit-groups.ts';
import type { Visit } from './visits-query.ts';

export interface AbsenceDay {
  date: string;
  /** The visits that move. */
  visits: Visit[];
  /** Minutes of the substitute, including the visits that move. */
  minutes: number;
  isSubstituteAbsent: boolean;
  conflicts: DayConflict[];
}

interface Period {
  from: string;
  until: string;
}

export function toAbsenceDays(
  visits: readonly Visit[],
  { employeeId, substituteEmployeeId }: { employeeId: string; substituteEmployeeId: string | undefined },
  absences: readonly Period[],
): AbsenceDay[] {
  const days = Map.groupBy(visits.filter(isTakingPlace), ({ date }) => date);
  return [...days].flatMap(([date, all]) => {
    const moving = all.filter((visit) => visit.employeeId === employeeId);
    const isSubstituteAbsent = absences.some(({ from, until }) => from <= date && date <= until);
    const conflicts =
      substituteEmployeeId === undefined || isSubstituteAbsent
        ? []
        : [...new Set([...runNow(findDayConflicts(all.map(toLoaded))).values()].flat())];
    return moving.length === 0
      ? []
      : [{ date, visits: moving, minutes: minutesOf(all), isSubstituteAbsent, conflicts }];
  });
}

/** A window as long as the visit is an agreed time. */
function toLoaded({
  appointmentId,
  windows,
  durationInMinutes = 0,
  preparationInMinutes = 0,
}: Visit): LoadedVisit {
  const [window] = windows;
  const start = window && toMinutes(window.from);
  const isAgreed =
    appointmentId !== undefined && window && toMinutes(window.until) - start! <= durationInMinutes;
  return { start: isAgreed ? start : undefined, durationInMinutes, preparationInMinutes };
}
