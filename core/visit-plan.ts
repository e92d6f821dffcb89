// The visits of a site: its intervals, held against opening hours, validity and public holidays. docs/visits.md has the
// rules with examples.
import { fromDayNumber, partsOf, remember, toDayNumber } from './calendar-days.ts';
import { lengthInMinutes } from './daylight-saving.ts';
import type { Holiday, Holidays } from './holidays.ts';
import {
  type OpenOn,
  readOpenHours,
  type Span,
  spansOf,
  toWindow,
  type VisitWindow,
} from './open-windows.ts';
import type { Steps } from './pace.ts';
import { type MovableDays, Moves } from './visit-moves.ts';
import { type AttendingInterval, type Rule, readIntervals } from './visits.ts';

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
  /** As stored: items of another shape are not planned with. */
  readonly attendingIntervals: readonly unknown[];
  /** As stored. None means unknown, not closed. */
  readonly openingHours: readonly unknown[];
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
  /** Which of the site's known intervals it is. */
  rule: number;
  conflicts: VisitConflict[];
}

export interface VisitPlan {
  readonly site: VisitSite;
  readonly rules: readonly Rule[];
  readonly holidays: Holidays;
  readonly holidayRule: HolidayRule;
  /** Read with the first day that asks: most sites have no visit on the days in question. */
  hours?: { openOn: OpenOn | undefined };
  /** What is known about days. A day asks for the same days as its neighbours do. */
  known: KnownDays;
}

interface KnownDays {
  /** Rules with the same times share it. */
  readonly looks: Map<string, LookAt>;
  /** By the index of a rule. */
  readonly rules: RuleDays[];
  /** How often a day was looked at, which bounds the memory. */
  looked: number;
}

const maxLooked = 10_000;

function nothingKnown(): KnownDays {
  return { looks: new Map(), rules: [], looked: 0 };
}

/** Reads a site once for the questions about its days. */
export function* toVisitPlan(
  site: VisitSite,
  holidays: Holidays,
  holidayRule: HolidayRule,
): Steps<VisitPlan> {
  const rules = yield* readIntervals(site);
  return { site, rules, holidays, holidayRule, known: nothingKnown() };
}

/** A rule looks at few days, so some of them make a step. */
const rulesPerStep = 10;
const daysPerStep = 10;

/** The visits of one day, in the order of their times. A rule has at most one. */
export function* visitsOn(plan: VisitPlan, day: number): Steps<PlannedVisit[]> {
  const visits: PlannedVisit[] = [];
  const here = partsOf(day);
  forgetLooks(plan);
  for (const [index, rule] of plan.rules.entries()) {
    if (index % rulesPerStep === rulesPerStep - 1) yield;
    if (day < rule.first || day > rule.last) continue;
    const isNamed = rule.names(day, here);
    if (!isNamed && rule.tolerance === 0) continue;
    plan.hours ??= yield* readOpenHours(plan.site.openingHours);
    const visit = isNamed ? namedVisit(plan, rule, day) : movedVisit(plan, rule, day);
    if (visit) visits.push(visit);
  }
  return visits.length < 2 ? visits : visits.sort((one, other) => compare(firstTime(one), firstTime(other)));
}

