// Sites with intervals, read in pieces in the order of their ids, and planned.
import { fromDayNumber } from '../../../core/calendar/calendar-days.ts';
import type { HolidayRule } from '../../../core/calendar/visit-plan.ts';
import type { Database } from '../../database/database.ts';
import type { Conditions } from '../../engine/read/list-filters.ts';
import { jsonBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import {
  type AppointmentRow,
  addAppointments,
  appointmentsQuery,
  hasAppointment,
} from '../../resources/plan-exceptions.ts';
import {
  type PlanRow,
  planColumns,
  planLists,
  type ReportFailure,
  RowVisits,
} from '../../resources/site-plan.ts';

interface SiteRow extends Omit<PlanRow, 'intervals'> {
  id: string;
  customer_id: string;
  assigned_employee_id: string | null;
  assigned_employee_external_id: string | null;
  contact_person_id: string | null;
  preparation: string | null;
  /** Null where the row is beyond the bound of a piece. */
  intervals: string | null;
}

export interface PlannedSite {
  id: string;
  customerId: string;
  employeeId: string | undefined;
  /** Of an employee who has not arrived yet. */
  employeeExternalId: string | undefined;
  contactPersonId: string | undefined;
  preparationInMinutes: number | undefined;
  timeZone: string;
  visits: RowVisits;
  row: PlanRow;
}

export interface Days {
  first: number;
  last: number;
}

type Places = [from: string, limit: string, first: string, last: string];

export interface Piece {
  sites: PlannedSite[];
  /** Of the lists that were read. */
  bytes: number;
  isLast: boolean;
}

const inOrder = { sizes: planLists.map(jsonBytes), order: 'subject.id' };
const columns = {
  ...planColumns,
  intervals: selectWithinPage(planColumns.intervals, inOrder),
  hours: selectWithinPage(planColumns.hours, inOrder),
};
const selection = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);

export async function readPiece(
  database: Database,
  { tenantId, deadline, report }: { tenantId: string; deadline: number; report: ReportFailure },
  { conditions, values, days }: Conditions & { days: Days },
  { comparison, siteId, count }: { comparison: '>' | '>='; siteId: string; count: number },
): Promise<Piece> {
  const [from, limit, first, last] = [2, 3, 4, 5].map((place) => `$${values.length + place}`) as Places;
  const { rows, following } = await database.queryInTenants<SiteRow>(
    [tenantId],
    {
      text: `SELECT subject.id, subject.customer_id, subject.assigned_employee_id, subject.assigned_employee_external_id, subject.contact_person_id,
          subject.appointment_preparation_time_in_minutes AS preparation, ${selection.join(', ')}
        FROM (
          SELECT * FROM site AS subject WHERE ${['subject.tenant_id = $1', ...conditions].join(' AND ')}
            AND (subject.attending_intervals IS NOT NULL OR ${hasAppointment(first, last)}) AND subject.id ${comparison} ${from}::uuid
          ORDER BY subject.id LIMIT ${limit}
        ) AS subject ORDER BY subject.id`,
      values: [tenantId, ...values, siteId, count, fromDayNumber(days.first), fromDayNumber(days.last)],
    },
    {
      deadline,
      followedBy: [{ text: 'SELECT holiday_rule FROM tenant WHERE tenant_id = $1', values: [tenantId] }],
    },
  );
  const holidayRule: HolidayRule = following[0]!.rows[0].holiday_rule;
  const cut = rows.findIndex(({ intervals }) => intervals === null);
  const read = (cut === -1 ? rows : rows.slice(0, cut)) as (SiteRow & PlanRow)[];
  const agreed = await database.queryInTenants<AppointmentRow>(
    [tenantId],
    appointmentsQuery(
      tenantId,
      read.map(({ id }) => id),
      days,
    ),
    { deadline },
  );
  const whole = addAppointments(read, agreed.rows);
  return {
    sites: whole.map((row) => toPlannedSite(row, new RowVisits(row, holidayRule, report))),
    bytes: whole.reduce((sum, { intervals, hours }) => sum + intervals.length + hours.length, 0),
    isLast: whole.length === rows.length && rows.length < count,
  };
}

function toPlannedSite(row: SiteRow & PlanRow, visits: RowVisits): PlannedSite {
  return {
    id: row.id,
    customerId: row.customer_id,
    employeeId: row.assigned_employee_id ?? undefined,
    employeeExternalId: row.assigned_employee_external_id ?? undefined,
    contactPersonId: row.contact_person_id ?? undefined,
    preparationInMinutes: row.preparation === null ? undefined : Number(row.preparation),
    timeZone: row.time_zone,
    visits,
    row,
  };
}
