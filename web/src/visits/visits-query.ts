// Visits as the service lists them, and the rule for public holidays.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../client/src/api-types.ts';
import type { HolidayRule } from '../../../core/calendar/visit-plan.ts';
import type { Position } from '../../../core/place/route.ts';
import { call, queryString } from '../api/client.ts';

export type Visit = components['schemas']['Visit'];

interface VisitPage {
  data: Visit[];
  nextCursor: string | null;
}

export interface VisitFilters {
  from: string;
  until: string;
  employeeId?: string | undefined;
  city?: string | undefined;
  /** Beginning of the postcode. */
  zipCode?: string | undefined;
  /** Visits to which nobody comes. */
  unassigned?: true;
  /** Restricts the list to sites that need appointments. */
  needsAppointment?: true;
}

/** Reads all pages: nobody would make a visit that is missing from a list or a sheet. */
export function visitsQuery(filters: VisitFilters) {
  return queryOptions({
    queryKey: ['visits', filters],
    queryFn: async ({ signal }) => {
      const visits: Visit[] = [];
      let cursor: string | undefined;
      do {
        const query = { ...filters, include: 'site,customer,employee,contactPerson', limit: 500, cursor };
        const page = await call<VisitPage>('GET', `/visits${queryString(query)}`, { signal });
        visits.push(...page.data);
        cursor = page.nextCursor ?? undefined;
      } while (cursor);
      return visits;
    },
  });
}

export interface StartAddress {
  street: string;
  zipCode: string;
  city: string;
  location?: Position;
  approximateLocation?: Position;
}

interface VisitSettings {
  holidayRule: HolidayRule;
  startAddress: StartAddress | null;
}

export const visitSettingsQuery = queryOptions({
  queryKey: ['visit-settings'],
  queryFn: ({ signal }) => call<VisitSettings>('GET', '/visit-settings', { signal }),
});
