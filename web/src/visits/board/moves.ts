// Plans moves of visits: an appointment for this time only, or a change of the site from now on.
import {
  dayNames,
  firstDay,
  lastDay,
  partsOf,
  toDayNumber,
} from '../../../../core/calendar/calendar-days.ts';
import {
  type AttendingInterval,
  isAttendingInterval,
  toNamedDays,
} from '../../../../core/calendar/visits.ts';
import type { Visit } from '../visits-query.ts';

export interface Target {
  day?: string | undefined;
  /** Null means nobody. Undefined keeps the employee. */
  employeeId?: string | null | undefined;
}

/** Reasons why a visit cannot be moved in this way. */
export type Obstacle =
  | 'nothing'
  | 'cancelled'
  | 'nobodyOnce'
  | 'absent'
  | 'appointment'
  | 'several'
  | 'moved'
  | 'noWeekday';

export type Plan = { body: Record<string, unknown> } | { obstacle: Obstacle };

function changesDay(visit: Visit, { day }: Target): boolean {
  return day !== undefined && day !== visit.date;
}

function changesEmployee(visit: Visit, { employeeId }: Target): boolean {
  const present = visit.employee ? visit.employeeId : undefined;
  return employeeId !== undefined && employeeId !== (present ?? null);
}

/** The part of an appointment that a move sets. */
export function planOnce(visit: Visit, target: Target): Plan {
  if (visit.status === 'CANCELLED') return { obstacle: 'cancelled' };
  const [isOtherDay, isOther] = [changesDay(visit, target), changesEmployee(visit, target)];
  if (!isOtherDay && !isOther) return { obstacle: 'nothing' };
  if (isOther && target.employeeId === null) return { obstacle: 'nobodyOnce' };
  // The absence would send the visit back to the substitute.
  if (!isOtherDay && target.employeeId === visit.absentEmployeeId) return { obstacle: 'absent' };
  return {
    body: { date: isOtherDay ? target.day : visit.date, ...(isOther && { employeeId: target.employeeId }) },
  };
}

interface Site {
  createdAt?: unknown;
  attendingIntervals?: unknown;
  assignedEmployeeId?: unknown;
}

/** The change of a site, for those of its visits that are moved. */
export function planFromNow(site: Site, visits: readonly Visit[], target: Target): Plan {
  const [visit] = visits;
  if (!visit) return { obstacle: 'nothing' };
  if (visits.some(({ appointmentId }) => appointmentId)) return { obstacle: 'appointment' };
  const isOtherDay = visits.some((one) => changesDay(one, target));
  const isOther = target.employeeId !== undefined && target.employeeId !== (site.assignedEmployeeId ?? null);
  if (!isOtherDay && !isOther) return { obstacle: 'nothing' };
  const employee = isOther ? { assignedEmployeeId: target.employeeId } : {};
  if (!isOtherDay) return { body: employee };
  if (visits.length > 1) return { obstacle: 'several' };
  if (visit.status !== 'PLANNED') return { obstacle: 'moved' };
  const intervals = moveDay(site, visit.date, target.day!);
  return 'obstacle' in intervals ? intervals : { body: { ...employee, ...intervals } };
}

/** The intervals of a site with another day of the week, if exactly one of them names the day, and by its weekday. */
function moveDay(
  site: Site,
  from: string,
  to: string,
): { attendingIntervals: unknown[] } | { obstacle: Obstacle } {
  const items: unknown[] = Array.isArray(site.attendingIntervals) ? site.attendingIntervals : [];
  const anchor = toDayNumber(String(site.createdAt).slice(0, 10));
  const names = (interval: AttendingInterval, day: string) => {
    const number = toDayNumber(day);
    const isWithin = (interval.startDate ?? firstDay) <= day && day <= (interval.endDate ?? lastDay);
    return isWithin && toNamedDays(interval, anchor)(number, partsOf(number));
  };
  const naming = items.filter((item) => isAttendingInterval(item) && names(item, from));
  const [interval] = naming as AttendingInterval[];
  if (naming.length > 1) return { obstacle: 'several' };
  if (!interval) return { obstacle: 'moved' };
  const { byDay = [], frequency, weekOfMonth } = interval;
  const isByWeekday = byDay.length > 0 || frequency === 'WEEKLY' || weekOfMonth !== undefined;
  const [before, after] = [from, to].map((day) => dayNames[partsOf(toDayNumber(day)).weekday]!);
  const others = byDay.filter((name) => name !== before);
  const changed = { ...interval, byDay: dayNames.filter((name) => name === after || others.includes(name)) };
  if (!isByWeekday || others.includes(after!) || !names(changed, to)) return { obstacle: 'noWeekday' };
  return { attendingIntervals: items.map((item) => (item === interval ? changed : item)) };
}
