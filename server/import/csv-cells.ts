// A cell as the JSON value that it means. What cannot be understood is passed on as it is, so that the check of the
// field says what is wrong with it.
import { unguardText } from '../crud/csv.ts';
import type { Field } from '../crud/fields.ts';
import { parseJson } from '../http/json-body.ts';

/** Null is a cell without a value; an empty text has quotes. */
export type Cell = string | null;

export type ThousandsMark = ',' | '.';

/** A file that uses commas between cells can hardly use them as decimal marks. */
export function thousandsMarkOf(separator: string): ThousandsMark {
  return separator === ',' ? ',' : '.';
}

/** Undefined where the field is not sent. */
export function toFieldValue(field: Field, cell: Cell, thousandsMark: ThousandsMark): unknown {
  const text = unguardText(cell ?? '');
  if (cell === null || (text.trim() === '' && field.kind !== 'text')) {
    // A required text that may be empty, such as the number of a house that has none, is sent as empty.
    const mayBeEmpty = field.kind === 'text' && field.isRequired && field.schema.pattern === undefined;
    return mayBeEmpty ? '' : undefined;
  }
  switch (field.kind) {
    case 'text':
      return toChoice(field, text);
    case 'flag':
      return flagMeanings.get(text.trim().toLowerCase()) ?? text;
    case 'integer':
    case 'decimal':
      return toNumber(text.trim(), thousandsMark);
    case 'double':
      // Measures such as a latitude have decimals and no thousands.
      return toNumber(text.trim(), undefined);
    case 'date':
      return toIsoDate(text.trim());
    case 'list':
      return toList(text);
    default:
      return text.trim();
  }
}

const flagMeanings = new Map([
  ...['ja', 'j', 'yes', 'y', 'true', 'wahr', '1', 'x'].map((word) => [word, true] as const),
  ...['nein', 'n', 'no', 'false', 'falsch', '0'].map((word) => [word, false] as const),
]);

/** A value of a choice by itself or by its title in either language. */
function toChoice({ choiceTitles }: Field, text: string): string {
  const folded = text.trim().toLowerCase();
  for (const [choice, { de, en }] of choiceTitles ?? []) {
    if ([choice, de, en].some((form) => form.toLowerCase() === folded)) return choice;
  }
  return text;
}

/** The exact decimal. "1.234" is ambiguous: there the mark of thousands decides; everything else speaks for itself. */
function toNumber(text: string, thousandsMark: ThousandsMark | undefined): unknown {
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
  if (!match) return text;
  const [, sign, whole = '', fraction, power] = match;
  const digits = whole.replaceAll(groupMark, '').replace(/^0+(?=\d)/, '');
  const written = `${sign === '-' ? '-' : ''}${digits}${fraction ? `.${fraction}` : ''}${power ? `e${power}` : ''}`;
  return JSON.rawJSON(written);
}

/** 31.12.2026 beside 2026-12-31. */
function toIsoDate(text: string): string {
  const match = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  return match ? `${match[3]}-${match[2]!.padStart(2, '0')}-${match[1]!.padStart(2, '0')}` : text;
}

/** With numbers as exact as they were written. */
function toList(text: string): unknown {
  try {
    const { value, exact } = parseJson(Buffer.from(text));
    return exact ?? value;
  } catch {
    return text;
  }
}
