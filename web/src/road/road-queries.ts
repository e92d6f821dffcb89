// Queries of the pages of a round. The phone keeps their answers.
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { Entity } from '../api/definitions.ts';
import { fewQuery } from '../api/records.ts';

export interface Person {
  firstName?: string;
  lastName: string;
  role?: string;
  phone?: string;
  mobile?: string;
}

export interface RoadSite extends Entity {
  customer?: Entity & { companyName: string; phone?: string };
  contactPerson?: (Entity & Person) | null;
}

/** A site with the names that somebody on the way needs. */
export function roadSiteQuery(id: string) {
  return queryOptions({
    queryKey: ['record', 'sites', id, 'road'],
    queryFn: ({ signal }) => call<RoadSite>('GET', `/sites/${id}?include=customer,contactPerson`, { signal }),
    retry: false,
  });
}

const mostOfSite = 500;

export function plantsOfSiteQuery(siteId: string) {
  return fewQuery('plants', { siteId, sort: 'name' }, mostOfSite);
}

export function containersOfSiteQuery(siteId: string) {
  return fewQuery('containers', { siteId, sort: 'name' }, mostOfSite);
}
