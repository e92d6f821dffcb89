// Visits of some days by employee or by place, and how much work they are.
import { takesPlace } from '../../../core/calendar/visit-status.ts';
import type { Visit } from './visits-query.ts';

export type Grouping = 'employee' | 'place';

export interface VisitGroup {
  /** An employee's id or a city; empty for visits without an employee. */
  key: string;
  title: string;
  visits: Visit[];
}

export interface Person {
  id: string;
  name: string;
}

/** People without visits are listed too: a visit can be given to them. */
export function groupVisits(
  visits: readonly Visit[],
  grouping: Grouping,
  people: readonly Person[],
  nobody: string,
): VisitGroup[] {
  const groups = new Map<string, VisitGroup>();
  const groupOf = (key: string, title: string) => {
    const group = groups.get(key) ?? { key, title, visits: [] };
    groups.set(key, group);
    return group;
  };
  if (grouping === 'employee') for (const { id, name } of people) groupOf(id, name);
  for (const visit of visits) {
    if (grouping === 'place') {
      const city = visit.site?.address.city ?? '';
      groupOf(city, city).visits.push(visit);
    } else {
      const name = visit.employee && `${visit.employee.firstName} ${visit.employee.lastName}`;
      groupOf(name ? visit.employeeId! : '', name ?? nobody).visits.push(visit);
    }
  }
  const rank = ({ key }: VisitGroup) => (key === '' ? 1 : 0);
  return [...groups.values()].sort(
    (one, other) => rank(one) - rank(other) || one.title.localeCompare(other.title),
  );
}

/** A site can have several visits on a day. */
export function keyOf({ siteId, date, movedFrom, windows, durationInMinutes, appointmentId }: Visit): string {
  return JSON.stringify([siteId, date, movedFrom, windows, durationInMinutes, appointmentId]);
}

export function isTakingPlace({ status }: Visit): boolean {
  return takesPlace(status);
}

/** Minutes of work with preparation. Visits without a length count nothing. */
export function minutesOf(visits: readonly Visit[]): number {
  return visits
    .filter(isTakingPlace)
    .reduce((sum, visit) => sum + (visit.durationInMinutes ?? 0) + (visit.preparationInMinutes ?? 0), 0);
}
