// Reads cells that offices write in their own way. Each guess that changes a value has a kind, is shown, and can be taken
// back for its column.

import { readDate, readLooseDate, swapDayAndMonth, writeDate } from '../calendar/day-words.ts';
import type { Field } from '../definition/definition.ts';
import { readMeasure } from '../definition/measures.ts';
import { type ThousandsMark, toFieldValue } from './cells.ts';
import { findChoiceWord } from './choice-words.ts';
import type { ImportColumn } from './columns.ts';
import { type Cell, unguardText } from './csv/csv.ts';
import { readList, writeList } from './list-text.ts';

export const guessKinds = [
  'zipZeros',
  'phoneZeros',
  'houseNumbers',
  'dates',
  'words',
  'measures',
  'firstOnly',
  'otherName',
  'placeholders',
  'no',
  'comment',
  'leftOut',
] as const;

export type GuessKind = (typeof guessKinds)[number];

/** Facts that only the whole file reveals. */
export interface FileFacts {
  /** Keys of postcodes that lost their zero. */
  shortZips: ReadonlySet<string>;
  /** Places of columns whose dates begin with the month. */
  monthFirst: ReadonlySet<number>;
}

/** Rules for reading the cells of one import. */
export interface CellRules {
  facts: FileFacts;
  /** Guesses that a person took back. */
  refused: ReadonlySet<string>;
  /** Maximum length of the comment, which takes unreadable text; 0 without a comment. */
  commentLength: number;
  /** Language of the notes in the comment. */
  language: 'de' | 'en';
  /** Whether rows change objects that were exported: their cells are as stored. */
  isExport: boolean;
}

export interface CellReading {
  value: unknown;
  kind?: GuessKind;
  /** The meaning of the cell, written for people. */
  shown?: string;
  /** Text that could not be read and belongs in the comment. */
  note?: string;
}

export interface CellPlace {
  column: ImportColumn;
  index: number;
  mark: ThousandsMark | undefined;
  /** The value that a person assigned to this word. */
  assigned?: string | 'empty';
  zipCode?: string;
  city?: string;
}

export function guessKey(kind: GuessKind, path: string): string {
  return `${kind} ${path}`;
}

export function zipKey(zipCode: string, city: string): string {
  return `${zipCode} ${city.trim().toLowerCase()}`;
}

/** The first guess that fits and was not taken back; the plain value where none does. */
export function readCell(rules: CellRules, place: CellPlace, cell: Cell): CellReading {
  const { field, path } = place.column;
  const text = unguardText(cell ?? '').trim();
  const plain = toFieldValue(field, cell, place.mark);
  if (place.assigned !== undefined && text !== '')
    return { value: place.assigned === 'empty' ? undefined : toAssigned(field, place.assigned) };
  // Programs write "" for every empty cell; only an exported row means it.
  if (text === '' && field.kind === 'text' && !field.isRequired && !rules.isExport)
    return { value: undefined };
  const isRefusedList = field.kind === 'list' && rules.refused.has(guessKey('words', path));
  const isPlain = isReadable(field, plain) && !isRefusedList;
  const guesses = isPlain ? guessesOfReadable : guessesOfUnreadable;
  for (const [kind, guess] of guesses) {
    if (rules.refused.has(guessKey(kind, path))) continue;
    if (rules.isExport && kind !== 'zipZeros') continue;
    const reading = guess(text, place, rules);
    if (reading) return { kind, ...reading };
  }
  return { value: plain };
}

function toAssigned({ kind }: Field, value: string): unknown {
  return kind === 'flag' ? value === 'true' : value;
}

/** Whether validation will take the value, as far as its form goes. */
export function isReadable(field: Field, value: unknown): boolean {
  if (value === undefined) return !(field.kind === 'flag' && field.isRequired);
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' && isReadableText(field, value);
    case 'choice':
      return field.choices?.some((choice) => choice.value === value) ?? true;
    case 'flag':
      return typeof value === 'boolean';
    case 'integer':
      return typeof value !== 'string' && !/[.,]\d*[1-9]/.test(JSON.stringify(value));
    case 'decimal':
    case 'double':
      return typeof value !== 'string';
    case 'date':
      return typeof value === 'string' && readDate(value) === value;
    case 'list':
      return Array.isArray(value);
    default:
      return true;
  }
}

const email = /^[^\s@]+@[^\s@]+$/;
/** Programs that show a long number in a narrow column lose its digits. */
const lostDigits = /^\d[.,]\d+e\+\d+$/i;

function isReadableText({ format, maxLength = Infinity }: Field, text: string): boolean {
  if ([...text].length > maxLength || lostDigits.test(text.trim())) return false;
  if (text.trim() === '') return true;
  if (format === 'idn-email') return email.test(text) && !/[;,<>]/.test(text);
  if (format === 'unit-code') return /^[A-Z0-9]{2,3}$/.test(text);
  if (format === 'currency') return /^[A-Z]{3}$/.test(text);
  return format !== 'gtin' || /^\d{8,14}$/.test(text);
}

type Guess = (text: string, place: CellPlace, rules: CellRules) => Omit<CellReading, 'kind'> | undefined;

