// Visits as an iCalendar document. A moved visit keeps its identity.
import ical, {
  escape as escapeText,
  foldLines,
  ICalCalendarMethod,
  ICalEvent,
  type ICalEventData,
  ICalEventStatus,
  ICalEventTransparency,
} from 'ical-generator';
import { fromDayNumber, toDayNumber } from '../../../core/calendar/calendar-days.ts';
import type { PlannedVisit } from '../../../core/calendar/visit-plan.ts';
import type { Steps } from '../../../core/pace.ts';
import type { StoredAppointment } from '../../resources/plan-exceptions.ts';
import { netRecord, type WarningLog } from '../../telemetry/record-net.ts';
import type { Feed, FeedSite, FeedSites } from './feed-data.ts';
import { feedTexts } from './feed-texts.ts';
import { describeTimeZone } from './time-zone.ts';

const weeksBack = 4;
const weeksAhead = 26;
/** Calendar programs take tens of kilobytes easily, and several megabytes badly. */
const maxEvents = 5000;
const maxBytes = 4 * 1024 * 1024;
/** About the size of an entry without the texts of its site. */
const entryBytes = 500;

export interface FeedVisits {
  visits: { site: FeedSite; visit: PlannedVisit }[];
  from: string;
  /** The last day whose visits are all there. */
  until: string;
  /** Whether later days are missing, because the calendar would be too large. */
  isShortened: boolean;
  /** How many sites are there, if the employee has more than a calendar takes. */
  includedSites: number | null;
}

export function feedDays(today: string = Temporal.Now.plainDateISO('UTC').toString()) {
  return { first: toDayNumber(today) - weeksBack * 7, last: toDayNumber(today) + weeksAhead * 7 };
}

/** Day by day: a full calendar ends early instead of leaving out sites. Cancelled visits stay, so that programs show it. */
export function* collectVisits(
  { sites, hasMore, isWanted }: FeedSites,
  { first, last }: ReturnType<typeof feedDays>,
): Steps<FeedVisits> {
  const visits: FeedVisits['visits'] = [];
  let bytes = 0;
  let day = first;
  for (; day <= last; day += 1) {
    const before = visits.length;
    for (const site of sites) {
      yield;
      const found = yield* site.visits.on(day);
      const taking = found.filter((visit) => visit.status !== 'SKIPPED' && isWanted(site, visit));
      visits.push(...taking.map((visit) => ({ site, visit })));
      bytes += taking.length * (entryBytes + Buffer.byteLength(site.comment ?? ''));
    }
    if ((visits.length > maxEvents || bytes > maxBytes) && before > 0) {
      visits.length = before;
      break;
    }
  }
  return {
    visits,
    from: fromDayNumber(first),
    until: fromDayNumber(day - 1),
    isShortened: day <= last,
    includedSites: hasMore ? sites.length : null,
  };
}

const end = 'END:VCALENDAR';

