// What stands below a table: its total, and notes. Never a row that may be data.
import type { CsvRow } from '../../../core/csv-file.ts';

const totals =
  /^(gesamt|gesamtsumme|gesamtergebnis|summe|summen|endsumme|zwischensumme|total|totals|grand total|subtotal|sum)\s*:?$/i;
/** A number behind the word: "Gesamt: 12 Kunden". */
const counted = /^(gesamt|gesamtsumme|summe|anzahl|total|count)\s*:\s*\d[\d.,]*(\s+\S+)?$/i;
const notes =
  /^(\*+\)?\s|[¹²³]|(stand|hinweise?|anmerkung(en)?|quelle|legende|notes?|source|legend)\s*:|(stand( vom)?|as of|seite|page)\s+\d|(erstellt am|created on)\s)/i;

/** How many of the last rows can be below the table. */
export const maxEndRows = 8;

/** By column: how many rows fill it. */
export type FilledCounts = readonly number[];

/**
 * The rows at the end that are not data. Each leaves two columns empty that all others fill. A total has
 * numbers beside its word. A note is a lone cell that begins like one, below an empty row.
 */
export function findEndRows(lastRows: readonly CsvRow[], counts: FilledCounts, rowCount: number): CsvRow[] {
  let start = 1 + lastRows.findLastIndex((row) => !isTotal(row) && !isNote(row));
  while (start < lastRows.length) {
    const end = lastRows.slice(start);
    const isBelow = isTotal(end[0]!) || isBelowGap(lastRows, start);
    if (isBelow && leavesColumnsEmpty(end, counts, rowCount)) return end;
    start += 1;
  }
  return [];
}

/** Whether each of these rows leaves two columns empty that all rows above fill. */
function leavesColumnsEmpty(end: readonly CsvRow[], counts: FilledCounts, rowCount: number): boolean {
  const above = rowCount - end.length;
  const alwaysFilled = [...counts.keys()].filter(
    (index) => (counts[index] ?? 0) - end.filter((row) => isFilledAt(row, index)).length === above,
  );
  return above > 1 && end.every((row) => alwaysFilled.filter((index) => !isFilledAt(row, index)).length > 1);
}

function isBelowGap(rows: readonly CsvRow[], place: number): boolean {
  return place > 0 && rows[place]!.number > rows[place - 1]!.number + 1;
}

function isTotal(row: CsvRow): boolean {
  const words = textsIn(row).filter((cell) => !/^[-−]?[\d.,\s'’]*\d\s*(€|EUR|%)?$/i.test(cell));
  return words.length === 1 && (totals.test(words[0]!) || counted.test(words[0]!));
}

function isNote(row: CsvRow): boolean {
  const texts = textsIn(row);
  return texts.length === 1 && notes.test(texts[0]!);
}

function textsIn({ cells }: CsvRow): string[] {
  return cells.map((cell) => (cell ?? '').trim()).filter(Boolean);
}

function isFilledAt({ cells }: CsvRow, index: number): boolean {
  return (cells[index] ?? '').trim() !== '';
}

export function filledIn(row: CsvRow): number[] {
  return row.cells.flatMap((_, index) => (isFilledAt(row, index) ? [index] : []));
}
