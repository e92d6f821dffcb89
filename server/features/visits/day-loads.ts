// The conflicts of a page's visits with others of the same employee on the same day, on the page or not.

import { toDayNumber } from '../../../core/calendar/calendar-days.ts';
import { type DayConflict, findDayConflicts, type LoadedVisit } from '../../../core/calendar/day-load.ts';
import { toMinutes } from '../../../core/calendar/open-windows.ts';
import { takesPlace } from '../../../core/calendar/visit-status.ts';
import type { Pace, Steps } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import { isOverloaded } from '../../database/errors.ts';
import type { ReportFailure } from '../../resources/site-plan.ts';
import { type PlannedSite, readPiece } from './planned-sites.ts';
import type { SiteVisit } from './visit-page.ts';
import { firstId } from './visit-request.ts';
import { readWhoComes, type WhoComes } from './who-comes.ts';

/** So that a page stays cheap: employees with more sites together get no answer. */
const maxSites = 2000;
const sitesPerPiece = 500;

interface Reader {
  tenantId: string;
  deadline: number;
  pace: Pace;
  report: ReportFailure;
}

export type ConflictsOf = (visit: SiteVisit) => readonly DayConflict[];

/** A page without its conflicts of the day is better than none. */
export async function readDayConflicts(
  database: Database,
  reader: Reader,
  page: readonly SiteVisit[],
): Promise<ConflictsOf> {
  try {
    return await findDayLoads(database, reader, page);
  } catch (error) {
    if (isOverloaded(error)) return () => [];
    throw error;
  }
}

async function findDayLoads(
  database: Database,
  reader: Reader,
  page: readonly SiteVisit[],
): Promise<ConflictsOf> {
  // The page itself has reported the sites that cannot be planned.
  const quiet = { ...reader, report: () => {} };
  const ids = [...new Set(page.flatMap(({ employeeId }) => employeeId ?? []))];
  if (ids.length === 0) return () => [];
  const numbers = [...new Set(page.map(({ visit }) => toDayNumber(visit.date)))].sort(
    (one, other) => one - other,
  );
  const days = { first: numbers[0]!, last: numbers.at(-1)! };
  const whoComes = await readWhoComes(
    database,
    quiet,
    { conditions: [], values: [], employees: { ids } },
    days,
  );
  const sites: PlannedSite[] = [];
  for (let from = firstId; ; from = sites.at(-1)!.id) {
    const place = { comparison: '>', siteId: from, count: sitesPerPiece } as const;
    const piece = await readPiece(database, quiet, { ...whoComes.conditions, days }, place);
    sites.push(...piece.sites);
    if (sites.length > maxSites) return () => [];
    if (piece.isLast || piece.sites.length === 0) break;
  }
  const found = await reader.pace.run(findConflicts(sites, numbers, whoComes));
  return (visit) => found.get(nameOf(visit)) ?? [];
}

function* findConflicts(
  sites: readonly PlannedSite[],
  days: readonly number[],
  whoComes: WhoComes,
): Steps<Map<string, DayConflict[]>> {
  const found = new Map<string, DayConflict[]>();
  for (const day of days) {
    const byEmployee = new Map<string, (LoadedVisit & { name: string })[]>();
    for (const site of sites) {
      yield;
      for (const visit of yield* site.visits.on(day)) {
        const comes = takesPlace(visit.status) ? whoComes.to(site, visit) : undefined;
        if (comes?.employeeId === undefined) continue;
        byEmployee
          .getOrInsertComputed(comes.employeeId, () => [])
          .push({ ...toLoaded({ site, visit, ...comes }), name: nameOf({ site, visit, ...comes }) });
      }
    }
    for (const visits of byEmployee.values())
      for (const [{ name }, conflicts] of yield* findDayConflicts(visits)) found.set(name, conflicts);
  }
  return found;
}

function toLoaded({ site, visit }: SiteVisit): LoadedVisit {
  const { timeFrom } = visit.appointment ?? {};
  return {
    start: timeFrom === undefined ? undefined : toMinutes(timeFrom),
    durationInMinutes: visit.durationInMinutes ?? 0,
    preparationInMinutes: site.preparationInMinutes ?? 0,
  };
}

function nameOf({ site, visit }: SiteVisit): string {
  return `${site.id} ${visit.date} ${visit.appointment?.id ?? visit.rule}`;
}
