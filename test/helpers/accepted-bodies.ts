// Arbitrary bodies that validation accepts, for every resource, from its definition.
import fc from 'fast-check';
import type { Shape } from '../../core/definition/shape.ts';
import { columnsOf, type Definition } from '../../server/engine/definition/definition.ts';
import { externalIdName, type Field, type Fields } from '../../server/engine/definition/fields.ts';
import { resources } from '../../server/resources/index.ts';

/** Everything that has broken a file, a pattern or a screen somewhere. No NUL: PostgreSQL has none, and validation rejects it. */
export const pieces = [
  ...Array.from({ length: 31 }, (_, code) => String.fromCharCode(code + 1)),
  ...[
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u00ad',
    '\u200b',
    '\u200e',
    '\u200f',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
  ],
  ...['\u2028', '\u2029', '\ufeff', '\ufffd', '\ufffe', '\uffff', '\u{10ffff}', '\u{e0001}', '\r\n', '\n\r'],
  ...[
    '=1+1',
    '+49 40',
    '-1',
    '@x',
    "'",
    '"',
    '""',
    ';',
    ',',
    '\t',
    '|',
    '\\',
    '\\N',
    '\\.',
    '$1',
    '$&',
    '%',
    '_',
    '%s',
    '{{x}}',
  ],
  ...[
    '<b>',
    '&amp;',
    ']]>',
    '<!--',
    '_x0041_',
    '../',
    'NULL',
    'null',
    '__proto__',
    'constructor',
    '0',
    '00',
    '1e9',
  ],
  ...[
    'ß',
    'İ',
    'ı',
    'ﬁ',
    'Å',
    'e\u0301',
    '\u0301',
    'Ω',
    'Ж',
    '你好',
    '日本',
    'مرحبا',
    'שלום',
    'ไทย',
    '한국',
    '👩‍🌾',
    '🌱',
    '𝒳',
    '🇩🇪',
  ],
  ...['20095', 'Hamburg', 'Mühlenkamp 17', 'BEGIN:VEVENT', 'END:VCALENDAR', 'a'.repeat(80), ' ', 'x'],
];

const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'grapheme', maxLength: 4 }));

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Addresses have no longest length; this one is long enough for a page. */
const longest = 2000;

function text(maxLength = longest, isAccepted = (_text: string) => true): fc.Arbitrary<string> {
  const cut = (parts: readonly string[]) => [...parts.join('')].slice(0, maxLength).join('');
  const long = piece.map((part) => cut([part.repeat(Math.ceil(maxLength / Math.max(1, part.length)))]));
  const short = fc.array(piece, { maxLength: 5 }).map(cut);
  return fc
    .oneof({ weight: 9, arbitrary: short }, { weight: 1, arbitrary: long })
    .filter((value) => isStorable(value) && isAccepted(value));
}

const extremeDays = ['0001-01-01', '0099-12-31', '1582-10-10', '2024-02-29', '2026-03-29', '9999-12-31'];
const day = fc.oneof(
  fc.constantFrom(...extremeDays),
  fc
    .date({ min: new Date('2025-01-01'), max: new Date('2028-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
);
const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));

/** A value of a known shape, so that visits are planned with it. */
function shaped(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.type) {
    case 'string':
      if (shape.enum) return fc.constantFrom(...shape.enum);
      if (shape.format === 'date') return day;
      return shape.format === 'closing-time' ? fc.oneof(time, fc.constant('24:00')) : time;
    case 'integer':
      return shape.enum
        ? fc.constantFrom(...shape.enum)
        : fc.integer({ min: shape.minimum ?? 0, max: shape.maximum ?? 10 });
    case 'array':
      return fc.array(shaped(shape.items), { maxLength: 4 });
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(shape.properties).map(([name, member]) => [name, shaped(member)])),
        { requiredKeys: [...shape.required] },
      );
  }
}

const anyObject = fc.dictionary(
  text(12).filter((name) => name !== '__proto__'),
  fc.oneof(
    text(30),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.array(text(8), { maxLength: 3 }),
  ),
  { maxKeys: 4 },
);

const formats: Record<string, fc.Arbitrary<string>> = {
  'idn-email': fc.tuple(text(20, isWord), text(20, isWord)).map((parts) => parts.join('@')),
  'local-time': fc.constantFrom('00:00', '08:30', '23:59'),
  'local-end-time': fc.constantFrom('00:00', '12:00', '24:00'),
  'time-zone': fc.constantFrom(
    'Europe/Berlin',
    'europe/berlin',
    'UTC',
    'Pacific/Kiritimati',
    'Etc/GMT+12',
    'America/St_Johns',
  ),
  gtin: fc.constantFrom('00000000', '4006381333931', '10012345678902'),
  currency: fc.constantFrom('EUR', 'XXX', 'JPY'),
  'unit-code': fc.constantFrom('C62', 'H87', '00'),
  date: day,
  uuid: fc.uuid().chain((id) => fc.constantFrom(id, id.toUpperCase())),
};

