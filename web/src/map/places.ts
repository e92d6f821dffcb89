// Towns and postcodes to name on the map, loaded when somebody looks closely.
import placesUrl from '../../generated/places.json?url';
import type { Position } from './view.ts';

export interface Places {
  /** Towns, the largest first. */
  towns: ({ name: string; postcodes: number } & Position)[];
  postcodes: ({ code: string } & Position)[];
}

/** Below this zoom the large cities are enough. */
export const placesFrom = 7;

/** The file as web/places.ts writes it, in thousandths of a degree. */
interface Written {
  towns: [name: string, lat: number, lng: number, postcodes: number][];
  postcodes: [code: string, lat: number, lng: number][];
}

export async function loadPlaces(): Promise<Places> {
  const response = await fetch(placesUrl);
  if (!response.ok) throw new Error(`${placesUrl}: ${response.status}`);
  const { towns, postcodes }: Written = await response.json();
  const toPosition = (lat: number, lng: number) => ({ lat: lat / 1000, lng: lng / 1000 });
  return {
    towns: towns.map(([name, lat, lng, count]) => ({ name, postcodes: count, ...toPosition(lat, lng) })),
    postcodes: postcodes.map(([code, lat, lng]) => ({ code, ...toPosition(lat, lng) })),
  };
}
