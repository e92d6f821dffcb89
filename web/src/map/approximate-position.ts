// Approximate position of an address, as the service knows it from postcode and town.
import { queryOptions } from '@tanstack/react-query';
import { call, queryString } from '../api/client.ts';

export interface Address {
  zipCode: string;
  city: string;
}

interface ApproximatePosition {
  lat: number;
  lng: number;
  source: 'postcode' | 'town';
}

export function approximatePositionQuery({ zipCode, city }: Address) {
  return queryOptions({
    queryKey: ['approximate-position', zipCode, city],
    queryFn: async ({ signal }) => {
      const query = queryString({ zipCode, city });
      const answer = await call<{ approximatePosition: ApproximatePosition | null }>(
        'GET',
        `/map/approximate-position${query}`,
        { signal },
      );
      return answer.approximatePosition;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
