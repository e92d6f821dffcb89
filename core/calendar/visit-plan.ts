// The visits of a site: its intervals, held against opening hours, validity and public holidays. docs/visits.md has the
// rules with examples.

import type { Steps } from '../pace.ts';
import { type Appointment, type AppointmentDays, agreedSpan, indexAppointments } from './appointments.ts';
import { DayBytes, dayNames, firstMonday, fromDayNumber, partsOf, toDayNumber } from './calendar-days.ts';
import { lengthsOn } from './daylight-saving.ts';
import type { Holiday, Holidays } from './holidays.ts';
import {
  type OpenHours,
  type OpenOn,
  readOpenHours,
  type Span,
  spansOf,
  type Times,
  timesOf,
  toTimes,
  toWindow,
  type VisitWindow,
} from './open-windows.ts';
import { type MovableDays, Moves } from './visit-moves.ts';
import { takesPlace, type VisitStatus } from './visit-status.ts';
import { type AttendingInterval, type Rule, readIntervals } from './visits.ts';

/** The business's rule for visits on public holidays. */
export const holidayRules = ['MOVE', 'SKIP', 'KEEP'] as const;
export type HolidayRule = (typeof holidayRules)[number];

export const visitReasons = ['HOLIDAY', 'CLOSED'] as const;
export type VisitReason = (typeof visitReasons)[number];

export const visitConflicts = [
  ...(['closed', 'window_too_short', 'no_employee', 'no_position'] as const),
  ...(['outside_hours', 'double_booked', 'too_much_for_the_day'] as const),
];
export type VisitConflict = (typeof visitConflicts)[number];

export interface VisitSite {
  /** Items as they are stored. The plan ignores items of another shape. */
  readonly attendingIntervals: readonly unknown[];
  /** Items as they are stored. An empty list means unknown hours, not a closed site. */
  readonly openingHours: readonly unknown[];
  readonly validFrom?: string | undefined;
  readonly validUntil?: string | undefined;
  readonly timeZone: string;
  /** Stands in for the first day of intervals that have none. */
  readonly anchor: string;
  readonly hasEmployee: boolean;
  /** Its own position, or an approximate one. */
  readonly hasPosition: boolean;
  /** Appointments on the days in question, and those that replace visits of these days. */
  readonly appointments?: readonly Appointment[];
}

export interface PlannedVisit {
  /** YYYY-MM-DD. A skipped visit has the day on which it would be. */
  date: string;
  status: VisitStatus;
  /** The day that the interval names. An extra appointment has none. */
  plannedDate?: string;
  /** The planned day, if it is another one. */
  movedFrom?: string;
  /** The reason why the visit is moved or skipped. */
  reason?: VisitReason;
  /** The holiday that moves or skips the visit, or on which it is kept. */
  holiday?: Holiday;
  /** An empty list means that no times are known, or that the visit is skipped. */
  windows: VisitWindow[];
  durationInMinutes?: number | undefined;
  /** Source of calculated visits. */
  interval?: AttendingInterval;
  /** Index of the interval among the site's known ones. An extra appointment has none. */
  rule?: number;
  /** Appointments that replace a calculated visit, or add one. */
  appointment?: Appointment;
  conflicts: VisitConflict[];
}

export interface VisitPlan {
  readonly site: VisitSite;
  readonly rules: readonly Rule[];
  readonly appointments: AppointmentDays;
  readonly holidays: Holidays;
  readonly holidayRule: HolidayRule;
  /** The first day that needs the hours reads them: most sites have no visit on the days in question. */
  hours?: OpenHours;
  /** Facts about days. A day asks for the same days as its neighbours do. */
  known: KnownDays;
}

interface KnownDays {
  /** Rules with the same times share an entry. */
  readonly looks: Map<string, LookAt>;
  /** Each entry has the index of its rule. */
  readonly rules: RuleDays[];
  /** Days that were looked at since the last step, those with many opening hours counted several times. */
  looked: number;
}

