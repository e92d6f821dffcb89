// Towns and postcodes that the map names, from the table that also places sites. Written whenever the app is built.
import { listPostcodes, listTowns } from '../core/place/postcodes.ts';
import { writeGenerated } from './outline.ts';

export function writePlaces(): void {
  const thousandths = (degrees: number) => Math.round(degrees * 1000);
  writeGenerated('places.json', {
    towns: listTowns().map(({ name, lat, lng, postcodes }) => [
      name,
      thousandths(lat),
      thousandths(lng),
      postcodes,
    ]),
    postcodes: listPostcodes().map(({ code, lat, lng }) => [code, thousandths(lat), thousandths(lng)]),
  });
}
