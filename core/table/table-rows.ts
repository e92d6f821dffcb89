// Tells the data of a table from its total, its notes, and titles that a printed list repeats. Never leaves out a row that
// may be data.
import type { CsvRow } from './csv/csv-file.ts';

const totalWord =
  '(?:gesamt|gesamtsumme|gesamtergebnis|summe|summen|endsumme|zwischensumme|zw\\.?-?summe|teilsumme|übertrag|saldo|total|totals|grand total|subtotal|sub-total|sum)';
const totals = new RegExp(`^${totalWord}\\s*:?$`, 'i');
/** "Zwischensumme Hamburg", which is a name as well where its row has other texts. */
const partTotals = new RegExp(
  `^(?:${totalWord}\\b.*|.*\\s(?:gesamt|zwischensumme|subtotal|total))\\s*:?$`,
  'i',
);
/** A number behind the word: "Gesamt: 12 Kunden". */
const counted = /^(gesamt|gesamtsumme|summe|anzahl\S*(?: \S+)?|total|count)\s*:\s*\d[\d.,]*(\s+\S+)?$/i;
/** "12 Kunden", "150 Datensätze" */
const plainCount =
  /^\d[\d.]*\s+(kunden|standorte|objekte|pflanzen|gefäße|mitarbeiter|verträge|datensätze|einträge|zeilen|positionen|stück|rows|records|entries|customers|sites|plants)\.?$/i;
const notes =
  /^(\*+\)?\s|[¹²³]|(stand|hinweise?|anmerkung(en)?|quelle|legende|notes?|source|legend|achtung|wichtig)\s*:|(stand( vom)?|as of|seite|page)\s+\d|(erstellt (am|von|mit)|gedruckt am|exportiert am|exported on|created (on|by|with))\s|(ende der liste|end of (list|report))\.?$)/i;
/** A row of lines is a border. */
const border = /^[-=_*~#–—.]{3,}$/;

/** Number of last rows that can be below the table. */
const maxEndRows = 8;

export interface LeftOutRows {
  /** Totals, subtotals, headings and notes, within the table and below it. */
  notData: CsvRow[];
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
  const leftOut: LeftOutRows = { notData: [], repeatedHead: [] };
  const width = titles ? filledIn(titles).length : 0;
  const counts: number[] = [];
  /** The last rows, which may be no data. */
  const lastRows: CsvRow[] = [];
  let rowCount = 0;
  let lastNumber = titles?.number ?? 0;
  /** The last row, if it stands below an empty one. */
  let possibleHeading: CsvRow | undefined;
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
    possibleHeading = undefined;
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
      const isBelowGap = row.number > lastNumber + 1 || rowCount === 0;
      lastNumber = row.number;
      if (rowCount > 1 && isWithin(row, width, isBelowGap)) {
        leftOut.notData.push(row);
        return undefined;
      }
      if (possibleHeading && isHeading(possibleHeading, row, width)) {
        lastRows.pop();
        count(possibleHeading, -1);
        leftOut.notData.push(possibleHeading);
      }
      possibleHeading = isBelowGap ? row : undefined;
      count(row, 1);
      lastRows.push(row);
      return lastRows.length > maxEndRows ? lastRows.shift() : undefined;
    },
    /** The last rows of data. */
    end(): CsvRow[] {
      const end = titles ? findEndRows(lastRows, counts, rowCount) : [];
      leftOut.notData.push(...end);
      return lastRows.slice(0, lastRows.length - end.length);
    },
  };
}

function isSame(one: CsvRow, other: CsvRow): boolean {
  const width = Math.max(one.cells.length, other.cells.length);
  for (let index = 0; index < width; index += 1)
    if (textAt(one, index) !== textAt(other, index)) return false;
  return true;
}

/** Fewer columns are too few to tell a heading from a name. */
const minWidth = 4;

/** Whether a row between others is a border, a subtotal with its numbers, a count, or a note below an empty row. */
function isWithin(row: CsvRow, width: number, isBelowGap: boolean): boolean {
  const texts = textsIn(row);
  if (texts.every((text) => border.test(text))) return true;
  if (width < minWidth || texts.length * 2 > width) return false;
  const words = texts.filter((text) => !isNumber(text));
  if (words.length !== 1) return false;
  const [word = ''] = words;
  if (texts.length > 1) return partTotals.test(word) || counted.test(word);
  return counted.test(word) || plainCount.test(word) || (isBelowGap && notes.test(word));
}

/** A lone cell below an empty row and directly above data: "Filialen Nord". */
function isHeading(row: CsvRow, next: CsvRow, width: number): boolean {
  return (
    width >= minWidth &&
    textsIn(row).length === 1 &&
    next.number === row.number + 1 &&
    textsIn(next).length * 2 > width
  );
}

/** Number of rows that fill each column. */
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
  const words = textsIn(row).filter((cell) => !isNumber(cell));
  return words.length === 1 && (totals.test(words[0]!) || counted.test(words[0]!));
}

/** A currency may stand in a column of its own. */
function isNumber(cell: string): boolean {
  return /^(?:[-−]?[\d.,\s'’]*\d\s*(€|EUR|CHF|%)?|€|EUR|CHF)$/i.test(cell);
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
