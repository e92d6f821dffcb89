// Converts a spreadsheet cell to its JSON value. A cell that does not parse stays a text, which validation rejects.

import { readDate } from '../calendar/day-words.ts';
import type { Field } from '../definition/definition.ts';
import { exactNumber } from '../exact-json.ts';
import { type Cell, unguardText } from './csv/csv.ts';
import { readList } from './list-text.ts';

export type CellField = Pick<
  Field,
  'kind' | 'isRequired' | 'isBlankAllowed' | 'choices' | 'knownItem' | 'maximum' | 'format'
>;

export type ThousandsMark = ',' | '.';

/** A file with commas between cells hardly uses decimal commas. */
export function thousandsMarkOf(separator: string): ThousandsMark {
  return separator === ',' ? ',' : '.';
}

/** Undefined if the field is not sent. Without a thousands mark, a single mark in a number is its decimal mark. */
export function toFieldValue(
  field: CellField,
  cell: Cell,
  thousandsMark: ThousandsMark | undefined,
): unknown {
  const text = unguardText(cell ?? '');
  // Only a text of any form can be empty: other programs write "" for every empty cell.
  const canBeEmpty = field.kind === 'text' && field.isBlankAllowed && !field.format;
  if (cell === null || (text.trim() === '' && !canBeEmpty)) {
    // A required text that may be empty, such as the house number, is sent as empty.
    return field.kind === 'text' && field.isRequired && field.isBlankAllowed ? '' : undefined;
  }
  switch (field.kind) {
    case 'text':
      // An object is not a text, so validation rejects it.
      return spreadsheetError.test(text.trim()) ? { error: text.trim() } : text;
    case 'choice':
      return toChoice(field, text);
    case 'flag':
      return flagMeanings.get(text.trim().toLowerCase()) ?? text;
    case 'integer':
    case 'decimal':
      return toNumber(
        field.maximum === 100 ? text.trim().replace(/(?<=\d)\s*%$/, '') : text.trim(),
        thousandsMark,
      );
    case 'double':
      // Measures such as a latitude have decimals and no thousands.
      return toNumber(text.trim(), undefined);
    case 'date':
      return readDate(text.trim()) ?? text.trim();
    case 'list':
      return readList(field.knownItem, text) ?? toList(text);
    default:
      return text.trim();
  }
}

/** Error texts of formulas, in German and English, and the marks of a number in too narrow a column. */
const spreadsheetError =
  /^#(N\/A|NV|REF!|BEZUG!|VALUE!|WERT!|DIV\/0!|NAME\?|NUM!|ZAHL!|NULL!|SPILL!|ÜBERLAUF!|CALC!|KALK!|##+)$/i;

export function isNumberCell(
  field: CellField,
  cell: string,
  thousandsMark: ThousandsMark | undefined,
): boolean {
  if (!['integer', 'decimal', 'double'].includes(field.kind)) return false;
  return typeof toFieldValue(field, cell, thousandsMark) !== 'string';
}

const flagMeanings = new Map([
  ...[
    'ja',
    'j',
    'yes',
    'y',
    'true',
    'wahr',
    '1',
    'x',
    '✓',
    '✔',
    '☑',
    'vorhanden',
    'hinterlegt',
    'liegt vor',
    'aktiv',
    'active',
  ].map((word) => [word, true] as const),
  ...[
    'nein',
    'n',
    'no',
    'false',
    'falsch',
    '0',
    '✗',
    '☐',
    'inaktiv',
    'inactive',
    'ausgeschieden',
    'ausgetreten',
    'ehemalig',
    'gesperrt',
    'keine',
    'kein',
    'ohne',
    'fehlt',
  ].map((word) => [word, false] as const),
]);

export function isYes(text: string): boolean {
  return flagMeanings.get(text.toLowerCase()) === true;
}

/** A choice by its value or by its title in either language. */
function toChoice({ choices = [] }: CellField, text: string): string {
  const folded = text.trim().toLowerCase();
  const choice = choices.find(({ value, title }) =>
    [value, title.de, title.en].some((form) => form.toLowerCase() === folded),
  );
  return choice?.value ?? text;
}

/** Another currency stays in the text: its amount is not one in euros. */
const currencySigns = /^(?:€|eur)\s*(?=[+-]?\d)|(?<=\d)(?:,(?:--?|–|—))?\s*(?:€|eur)?$/gi;

/** "1.234" is ambiguous: the thousands mark of the file decides. A text that is no number stays as written. */
function toNumber(written: string, thousandsMark: ThousandsMark | undefined): unknown {
  const text = written.replace(currencySigns, '').replace(/(?<=\d)[ \u00a0\u202f'’](?=\d{3}(?!\d))/g, '');
  const marks = text.replace(/[^.,]/g, '');
  const last = marks.at(-1) ?? '.';
  const isGrouped = new RegExp(`^[+-]?[1-9]\\d{0,2}(\\${last}\\d{3})+$`).test(text);
  const isWhole = isGrouped && (marks.length > 1 || last === thousandsMark);
  const decimalMark = (last === ',') !== isWhole ? ',' : '.';
  const groupMark = decimalMark === ',' ? '.' : ',';
  const shape = new RegExp(
    `^([+-]?)(\\d+|\\d{1,3}(?:\\${groupMark}\\d{3})+)(?:\\${decimalMark}(\\d+))?(?:[eE]([+-]?\\d+))?$`,
  );
  const match = shape.exec(text);
  if (!match) return written;
  const [, sign, whole = '', fraction, power] = match;
  const digits = whole.replaceAll(groupMark, '').replace(/^0+(?=\d)/, '');
  return exactNumber(
    `${sign === '-' ? '-' : ''}${digits}${fraction ? `.${fraction}` : ''}${power ? `e${power}` : ''}`,
  );
}

/** Keeps numbers exact. */
function toList(text: string): unknown {
  const keepNumber = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source ? exactNumber(context.source) : value;
  try {
    return JSON.parse(text, keepNumber as (name: string, value: unknown) => unknown);
  } catch {
    return text;
  }
}
