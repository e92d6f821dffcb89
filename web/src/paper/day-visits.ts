// The visits of a day with everything that somebody needs on the way.
import { isTakingPlace } from '../visits/visit-groups.ts';
import { type Visit, visitsQuery } from '../visits/visits-query.ts';

/** Skipped and cancelled visits are nobody's work. */
export function dayVisitsQuery(day: string, employeeId: string | undefined) {
  return {
    ...visitsQuery({ from: day, until: day, employeeId }),
    select: (visits: Visit[]) => visits.filter(isTakingPlace),
  };
}

/** Opens the maps of the device: Apple's, the app that Android offers, or a page on a computer. */
export function mapsLink(address: string, userAgent = navigator.userAgent): string {
  const query = encodeURIComponent(address.toWellFormed());
  if (/iPhone|iPad|Macintosh/.test(userAgent)) return `https://maps.apple.com/?q=${query}`;
  if (/Android/.test(userAgent)) return `geo:0,0?q=${query}`;
  return `https://www.openstreetmap.org/search?query=${query}`;
}