/** A value that could be stored as it is, and most likely is not meant so. */
const guessesOfReadable: readonly [GuessKind, Guess][] = [
  ['zipZeros', guessZip],
  ['phoneZeros', guessPhone],
  ['houseNumbers', guessHouseNumber],
  ['dates', guessMonthFirst],
  ['measures', guessRate],
  ['words', guessRhythm],
  ['firstOnly', guessSecondPhone],
  ['placeholders', guessPlaceholder],
];

const guessesOfUnreadable: readonly [GuessKind, Guess][] = [
  ['words', guessWord],
  ['dates', guessDate],
  ['measures', guessMeasure],
  ['firstOnly', guessFirst],
  ['no', guessNo],
  ['placeholders', guessPlaceholder],
  ['comment', guessComment],
  [
    'leftOut',
    (text, { column }, { commentLength }) =>
      column.field.isRequired || text === '' || commentLength > 0 ? undefined : { value: undefined },
  ],
];

function guessZip(text: string, { column, city = '' }: CellPlace, { facts }: CellRules) {
  if (column.field.name !== 'zipCode' || !facts.shortZips.has(zipKey(text, city))) return undefined;
  return { value: `0${text}`, shown: `0${text}` };
}

const phoneFields = new Set(['phone', 'mobile']);

/** A bare number of this length has lost its zero or its plus sign. A shorter one may lack the area code. */
function guessPhone(text: string, { column, zipCode = '' }: CellPlace) {
  if (!phoneFields.has(column.field.name)) return undefined;
  // "351 4567890"
  if (/^(?!4[139][ /-])[1-9]\d{1,3}[ /-]\d{5,8}$/.test(text) && !/^\d{4}\b/.test(zipCode))
    return { value: `0${text}`, shown: `0${text}` };
  if (!/^[1-9]\d{8,12}$/.test(text)) return undefined;
  const isForeign = /^\d{4}(\s?[A-Z]{2})?$/.test(zipCode.trim());
  const hasCountry = isForeign ? /^(?:4[13]|31|423)/.test(text) && text.length > 9 : /^49\d{9}/.test(text);
  const value = hasCountry ? `+${text}` : `0${text}`;
  return { value, shown: value };
}

/** A spreadsheet takes "1-3" for the first of March. */
function guessHouseNumber(text: string, { column }: CellPlace) {
  if (column.field.name !== 'houseNumber') return undefined;
  const [, month = '', day = ''] =
    /^\d{4}-(\d\d)-(\d\d)$/.exec(readDate(`${text} 2000`) ?? readDate(text) ?? '') ?? [];
  const [from, to] = [Number(day), Number(month)];
  if (!(from > 0 && from < to)) return undefined;
  return { value: `${from}-${to}`, shown: `${from}-${to}` };
}

function guessMonthFirst(text: string, { column, index }: CellPlace, { facts }: CellRules) {
  if (column.field.kind !== 'date' || !facts.monthFirst.has(index)) return undefined;
  const value = swapDayAndMonth(text);
  return value === undefined ? undefined : { value, shown: value };
}

function guessDate(text: string, place: CellPlace, rules: CellRules) {
  if (place.column.field.kind !== 'date') return undefined;
  const value = guessMonthFirst(text, place, rules)?.value ?? readLooseDate(text);
  return value === undefined ? undefined : { value, shown: value };
}

