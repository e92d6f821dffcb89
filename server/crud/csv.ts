// Cells and lines of CSV (RFC 4180) as spreadsheets in the two languages expect them.
import type { Language } from '../messages.ts';
import type { FieldKind } from './fields.ts';

export const byteOrderMark = '\ufeff';

/** A spreadsheet with a decimal comma expects semicolons between cells. */
export const separators: Record<Language, string> = { en: ',', de: ';' };

export const flagWords: Record<Language, { true: string; false: string }> = {
  en: { true: 'yes', false: 'no' },
  de: { true: 'ja', false: 'nein' },
};

// A formula begins where a cell does: at the start, and after whatever some spreadsheet takes for the end of the cell
// before it. A German one reads a;=b as two cells, also in a file with commas. The full-width forms count too: a
// spreadsheet in an East Asian language takes them for the plain ones.
const formulaStart = /(?<=^|[,;\t\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guardedStart = /(?<=^|[,;\t\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

/**
 * What a spreadsheet would take for a formula gets an apostrophe, which keeps it a text. So does what already has
 * apostrophes there, or reading would take away one that belongs to it.
 */
export function guardText(text: string): string {
  return text.replace(formulaStart, "'");
}

/** Takes away what `guardText` put there, and nothing else: "'t Hoekje" keeps its apostrophe. */
export function unguardText(cell: string): string {
  return cell.replace(guardedStart, '');
}

/** A value as PostgreSQL writes it as text, or null for none, as people write it. */
export function toCell(kind: FieldKind, value: string | null, language: Language): string | null {
  if (value === null) return null;
  switch (kind) {
    case 'integer':
    case 'decimal':
    case 'double':
      return language === 'de' ? value.replace('.', ',') : value;
    case 'flag':
      return flagWords[language][value as 'true' | 'false'];
    default:
      return guardText(value);
  }
}

/** One line with its end. An empty text is written as "", no value as nothing, so that a reader can tell them apart. */
export function toCsvLine(cells: readonly (string | null)[], separator: string): string {
  return `${cells.map(quoteCell).join(separator)}\r\n`;
}

// Whichever separator the reader expects. Blanks at the ends too, since some readers trim what has no quotes.
const needsQuotes = /^$|[",;\t\r\n]|^\s|\s$/;

function quoteCell(cell: string | null): string {
  if (cell === null) return '';
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
