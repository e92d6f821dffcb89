// Sites with intervals, read in pieces in the order of their ids, and planned.
import { holidayRegion, holidaysOf } from '../../../core/holidays.ts';
import { isOpeningHours } from '../../../core/opening-hours.ts';
import { type HolidayRule, toVisitPlan, type VisitPlan } from '../../../core/visit-plan.ts';
import { type AttendingInterval, isAttendingInterval } from '../../../core/visits.ts';
import type { Database } from '../../database/database.ts';
import type { Conditions } from '../../engine/sql/list-filters.ts';
import { jsonBytes, selectWithinPage } from '../../engine/sql/page-size.ts';

interface SiteRow {
  id: string;
  customer_id: string;
  assigned_employee_id: string | null;
  contact_person_id: string | null;
  preparation: string | null;
  /** Null where the row is beyond the bound of a piece. */
  intervals: string | null;
  hours: string;
  valid_from: string | null;
  valid_until: string | null;
  time_zone: string;
  zip_code: string;
  created_on: string;
  has_position: boolean;
}

export interface PlannedSite {
  id: string;
  customerId: string;
  employeeId: string | undefined;
  contactPersonId: string | undefined;
  preparationInMinutes: number | undefined;
  timeZone: string;
  plan: VisitPlan;
}

export interface Piece {
  sites: PlannedSite[];
  isLast: boolean;
}

const sizes = [jsonBytes('subject.attending_intervals'), jsonBytes('subject.opening_hours')];

export async function readPiece(
  database: Database,
  { tenantId, deadline }: { tenantId: string; deadline: number },
  { conditions, values }: Conditions,
  holidayRule: HolidayRule,
  { comparison, siteId, count }: { comparison: '>' | '>='; siteId: string; count: number },
): Promise<Piece> {
  const inOrder = { sizes, order: 'subject.id' };
  const [from, limit] = [`$${values.length + 2}`, `$${values.length + 3}`];
  const { rows } = await database.queryInTenants<SiteRow>(
    [tenantId],
    {
      text: `SELECT subject.id, subject.customer_id, subject.assigned_employee_id, subject.contact_person_id,
          subject.appointment_preparation_time_in_minutes AS preparation,
          ${selectWithinPage('subject.attending_intervals::text', inOrder)} AS intervals,
          ${selectWithinPage('subject.opening_hours::text', inOrder)} AS hours,
          subject.valid_from::text, subject.valid_until::text, subject.time_zone,
          subject.address_zip_code AS zip_code, (subject.created_at AT TIME ZONE 'UTC')::date::text AS created_on,
          subject.address_location_lat IS NOT NULL AND subject.address_location_lng IS NOT NULL AS has_position
        FROM (
          SELECT * FROM site AS subject WHERE ${['subject.tenant_id = $1', ...conditions].join(' AND ')}
            AND subject.attending_intervals IS NOT NULL AND subject.id ${comparison} ${from}::uuid
          ORDER BY subject.id LIMIT ${limit}
        ) AS subject ORDER BY subject.id`,
      values: [tenantId, ...values, siteId, count],
    },
    { deadline },
  );
  const cut = rows.findIndex(({ intervals }) => intervals === null);
  const read = cut === -1 ? rows : rows.slice(0, cut);
  return {
    sites: read.map((row) => toPlannedSite(row, holidayRule)),
    isLast: cut === -1 && rows.length < count,
  };
}

function toPlannedSite(row: SiteRow, holidayRule: HolidayRule): PlannedSite {
  const { time_zone: timeZone } = row;
  const site = {
    attendingIntervals: readIntervals(row.intervals!),
    // Read when a visit is near: most sites have none on the days in question.
    get openingHours() {
      return (JSON.parse(row.hours) as unknown[]).filter(isOpeningHours);
    },
    validFrom: row.valid_from ?? undefined,
    validUntil: row.valid_until ?? undefined,
    timeZone,
    anchor: row.created_on,
    // A page asks for the employees of its own visits only.
    hasEmployee: true,
    hasPosition: row.has_position,
  };
  return {
    id: row.id,
    customerId: row.customer_id,
    employeeId: row.assigned_employee_id ?? undefined,
    contactPersonId: row.contact_person_id ?? undefined,
    preparationInMinutes: row.preparation === null ? undefined : Number(row.preparation),
    timeZone,
    plan: toVisitPlan(site, holidaysOf(holidayRegion(row.zip_code, timeZone)), holidayRule),
  };
}

const knownIntervals = new Map<string, AttendingInterval[]>();
const maxKnown = 5000;
const maxKnownLength = 300;

/** Many sites have the same intervals, and checking their shape takes most of the time. */
function readIntervals(text: string): AttendingInterval[] {
  const known = knownIntervals.get(text);
  if (known) return known;
  const intervals = (JSON.parse(text) as unknown[]).filter(isAttendingInterval);
  if (text.length > maxKnownLength) return intervals;
  if (knownIntervals.size >= maxKnown) knownIntervals.clear();
  knownIntervals.set(text, intervals);
  return intervals;
}