/** Entry by entry: the library would write a whole calendar in one turn. */
export function* writeCalendar(
  feed: Feed,
  found: FeedVisits,
  origin: string,
  log: WarningLog,
): Steps<string> {
  const texts = feedTexts[feed.language];
  const { from, until, visits } = found;
  const notes = [
    ...(found.isShortened ? [texts.shortened(until)] : []),
    ...(found.includedSites === null ? [] : [texts.moreSites(found.includedSites)]),
  ];
  const calendar = ical({
    // The library escapes neither of them.
    name: escapeText(toLine(texts.title(feed.name)), false),
    ...(notes.length > 0 && { description: escapeText(notes.join(' '), false) }),
    prodId: { company: 'Stamm', product: 'Visits', language: feed.language.toUpperCase() },
    method: ICalCalendarMethod.PUBLISH,
    ttl: 3600,
  });
  const parts = [calendar.toString().slice(0, -end.length)];
  const isTimed = ({ visit }: FeedVisits['visits'][number]) => firstWindowOf(visit) !== undefined;
  for (const zone of new Set(visits.filter(isTimed).map(({ site }) => site.time_zone))) {
    // Calendar programs know the usual zones without a description.
    const describe = () => `${describeTimeZone(zone, from, until)}\r\n`;
    parts.push(netRecord(log, ['calendar', zone], describe, () => ''));
    yield;
  }
  const write = (event: ICalEventData) => parts.push(foldLines(new ICalEvent(event, calendar).toString()));
  // Most calendar programs hide the description of a calendar, but none hides its last entry.
  if (notes.length > 0) {
    write({
      id: `${feed.id}-incomplete@stamm`,
      sequence: feed.sequence,
      stamp: new Date(`${until}T00:00:00Z`),
      summary: texts.incomplete,
      description: notes.join('\n'),
      start: Temporal.PlainDate.from(until),
      allDay: true,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  for (const { site, visit } of visits) {
    netRecord(
      log,
      ['calendar', site.id],
      () => {
        write(toEvent(feed, site, visit, origin));
        const preparation = toPreparation(feed, site, visit);
        if (preparation) write(preparation);
      },
      () => write(toMark(feed, site, visit)),
    );
    yield;
  }
  return [...parts, end].join('');
}

/** A line break in a name would begin a property of its own, and programs refuse other control characters. */
function toLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

function toLines(text: string): string {
  return text
    .split(/\r\n|[\r\n\v\f\u0085\u2028\u2029]/u)
    .map(toLine)
    .join('\n');
}

function toEvent(feed: Feed, site: FeedSite, visit: PlannedVisit, origin: string): ICalEventData {
  const address = toLine(`${site.street}, ${site.zip_code} ${site.city}`);
  return {
    id: idOf(site, visit),
    ...revisionOf(feed, site, visit),
    summary: toLine([site.name, site.customer].filter(Boolean).join(' – ')),
    location:
      site.lat !== null && site.lng !== null
        ? { title: address, geo: { lat: site.lat, lon: site.lng } }
        : address,
    description: toLines(feedTexts[feed.language].description(site, visit)),
    url: `${origin}/data/sites/${site.id}`,
    ...timesOf(site, visit),
  };
}

/** A visit keeps its id when an appointment replaces it: programs then move it. */
function idOf(site: FeedSite, { plannedDate, rule, appointment }: PlannedVisit): string {
  return rule === undefined ? `${appointment?.id}@stamm` : `${site.id}-${plannedDate}-${rule}@stamm`;
}

const eventStatuses = {
  PROPOSED: ICalEventStatus.TENTATIVE,
  CONFIRMED: ICalEventStatus.CONFIRMED,
  CANCELLED: ICalEventStatus.CANCELLED,
};

function revisionOf({ sequence }: Feed, site: FeedSite, { appointment }: PlannedVisit) {
  if (!appointment) return { sequence, stamp: site.updated_at };
  const { updatedAt } = appointment as StoredAppointment;
  return {
    sequence,
    stamp: updatedAt > site.updated_at ? updatedAt : site.updated_at,
    status: eventStatuses[appointment.status],
  };
}

/** Keeps the time before an appointment free. */
function toPreparation(feed: Feed, site: FeedSite, visit: PlannedVisit): ICalEventData | undefined {
  const minutes = Number(site.preparation ?? 0);
  if (minutes === 0 || !visit.appointment?.timeFrom || !firstWindowOf(visit)) return undefined;
  const { start } = timesOf(site, visit);
  return {
    id: `preparation-${idOf(site, visit)}`,
    ...revisionOf(feed, site, visit),
    summary: toLine(`${feedTexts[feed.language].preparation}: ${site.name}`),
    start: (start as Temporal.ZonedDateTime).subtract({ minutes }),
    end: start,
    timezone: site.time_zone,
  };
}

/** A visit that cannot be written: its day says that something is missing. */
function toMark({ language, sequence }: Feed, site: FeedSite, visit: PlannedVisit): ICalEventData {
  return {
    id: idOf(site, visit),
    sequence,
    stamp: new Date(`${visit.date}T00:00:00Z`),
    summary: feedTexts[language].incomplete,
    start: Temporal.PlainDate.from(visit.date),
    allDay: true,
    transparency: ICalEventTransparency.TRANSPARENT,
  };
}

/** A site that is open around the clock is not visited at midnight: it has no window to begin in. */
function firstWindowOf({ windows: [window] }: PlannedVisit) {
  return window?.from === '00:00' && window.until === '24:00' ? undefined : window;
}

/** From the first window on, as long as the visit takes. Without a window, the whole day. */
function timesOf({ time_zone: timeZone }: FeedSite, visit: PlannedVisit) {
  const { date, durationInMinutes } = visit;
  const window = firstWindowOf(visit);
  if (!window) {
    return {
      start: Temporal.PlainDate.from(date),
      allDay: true,
      transparency: ICalEventTransparency.TRANSPARENT,
    };
  }
  const at = (day: Temporal.PlainDate, time: string) =>
    day.add({ days: time === '24:00' ? 1 : 0 }).toZonedDateTime({
      timeZone,
      plainTime: Temporal.PlainTime.from(time === '24:00' ? '00:00' : time),
    });
  const day = Temporal.PlainDate.from(date);
  const start = at(day, window.from);
  const isOverMidnight = window.until <= window.from;
  const closing = at(isOverMidnight ? day.add({ days: 1 }) : day, window.until);
  const end = durationInMinutes ? start.add({ minutes: durationInMinutes }) : closing;
  return { start, end, timezone: timeZone };
}
