// The operator's settings for the map.
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';

interface MapSettings {
  tilesUrl: string | null;
  attribution: string | null;
  hasGeocoder: boolean;
}

export const mapSettingsQuery = queryOptions({
  queryKey: ['map-settings'],
  queryFn: ({ signal }) => call<MapSettings>('GET', '/map/settings', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
