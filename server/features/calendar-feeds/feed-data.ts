// What a feed is made of: whom or what it is for, and the sites to visit.
import type pg from 'pg';
import { holidayRegion, holidaysOf } from '../../../core/holidays.ts';
import { isOpeningHours } from '../../../core/opening-hours.ts';
import { type HolidayRule, toVisitPlan, type VisitPlan } from '../../../core/visit-plan.ts';
import { isAttendingInterval } from '../../../core/visits.ts';
import type { Database } from '../../database/database.ts';
import type { Language } from '../../messages.ts';

export const feedResources = ['employee', 'site'] as const;

export interface FeedSubject {
  resource: (typeof feedResources)[number];
  id: string;
}

export interface Feed extends FeedSubject {
  language: Language;
  name: string;
  holidayRule: HolidayRule;
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
      const business = await client.query<{ holidayRule: HolidayRule }>(
        'SELECT holiday_rule AS "holidayRule" FROM tenant WHERE tenant_id = $1',
        [tenantId],
      );
      return { ...feed, ...subject, ...business.rows[0]! };
    },
    { deadline },
  );
}

interface SiteRow {
  id: string;
  version: number;
  updated_at: Date;
  created_on: string;
  name: string;
  street: string;
  city: string;
  zip_code: string;
  lat: number | null;
  lng: number | null;
  time_zone: string;
  intervals: unknown[];
  hours: unknown[];
  valid_from: string | null;
  valid_until: string | null;
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
  plan: VisitPlan;
}

/** More than anybody visits in half a year. */
const maxSites = 1000;

const conditions = { employee: 'site.assigned_employee_id = $2', site: 'site.id = $2' };

/** Without private numbers: a feed has no session, and Pflege does not see them either. */
export async function readFeedSites(
  { database, tenantId, deadline }: Reader,
  feed: Feed,
): Promise<FeedSite[]> {
  const { rows } = await database.queryInTenants<SiteRow>(
    [tenantId],
    {
      text: `SELECT site.id, site.version, site.updated_at, (site.created_at AT TIME ZONE 'UTC')::date::text AS created_on, site.name,
          left(concat_ws(' ', site.address_street_name, nullif(site.address_house_number, '')), 200) AS street,
          left(site.address_city, 200) AS city, left(site.address_zip_code, 50) AS zip_code,
          site.address_location_lat AS lat, site.address_location_lng AS lng, site.time_zone,
          site.attending_intervals AS intervals, site.opening_hours AS hours,
          site.valid_from::text, site.valid_until::text, site.has_key, site.needs_appointment,
          site.appointment_preparation_time_in_minutes AS preparation, site.comment,
          customer.company_name AS customer, customer.phone AS customer_phone,
          concat_ws(' ', contact.first_name, contact.last_name) AS contact, contact.phone AS contact_phone
        FROM site
        LEFT JOIN customer ON customer.tenant_id = $1 AND customer.id = site.customer_id
        LEFT JOIN contact_person AS contact ON contact.tenant_id = $1 AND contact.id = site.contact_person_id
        WHERE site.tenant_id = $1 AND ${conditions[feed.resource]} AND site.attending_intervals IS NOT NULL
        ORDER BY site.id LIMIT ${maxSites}`,
      values: [tenantId, feed.id],
    },
    { deadline },
  );
  return rows.map((row) => ({ ...row, plan: toPlan(row, feed.holidayRule) }));
}

function toPlan(row: SiteRow, holidayRule: HolidayRule): VisitPlan {
  const site = {
    attendingIntervals: row.intervals.filter(isAttendingInterval),
    openingHours: row.hours.filter(isOpeningHours),
    validFrom: row.valid_from ?? undefined,
    validUntil: row.valid_until ?? undefined,
    timeZone: row.time_zone,
    anchor: row.created_on,
    hasEmployee: true,
    hasPosition: row.lat !== null && row.lng !== null,
  };
  return toVisitPlan(site, holidaysOf(holidayRegion(row.zip_code, row.time_zone)), holidayRule);
}
