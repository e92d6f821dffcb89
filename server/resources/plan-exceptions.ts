// Appointments and absences as the plan takes them, and the SQL that reads them.
import type { Absence } from '../../core/calendar/absences.ts';
import type { Appointment } from '../../core/calendar/appointments.ts';
import { fromDayNumber } from '../../core/calendar/calendar-days.ts';

/** No visit moves further than the longest tolerance, so none of these days replaces a visit beyond it. */
const longestTolerance = 31;

interface Query {
  text: string;
  values: unknown[];
}

export interface AppointmentRow {
  site_id: string;
  id: string;
  updated_at: Date;
  date: string;
  planned_date: string | null;
  time_from: string | null;
  time_until: string | null;
  duration_in_minutes: string | null;
  employee_id: string | null;
  status: Appointment['status'];
  comment: string | null;
}

/** With what a calendar needs to recognise a change. */
export interface StoredAppointment extends Appointment {
  updatedAt: Date;
}

/** Sites with more appointments are planned in several pieces, and a site alone with its first ones. */
export const maxAppointments = 2000;

/** Appointments on these days, and those that replace a visit which could be on one of them. */
export function appointmentsQuery(
  tenantId: string,
  siteIds: readonly string[],
  { first, last }: { first: number; last: number },
): Query {
  return {
    text: `SELECT site_id, id, updated_at, date::text, planned_date::text, time_from, time_until, duration_in_minutes,
        employee_id, status, comment
      FROM appointment WHERE tenant_id = $1 AND site_id = ANY ($2::uuid[])
        AND (date BETWEEN $3::date AND $4::date OR planned_date BETWEEN $5::date AND $6::date)
      ORDER BY site_id, date, time_from NULLS FIRST, id LIMIT ${maxAppointments + 1}`,
    values: [
      tenantId,
      siteIds,
      fromDayNumber(first),
      fromDayNumber(last),
      fromDayNumber(first - longestTolerance),
      fromDayNumber(last + longestTolerance),
    ],
  };
}

/** Gives sites in the order of their ids what `appointmentsQuery` found, and returns those of them that have all. */
export function addAppointments<Row extends { id: string; appointments?: readonly Appointment[] }>(
  sites: readonly Row[],
  found: readonly AppointmentRow[],
): readonly Row[] {
  const unread = found[maxAppointments]?.site_id;
  const bySite = Map.groupBy(found.slice(0, maxAppointments), ({ site_id: siteId }) => siteId);
  for (const site of sites) site.appointments = bySite.get(site.id)?.map(toAppointment) ?? [];
  const cut = unread === undefined ? sites.length : sites.findIndex(({ id }) => id === unread);
  return sites.slice(0, Math.max(cut, 1));
}

function toAppointment(row: AppointmentRow): StoredAppointment {
  const { duration_in_minutes: minutes } = row;
  return {
    id: row.id,
    updatedAt: row.updated_at,
    date: row.date,
    plannedDate: row.planned_date ?? undefined,
    timeFrom: row.time_from ?? undefined,
    timeUntil: row.time_until ?? undefined,
    durationInMinutes: minutes === null ? undefined : Number(minutes),
    employeeId: row.employee_id ?? undefined,
    status: row.status,
    comment: row.comment ?? undefined,
  };
}

/** An SQL condition on the site "subject": it has an appointment between two days. */
export function hasAppointment(first: string, last: string, more = ''): string {
  return `EXISTS (SELECT FROM appointment AS agreed WHERE agreed.tenant_id = subject.tenant_id AND agreed.site_id = subject.id
            AND agreed.date BETWEEN ${first}::date AND ${last}::date${more})`;
}

/** More absences at one time are not looked at. */
const maxAbsences = 10_000;

export function absencesQuery(tenantId: string, { first, last }: { first: number; last: number }): Query {
  return {
    text: `SELECT employee_id AS "employeeId", "from"::text, until::text, substitute_employee_id AS "substituteEmployeeId"
      FROM absence WHERE tenant_id = $1 AND "from" <= $3::date AND until >= $2::date ORDER BY "from", id LIMIT ${maxAbsences}`,
    values: [tenantId, fromDayNumber(first), fromDayNumber(last)],
  };
}

export function toAbsence(row: Absence & { substituteEmployeeId: string | null }): Absence {
  return { ...row, substituteEmployeeId: row.substituteEmployeeId ?? undefined };
}
