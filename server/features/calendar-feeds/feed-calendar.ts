// Visits as an iCalendar document. The same data gives the same bytes, and a moved visit keeps its identity.
import { setImmediate as nextTurn } from 'node:timers/promises';
import ical, { ICalCalendarMethod, type ICalEventData, ICalEventTransparency } from 'ical-generator';
import { fromDayNumber, toDayNumber } from '../../../core/calendar-days.ts';
import { type PlannedVisit, visitsBetween } from '../../../core/visit-plan.ts';
import type { Feed, FeedSite } from './feed-data.ts';
import { feedTexts } from './feed-texts.ts';
import { describeTimeZone } from './time-zone.ts';

const weeksBack = 4;
const weeksAhead = 26;
/** About a visit every half hour. More would burden the phones that load them. */
const maxEvents = 5000;
/** Longer turns would delay the requests of others. */
const turnMs = 10;

export async function writeCalendar(
  feed: Feed,
  sites: readonly FeedSite[],
  origin: string,
  today: string = Temporal.Now.plainDateISO('UTC').toString(),
): Promise<string> {
  const [from, until] = [-weeksBack, weeksAhead].map((weeks) =>
    fromDayNumber(toDayNumber(today) + weeks * 7),
  );
  const texts = feedTexts[feed.language];
  const calendar = ical({
    name: texts.title(feed.name),
    prodId: { company: 'Stamm', product: 'Visits', language: feed.language.toUpperCase() },
    method: ICalCalendarMethod.PUBLISH,
    timezone: { name: null, generator: (zone) => describeTimeZone(zone, from!, until!) },
    ttl: 3600,
  });
  let turnEnds = performance.now() + turnMs;
  for (const site of sites) {
    const visits = visitsBetween(site.plan, from!, until!).filter(({ status }) => status !== 'SKIPPED');
    for (const visit of visits) {
      if (calendar.length() >= maxEvents) return calendar.toString();
      calendar.createEvent(toEvent(feed, site, visit, origin));
    }
    if (performance.now() > turnEnds) {
      await nextTurn();
      turnEnds = performance.now() + turnMs;
    }
  }
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
