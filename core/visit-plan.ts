// The visits of a site: its intervals, held against opening hours, validity and public holidays. docs/visits.md has the
// rules with examples.
import { type DayParts, fromDayNumber, partsOf, toDayNumber } from './calendar-days.ts';
import { lengthInMinutes } from './daylight-saving.ts';
import type { Holiday, Holidays } from './holidays.ts';
import { type OpenOn, type Span, spansOf, toOpenSpans, toWindow, type VisitWindow } from './open-windows.ts';
import type { OpeningHours } from './opening-hours.ts';
import { type AttendingInterval, type NamesDay, toNamedDays } from './visits.ts';

/** What a business does with visits on public holidays. */
export const holidayRules = ['MOVE', 'SKIP', 'KEEP'] as const;
export type HolidayRule = (typeof holidayRules)[number];

export const visitStatuses = ['PLANNED', 'MOVED', 'SKIPPED'] as const;
export type VisitStatus = (typeof visitStatuses)[number];

export const visitReasons = ['HOLIDAY', 'CLOSED'] as const;
export type VisitReason = (typeof visitReasons)[number];

export const visitConflicts = ['closed', 'window_too_short', 'no_employee', 'no_position'] as const;
export type VisitConflict = (typeof visitConflicts)[number];

export interface VisitSite {
  readonly attendingIntervals: readonly AttendingInterval[];
  /** None means unknown, not closed. */
  readonly openingHours: readonly OpeningHours[];
  readonly validFrom?: string | undefined;
  readonly validUntil?: string | undefined;
  readonly timeZone: string;
  /** Stands in for the first day of intervals that have none. */
  readonly anchor: string;
  readonly hasEmployee: boolean;
  /** Its own position, or an approximate one. */
  readonly hasPosition: boolean;
}

export interface PlannedVisit {
  /** YYYY-MM-DD. Of a skipped visit, the day on which it would be. */
  date: string;
  status: VisitStatus;
  /** Only of moved visits. */
  movedFrom?: string;
  /** Why it is moved or skipped. */
  reason?: VisitReason;
  /** The holiday that moves or skips the visit, or on which it is kept. */
  holiday?: Holiday;
  /** None means that no times are known, or that the visit is skipped. */
  windows: VisitWindow[];
  interval: AttendingInterval;
  conflicts: VisitConflict[];
}

interface Rule {
  interval: AttendingInterval;
  names: NamesDay;
  tolerance: number;
  first: number;
  last: number;
}

export interface VisitPlan {
  site: VisitSite;
  rules: readonly Rule[];
  holidays: Holidays;
  holidayRule: HolidayRule;
}

/** Reads a site once for the questions about its days. */
export function toVisitPlan(site: VisitSite, holidays: Holidays, holidayRule: HolidayRule): VisitPlan {
  return { site, rules: toRules(site), holidays, holidayRule };
}

const knownRules = new WeakMap<readonly AttendingInterval[], Map<string, Rule[]>>();
const maxKnownRules = 1000;

/** Many sites have the same intervals. Their rules are read once, because rules of their own would fill the memory. */
function toRules(site: VisitSite): readonly Rule[] {
  const { attendingIntervals: intervals } = site;
  const known = knownRules.get(intervals) ?? new Map<string, Rule[]>();
  const key = `${site.anchor} ${site.validFrom} ${site.validUntil}`;
  const found = known.get(key);
  if (found) return found;
  const anchor = toDayNumber(site.anchor);
  const validFrom = site.validFrom ? toDayNumber(site.validFrom) : -Infinity;
  const validUntil = site.validUntil ? toDayNumber(site.validUntil) : Infinity;
  const rules = intervals.map((interval) => ({
    interval,
    names: toNamedDays(interval, anchor),
    tolerance: interval.toleranceInDays ?? 0,
    first: Math.max(validFrom, interval.startDate ? toDayNumber(interval.startDate) : -Infinity),
    last: Math.min(validUntil, interval.endDate ? toDayNumber(interval.endDate) : Infinity),
  }));
  if (known.size >= maxKnownRules) known.clear();
  knownRules.set(intervals, known.set(key, rules));
  return rules;
}

/** Undefined where no opening hours are known. */
function openOnOf({ site: { openingHours } }: VisitPlan): OpenOn | undefined {
  return openingHours.length > 0 ? toOpenSpans(openingHours) : undefined;
}

function conflictsOf({ site }: VisitPlan): VisitConflict[] {
  return [
    ...(site.hasEmployee ? [] : (['no_employee'] as const)),
    ...(site.hasPosition ? [] : (['no_position'] as const)),
  ];
}

/** The visits of one day, in the order of their times. */
export function visitsOn(plan: VisitPlan, day: number): PlannedVisit[] {
  const visits: PlannedVisit[] = [];
  const here = partsOf(day);
  for (const rule of plan.rules) {
    if (day < rule.first || day > rule.last) continue;
    const visit = rule.names(day, here)
      ? namedVisit(plan, rule, day, here)
      : movedVisit(plan, rule, day, here);
    if (visit) visits.push(visit);
  }
  return visits.sort((one, other) => compare(firstTime(one), firstTime(other)));
}

