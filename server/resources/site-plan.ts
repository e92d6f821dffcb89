// The visits of a site, from its row.
import type { Appointment } from '../../core/calendar/appointments.ts';
import { remember } from '../../core/calendar/calendar-days.ts';
import { formatOf } from '../../core/calendar/daylight-saving.ts';
import { type Holidays, holidayRegion, holidaysOf } from '../../core/calendar/holidays.ts';
import {
  type HolidayRule,
  type PlannedVisit,
  toVisitPlan,
  type VisitPlan,
  type VisitSite,
  visitsOn,
} from '../../core/calendar/visit-plan.ts';
import type { Steps } from '../../core/pace.ts';
import { type ApproximatePosition, findApproximatePosition } from '../../core/place/postcodes.ts';

export interface PlanRow {
  intervals: string;
  hours: string;
  valid_from: string | null;
  valid_until: string | null;
  time_zone: string;
  zip_code: string;
  city: string;
  created_on: string;
  has_position: boolean;
  /** Read from their own table. */
  appointments?: readonly Appointment[];
}

/** SQL on the table, which is named "subject". */
export const planColumns = {
  intervals: `coalesce(subject.attending_intervals::text, '[]')`,
  hours: 'subject.opening_hours::text',
  valid_from: 'subject.valid_from::text',
  valid_until: 'subject.valid_until::text',
  time_zone: 'subject.time_zone',
  // Addresses have no longest length.
  zip_code: 'left(subject.address_zip_code, 50)',
  city: 'left(subject.address_city, 200)',
  created_on: "(subject.created_at AT TIME ZONE 'UTC')::date::text",
  has_position: 'subject.address_location_lat IS NOT NULL AND subject.address_location_lng IS NOT NULL',
} as const satisfies Record<Exclude<keyof PlanRow, 'appointments'>, string>;

/** Without a longest length. */
export const planLists = ['subject.attending_intervals', 'subject.opening_hours'];

/** Throws for a site that cannot be planned. Validation accepts none, but a zone can be unknown to an older machine. */
export function toSitePlan(row: PlanRow, holidayRule: HolidayRule): Steps<VisitPlan> {
  formatOf(row.time_zone);
  let holidays: Holidays | undefined;
  const find: Holidays = (day) => {
    holidays ??= holidaysOf(holidayRegion(row.zip_code, row.time_zone));
    return holidays(day);
  };
  return toVisitPlan(new SiteOfRow(row), find, holidayRule);
}

/** Reads on demand and once: most sites have no visit on the days in question. */
class SiteOfRow implements VisitSite {
  readonly attendingIntervals: readonly unknown[];
  readonly validFrom: string | undefined;
  readonly validUntil: string | undefined;
  readonly timeZone: string;
  readonly anchor: string;
  // Depends on another table, so the pages of visits say it.
  readonly hasEmployee = true;
  readonly #row: PlanRow;
  #openingHours: readonly unknown[] | undefined;
  #hasPosition: boolean | undefined;

  constructor(row: PlanRow) {
    this.#row = row;
    this.attendingIntervals = parseList(row.intervals);
    this.validFrom = row.valid_from ?? undefined;
    this.validUntil = row.valid_until ?? undefined;
    this.timeZone = row.time_zone;
    this.anchor = row.created_on;
  }

  get appointments() {
    return this.#row.appointments ?? [];
  }

  get openingHours() {
    this.#openingHours ??= parseList(this.#row.hours);
    return this.#openingHours;
  }

  get hasPosition() {
    this.#hasPosition ??= this.#row.has_position || approximatePositionOf(this.#row) !== undefined;
    return this.#hasPosition;
  }
}

export type ReportFailure = (error: unknown, site: { id: string }) => void;

/** Visits of a row, planned when they are first asked for. A site that cannot be planned has none, and is reported once. */
export class RowVisits {
  readonly #row: PlanRow & { id: string };
  readonly #holidayRule: HolidayRule;
  readonly #report: ReportFailure;
  #plan: VisitPlan | undefined;
  #hasFailed = false;

  constructor(row: PlanRow & { id: string }, holidayRule: HolidayRule, report: ReportFailure) {
    this.#row = row;
    this.#holidayRule = holidayRule;
    this.#report = report;
  }

  *on(day: number): Steps<PlannedVisit[]> {
    if (this.#hasFailed) return [];
    try {
      this.#plan ??= yield* toSitePlan(this.#row, this.#holidayRule);
      return yield* visitsOn(this.#plan, day);
    } catch (error) {
      this.#hasFailed = true;
      this.#report(error, this.#row);
      return [];
    }
  }
}

/** Position by postcode or town, for sites without one. */
export function approximatePositionOf(
  row: Pick<PlanRow, 'zip_code' | 'city' | 'has_position'>,
): ApproximatePosition | undefined {
  return row.has_position ? undefined : findApproximatePosition({ zipCode: row.zip_code, city: row.city });
}

const maxTextLength = 1000;

/** Many sites have the same intervals or hours. The same list is also checked once only. */
const parseShortList = remember((text: string): readonly unknown[] => JSON.parse(text));

function parseList(text: string): readonly unknown[] {
  return text.length > maxTextLength ? JSON.parse(text) : parseShortList(text);
}
