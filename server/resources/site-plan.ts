// The visits of a site, from its row.
import { type Holidays, holidayRegion, holidaysOf } from '../../core/holidays.ts';
import { isOpeningHours, type OpeningHours } from '../../core/opening-hours.ts';
import { type ApproximatePosition, findApproximatePosition } from '../../core/postcodes.ts';
import { type HolidayRule, toVisitPlan, type VisitPlan, type VisitSite } from '../../core/visit-plan.ts';
import { type AttendingInterval, isAttendingInterval } from '../../core/visits.ts';

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
}

/** SQL on the table, which is named "subject". */
export const planColumns = {
  intervals: 'subject.attending_intervals::text',
  hours: 'subject.opening_hours::text',
  valid_from: 'subject.valid_from::text',
  valid_until: 'subject.valid_until::text',
  time_zone: 'subject.time_zone',
  // Addresses have no longest length.
  zip_code: 'left(subject.address_zip_code, 50)',
  city: 'left(subject.address_city, 200)',
  created_on: "(subject.created_at AT TIME ZONE 'UTC')::date::text",
  has_position: 'subject.address_location_lat IS NOT NULL AND subject.address_location_lng IS NOT NULL',
} as const satisfies Record<keyof PlanRow, string>;

/** Without a longest length. */
export const planLists = ['subject.attending_intervals', 'subject.opening_hours'];

export function toSitePlan(row: PlanRow, holidayRule: HolidayRule): VisitPlan {
  let holidays: Holidays | undefined;
  const find: Holidays = (day) => {
    holidays ??= holidaysOf(holidayRegion(row.zip_code, row.time_zone));
    return holidays(day);
  };
  return toVisitPlan(new SiteOfRow(row), find, holidayRule);
}

/** Reads on demand: most sites have no visit on the days in question. */
class SiteOfRow implements VisitSite {
  // Depends on another table, so the pages of visits say it.
  readonly hasEmployee = true;
  readonly #row: PlanRow;

  constructor(row: PlanRow) {
    this.#row = row;
  }

  get attendingIntervals() {
    return readIntervals(this.#row.intervals);
  }

  get openingHours() {
    return readHours(this.#row.hours);
  }

  get validFrom() {
    return this.#row.valid_from ?? undefined;
  }

  get validUntil() {
    return this.#row.valid_until ?? undefined;
  }

  get timeZone() {
    return this.#row.time_zone;
  }

  get anchor() {
    return this.#row.created_on;
  }

  get hasPosition() {
    return this.#row.has_position || approximatePositionOf(this.#row) !== undefined;
  }
}

/** Of a site without a position of its own. */
export function approximatePositionOf(
  row: Pick<PlanRow, 'zip_code' | 'city' | 'has_position'>,
): ApproximatePosition | undefined {
  return row.has_position ? undefined : findApproximatePosition({ zipCode: row.zip_code, city: row.city });
}

/** Many sites have the same intervals or hours, and checking their shape takes most of the time. */
function remember<Item>(isKnown: (item: unknown) => item is Item): (text: string) => Item[] {
  const maxTexts = 5000;
  const maxLength = 1000;
  const known = new Map<string, Item[]>();
  return (text) => {
    const found = known.get(text);
    if (found) return found;
    const items = (JSON.parse(text) as unknown[]).filter(isKnown);
    if (text.length > maxLength) return items;
    if (known.size >= maxTexts) known.clear();
    known.set(text, items);
    return items;
  };
}

const readIntervals = remember<AttendingInterval>(isAttendingInterval);
const readHours = remember<OpeningHours>(isOpeningHours);
