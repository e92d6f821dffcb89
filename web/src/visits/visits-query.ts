// Visits as the service lists them, and the rule for public holidays.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../client/src/api-types.ts';
import type { Position } from '../../../core/route.ts';
import type { HolidayRule } from '../../../core/visit-plan.ts';
import { call, queryString } from '../api/client.ts';

export type Visit = components['schemas']['Visit'];

interface VisitPage {
  data: Visit[];
  nextCursor: string | null;
}

/** More would fill no screen that a person reads. */
const maxVisits = 2000;

export interface VisitFilters {
  from: string;
  until: string;
  employeeId?: string | undefined;
  city?: string | undefined;
}

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
      } while (cursor && visits.length < maxVisits);
      return { visits, hasMore: cursor !== undefined };
    },
    placeholderData: keepPreviousData,
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
