import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { fewQuery } from '../api/records.ts';

/** A visit that is moved into the next days may stand before them. */
function monthBefore(day: string): string {
  return fromDayNumber(toDayNumber(day) - 31);
}

/** Appointments that concern the next visits of a site. */
export function siteAppointmentsQuery(site: Record<string, unknown>) {
  const from = todayIn(site.timeZone as string | undefined);
  const parameters = { siteId: String(site.id), dateFrom: monthBefore(from), sort: 'date' };
  return { ...fewQuery('appointments', parameters, 200), enabled: site.id !== undefined };
}
