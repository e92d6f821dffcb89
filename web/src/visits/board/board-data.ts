// Data of the board: sums of all visits, and the visits of the people who are unfolded.
import { keepPreviousData, queryOptions, useQueries } from '@tanstack/react-query';
import { call, queryString } from '../../api/client.ts';
import { byFirstWindow } from '../visit-times.ts';
import { type Visit, type VisitFilters, visitsQuery } from '../visits-query.ts';

export interface Sum {
  /** Number of visits that take place. */
  visits: number;
  minutes: number;
  /** Number of visits, including skipped and cancelled ones. */
  listed: number;
}

/** Stands for the employee of visits to which nobody comes. */
export const nobody = '';

interface SumPage {
  data: (Sum & { date: string; employeeId?: string })[];
  employees: { id: string; name: string }[];
  nextCursor: string | null;
}

export interface Sums {
  byDay: ReadonlyMap<string, Sum>;
  employees: ReadonlyMap<string, string>;
}

const noSum: Sum = { visits: 0, minutes: 0, listed: 0 };

export function addSums(sums: readonly (Sum | undefined)[]): Sum {
  return sums.reduce<Sum>(
    (all, { visits, minutes, listed } = noSum) => ({
      visits: all.visits + visits,
      minutes: all.minutes + minutes,
      listed: all.listed + listed,
    }),
    noSum,
  );
}

export function sumOn(sums: Sums, employeeId: string, date: string): Sum {
  return sums.byDay.get(`${date} ${employeeId}`) ?? noSum;
}

export function sumsQuery(filters: VisitFilters) {
  return queryOptions({
    queryKey: ['visit-sums', filters],
    queryFn: async ({ signal }): Promise<Sums> => {
      const byDay = new Map<string, Sum>();
      const employees = new Map<string, string>();
      let cursor: string | undefined;
      do {
        const page = await call<SumPage>('GET', `/visit-sums${queryString({ ...filters, cursor })}`, {
          signal,
        });
        for (const { date, employeeId = nobody, ...sum } of page.data) {
          const key = `${date} ${employeeId}`;
          byDay.set(key, addSums([byDay.get(key), sum]));
        }
        for (const { id, name } of page.employees) employees.set(id, name);
        cursor = page.nextCursor ?? undefined;
      } while (cursor);
      return { byDay, employees };
    },
    placeholderData: keepPreviousData,
  });
}

/** Maximum number of visits in one request. */
const mostInPiece = 500;

/** A small week is one request, a person's week another, and many visits of a person are asked for by day. */
function piecesOf(
  filters: VisitFilters,
  sums: Sums,
  days: readonly string[],
  open: readonly string[],
): VisitFilters[] {
  const total = addSums([...sums.byDay.values()]).listed;
  if (total <= mostInPiece) return open.length > 0 && total > 0 ? [filters] : [];
  return open.flatMap((id) => {
    const own: VisitFilters = {
      ...filters,
      ...(id === nobody ? { unassigned: true as const } : { employeeId: id }),
    };
    const listed = days.map((date) => sumOn(sums, id, date).listed);
    if (listed.every((count) => count === 0)) return [];
    if (listed.reduce((all, count) => all + count) <= mostInPiece) return [own];
    return days.flatMap((day, index) => (listed[index]! > 0 ? [{ ...own, from: day, until: day }] : []));
  });
}

export interface LoadedVisits {
  /** Visits of a person on a day, in the order of their times. */
  of: (employeeId: string, date: string) => readonly Visit[];
  error: Error | null;
}

export function useBoardVisits(
  filters: VisitFilters,
  sums: Sums | undefined,
  days: readonly string[],
  open: readonly string[],
): LoadedVisits {
  return useQueries({
    queries: (sums ? piecesOf(filters, sums, days, open) : []).map(visitsQuery),
    combine: combinePieces,
  });
}

function combinePieces(pieces: { data: Visit[] | undefined; error: Error | null }[]): LoadedVisits {
  const visits = pieces.flatMap(({ data }) => data ?? []);
  const cells = Map.groupBy(visits, (visit) => `${visit.date} ${personOf(visit)}`);
  for (const cell of cells.values()) cell.sort(byFirstWindow);
  return {
    of: (employeeId, date) => cells.get(`${date} ${employeeId}`) ?? [],
    error: pieces.find(({ error }) => error)?.error ?? null,
  };
}

export function personOf({ employee, employeeId = nobody }: Visit): string {
  return employee ? employeeId : nobody;
}
