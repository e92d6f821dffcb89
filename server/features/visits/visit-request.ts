// The query string of GET /visits.
import { createHash } from 'node:crypto';
import { fromDayNumber, isDay, toDayNumber } from '../../../core/calendar/calendar-days.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import {
  addCondition,
  type Conditions,
  filterReaders,
  type Reading,
} from '../../engine/read/list-filters.ts';
import { defaultLimit, maxLimit } from '../../engine/read/list-query.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLimit } from '../../http/conventions.ts';
import { site } from '../../resources/site.ts';

export const maxDays = 92;

export const visitInclusions = ['site', 'customer', 'employee', 'contactPerson', 'externalIds'] as const;
export type VisitInclusion = (typeof visitInclusions)[number];

/** Where a page goes on: at a site on a day, behind some visits of it. */
export interface Place {
  day: number;
  siteId: string;
  /** `allVisits` if the site is done. */
  taken: number;
  /** While the page is empty: no site before this place has a visit between its day and this one. */
  soonest?: number;
}

/** More than a site has on a day. */
export const allVisits = 1_000_000;

/** Whose visits are asked for. */
export interface AskedEmployees {
  ids?: readonly string[];
  externalId?: string;
  /** Visits to which nobody comes. */
  isNobody?: true;
}

export interface VisitRequest extends Conditions {
  employees: AskedEmployees | undefined;
  from: Place;
  /** The last day. */
  until: number;
  limit: number;
  inclusions: ReadonlySet<VisitInclusion>;
  /** Of days and filters: a cursor is good for the list that it was made with. */
  fingerprint: string;
}

export const firstId = '00000000-0000-0000-0000-000000000000';

export function startOf(day: number): Place {
  return { day, siteId: firstId, taken: 0 };
}

/** The filters of a list of sites, by the names that they have for visits. */
const filters: Record<string, string> = {
  siteId: 'id',
  siteExternalId: 'externalId',
  customerId: 'customerId',
  customerExternalId: 'customerExternalId',
  employeeId: 'assignedEmployeeId',
  employeeExternalId: 'assignedEmployeeExternalId',
  city: 'city',
  needsAppointment: 'needsAppointment',
};

const narrowing = [...Object.keys(filters), 'zipCode', 'unassigned'];
const known = ['from', 'until', 'limit', 'cursor', 'include', ...narrowing];

/** Throws one error that names every invalid parameter. */
export function parseVisitRequest(query: Record<string, unknown>): VisitRequest {
  const employees: AskedEmployees = {};
  const fieldErrors: FieldError[] = [];
  const reject = (name: string, code: FieldError['code'], params?: FieldError['params']) =>
    void fieldErrors.push({ path: [name], code, ...(params && { params }) });
  const conditions: Conditions = { conditions: [], values: [] };
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(query)) {
    const filter = filters[name];
    if (!known.includes(name)) reject(name, 'unknown_parameter', { known });
    else if (typeof value !== 'string') reject(name, 'repeated_parameter');
    else if (filter) {
      const reading: Reading = {
        request: conditions,
        reject: (code, params) => reject(name, code, params),
      };
      const isEmployee = filter.startsWith('assignedEmployee');
      // Appointments and absences give visits to others than the site's employee.
      filterReaders(site).get(filter)!(
        value,
        isEmployee ? { ...reading, request: { conditions: [], values: [] } } : reading,
      );
      if (isEmployee && name === 'employeeId') employees.ids = value.toLowerCase().split(',');
      if (isEmployee && name === 'employeeExternalId') employees.externalId = value;
    } else values.set(name, value);
  }
  const readDay = (name: string) => {
    const value = values.get(name);
    if (value === undefined) reject(name, 'required');
    else if (!isDay(value)) reject(name, 'invalid_date');
    else return toDayNumber(value);
    return undefined;
  };
  const zipCode = values.get('zipCode');
  if (zipCode !== undefined && (zipCode.includes('\0') || !zipCode.isWellFormed()))
    reject('zipCode', 'invalid_text');
  else if (zipCode !== undefined)
    addCondition(conditions, zipCode, (start) => `starts_with(subject.address_zip_code, ${start})`);
  const unassigned = values.get('unassigned') ?? 'false';
  if (!['true', 'false'].includes(unassigned))
    reject('unassigned', 'invalid_choice', { choices: ['true', 'false'] });
  if (unassigned === 'true') employees.isNobody = true;
  const [first, until] = [readDay('from'), readDay('until')];
  if (first !== undefined && until !== undefined) {
    if (until < first) reject('until', 'date_order', { other: 'from' });
    else if (until - first >= maxDays) reject('until', 'too_many_days', { max: maxDays });
  }
  const limit = readLimit(values.get('limit') ?? String(defaultLimit), maxLimit);
  if (limit === undefined) reject('limit', 'out_of_range', { min: 1, max: maxLimit });
  const inclusions = values.get('include')?.split(',') ?? [];
  if (!inclusions.every((name) => (visitInclusions as readonly string[]).includes(name)))
    reject('include', 'invalid_choice', { choices: visitInclusions });
  const cursor = values.get('cursor');
  const fingerprint = fingerprintOf(query);
  const from = cursor === undefined ? startOf(first ?? 0) : decodeCursor(cursor, fingerprint);
  const isInRange = from && from.day >= (first ?? from.day) && from.day <= (until ?? from.day);
  if (cursor !== undefined && !isInRange) reject('cursor', 'invalid_cursor');
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return {
    ...conditions,
    employees: Object.keys(employees).length > 0 ? employees : undefined,
    from: from!,
    until: until!,
    limit: limit!,
    inclusions: new Set(inclusions as VisitInclusion[]),
    fingerprint,
  };
}

/** Short: a filter may name hundreds of sites, and a cursor travels in the address. */
function fingerprintOf(query: Record<string, unknown>): string {
  const described = ['from', 'until', ...narrowing].map((name) => query[name] ?? null);
  return createHash('sha256').update(JSON.stringify(described)).digest('base64url').slice(0, 16);
}

export function encodeCursor({ fingerprint }: VisitRequest, { day, siteId, taken }: Place): string {
  return Buffer.from(JSON.stringify([fingerprint, fromDayNumber(day), siteId, taken])).toString('base64url');
}

function decodeCursor(cursor: string, fingerprint: string): Place | undefined {
  try {
    const [madeWith, date, siteId, taken] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const isSound =
      madeWith === fingerprint &&
      isDay(String(date)) &&
      isUuid(String(siteId)) &&
      Number.isInteger(taken) &&
      taken >= 0;
    return isSound ? { day: toDayNumber(date), siteId, taken } : undefined;
  } catch {
    return undefined;
  }
}
