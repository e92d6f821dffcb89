// The visits that follow from a site as the API returns it.
import { holidayRegion, holidaysOf } from '../../../core/holidays.ts';
import { isOpeningHours } from '../../../core/opening-hours.ts';
import { type HolidayRule, toVisitPlan, type VisitPlan } from '../../../core/visit-plan.ts';
import { isAttendingInterval } from '../../../core/visits.ts';

export function toSitePlan(site: Record<string, unknown>, holidayRule: HolidayRule): VisitPlan {
  const timeZone = (site.timeZone as string | undefined) ?? 'Europe/Berlin';
  const address = site.address as { zipCode: string; location?: object } | undefined;
  const region = holidayRegion(address?.zipCode ?? '', timeZone);
  const plannedSite = {
    attendingIntervals: listOf(site.attendingIntervals).filter(isAttendingInterval),
    openingHours: listOf(site.openingHours).filter(isOpeningHours),
    validFrom: site.validFrom as string | undefined,
    validUntil: site.validUntil as string | undefined,
    timeZone,
    anchor: String(site.createdAt).slice(0, 10),
    hasEmployee: site.assignedEmployeeId !== undefined,
    hasPosition: address?.location !== undefined,
  };
  return toVisitPlan(plannedSite, holidaysOf(region), holidayRule);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