function firstTime({ windows: [first], interval }: PlannedVisit): string {
  return first?.from ?? interval.timeFrom ?? '';
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

const horizonInDays = 731;

/** The next visits that take place, from a day on and within two years. */
export function nextVisits(plan: VisitPlan, from: string, count: number): PlannedVisit[] {
  const visits: PlannedVisit[] = [];
  const first = toDayNumber(from);
  for (let day = first; day < first + horizonInDays && visits.length < count; day += 1)
    visits.push(...visitsOn(plan, day).filter(({ status }) => status !== 'SKIPPED'));
  return visits.slice(0, count);
}

/** Whether a visit on one of these days is skipped because the site is closed. */
export function hasClosedVisit(plan: VisitPlan, from: string, days: number): boolean {
  if (!openOnOf(plan)) return false;
  const start = toDayNumber(from);
  return plan.rules.some((rule) => {
    const last = Math.min(rule.last, start + days - 1);
    for (let day = Math.max(rule.first, start); day <= last; day += 1) {
      const here = partsOf(day);
      if (!rule.names(day, here)) continue;
      const reason = findObstacle(plan, rule, day, here)?.reason;
      if (reason === 'CLOSED' && findOtherDay(plan, rule, day, reason) === undefined) return true;
    }
    return false;
  });
}

/** A visit on a day that the interval names: it stays, is skipped, or (undefined) takes place on another day. */
function namedVisit(plan: VisitPlan, rule: Rule, day: number, here: DayParts): PlannedVisit | undefined {
  const obstacle = findObstacle(plan, rule, day, here);
  if (!obstacle) return plannedVisit(plan, rule, day, here);
  if (findOtherDay(plan, rule, day, obstacle.reason) !== undefined) return undefined;
  return {
    date: fromDayNumber(day),
    status: 'SKIPPED',
    ...obstacle,
    windows: [],
    interval: rule.interval,
    conflicts: [...(obstacle.reason === 'CLOSED' ? (['closed'] as const) : []), ...conflictsOf(plan)],
  };
}

/** The visit that moves to a day that the interval does not name. Of several, the earliest takes place. */
function movedVisit(plan: VisitPlan, rule: Rule, day: number, here: DayParts): PlannedVisit | undefined {
  const first = Math.max(rule.first, day - rule.tolerance);
  const last = Math.min(rule.last, day + rule.tolerance);
  for (let named = first; named <= last; named += 1) {
    const there = partsOf(named);
    if (!rule.names(named, there)) continue;
    const obstacle = findObstacle(plan, rule, named, there);
    if (!obstacle || findOtherDay(plan, rule, named, obstacle.reason) !== day) continue;
    return {
      ...plannedVisit(plan, rule, day, here),
      status: 'MOVED',
      movedFrom: fromDayNumber(named),
      ...obstacle,
    };
  }
  return undefined;
}

function plannedVisit(plan: VisitPlan, rule: Rule, day: number, { weekday }: DayParts): PlannedVisit {
  const { interval } = rule;
  const date = fromDayNumber(day);
  const spans = spansOf(interval, openOnOf(plan), day, weekday);
  const holiday = plan.holidays(date);
  const isTooShort = spans.length > 0 && !spans.some((span) => fits(plan, interval, day, span));
  return {
    date,
    status: 'PLANNED',
    ...(holiday && { holiday }),
    windows: spans.map(toWindow),
    interval,
    conflicts: [...(isTooShort ? (['window_too_short'] as const) : []), ...conflictsOf(plan)],
  };
}

function fits(
  { site: { timeZone } }: VisitPlan,
  interval: AttendingInterval,
  day: number,
  span: Span,
): boolean {
  const { durationInMinutes = 0 } = interval;
  return durationInMinutes === 0 || lengthInMinutes(timeZone, day, span) >= durationInMinutes;
}

interface Obstacle {
  reason: VisitReason;
  holiday?: Holiday;
}

function findObstacle(plan: VisitPlan, rule: Rule, day: number, here: DayParts): Obstacle | undefined {
  const holiday = plan.holidayRule === 'KEEP' ? undefined : plan.holidays(fromDayNumber(day));
  if (holiday) return { reason: 'HOLIDAY', holiday };
  const openOn = openOnOf(plan);
  const isClosed = openOn && spansOf(rule.interval, openOn, day, here.weekday).length === 0;
  return isClosed ? { reason: 'CLOSED' } : undefined;
}

/** The nearest day that can take a visit; of two, the later one. */
function findOtherDay(plan: VisitPlan, rule: Rule, day: number, reason: VisitReason): number | undefined {
  if (reason === 'HOLIDAY' && plan.holidayRule === 'SKIP') return undefined;
  for (let distance = 1; distance <= rule.tolerance; distance += 1) {
    for (const other of [day + distance, day - distance]) if (canTake(plan, rule, other)) return other;
  }
  return undefined;
}

function canTake(plan: VisitPlan, rule: Rule, day: number): boolean {
  if (day < rule.first || day > rule.last) return false;
  const here = partsOf(day);
  if (rule.names(day, here) || findObstacle(plan, rule, day, here)) return false;
  // Without opening hours, offices are open from Monday to Friday.
  const openOn = openOnOf(plan);
  if (!openOn) return here.weekday < 5;
  const spans = spansOf(rule.interval, openOn, day, here.weekday);
  return spans.some((span) => fits(plan, rule.interval, day, span));
}