/** This many looks take less than a millisecond. */
const looksPerStep = 2000;
const looksPerAppointment = 100;

/** Whether enough was looked at to make a step. */
function endsStep({ known }: VisitPlan): boolean {
  if (known.looked < looksPerStep) return false;
  known.looked = 0;
  return true;
}

/** Reads a site once for the questions about its days. */
export function* toVisitPlan(
  site: VisitSite,
  holidays: Holidays,
  holidayRule: HolidayRule,
): Steps<VisitPlan> {
  const rules = yield* readIntervals(site);
  const appointments = yield* indexAppointments(site.appointments ?? []);
  return {
    site,
    rules,
    appointments,
    holidays,
    holidayRule,
    known: { looks: new Map(), rules: [], looked: 0 },
  };
}

/** Rules without a visit on a day cost next to nothing, so some of them make a step. */
const rulesPerStep = 10;
const daysPerStep = 10;

/**
 * The visits of one day, in the order of their times. A rule has at most one. An appointment stands on its own day, and the
 * visits of its planned day are nowhere else.
 */
export function* visitsOn(plan: VisitPlan, day: number): Steps<PlannedVisit[]> {
  const visits: PlannedVisit[] = [];
  const here = partsOf(day);
  for (const rule of plan.rules) {
    plan.known.looked++;
    if (endsStep(plan)) yield;
    if (day < rule.first || day > rule.last) continue;
    const isNamed = rule.names(day, here);
    if (!isNamed && rule.tolerance === 0) continue;
    plan.hours ??= yield* readOpenHours(plan.site.openingHours);
    const visit = isNamed ? namedVisit(plan, rule, day) : movedVisit(plan, rule, day);
    if (visit && !plan.appointments.replaced.has(visit.plannedDate!)) visits.push(visit);
  }
  for (const appointment of plan.appointments.on.get(fromDayNumber(day)) ?? []) {
    plan.hours ??= yield* readOpenHours(plan.site.openingHours);
    plan.known.looked += looksPerAppointment;
    if (endsStep(plan)) yield;
    visits.push(yield* agreedVisit(plan, plan.hours, appointment, day));
  }
  return visits.length < 2 ? visits : visits.sort((one, other) => compare(firstTime(one), firstTime(other)));
}

function firstTime({ windows: [first], interval }: PlannedVisit): string {
  return first?.from ?? interval?.timeFrom ?? '';
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
    visits.push(...found.filter(({ status }) => takesPlace(status)));
    yield;
  }
  return visits.slice(0, count);
}

/** The first day on which a visit is skipped because the site is closed. */
export function* firstClosedVisit(plan: VisitPlan, from: string, days: number): Steps<number | undefined> {
  plan.hours ??= yield* readOpenHours(plan.site.openingHours);
  const { openOn, isWeekly } = plan.hours;
  if (!openOn) return undefined;
  const start = toDayNumber(from);
  let first: number | undefined;
  for (const [index, rule] of plan.rules.entries()) {
    if (index % rulesPerStep === rulesPerStep - 1) yield;
    if (isWeekly && isOpenOnAllDays(rule, openOn)) continue;
    const last = Math.min(rule.last, (first ?? start + days) - 1);
    for (let day = Math.max(rule.first, start); day <= last; day += 1) {
      if (day % daysPerStep === 0 || endsStep(plan)) yield;
      if (!rule.names(day, partsOf(day))) continue;
      const { lookAt, moves } = daysOf(plan, rule);
      if (lookAt(day) !== 'CLOSED' || moves.dayFor(day) !== undefined) continue;
      first = day;
      break;
    }
  }
  return first;
}

/** Whether no weekday that the interval can name is closed. All weeks are the same. */
function isOpenOnAllDays({ interval }: Rule, openOn: OpenOn): boolean {
  const { byDay = [] } = interval;
  const times = timesOf(interval);
  return dayNames.every(
    (name, weekday) =>
      (byDay.length > 0 && !byDay.includes(name)) || spansOf(times, openOn, firstMonday + weekday).length > 0,
  );
}

