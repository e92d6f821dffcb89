// Writes reference/postcodes.json from the postal code files of GeoNames (https://download.geonames.org/export/zip), one for each
// country: `node tools/postcodes.ts DE.txt AT.txt CH.txt LI.txt`.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface Place {
  country: string;
  code: string;
  name: string;
  /** Postcodes of one company have a number instead of the letters of a state. */
  isCompany: boolean;
  lat: number;
  lng: number;
}

/** Places of one postcode that lie farther from its middle are errors of the source. */
const maxDegreesFromMiddle = 0.35;

const places = process.argv.slice(2).flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Place => {
      const [country = '', code = '', name = '', , state = '', , , , , lat, lng] = line.split('\t');
      const isCompany = country === 'DE' && /\d/.test(state);
      return { country, code, name, isCompany, lat: Number(lat), lng: Number(lng) };
    }),
);

const tables = [...Map.groupBy(places, ({ country }) => country)].map(
  ([country, list]) =>
    `${JSON.stringify(country)}: [\n${tableOf(list)
      .map((line) => JSON.stringify(line))
      .join(',\n')}\n]`,
);
writeFileSync(
  path.resolve(import.meta.dirname, '../reference/postcodes.json'),
  `{\n${tables.join(',\n')}\n}\n`,
);

/** A line per town: its name, then its postcodes with latitude and longitude in thousandths of a degree. */
function tableOf(list: readonly Place[]): string[] {
  const byCode = Map.groupBy(list, ({ code }) => code);
  const codes = [...byCode].map(([code, all]) => {
    const towns = all.filter(({ isCompany }) => !isCompany);
    const used = withoutErrors(towns.length > 0 ? towns : all);
    const middle = middleOf(used);
    return { code, town: towns.length > 0 ? townOf(used, middle) : '', ...middle };
  });
  const byTown = Map.groupBy(codes, ({ town }) => town);
  return [...byTown]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([town, ofTown]) => {
      const entries = ofTown.toSorted((one, other) => (one.code < other.code ? -1 : 1));
      return [
        town,
        ...entries.map(({ code, lat, lng }) => `${code},${thousandths(lat)},${thousandths(lng)}`),
      ];
    })
    .map((parts) => parts.join('|'));
}

function thousandths(degrees: number): number {
  return Math.round(degrees * 1000);
}

function middleOf(list: readonly Place[]): { lat: number; lng: number } {
  const median = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1]!;
  return { lat: median(list.map(({ lat }) => lat)), lng: median(list.map(({ lng }) => lng)) };
}

function withoutErrors(list: readonly Place[]): readonly Place[] {
  const middle = middleOf(list);
  return list.filter((place) => distance(place, middle) <= maxDegreesFromMiddle);
}

function distance(one: { lat: number; lng: number }, other: { lat: number; lng: number }): number {
  return Math.hypot(one.lat - other.lat, (one.lng - other.lng) * 0.63);
}

/** "Hamburg" for "Hamburg Altstadt" and "Hamburg Klostertor"; otherwise the place in the middle. */
function townOf(list: readonly Place[], middle: { lat: number; lng: number }): string {
  const names = list.map(({ name }) => plainName(name));
  const common = names.find(
    (name) =>
      list.length > 1 &&
      names.filter((other) => other === name || other.startsWith(`${name} `)).length * 2 > names.length,
  );
  const nearest = list.toSorted((one, other) => distance(one, middle) - distance(other, middle))[0]!;
  return common ?? plainName(nearest.name);
}

/** Without the district ("Wien, Alsergrund") and the number of a post office ("Aarau 1"). */
function plainName(name: string): string {
  return name.split(',')[0]!.replace(/ \d+$/, '');
}
