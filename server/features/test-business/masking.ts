// Masks an object of the real business for its test business. Each masked value follows from the object's id and not from
// the value: the same object always looks the same, and nothing leads back to what it replaced. Every text without a
// rule is masked, so a new field is safe before somebody thinks of it. (Decision 93.)
import { hash } from 'node:crypto';
import { hasShape } from '../../../core/definition/shape.ts';
import { listPlaces, type Place } from '../../../core/place/postcodes.ts';
import { foldText } from '../../../core/search-match.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { Field, Fields } from '../../engine/definition/fields.ts';
import { isObject } from '../../engine/definition/validation.ts';
import type { JsonBody } from '../../http/json-body.ts';
import {
  buildings,
  companyKinds,
  companyNames,
  firstNames,
  floors,
  lastNames,
  personRoles,
  siteNames,
  streets,
} from './masked-words.ts';
import { identifyingFields } from './related-names.ts';

type Members = Record<string, unknown>;

/** `relatedNames`: of the people and customers that the object belongs to. */
export type Mask = (id: string, body: JsonBody, relatedNames: readonly (string | null)[]) => JsonBody;

/** Sources of a masked object. */
interface Seed {
  /** A number below `end`, another one for each purpose. */
  number(purpose: string, end: number): number;
  pick<Value>(purpose: string, list: readonly Value[]): Value;
  hex: string;
  place: Place;
  /** Whether a text contains a name, mail address or phone number of the object or of one that it belongs to. */
  isTelling(text: string): boolean;
}

type Rule = (seed: Seed, value: string) => string;

export function buildMask(definition: Definition): Mask {
  return (id, body, relatedNames) => {
    const seed = seedOf(definition, id, body.value as Members, relatedNames);
    const mask = (target: unknown) =>
      maskFields(definition, definition.fields, seed, body.value as Members, target as Members);
    return { ...body, value: mask(body.value), exact: body.exact && mask(body.exact) };
  };
}

function maskFields(
  definition: Definition,
  fields: Fields,
  seed: Seed,
  value: Members,
  target: Members,
): Members {
  const masked: Members = {};
  for (const [name, field] of Object.entries(fields)) {
    const member = target[name];
    if (member === undefined || member === null) continue;
    if (field.fields)
      masked[name] = maskFields(definition, field.fields, seed, value[name] as Members, member as Members);
    else if (field.knownItem) masked[name] = maskList(field, value[name], member);
    else if (name === 'lat' || name === 'lng') masked[name] = positionOf(seed, name);
    else if (typeof member === 'string' && (field.kind === 'text' || `${definition.name}.${name}` in rules))
      masked[name] = maskText(definition, name, field, seed, member);
    else masked[name] = member;
  }
  return masked;
}

/** Items of an unknown shape may hold any text. They stay unknown. */
function maskList({ knownItem }: Field, value: unknown, target: unknown): unknown[] {
  const items = value as unknown[];
  return (target as unknown[]).map((item, place) =>
    hasShape(knownItem!, items[place]) ? item : { masked: true },
  );
}

/** Somewhere in the masked postcode, far enough from its middle that places of one postcode lie apart. */
function positionOf(seed: Seed, axis: 'lat' | 'lng'): number {
  return Math.round((seed.place[axis] + (seed.number(axis, 2000) - 1000) / 100_000) * 1e5) / 1e5;
}

/** Their values are codes of standards, and say nothing about anybody. */
const harmlessFormats: ReadonlySet<unknown> = new Set([
  ...['gtin', 'unit-code', 'currency'],
  ...['time-zone', 'local-time', 'local-end-time'],
]);

function maskText({ name: resource }: Definition, name: string, field: Field, seed: Seed, value: string) {
  const { schema, twinOf } = field;
  const own = rules[`${resource}.${name}`];
  if (!own && (schema.enum || harmlessFormats.has(schema.format))) return value;
  const rule = twinOf ? code : (own ?? rules[name] ?? text);
  const { maxLength = Number.POSITIVE_INFINITY } = schema as { maxLength?: number };
  return [...rule(seed, value)].slice(0, maxLength).join('');
}

const numbered = (seed: Seed, purpose: string, end = 90_000, first = 10_000) =>
  String(first + seed.number(purpose, end));

const text: Rule = (seed) => `Test ${numbered(seed, 'text')}`;
const kept: Rule = (seed, value) => (seed.isTelling(value) || phoneNumber.test(value) ? 'Test' : value);
const phoneNumber = /(\+|\b0)[\d\s()/.-]{6,}/;

/** An ERP looks for its own ids and numbers, so they stay, unless one tells who the object is. */
const code: Rule = (seed, value) => (seed.isTelling(value) ? `T-${seed.hex.slice(0, 12)}` : value);