/** A visit on a day that the interval names: it stays, is skipped, or (undefined) takes place on another day. */
function namedVisit(plan: VisitPlan, rule: Rule, day: number): PlannedVisit | undefined {
  const { lookAt, moves } = daysOf(plan, rule);
  const reason = obstacleIn(lookAt(day));
  if (!reason) return plannedVisit(plan, rule, day);
  if (canMove(plan, reason) && moves.dayFor(day) !== undefined) return undefined;
  return {
    date: fromDayNumber(day),
    status: 'SKIPPED',
    plannedDate: fromDayNumber(day),
    ...describeObstacle(plan, reason, day),
    windows: [],
    durationInMinutes: rule.interval.durationInMinutes,
    interval: rule.interval,
    rule: rule.index,
    conflicts: [...(reason === 'CLOSED' ? (['closed'] as const) : []), ...conflictsOf(plan)],
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
    plannedDate: fromDayNumber(named),
    movedFrom: fromDayNumber(named),
    ...describeObstacle(plan, obstacleIn(lookAt(named)), named),
  };
}

function plannedVisit(plan: VisitPlan, rule: Rule, day: number): PlannedVisit {
  const { lookAt, times } = daysOf(plan, rule);
  const date = fromDayNumber(day);
  const spans = spansOf(times, plan.hours?.openOn, day);
  const holiday = plan.holidays(date);
  const isTooShort = spans.length > 0 && lookAt(day) !== 'ROOM';
  return {
    date,
    status: 'PLANNED',
    plannedDate: date,
    ...(holiday && { holiday }),
    windows: spans.map(toWindow),
    durationInMinutes: rule.interval.durationInMinutes,
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

function* agreedVisit(
  plan: VisitPlan,
  { openOn }: OpenHours,
  appointment: Appointment,
  day: number,
): Steps<PlannedVisit> {
  const { plannedDate, date } = appointment;
  const named = plannedDate === undefined ? [] : yield* rulesNaming(plan, toDayNumber(plannedDate));
  const durationInMinutes = appointment.durationInMinutes ?? joinDurations(named);
  const holiday = plan.holidays(date);
  const visit: PlannedVisit = {
    date,
    status: appointment.status === 'CANCELLED' ? 'CANCELLED' : 'APPOINTMENT',
    ...(plannedDate !== undefined && { plannedDate }),
    ...(plannedDate !== undefined && plannedDate !== date && { movedFrom: plannedDate }),
    ...(holiday && { holiday }),
    windows: [],
    durationInMinutes,
    ...(named[0] && { rule: named[0].index }),
    appointment,
    conflicts: [],
  };
  if (visit.status === 'CANCELLED') return visit;
  const agreed = agreedSpan(appointment, durationInMinutes);
  const times = agreed ? toTimes(agreed) : (named[0]?.interval ?? {});
  const open = spansOf(timesOf(times), openOn, day);
  const lengthOf = lengthsOn(plan.site.timeZone, day);
  const hasRoom = (spans: readonly Span[]) =>
    durationInMinutes === undefined || spans.some((span) => lengthOf(span) >= durationInMinutes);
  const spans = agreed ? [agreed] : open;
  const isOutside =
    openOn !== undefined && (open.length === 0 || (agreed && hasRoom(spans) && !hasRoom(open)));
  const isTooShort = spans.length > 0 && !hasRoom(spans);
  return {
    ...visit,
    windows: spans.map(toWindow),
    conflicts: [
      ...(isTooShort ? (['window_too_short'] as const) : []),
      ...(isOutside ? (['outside_hours'] as const) : []),
      ...conflictsOf(plan),
    ],
  };
}

/** The rules whose visits of this day an appointment replaces. */
function* rulesNaming({ rules }: VisitPlan, day: number): Steps<Rule[]> {
  const named: Rule[] = [];
  const here = partsOf(day);
  for (const [index, rule] of rules.entries()) {
    if (index % rulesPerStep === rulesPerStep - 1) yield;
    if (day >= rule.first && day <= rule.last && rule.names(day, here)) named.push(rule);
  }
  return named;
}

/** Two visits of a day become one, which takes as long as both. */
function joinDurations(rules: readonly Rule[]): number | undefined {
  const sum = rules.reduce((minutes, { interval }) => minutes + (interval.durationInMinutes ?? 0), 0);
  return sum > 0 ? sum : undefined;
}

/** A day, as an interval with certain times sees it: with room for its visit, too short for it, or with an obstacle. */
const looks = ['ROOM', 'TOO_SHORT', ...visitReasons] as const;
type Look = (typeof looks)[number];
type LookAt = (day: number) => Look;

interface RuleDays {
  times: Times;
  lookAt: LookAt;
  moves: Moves;
}

function daysOf(plan: VisitPlan, rule: Rule): RuleDays {
  const { rules, looks } = plan.known;
  const known = rules[rule.index];
  if (known) return known;
  const { interval, tolerance } = rule;
  const times = timesOf(interval);
  const key = `${interval.timeFrom} ${interval.timeUntil} ${interval.durationInMinutes}`;
  const lookAt = looks.getOrInsertComputed(key, () => toLookAt(plan, times, interval.durationInMinutes));
  const days = { times, lookAt, moves: new Moves(tolerance, movableDays(plan, rule, lookAt)) };
  rules[rule.index] = days;
  return days;
}

function toLookAt(plan: VisitPlan, times: Times, durationInMinutes = 0): LookAt {
  const known = new DayBytes();
  return (day) => {
    const seen = known.get(day);
    if (seen > 0) return looks[seen - 1]!;
    const found = look(plan, times, durationInMinutes, day);
    known.set(day, looks.indexOf(found) + 1);
    return found;
  };
}

function look(plan: VisitPlan, times: Times, durationInMinutes: number, day: number): Look {
  if (plan.holidayRule !== 'KEEP' && plan.holidays(fromDayNumber(day))) return 'HOLIDAY';
  const openOn = plan.hours?.openOn;
  const spans = spansOf(times, openOn, day);
  plan.known.looked += openOn?.(day, times.around).length ?? 1;
  if (spans.length === 0) return openOn ? 'CLOSED' : 'TOO_SHORT';
  if (durationInMinutes === 0) return 'ROOM';
  const lengthOf = lengthsOn(plan.site.timeZone, day);
  return spans.some((span) => lengthOf(span) >= durationInMinutes) ? 'ROOM' : 'TOO_SHORT';
}

function obstacleIn(look: Look): VisitReason | undefined {
  return look === 'HOLIDAY' || look === 'CLOSED' ? look : undefined;
}

function describeObstacle({ holidays }: VisitPlan, reason: VisitReason | undefined, day: number) {
  if (!reason) return {};
  const holiday = reason === 'HOLIDAY' ? holidays(fromDayNumber(day)) : undefined;
  return { reason, ...(holiday && { holiday }) };
}

function canMove({ holidayRule }: VisitPlan, reason: VisitReason): boolean {
  return reason !== 'HOLIDAY' || holidayRule === 'MOVE';
}

function movableDays(plan: VisitPlan, rule: Rule, lookAt: LookAt): MovableDays {
  const { first, last, names } = rule;
  const hasHours = plan.hours?.openOn !== undefined;
  return {
    mustMove(day) {
      plan.known.looked++;
      if (day < first || day > last || !names(day, partsOf(day))) return false;
      const reason = obstacleIn(lookAt(day));
      return reason !== undefined && canMove(plan, reason);
    },
    canTake(day) {
      plan.known.looked++;
      if (day < first || day > last) return false;
      const here = partsOf(day);
      // Without opening hours, offices are open from Monday to Friday.
      if (names(day, here) || (!hasHours && here.weekday >= 5)) return false;
      const found = lookAt(day);
      return found === 'ROOM' || (!hasHours && found === 'TOO_SHORT');
    },
  };
}