function isWord(value: string): boolean {
  return /^[^\s@]+$/.test(value);
}

interface Limits {
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  enum?: string[];
}

function toValue(field: Field): fc.Arbitrary<unknown> {
  const { minimum = 0, maximum, maxLength, pattern, format, enum: choices } = field.schema as Limits;
  switch (field.kind) {
    case 'group':
      return valuesOf(field.fields!);
    case 'flag':
      return fc.boolean();
    case 'list':
      return fc.oneof(
        fc.array(anyObject, { maxLength: 3 }),
        fc.array(shaped(field.knownItem!), { maxLength: 4 }),
      );
    case 'integer':
      return fc.constantFrom(minimum, minimum + 1, maximum!);
    case 'double':
      return fc.constantFrom(minimum, maximum!, 5e-324, 1 / 3);
    case 'decimal':
      return fc.constantFrom(
        minimum,
        maximum ?? 1e21,
        JSON.rawJSON(`${Math.ceil(minimum)}.${'0'.repeat(30)}1`),
        0.1,
      );
    default:
      if (choices) return fc.constantFrom(...choices);
      return format
        ? formats[format]!
        : text(maxLength, (value) => pattern === undefined || /\S/u.test(value));
  }
}

function valuesOf(fields: Fields): fc.Arbitrary<Record<string, unknown>> {
  const sent = Object.entries(fields).filter(([, field]) => !field.reference?.isOwner && !field.twinOf);
  return fc.record(Object.fromEntries(sent.map(([name, field]) => [name, toValue(field)])), {
    requiredKeys: sent.filter(([, field]) => field.isRequired).map(([name]) => name),
  });
}

/** Every text holds the piece, and visits are planned. */
function valuesWith(fields: Fields, words: string): Record<string, unknown> {
  const values = Object.entries(fields).map(([name, field]): [string, unknown] => {
    const { maxLength = longest, format, enum: choices } = field.schema as Limits;
    if (name === 'location') return [name, { lat: 53.5, lng: 10 }];
    if (field.fields) return [name, valuesWith(field.fields, words)];
    if (name === 'attendingIntervals') return [name, [{ frequency: 'DAILY', toleranceInDays: 1 }]];
    if (name === 'openingHours') return [name, [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '24:00' }]];
    if (field.kind === 'text' && !format && !choices)
      return [name, [...`20095${words}${words}x`].slice(0, maxLength).join('')];
    return [
      name,
      field.isRequired && !field.reference
        ? fc.sample(toValue(field), { seed: 1, numRuns: 1 })[0]
        : undefined,
    ];
  });
  return Object.fromEntries(values.filter(([name, value]) => value !== undefined && !fields[name]!.twinOf));
}

/** A body for each resource with one piece in all of its texts. */
export function familyWith(words: string, mark: string): Line[] {
  return resources.map((definition) =>
    toLine(definition, valuesWith(definition.fields, words), words, true, mark),
  );
}

export interface Line {
  type: string;
  data: Record<string, unknown>;
}

/** A body for each resource, where each belongs to those before it. Unique texts end with `mark`. */
export function family(mark: string): fc.Arbitrary<Line[]> {
  return fc
    .tuple(...resources.map(({ fields }) => fc.tuple(valuesOf(fields), text(60), fc.boolean())))
    .map((bodies) =>
      bodies.map(([data, words, isNamed], place) => toLine(resources[place]!, data, words, isNamed, mark)),
    );
}

const externalIdOf = (resource: string, mark: string) => `${resource} ${mark}`;

function toLine(
  definition: Definition,
  body: Record<string, unknown>,
  words: string,
  isNamed: boolean,
  mark: string,
): Line {
  const data: Record<string, unknown> = { ...body, externalId: externalIdOf(definition.name, mark) };
  for (const name of definition.uniqueFields.filter((unique) => unique !== 'externalId')) {
    if (data[name] !== undefined) data[name] = `${[...(data[name] as string)].slice(0, 12).join('')}${mark}`;
  }
  for (const { path, field } of columnsOf(definition.fields)) {
    const [name] = path as [string];
    if (!field.reference) continue;
    const [resource] = field.reference.resources as [string];
    if (!field.reference.isOwner) delete data[name];
    // Keep any name that nothing has yet.
    if (field.reference.isOwner || isNamed) data[externalIdName(name)] = externalIdOf(resource, mark);
    else if (/\S/u.test(words)) data[externalIdName(name)] = words;
  }
  for (const [first, last] of definition.dateOrders) {
    const days = [data[first], data[last]].filter((value) => value !== undefined).sort();
    if (days.length === 2) [data[first], data[last]] = days;
  }
  for (const names of definition.requiredOneOf) {
    if (!names.some((name) => data[name] !== undefined)) data[names[0]!] = 'x';
  }
  return { type: definition.name, data };
}
