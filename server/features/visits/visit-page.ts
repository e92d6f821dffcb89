// A page of visits in the order of days and sites. It ends when it is full or its time is up.
import type { Pace, Steps } from '../../../core/pace.ts';
import type { PlannedVisit } from '../../../core/visit-plan.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import type { ReportFailure } from '../../resources/site-plan.ts';
import { type Piece, type PlannedSite, readPiece } from './planned-sites.ts';
import { allVisits, type Place, startOf, type VisitRequest } from './visit-request.ts';

export interface SiteVisit {
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

/** A page that runs out of time ends early. Without a visit it would be empty, and is refused. */
export async function findVisits(
  database: Database,
  reader: Reader,
  asked: VisitRequest,
): Promise<VisitPage> {
  const page: VisitPage = { visits: [], next: asked.from };
  try {
    await fillPage(database, reader, asked, page);
  } catch (error) {
    const isOutOfTime = error instanceof ApiError && error.code === 'overloaded';
    if (!isOutOfTime || page.visits.length === 0) throw error;
  }
  return page;
}

/** `page.next` is always the place behind what was looked at. */
async function fillPage(database: Database, reader: Reader, asked: VisitRequest, page: VisitPage) {
  const read = buildPieces(database, reader, asked);
  let seenSites = 0;
  while (page.next) {
    const { day } = page.next;
    const sitesPerVisit = page.visits.length > 0 ? seenSites / page.visits.length : usualSitesPerVisit;
    const { sites, isLast } = await read(page.next, (asked.limit + 1 - page.visits.length) * sitesPerVisit);
    seenSites += sites.length;
    if (await reader.pace.run(takeVisits(sites, page.next, page, asked.limit))) return;
    if (isLast || sites.length === 0) page.next = day === asked.until ? undefined : startOf(day + 1);
  }
}

/** Whether the page is full, and more visits follow. */
function* takeVisits(
  sites: readonly PlannedSite[],
  from: Place,
  page: VisitPage,
  limit: number,
): Steps<boolean> {
  for (const site of sites) {
    yield;
    const found = yield* site.visits.on(from.day);
    const taken = site.id === from.siteId ? from.taken : 0;
    const end = taken + limit - page.visits.length;
    page.visits.push(...found.slice(taken, end).map((visit) => ({ site, visit })));
    page.next = { day: from.day, siteId: site.id, taken: found.length > end ? end : allVisits };
    if (found.length > end) return true;
  }
  return false;
}

/** Pieces of sites from a place on. The pieces of one day serve the next days too. */
function buildPieces(database: Database, reader: Reader, asked: VisitRequest) {
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
