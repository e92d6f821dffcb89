// Approximate position of an address: the middle of its postcode, or of its town. Works offline.

import postcodeTable from '../../reference/postcodes.json' with { type: 'json' };
import { foldText } from '../search-match.ts';

export interface Position {
  lat: number;
  lng: number;
}

export interface ApproximatePosition extends Position {
  source: 'postcode' | 'town';
}

export interface PostalAddress {
  zipCode: string;
  city: string;
}

export interface Town extends Position {
  name: string;
  /** Number of its postcodes, which shows how large the town is. */
  postcodes: number;
}

type Country = keyof typeof postcodeTable;

interface Postcode extends Position {
  country: Country;
  town: string;
}

interface Index {
  byCode: Map<string, Postcode[]>;
  byTown: Map<string, Town[]>;
}

let index: Index | undefined;

/** Towns of one name that lie farther apart are different towns. */
const sameTownDegrees = 0.3;

const countryPrefixes: Record<string, Country> = {
  D: 'DE',
  DE: 'DE',
  A: 'AT',
  AT: 'AT',
  CH: 'CH',
  FL: 'LI',
  LI: 'LI',
};

/** Addresses have no country: a prefix names it, or five digits, or the town that goes with the postcode. */
export function findApproximatePosition({ zipCode, city }: PostalAddress): ApproximatePosition | undefined {
  index ??= readTable();
  const [, prefix, digits] = /^\s*(?:([A-Z]{1,2})[\s-]*)?(\d{4,5})\s*$/i.exec(zipCode) ?? [];
  const country = prefix && countryPrefixes[prefix.toUpperCase()];
  const candidates = (digits ? (index.byCode.get(digits) ?? []) : []).filter(
    (candidate) => prefix === undefined || candidate.country === country,
  );
  const named = candidates.filter(({ town }) => isSameTown(town, city));
  const found = named[0] ?? (candidates.length === 1 ? candidates[0] : undefined);
  if (found) return { lat: found.lat, lng: found.lng, source: 'postcode' };
  const towns = index.byTown.get(foldTown(city)) ?? [];
  if (towns.length === 0 || towns.some((town) => !isNear(town, towns[0]!))) return undefined;
  return { lat: towns[0]!.lat, lng: towns[0]!.lng, source: 'town' };
}

export type ZeroVerdict = 'lost' | 'possible' | 'complete';

/** Whether four digits are a German postcode whose zero a spreadsheet took. The town decides; without a known one it is possible. */
export function judgeLostZero({ zipCode, city }: PostalAddress): ZeroVerdict {
  if (!/^[1-9]\d{3}$/.test(zipCode)) return 'complete';
  index ??= readTable();
  const towns = index.byTown.get(foldTown(city)) ?? [];
  const isThere = (code: Postcode) => isSameTown(code.town, city) || towns.some((town) => isNear(town, code));
  const foreign = index.byCode.get(zipCode) ?? [];
  if (foreign.some(({ town }) => isSameTown(town, city))) return 'complete';
  const german = (index.byCode.get(`0${zipCode}`) ?? []).filter(({ country }) => country === 'DE');
  if (german.some(isThere)) return 'lost';
  return german.length > 0 && !foreign.some(isThere) ? 'possible' : 'complete';
}

/** All towns that have a postcode, the largest first. */
export function listTowns(): Town[] {
  index ??= readTable();
  return [...index.byTown.values()].flat().toSorted((one, other) => other.postcodes - one.postcodes);
}

/** Leaves out postcodes of a single company: they are mailboxes, not areas. */
export function listPostcodes(): ({ code: string } & Position)[] {
  index ??= readTable();
  return [...index.byCode].flatMap(([code, places]) =>
    places.filter(({ town }) => town !== '').map(({ lat, lng }) => ({ code, lat, lng })),
  );
}

export interface Place extends Position {
  country: string;
  zipCode: string;
  city: string;
}

/** Each postcode that is an area, with its town. */
export function listPlaces(): Place[] {
  index ??= readTable();
  return [...index.byCode].flatMap(([zipCode, places]) =>
    places.flatMap(({ country, town, lat, lng }) =>
      town === '' ? [] : [{ country, zipCode, city: town, lat, lng }],
    ),
  );
}

function readTable(): Index {
  const byCode = new Map<string, Postcode[]>();
  const byTown = new Map<string, Town[]>();
  for (const [country, lines] of Object.entries(postcodeTable) as [Country, string[]][]) {
    for (const line of lines) {
      const [name = '', ...entries] = line.split('|');
      const places = entries.map((entry) => {
        const [code = '', lat, lng] = entry.split(',');
        return { code, lat: Number(lat) / 1000, lng: Number(lng) / 1000 };
      });
      for (const { code, ...position } of places) {
        append(byCode, code, { country, town: name, ...position });
      }
      if (name !== '') for (const town of toTowns(name, places)) append(byTown, foldTown(name), town);
    }
  }
  return { byCode, byTown };
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Places that share a name and lie near each other, each group with its middle. */
function toTowns(name: string, places: readonly Position[]): Town[] {
  const groups: Position[][] = [];
  for (const place of places) {
    const group = groups.find(([first]) => isNear(first!, place));
    if (group) group.push(place);
    else groups.push([place]);
  }
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return groups.map((group) => ({
    name,
    lat: mean(group.map(({ lat }) => lat)),
    lng: mean(group.map(({ lng }) => lng)),
    postcodes: group.length,
  }));
}

function isNear(one: Position, other: Position): boolean {
  return (
    Math.abs(one.lat - other.lat) < sameTownDegrees && Math.abs(one.lng - other.lng) < 2 * sameTownDegrees
  );
}

/** "Frankfurt a. M.", "Frankfurt (Main)" and "Frankfurt am Main" all begin with the same word. */
function isSameTown(town: string, city: string): boolean {
  const [one, other] = [foldTown(town), foldTown(city)];
  return one !== '' && (one === other || one.split(' ')[0] === other.split(' ')[0]);
}

function foldTown(name: string): string {
  return foldText(name)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
