// Tells the data of a table from its total, its notes, and titles that a printed list repeats. Never leaves out a row that
// may be data.
import type { CsvRow } from './csv-file.ts';

const totals =
  /^(gesamt|gesamtsumme|gesamtergebnis|summe|summen|endsumme|zwischensumme|total|totals|grand total|subtotal|sum)\s*:?$/i;
/** A number behind the word: "Gesamt: 12 Kunden". */
const counted = /^(gesamt|gesamtsumme|summe|anzahl|total|count)\s*:\s*\d[\d.,]*(\s+\S+)?$/i;
const notes =
  /^(\*+\)?\s|[¹²³]|(stand|hinweise?|anmerkung(en)?|quelle|legende|notes?|source|legend)\s*:|(stand( vom)?|as of|seite|page)\s+\d|(erstellt am|created on)\s)/i;

/** How many of the last rows can be below the table. */
const maxEndRows = 8;

export interface LeftOutRows {
  /** Totals and notes below the table. */
  end: CsvRow[];
  /** Numbers of the rows that repeat the titles, or the heading above them. */
  repeatedHead: number[];
}

/**
 * Takes each row below the titles, in order. `head`: the filled rows down to the titles; none for a table without
 * titles.
 */
export function buildRowSorter(head: readonly CsvRow[]) {
  const titles = head.at(-1);
  // A lone cell may be data that happens to equal its title.
  const canRepeat = titles !== undefined && filledIn(titles).length > 1;
  const leftOut: LeftOutRows = { end: [], repeatedHead: [] };
  const counts: number[] = [];
  /** The last rows, which may be no data. */
  const lastRows: CsvRow[] = [];
  let rowCount = 0;
  const count = (row: CsvRow, step: 1 | -1) => {
    rowCount += step;
    for (const index of filledIn(row)) counts[index] = (counts[index] ?? 0) + step;
  };

  function leaveOutHead(titleNumber: number): void {
    const numbers = [titleNumber];
    for (let place = head.length - 2; place >= 0; place -= 1) {
      const last = lastRows.at(-1);
      if (!last || !isSame(last, head[place]!)) break;
      count(lastRows.pop()!, -1);
      numbers.unshift(last.number);
    }
    leftOut.repeatedHead.push(...numbers);
  }

  return {
    leftOut,
    /** A row that is data for certain, if there is one now: the last rows wait for the end. */
    push(row: CsvRow): CsvRow | undefined {
      if (!isFilled(row)) return undefined;
      if (canRepeat && isSame(row, titles)) {
        leaveOutHead(row.number);
        return undefined;
      }
      count(row, 1);
      lastRows.push(row);
      return lastRows.length > maxEndRows ? lastRows.shift() : undefined;
    },
    /** The last rows of data. */
    end(): CsvRow[] {
      if (titles) leftOut.end = findEndRows(lastRows, counts, rowCount);
      return lastRows.slice(0, lastRows.length - leftOut.end.length);
    },
  };
}

function isSame(one: CsvRow, other: CsvRow): boolean {
  const width = Math.max(one.cells.length, other.cells.length);
  for (let index = 0; index < width; index += 1)
    if (textAt(one, index) !== textAt(other, index)) return false;
  return true;
}

/** By column: how many rows fill it. */
type FilledCounts = readonly number[];

/**
 * The rows at the end that are not data. Each leaves two columns empty that all others fill. A total has
 * numbers beside its word. A note is a lone cell that begins like one, below an empty row.
 */
function findEndRows(lastRows: readonly CsvRow[], counts: FilledCounts, rowCount: number): CsvRow[] {
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

function textAt({ cells }: CsvRow, index: number): string {
  return (cells[index] ?? '').trim();
}

function isFilledAt(row: CsvRow, index: number): boolean {
  return textAt(row, index) !== '';
}

/** Spreadsheets have rows that hold nothing at their end. */
export function isFilled({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell !== null && cell.trim() !== '');
}

export function filledIn(row: CsvRow): number[] {
  return row.cells.flatMap((_, index) => (isFilledAt(row, index) ? [index] : []));
}
