// The sites in a part of the map; those that lie close together come as one from the service.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { MapCluster, MapEmployee } from '../../../core/place/map-cluster.ts';
import { call, queryString } from '../api/client.ts';
import type { Bounds } from './view.ts';

interface Seen {
  clusters: MapCluster[];
  employees: MapEmployee[];
}

export const nothingSeen: Seen = { clusters: [], employees: [] };

export function clustersQuery(bounds: Bounds, zoom: number) {
  return queryOptions({
    queryKey: ['map', bounds, zoom],
    queryFn: async ({ signal }) => {
      const query = queryString({ ...bounds, zoom });
      return await call<Seen>('GET', `/map${query}`, { signal });
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

/** All sites, in clusters that are fine enough to show where the sites lie. */
export const allClustersQuery = clustersQuery({ west: -180, south: -85, east: 180, north: 85 }, 9);
