// A page of visits in the order of days and sites. A page ends when it is full or its time is up. Even an empty page can
// have a next one.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PlannedVisit, visitsOn } from '../../../core/visit-plan.ts';
import type { Database } from '../../database/database.ts';
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

/** Time for the rest of the answer. */
const reserveMs = 900;
/** Longer turns would delay the requests of others. */
const turnMs = 10;
/** A weekly visit falls on one of five working days. A page then learns how many sites it really are. */
const usualSitesPerVisit = 5;
const [minSitesPerPiece, maxSitesPerPiece] = [200, 3000];
/** Sites that a request keeps for its next days. */
const maxKeptSites = 20_000;

type Reader = { tenantId: string; deadline: number };

export async function findVisits(
  database: Database,
  reader: Reader,
  asked: VisitRequest,
): Promise<VisitPage> {
  const visits: SiteVisit[] = [];
  const read = buildPieces(database, reader, asked);
  let turnEnds = performance.now() + turnMs;
  let seenSites = 0;
  for (let place = asked.from; ; ) {
    const sitesPerVisit = visits.length > 0 ? seenSites / visits.length : usualSitesPerVisit;
    const { sites, isLast } = await read(place, (asked.limit + 1 - visits.length) * sitesPerVisit);
    seenSites += sites.length;
    for (const site of sites) {
      const found = visitsOn(site.plan, place.day);
      if (found.length === 0) continue;
      const left = site.id === place.siteId ? found.slice(place.taken) : found;
      const room = asked.limit - visits.length;
      visits.push(...left.slice(0, room).map((visit) => ({ site, visit })));
      if (left.length > room) {
        const taken = found.length - left.length + room;
        return { visits, next: { day: place.day, siteId: site.id, taken } };
      }
    }
    const last = sites.at(-1);
    if (isLast && place.day === asked.until) return { visits, next: undefined };
    if (isLast || !last) place = startOf(place.day + 1);
    else place = { day: place.day, siteId: last.id, taken: allVisits };
    if (performance.now() > reader.deadline - reserveMs) return { visits, next: place };
    if (performance.now() > turnEnds) {
      await nextTurn();
      turnEnds = performance.now() + turnMs;
    }
  }
}

/** Pieces of sites from a place on. The pieces of one day serve the next days too. */
function buildPieces(database: Database, reader: Reader, asked: VisitRequest) {
  const kept = new Map<string, Piece>();
  let keptSites = 0;
  return async ({ day, siteId, taken }: Place, wantedSites: number): Promise<Piece> => {
    const count = Math.min(Math.max(Math.ceil(wantedSites), minSitesPerPiece), maxSitesPerPiece);
    const comparison = taken === allVisits ? '>' : '>=';
    const key = `${comparison} ${siteId}`;
    const known = kept.get(key);
    if (known) return known;
    const piece = await readPiece(database, reader, asked, { comparison, siteId, count });
    if (day < asked.until && keptSites + piece.sites.length <= maxKeptSites) {
      keptSites += piece.sites.length;
      kept.set(key, piece);
    }
    return piece;
  };
}
