// Data of a feed: whom or what it is for, and the sites to visit.
import type pg from 'pg';
import { coveredBy, toCover } from '../../../core/calendar/absences.ts';
import { fromDayNumber, toDayNumber } from '../../../core/calendar/calendar-days.ts';
import type { HolidayRule, PlannedVisit } from '../../../core/calendar/visit-plan.ts';
import type { Database } from '../../database/database.ts';
import { jsonBytes, selectWithinPage, textBytes } from '../../engine/read/page-size.ts';
import { readJournalHead } from '../../engine/write/undo-log.ts';
import type { Language } from '../../messages.ts';
import {
  type AppointmentRow,
  absencesQuery,
  addAppointments,
  appointmentsQuery,
  hasAppointment,
  toAbsence,
} from '../../resources/plan-exceptions.ts';
import {
  type PlanRow,
  planColumns,
  planLists,
  type ReportFailure,
  RowVisits,
} from '../../resources/site-plan.ts';

export const feedResources = ['employee', 'site'] as const;

export interface FeedSubject {
  resource: (typeof feedResources)[number];
  id: string;
}

export interface Feed extends FeedSubject {
  language: Language;
  name: string;
  holidayRule: HolidayRule;
  /** Position of the journal. It grows with each write and never falls, also when appointments are deleted. */
  sequence: number;
}

interface Reader {
  database: Database;
  tenantId: string;
  deadline: number;
}

/** An employee who is active, or a site that is valid. */
const subjects: Record<FeedSubject['resource'], string> = {
  employee: `SELECT concat_ws(' ', first_name, last_name) AS name FROM employee
    WHERE tenant_id = $1 AND id = $2 AND active`,
  site: `SELECT name FROM site WHERE tenant_id = $1 AND id = $2 AND (valid_until IS NULL OR valid_until >= current_date)`,
};

export async function readSubject(
  client: pg.ClientBase,
  tenantId: string,
  { resource, id }: FeedSubject,
): Promise<{ name: string } | undefined> {
  const { rows } = await client.query<{ name: string }>(subjects[resource], [tenantId, id]);
  return rows[0];
}

export function findFeed(
  { database, tenantId, deadline }: Reader,
  tokenHash: Buffer,
): Promise<Feed | undefined> {
  return database.inTenants(
    [tenantId],
    async (client) => {
      const { rows } = await client.query<FeedSubject & { language: Language }>(
        `SELECT resource, subject_id AS id, language FROM calendar_feed WHERE tenant_id = $1 AND token_hash = $2`,
        [tenantId, tokenHash],
      );
      const [feed] = rows;
      const subject = feed && (await readSubject(client, tenantId, feed));
      if (!subject) return undefined;
      const sequence = Number(await readJournalHead(client, tenantId));
      const business = await client.query<{ holidayRule: HolidayRule }>(
        'SELECT holiday_rule AS "holidayRule" FROM tenant WHERE tenant_id = $1',
        [tenantId],
      );
      return { ...feed, ...subject, ...business.rows[0]!, sequence };
    },
    { deadline },
  );
}

interface SiteRow extends Omit<PlanRow, 'intervals'> {
  /** Null where the row is beyond the bound of a feed. */
  intervals: string | null;
  id: string;
  assigned_employee_id: string | null;
  updated_at: Date;
  name: string;
  street: string;
  lat: number | null;
  lng: number | null;
  has_key: boolean;
  needs_appointment: boolean;
  preparation: string | null;
  comment: string | null;
  customer: string | null;
  customer_phone: string | null;
  contact: string | null;
  contact_phone: string | null;
}

export interface FeedSite extends SiteRow {
  visits: RowVisits;
}

export interface FeedSites {
  sites: FeedSite[];
  /** Whether more sites exist than a feed takes. */
  hasMore: boolean;
  /** Whether the visit belongs into the feed: somebody else may come. */
  isWanted(site: FeedSite, visit: PlannedVisit): boolean;
}

/** More than anybody visits in half a year. Their lists and comments have at most about 4 MB. */
const maxSites = 2000;

const conditions = {
  employee: `(subject.assigned_employee_id = ANY ($2::uuid[])
          OR ${hasAppointment('$3', '$4', ' AND agreed.employee_id = ANY ($2::uuid[])')})`,
  site: 'subject.id = ANY ($2::uuid[])',
};
const inOrder = { sizes: [...planLists.map(jsonBytes), textBytes('subject.comment')], order: 'subject.id' };
const columns = {
  ...planColumns,
  intervals: selectWithinPage(planColumns.intervals, inOrder),
  hours: selectWithinPage(planColumns.hours, inOrder),
  comment: selectWithinPage('subject.comment', inOrder),
};
const selection = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);

/** Without private numbers: a feed has no session, and Pflege does not see them either. */
export async function readFeedSites(
  { database, tenantId, deadline, report }: Reader & { report: ReportFailure },
  feed: Feed,
  days: { first: number; last: number },
): Promise<FeedSites> {
  const found = await database.queryInTenants<Parameters<typeof toAbsence>[0]>(
    [tenantId],
    absencesQuery(tenantId, days),
    { deadline },
  );
  const absences = found.rows.map(toAbsence);
  const cover = toCover(absences);
  const ids = feed.resource === 'employee' ? coveredBy(absences, new Set([feed.id])) : [feed.id];
  const { rows } = await database.queryInTenants<SiteRow>(
    [tenantId],
    {
      text: `SELECT subject.id, subject.assigned_employee_id, subject.updated_at, subject.name, ${selection.join(', ')},
          left(concat_ws(' ', subject.address_street_name, nullif(subject.address_house_number, '')), 200) AS street,
          subject.address_location_lat AS lat, subject.address_location_lng AS lng, subject.has_key, subject.needs_appointment,
          subject.appointment_preparation_time_in_minutes AS preparation,
          customer.company_name AS customer, customer.phone AS customer_phone,
          concat_ws(' ', contact.first_name, contact.last_name) AS contact, contact.phone AS contact_phone
        FROM site AS subject
        LEFT JOIN customer ON customer.tenant_id = $1 AND customer.id = subject.customer_id
        LEFT JOIN contact_person AS contact ON contact.tenant_id = $1 AND contact.id = subject.contact_person_id
        WHERE subject.tenant_id = $1 AND ${conditions[feed.resource]}
          AND (subject.attending_intervals IS NOT NULL OR ${hasAppointment('$3', '$4')})
        ORDER BY subject.id LIMIT ${maxSites + 1}`,
      values: [tenantId, ids, fromDayNumber(days.first), fromDayNumber(days.last)],
    },
    { deadline },
  );
  const cut = rows.findIndex(({ intervals }) => intervals === null);
  const read = rows.slice(0, cut === -1 ? maxSites : Math.min(cut, maxSites)) as (SiteRow & PlanRow)[];
  const agreed = await database.queryInTenants<AppointmentRow>(
    [tenantId],
    appointmentsQuery(
      tenantId,
      read.map(({ id }) => id),
      days,
    ),
    { deadline },
  );
  const sites = addAppointments(read, agreed.rows).map((row) => ({
    ...row,
    visits: new RowVisits(row, feed.holidayRule, report),
  }));
  return {
    sites,
    hasMore: rows.length > sites.length,
    isWanted(site, visit) {
      if (feed.resource === 'site') return true;
      const assigned = visit.appointment?.employeeId ?? site.assigned_employee_id;
      return assigned !== null && cover(assigned, toDayNumber(visit.date)) === feed.id;
    },
  };
}
