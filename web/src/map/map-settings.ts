// The operator's settings for the map.
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';

export interface TileFile {
  kind: 'VECTOR' | 'RASTER';
  minZoom: number;
  maxZoom: number;
}

interface MapSettings {
  tilesUrl: string | null;
  /** What the tiles are, if they come from a file of the service. */
  tileFile: TileFile | null;
  attribution: string | null;
  hasGeocoder: boolean;
}

export const mapSettingsQuery = queryOptions({
  queryKey: ['map-settings'],
  queryFn: ({ signal }) => call<MapSettings>('GET', '/map/settings', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