const nothing =
  /^(?:[-–—_.?*]+|\.\/\.|k\.? ?a\.?|n\.? ?[av]\.|n\. ?n\.|n\/a|(?:keine?|ohne)(?: angaben?)?|unbekannt|nicht (?:bekannt|vorhanden)|entfällt|leer|none|null|nil|unknown|tbd|#nv|#n\/a)$/i;
const noDate =
  /^(?:0+|0+[.-]0+[.-]0+|unbefristet|unbegrenzt|unlimitiert|offen|laufend|fortlaufend|auf unbestimmte zeit|bis auf weiteres|open end|open|∞)$/i;

/** Whether a cell of an optional column, or of one for yes and no, says in words that it is empty. */
export function isPlaceholder({ kind, isRequired, reference }: Field, text: string): boolean {
  return (kind === 'flag' || !(isRequired || reference?.isOwner)) && nothing.test(text);
}

function guessPlaceholder(text: string, { column: { field } }: CellPlace) {
  const isProse = field.name === 'comment' || field.name === 'description';
  if (field.isRequired || (isProse && /\w/.test(text))) return undefined;
  const isNothing =
    nothing.test(text) ||
    (field.kind === 'date' && noDate.test(text)) ||
    (phoneFields.has(field.name) && /^0+$/.test(text));
  return isNothing ? { value: undefined, shown: '' } : undefined;
}

function guessWord(text: string, { column: { field } }: CellPlace) {
  if (field.kind !== 'choice' && field.kind !== 'text') return undefined;
  const values = field.choices?.map(({ value }) => value);
  const word = field.name === 'salutation' ? text.replace(/^(\S+) .*(?:dr|prof|dipl).*$/i, '$1') : text;
  const meaningOf = (form: string) =>
    field.choices?.find(({ value, title }) =>
      [value, title.de, title.en].some((own) => own.toLowerCase() === form.toLowerCase()),
    )?.value ?? findChoiceWord(field.name, values, form);
  // "Edelstahl gebürstet"
  const value =
    meaningOf(word) ?? (field.name === 'material' ? meaningOf(word.split(/[\s,(]/)[0]!) : undefined);
  return value === undefined ? undefined : { value, shown: value };
}

function guessMeasure(text: string, { column: { field }, mark }: CellPlace) {
  if (!['integer', 'decimal'].includes(field.kind)) return undefined;
  const exact = readMeasure(field.name, text, mark);
  // Whole centimetres
  const measure =
    exact && field.kind === 'integer' && /InCm$/.test(field.name) ? String(Math.round(Number(exact))) : exact;
  return measure === undefined
    ? undefined
    : { value: toFieldValue(field, measure, undefined), shown: measure };
}

/** A spreadsheet keeps 19 % as 0.19, and no rate is below one percent. */
function guessRate(text: string, { column: { field } }: CellPlace) {
  if (!field.name.endsWith('Rate') || !/^0[.,]\d{1,4}$/.test(text) || /^0[.,]0+$/.test(text))
    return undefined;
  const shown = String(Number((Number(text.replace(',', '.')) * 100).toPrecision(6)));
  return { value: toFieldValue(field, shown, undefined), shown };
}

/** Words that others may mean in another way: "werktags" with Saturday, "2x im Monat" in the second week. */
const looseRhythm =
  /werk[td]|wochent|weekday|doordeweek|durchgehend|ganzt|(?:[2-9]|zwei|drei|vier) ?(?:x|×|mal|keer)\b.*(?:monat|mtl|month|maand|jahr|jähr|jaar|year|[qk][uw]arta+l)/i;

function guessRhythm(text: string, { column: { field } }: CellPlace, { language }: CellRules) {
  if (field.kind !== 'list' || !looseRhythm.test(text)) return undefined;
  const value = readList(field.knownItem, text);
  return value && { value, shown: writeList(field.knownItem, value, '', language) };
}

/** Takes the first of two addresses or numbers in one cell. The comment gets the rest. */
function guessFirst(
  text: string,
  { column: { field, titles } }: CellPlace,
  { commentLength, language }: CellRules,
) {
  if (commentLength === 0 || (field.format !== 'idn-email' && !phoneFields.has(field.name))) return undefined;
  const isEmail = field.format === 'idn-email';
  const found = isEmail
    ? /[^\s@;,<>:()"]+@[^\s@;,<>()"]+/.exec(text)?.[0]
    : /^\+?[\d\s/()-]{6,}(?=\s*(?:[,;|]|\s(?:oder|od\.|u\.|und|or)\s|\())/.exec(text)?.[0]?.trim();
  if (!found || [...found].length > (field.maxLength ?? Infinity)) return undefined;
  const rest = text.replace(found, '').replace(/^(?:mailto:)?[\s;,|/<>:()-]*|[\s;,|/<>()-]*$/gi, '');
  return { value: found, shown: found, ...(rest !== '' && { note: `${titles[language]}: ${rest}` }) };
}

/** Two numbers in one cell cannot be dialled. */
function guessSecondPhone(text: string, place: CellPlace, rules: CellRules) {
  const [, second = ''] = /\s(?:oder|od\.|u\.|und|or)\s(.*)$|[,;|](.*)$/.exec(text)?.filter(Boolean) ?? [];
  const isTwo = phoneFields.has(place.column.field.name) && second.replace(/\D/g, '').length > 4;
  return isTwo ? guessFirst(text, place, rules) : undefined;
}

/** A required yes or no that is empty is no. */
function guessNo(text: string, { column: { field } }: CellPlace) {
  if (field.kind !== 'flag' || !field.isRequired || !(text === '' || nothing.test(text))) return undefined;
  return { value: false, shown: 'false' };
}

const negation = /^(?:kein|ohne|nicht|fehlt|entfällt|no\b|not\b|none\b|without)/i;

/** Keeps a text that says more than yes or no. A required flag becomes yes, unless the text is a negation. */
function guessComment(
  text: string,
  { column: { field, titles } }: CellPlace,
  { commentLength, language }: CellRules,
) {
  if (commentLength === 0 || text === '' || field.name === 'comment') return undefined;
  const note = `${titles[language]}: ${text}`;
  if (!field.isRequired) return { value: undefined, note };
  return field.kind === 'flag' ? { value: !negation.test(text), note } : undefined;
}

const yesAndNo = { true: { de: 'ja', en: 'yes' }, false: { de: 'nein', en: 'no' } };

/** A value in the words of people. */
export function showGuess({ field }: ImportColumn, text: string, language: 'de' | 'en'): string {
  if (field.kind === 'date' && text !== '') return writeDate(text, language);
  if (field.kind === 'flag' && (text === 'true' || text === 'false')) return yesAndNo[text][language];
  return field.choices?.find(({ value }) => value === text)?.title[language] ?? text;
}
