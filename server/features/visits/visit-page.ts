// A page of visits in the order of days and sites. It ends when it is full or its time is up.

import type { PlannedVisit } from '../../../core/calendar/visit-plan.ts';
import type { Pace, Steps } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import { isOverloaded } from '../../database/errors.ts';
import type { InterruptedPages } from '../../http/interrupted-pages.ts';
import type { ReportFailure } from '../../resources/site-plan.ts';
import { type Days, type Piece, type PlannedSite, readPiece } from './planned-sites.ts';
import { allVisits, encodeCursor, type Place, startOf, type VisitRequest } from './visit-request.ts';
import { type Comes, readWhoComes, type WhoComes } from './who-comes.ts';

export interface SiteVisit extends Comes {
  site: PlannedSite;
  visit: PlannedVisit;
}

export interface VisitPage {
  visits: SiteVisit[];
  next: Place | undefined;
}

/** A weekly visit falls on one of five working days. A page then learns how many sites it really are. */
const usualSitesPerVisit = 5;
/** The rows of a piece arrive in one turn of the event loop. With 3,000 of them it was three times as long. */
const [minSitesPerPiece, maxSitesPerPiece] = [200, 500];
/** Sites that a request keeps for its next days, and their lists. */
const [maxKeptSites, maxKeptBytes] = [20_000, 4 * 1024 * 1024];

interface Reader {
  tenantId: string;
  deadline: number;
  pace: Pace;
  report: ReportFailure;
}

/** A page that runs out of time ends early. Without a visit it would be empty: it is rejected, and a retry goes on there. */
export async function findVisits(
  database: Database,
  reader: Reader,
  asked: VisitRequest,
  interrupted: InterruptedPages<Place>,
): Promise<VisitPage> {
  const { tenantId } = reader;
  const key = encodeCursor(asked, asked.from);
  const page: VisitPage = { visits: [], next: interrupted.find(tenantId, key) ?? asked.from };
  try {
    await fillPage(database, reader, asked, page);
  } catch (error) {
    const isOutOfTime = isOverloaded(error);
    if (isOutOfTime && page.visits.length === 0) interrupted.keep(tenantId, key, page.next!);
    if (!isOutOfTime || page.visits.length === 0) throw error;
  }
  interrupted.forget(tenantId, key);
  return page;
}

/** `page.next` is always the place behind what was looked at. */
async function fillPage(database: Database, reader: Reader, asked: VisitRequest, page: VisitPage) {
  const days = { first: asked.from.day, last: asked.until };
  const whoComes = await readWhoComes(database, reader, asked, days);
  const read = buildPieces(database, reader, { ...asked, ...whoComes.conditions, days });
  let seenSites = 0;
  while (page.next) {
    const { day } = page.next;
    const sitesPerVisit = page.visits.length > 0 ? seenSites / page.visits.length : usualSitesPerVisit;
    const { sites, isLast } = await read(page.next, (asked.limit + 1 - page.visits.length) * sitesPerVisit);
    seenSites += sites.length;
    if (await reader.pace.run(takeVisits(sites, page.next, page, asked, whoComes))) return;
    if (!isLast && sites.length > 0) continue;
    // Without visits in the whole range, the sites are read once, and not once per day.
    const next = page.visits.length > 0 ? day + 1 : soonestOf(page.next, asked.until);
    page.next = next > asked.until ? undefined : startOf(next);
  }
}

/** Where the sites of a page begin, nothing is known of the days after. */
function soonestOf({ day, siteId, soonest }: Place, until: number): number {
  return soonest ?? (siteId === startOf(day).siteId ? until + 1 : day + 1);
}

/** Whether the page is full, and more visits follow. */
function* takeVisits(
  sites: readonly PlannedSite[],
  from: Place,
  page: VisitPage,
  { limit, until }: VisitRequest,
  whoComes: WhoComes,
): Steps<boolean> {
  function* find(site: PlannedSite, day: number): Steps<SiteVisit[]> {
    const visits = yield* site.visits.on(day);
    return visits.flatMap((visit): SiteVisit[] => {
      const comes = whoComes.to(site, visit);
      return comes ? [{ site, visit, ...comes }] : [];
    });
  }
  let soonest = soonestOf(from, until);
  for (const site of sites) {
    yield;
    const found = yield* find(site, from.day);
    const taken = site.id === from.siteId ? from.taken : 0;
    const end = taken + limit - page.visits.length;
    page.visits.push(...found.slice(taken, end));
    page.next = { day: from.day, siteId: site.id, taken: found.length > end ? end : allVisits };
    if (found.length > end) return true;
    if (page.visits.length > 0) continue;
    for (let day = from.day + 1; day < soonest; day++) {
      yield;
      if ((yield* find(site, day)).length > 0) soonest = day;
    }
    page.next.soonest = soonest;
  }
  return false;
}

/** Pieces of sites from a place on. The pieces of one day serve the next days too. */
function buildPieces(database: Database, reader: Reader, asked: VisitRequest & { days: Days }) {
  const kept = new Map<string, Piece>();
  let [keptSites, keptBytes] = [0, 0];
  return async ({ day, siteId, taken }: Place, wantedSites: number): Promise<Piece> => {
    const count = Math.min(Math.max(Math.ceil(wantedSites), minSitesPerPiece), maxSitesPerPiece);
    const comparison = taken === allVisits ? '>' : '>=';
    const key = `${comparison} ${siteId}`;
    const known = kept.get(key);
    if (known) return known;
    const piece = await readPiece(database, reader, asked, { comparison, siteId, count });
    keptSites += piece.sites.length;
    keptBytes += piece.bytes;
    if (day < asked.until && keptSites <= maxKeptSites && keptBytes <= maxKeptBytes) kept.set(key, piece);
    return piece;
  };
}