function firstTime({ windows: [first], interval }: PlannedVisit): string {
  return first?.from ?? interval.timeFrom ?? '';
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

const horizonInDays = 731;

/** The next visits that take place, from a day on and within two years. */
export function* nextVisits(plan: VisitPlan, from: string, count: number): Steps<PlannedVisit[]> {
  const visits: PlannedVisit[] = [];
  const first = toDayNumber(from);
  for (let day = first; day < first + horizonInDays && visits.length < count; day += 1) {
    const found = yield* visitsOn(plan, day);
    visits.push(...found.filter(({ status }) => status !== 'SKIPPED'));
    yield;
  }
  return visits.slice(0, count);
}

/** Whether a visit on one of these days is skipped because the site is closed. */
export function* hasClosedVisit(plan: VisitPlan, from: string, days: number): Steps<boolean> {
  plan.hours ??= yield* readOpenHours(plan.site.openingHours);
  if (!plan.hours.openOn) return false;
  const start = toDayNumber(from);
  for (const rule of plan.rules) {
    forgetLooks(plan);
    const last = Math.min(rule.last, start + days - 1);
    for (let day = Math.max(rule.first, start); day <= last; day += 1) {
      if (day % daysPerStep === 0) yield;
      if (!rule.names(day, partsOf(day))) continue;
      const { lookAt, moves } = daysOf(plan, rule);
      if (lookAt(day).obstacle?.reason === 'CLOSED' && moves.dayFor(day) === undefined) return true;
    }
  }
  return false;
}

function forgetLooks(plan: VisitPlan): void {
  if (plan.known.looked > maxLooked) plan.known = nothingKnown();
}

/** A visit on a day that the interval names: it stays, is skipped, or (undefined) takes place on another day. */
function namedVisit(plan: VisitPlan, rule: Rule, day: number): PlannedVisit | undefined {
  const { lookAt, moves } = daysOf(plan, rule);
  const { obstacle } = lookAt(day);
  if (!obstacle) return plannedVisit(plan, rule, day);
  if (canMove(plan, obstacle) && moves.dayFor(day) !== undefined) return undefined;
  return {
    date: fromDayNumber(day),
    status: 'SKIPPED',
    ...obstacle,
    windows: [],
    interval: rule.interval,
    rule: rule.index,
    conflicts: [...(obstacle.reason === 'CLOSED' ? (['closed'] as const) : []), ...conflictsOf(plan)],
  };
}

/** The visit that moves to a day that the interval does not name. */
function movedVisit(plan: VisitPlan, rule: Rule, day: number): PlannedVisit | undefined {
  const { lookAt, moves } = daysOf(plan, rule);
  const named = moves.visitFor(day);
  if (named === undefined) return undefined;
  return {
    ...plannedVisit(plan, rule, day),
    status: 'MOVED',
    movedFrom: fromDayNumber(named),
    ...lookAt(named).obstacle,
  };
}

function plannedVisit(plan: VisitPlan, rule: Rule, day: number): PlannedVisit {
  const { spans, hasRoom, holiday } = daysOf(plan, rule).lookAt(day);
  const isTooShort = spans.length > 0 && !hasRoom;
  return {
    date: fromDayNumber(day),
    status: 'PLANNED',
    ...(holiday && { holiday }),
    windows: spans.map(toWindow),
    interval: rule.interval,
    rule: rule.index,
    conflicts: [...(isTooShort ? (['window_too_short'] as const) : []), ...conflictsOf(plan)],
  };
}

function conflictsOf({ site }: VisitPlan): VisitConflict[] {
  return [
    ...(site.hasEmployee ? [] : (['no_employee'] as const)),
    ...(site.hasPosition ? [] : (['no_position'] as const)),
  ];
}

interface Obstacle {
  reason: VisitReason;
  holiday?: Holiday;
}

/** A day, as an interval with certain times sees it. */
interface Look {
  holiday: Holiday | undefined;
  obstacle: Obstacle | undefined;
  spans: readonly Span[];
  /** Whether one of the spans is long enough for the visit. */
  hasRoom: boolean;
}

type LookAt = (day: number) => Look;

interface RuleDays {
  lookAt: LookAt;
  moves: Moves;
}

function daysOf(plan: VisitPlan, rule: Rule): RuleDays {
  const { rules, looks } = plan.known;
  const known = rules[rule.index];
  if (known) return known;
  const { interval, tolerance } = rule;
  const times = `${interval.timeFrom} ${interval.timeUntil} ${interval.durationInMinutes}`;
  const lookAt = looks.get(times) ?? remember((day: number) => look(plan, interval, day));
  looks.set(times, lookAt);
  const days = { lookAt, moves: new Moves(tolerance, movableDays(plan, rule, lookAt)) };
  rules[rule.index] = days;
  return days;
}

function look(plan: VisitPlan, interval: AttendingInterval, day: number): Look {
  plan.known.looked++;
  const holiday = plan.holidays(fromDayNumber(day));
  if (holiday && plan.holidayRule !== 'KEEP')
    return { holiday, obstacle: { reason: 'HOLIDAY', holiday }, spans: [], hasRoom: false };
  const openOn = plan.hours?.openOn;
  const spans = spansOf(interval, openOn, day, partsOf(day).weekday);
  const isClosed = openOn !== undefined && spans.length === 0;
  return {
    holiday,
    obstacle: isClosed ? { reason: 'CLOSED' } : undefined,
    spans,
    hasRoom: spans.some((span) => fits(plan, interval, day, span)),
  };
}

function fits({ site }: VisitPlan, interval: AttendingInterval, day: number, span: Span): boolean {
  const { durationInMinutes = 0 } = interval;
  return durationInMinutes === 0 || lengthInMinutes(site.timeZone, day, span) >= durationInMinutes;
}

function canMove({ holidayRule }: VisitPlan, { reason }: Obstacle): boolean {
  return reason !== 'HOLIDAY' || holidayRule === 'MOVE';
}

function movableDays(plan: VisitPlan, rule: Rule, lookAt: LookAt): MovableDays {
  const { first, last, names } = rule;
  const hasHours = plan.hours?.openOn !== undefined;
  return {
    mustMove(day) {
      plan.known.looked++;
      if (day < first || day > last || !names(day, partsOf(day))) return false;
      const { obstacle } = lookAt(day);
      return obstacle !== undefined && canMove(plan, obstacle);
    },
    canTake(day) {
      plan.known.looked++;
      if (day < first || day > last) return false;
      const { obstacle, hasRoom } = lookAt(day);
      if (obstacle || (hasHours && !hasRoom)) return false;
      const here = partsOf(day);
      // Without opening hours, offices are open from Monday to Friday.
      return (hasHours || here.weekday < 5) && !names(day, here);
    },
  };
}
