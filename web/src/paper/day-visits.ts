// The visits of a day with everything that somebody needs on the way.
import { queryOptions } from '@tanstack/react-query';
import type { Position } from '../../../core/route.ts';
import { call, queryString } from '../api/client.ts';
import type { Page } from '../api/records.ts';

export interface DayVisit {
  date: string;
  siteId: string;
  employeeId?: string;
  status: 'PLANNED' | 'MOVED' | 'SKIPPED';
  movedFrom?: string;
  holiday?: string;
  windows: { from: string; until: string }[];
  durationInMinutes?: number;
  preparationInMinutes?: number;
  site?: {
    name: string;
    address: Record<string, string> & { location?: Position };
    hasKey: boolean;
    needsAppointment: boolean;
    comment?: string;
  };
  customer?: { companyName: string; phone?: string };
  employee?: { firstName: string; lastName: string };
  contactPerson?: { firstName?: string; lastName: string; phone?: string; mobile?: string };
}

/** Skipped visits are nobody's work. */
export function dayVisitsQuery(day: string, employeeId: string | undefined) {
  return queryOptions({
    queryKey: ['visits', 'day', day, employeeId],
    queryFn: async ({ signal }) => {
      const visits: DayVisit[] = [];
      let cursor: string | undefined;
      do {
        const query = queryString({
          from: day,
          until: day,
          employeeId,
          include: 'site,customer,employee,contactPerson',
          limit: 500,
          cursor,
        });
        const page = await call<Page<DayVisit>>('GET', `/visits${query}`, { signal });
        visits.push(...page.data.filter(({ status }) => status !== 'SKIPPED'));
        cursor = page.nextCursor ?? undefined;
      } while (cursor);
      return visits;
    },
  });
}

export function positionOf({ site }: DayVisit): Position | undefined {
  const { lat, lng } = site?.address.location ?? {};
  return lat === undefined || lng === undefined ? undefined : { lat, lng };
}

export function windowsText({ windows }: DayVisit): string {
  return windows.map(({ from, until }) => `${from}–${until}`).join(', ');
}

/** Opens the maps of the device: Apple's, the app that Android offers, or a page on a computer. */
export function mapsLink(address: string, userAgent = navigator.userAgent): string {
  const query = encodeURIComponent(address.toWellFormed());
  if (/iPhone|iPad|Macintosh/.test(userAgent)) return `https://maps.apple.com/?q=${query}`;
  if (/Android/.test(userAgent)) return `geo:0,0?q=${query}`;
  return `https://www.openstreetmap.org/search?query=${query}`;
}
