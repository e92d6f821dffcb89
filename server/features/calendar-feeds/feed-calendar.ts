// Visits as an iCalendar document. The same data gives the same bytes, and a moved visit keeps its identity.
import { setImmediate as nextTurn } from 'node:timers/promises';
import ical, { ICalCalendarMethod, type ICalEventData, ICalEventTransparency } from 'ical-generator';
import { fromDayNumber, toDayNumber } from '../../../core/calendar-days.ts';
import { type PlannedVisit, visitsOn } from '../../../core/visit-plan.ts';
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
/** Longer turns would delay the requests of others. */
const turnMs = 10;

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

/** Day by day: a full calendar ends early instead of leaving out sites. */
export async function collectVisits(
  { sites, hasMore }: FeedSites,
  today: string = Temporal.Now.plainDateISO('UTC').toString(),
): Promise<FeedVisits> {
  const [first, last] = [-weeksBack, weeksAhead].map((weeks) => toDayNumber(today) + weeks * 7) as [
    number,
    number,
  ];
  const visits: FeedVisits['visits'] = [];
  let turnEnds = performance.now() + turnMs;
  let bytes = 0;
  let day = first;
  for (; day <= last; day += 1) {
    const before = visits.length;
    for (const site of sites) {
      const taking = visitsOn(site.plan, day).filter(({ status }) => status !== 'SKIPPED');
      visits.push(...taking.map((visit) => ({ site, visit })));
      bytes += taking.length * (entryBytes + Buffer.byteLength(site.comment ?? ''));
    }
    if ((visits.length > maxEvents || bytes > maxBytes) && before > 0) {
      visits.length = before;
      break;
    }
    if (performance.now() > turnEnds) {
      await nextTurn();
      turnEnds = performance.now() + turnMs;
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

export function writeCalendar(feed: Feed, found: FeedVisits, origin: string): string {
  const texts = feedTexts[feed.language];
  const { from, until } = found;
  const notes = [
    ...(found.isShortened ? [texts.shortened(until)] : []),
    ...(found.includedSites === null ? [] : [texts.moreSites(found.includedSites)]),
  ];
  const calendar = ical({
    name: texts.title(feed.name),
    ...(notes.length > 0 && { description: notes.join(' ') }),
    prodId: { company: 'Stamm', product: 'Visits', language: feed.language.toUpperCase() },
    method: ICalCalendarMethod.PUBLISH,
    timezone: { name: null, generator: (zone) => describeTimeZone(zone, from, until) },
    ttl: 3600,
  });
  // Most calendar programs hide the description of a calendar, but none hides its last entry.
  if (notes.length > 0) {
    calendar.createEvent({
      id: `${feed.id}-incomplete@stamm`,
      stamp: new Date(`${until}T00:00:00Z`),
      summary: texts.incomplete,
      description: notes.join('\n'),
      start: Temporal.PlainDate.from(until),
      allDay: true,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  for (const { site, visit } of found.visits) calendar.createEvent(toEvent(feed, site, visit, origin));
  return calendar.toString();
}

function toEvent({ language }: Feed, site: FeedSite, visit: PlannedVisit, origin: string): ICalEventData {
  const rule = site.plan.rules.findIndex(({ interval }) => interval === visit.interval);
  const address = `${site.street}, ${site.zip_code} ${site.city}`;
  return {
    id: `${site.id}-${visit.movedFrom ?? visit.date}-${rule}@stamm`,
    // Calendar programs take a change only with a higher number. It grows with each change of the site.
    sequence: site.version,
    stamp: site.updated_at,
    summary: [site.name, site.customer].filter(Boolean).join(' – '),
    location:
      site.lat !== null && site.lng !== null
        ? { title: address, geo: { lat: site.lat, lon: site.lng } }
        : address,
    description: feedTexts[language].description(site, visit),
    url: `${origin}/data/sites/${site.id}`,
    ...timesOf(site, visit),
  };
}

/** From the first window on, as long as the visit takes. Without known times, the whole day. */
function timesOf({ time_zone: timeZone }: FeedSite, { date, windows, interval }: PlannedVisit) {
  const [window] = windows;
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
  const end = interval.durationInMinutes ? start.add({ minutes: interval.durationInMinutes }) : closing;
  return { start, end, timezone: timeZone };
}