const rules: Readonly<Record<string, Rule>> = {
  externalId: code,
  customerNumber: code,
  employeeNumber: code,
  contractNumber: code,
  articleNumber: code,
  labelCode: code,
  companyName: (seed) =>
    `${seed.pick('kind', companyKinds)} ${seed.pick('name', companyNames)} ${numbered(seed, 'name')}`,
  firstName: (seed) => seed.pick('first', firstNames),
  lastName: (seed) => seed.pick('last', lastNames),
  email: (seed) => `test.${seed.hex.slice(0, 12)}@stamm.example`,
  // The Bundesnetzagentur keeps both ranges free: a call reaches nobody.
  phone: (seed) => `+49 40 66969 ${String(seed.number('phone', 1000)).padStart(3, '0')}`,
  mobile: (seed) => `+49 176 040690${String(seed.number('mobile', 100)).padStart(2, '0')}`,
  // No country has this prefix.
  vatId: (seed) => `XX${numbered(seed, 'vat', 900_000_000, 100_000_000)}`,
  streetName: (seed) => seed.pick('street', streets),
  houseNumber: (seed) => String(1 + seed.number('house', 120)),
  zipCode: (seed) => seed.place.zipCode,
  city: (seed) => seed.place.city,
  role: (seed) => seed.pick('role', personRoles),
  comment: (seed) => `Testnotiz ${numbered(seed, 'comment')}`,
  building: (seed) => seed.pick('building', buildings),
  floor: (seed) => seed.pick('floor', floors),
  room: (seed) => `Raum ${numbered(seed, 'room', 900, 100)}`,
  position: (seed) => `Platz ${numbered(seed, 'position', 90, 10)}`,
  'site.name': (seed) => `${seed.pick('site', siteNames)} ${numbered(seed, 'site')}`,
  'container.name': (seed) => `Gefäß ${numbered(seed, 'container')}`,
  // Names of goods and plants name no person.
  'product.name': kept,
  botanicalName: kept,
  commonName: kept,
  color: kept,
  // Who is ill is nobody's business, least of all under an id that also stands in the real business.
  'absence.reason': () => 'HOLIDAY',
};

function seedOf(
  { name: resource, nameField }: Definition,
  id: string,
  value: Members,
  relatedNames: readonly (string | null)[],
): Seed {
  const number = (purpose: string, end: number) =>
    Number.parseInt(hash('sha256', `${id} ${purpose}`).slice(0, 12), 16) % end;
  const pick = <Value>(purpose: string, list: readonly Value[]) => list[number(purpose, list.length)]!;
  const masked = `${resource}.${nameField}` in rules && rules[`${resource}.${nameField}`] !== kept;
  const own = [...identifyingFields, ...(masked ? [nameField] : [])].map((name) => value[name]);
  let place: Place | undefined;
  return {
    number,
    pick,
    hex: hash('sha256', id),
    get place() {
      place ??= pick('place', placesNear(isObject(value.address) ? value.address : {}));
      return place;
    },
    isTelling: buildJudge([...own, ...relatedNames].filter((one) => typeof one === 'string')),
  };
}

const longestShortName = 3;
const phoneDigits = 6;
/** Words of many names, and those that masked names are made of. They say nothing about anybody. */
const commonWords: ReadonlySet<string> = new Set(
  ['gmbh', 'firma', 'verein', 'info', 'mail', 'gmail', 'online', ...companyKinds, ...siteNames].map(foldText),
);

/** Names are compared as the search does: "MUELLER-7" tells of "Müller". A short one only as a word of its own. */
function buildJudge(names: readonly string[]): (text: string) => boolean {
  const words = new Set(names.flatMap((name) => wordsOf(name)).filter((word) => !commonWords.has(word)));
  const long = [...words].filter((word) => word.length > longestShortName);
  const numbers = names
    .map((name) => name.replaceAll(/\D/g, ''))
    .filter((digits) => digits.length >= phoneDigits)
    .map((digits) => digits.slice(-phoneDigits));
  return (text) => {
    const folded = foldText(text);
    const digits = text.replaceAll(/\D/g, '');
    return (
      text.includes('@') ||
      long.some((word) => folded.includes(word)) ||
      numbers.some((number) => digits.includes(number)) ||
      wordsOf(text).some((word) => words.has(word))
    );
  };
}

function wordsOf(text: string): string[] {
  return foldText(text).match(/\p{L}{2,}/gu) ?? [];
}

let placesByRegion: Map<string, Place[]> | undefined;

/** Places whose postcodes begin alike: holidays and distances stay about the same. */
function placesNear({ zipCode }: { zipCode?: unknown }): readonly Place[] {
  placesByRegion ??= Map.groupBy(listPlaces(), ({ country, zipCode: code }) => regionOf(country, code));
  const digits = /\d{4,5}/.exec(String(zipCode ?? ''))?.[0] ?? '';
  const country = digits.length === 4 ? (/^\s*(CH|FL|LI)/i.test(String(zipCode)) ? 'CH' : 'AT') : 'DE';
  return placesByRegion.get(regionOf(country, digits)) ?? placesByRegion.get(regionOf('DE', '20095'))!;
}

function regionOf(country: string, zipCode: string): string {
  return `${country} ${zipCode.slice(0, zipCode.length - 3)}`;
}
