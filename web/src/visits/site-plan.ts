// The visits that follow from a site as the API returns it.
import type { Appointment } from '../../../core/calendar/appointments.ts';
import { holidayRegion, holidaysOf } from '../../../core/calendar/holidays.ts';
import {
  type HolidayRule,
  nextVisits,
  type PlannedVisit,
  toVisitPlan,
} from '../../../core/calendar/visit-plan.ts';
import { Pace, type Steps } from '../../../core/pace.ts';

export interface AskedVisits {
  holidayRule: HolidayRule;
  from: string;
  count: number;
  appointments?: readonly Appointment[] | undefined;
}

/** Planned at a pace: a site with many intervals must not stop the tab. */
export function nextVisitsQuery(site: Record<string, unknown>, asked: AskedVisits) {
  return {
    queryKey: ['next-visits', site, asked],
    queryFn: () => new Pace().run(nextVisitsOf(site, asked)),
    networkMode: 'always',
    retry: false,
  } as const;
}

export function* nextVisitsOf(
  site: Record<string, unknown>,
  { holidayRule, from, count, appointments }: AskedVisits,
): Steps<PlannedVisit[]> {
  const timeZone = (site.timeZone as string | undefined) ?? 'Europe/Berlin';
  const address = site.address as { zipCode: string; location?: object } | undefined;
  const region = holidayRegion(address?.zipCode ?? '', timeZone);
  const plannedSite = {
    attendingIntervals: listOf(site.attendingIntervals),
    openingHours: listOf(site.openingHours),
    validFrom: site.validFrom as string | undefined,
    validUntil: site.validUntil as string | undefined,
    timeZone,
    anchor: String(site.createdAt).slice(0, 10),
    hasEmployee: site.assignedEmployeeId !== undefined,
    hasPosition: address?.location !== undefined,
    ...(appointments && { appointments }),
  };
  const plan = yield* toVisitPlan(plannedSite, holidaysOf(region), holidayRule);
  return yield* nextVisits(plan, from, count);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
