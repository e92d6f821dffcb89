// Rows of CSV as spreadsheets write them. A quotation mark within a cell, as in 5" pot, is no reason to refuse a file.
import type { Cell } from './cells.ts';

export const byteOrderMark = '\ufeff';

export interface CsvParser {
  /** The rows that end within this piece of text. */
  push(piece: string): Cell[][];
  /** The last row may lack its line break. */
  end(): Cell[][];
}

export function buildCsvParser(separator: string): CsvParser {
  let row: Cell[] = [];
  let cell = '';
  let isQuoting = false;
  let wasQuoted = false;
  /** What cannot be understood without the character after it. */
  let rest = '';

  function endCell(): void {
    row.push(cell === '' && !wasQuoted ? null : cell);
    cell = '';
    wasQuoted = false;
  }

  function endRow(rows: Cell[][]): void {
    endCell();
    rows.push(row);
    row = [];
  }

  function read(text: string, isEnd: boolean): Cell[][] {
    const rows: Cell[][] = [];
    const isBreak = (index: number) => text[index] === '\n' || text[index] === '\r';
    let index = 0;
    while (index < text.length) {
      // A quotation mark or a carriage return says what it means together with what follows.
      if (!isEnd && index === text.length - 1 && (text[index] === '"' || text[index] === '\r')) break;
      if (isQuoting) {
        const quote = text.indexOf('"', index);
        if (quote === -1) {
          cell += text.slice(index);
          index = text.length;
          continue;
        }
        cell += text.slice(index, quote);
        index = quote;
        if (!isEnd && quote === text.length - 1) break;
        if (text[quote + 1] === '"') {
          cell += '"';
          index = quote + 2;
          continue;
        }
        isQuoting = false;
        index = quote + 1;
        // What goes on after its last quotation mark was no quoted cell, and keeps its marks.
        if (index < text.length && text[index] !== separator && !isBreak(index)) cell = `"${cell}"`;
      } else if (text[index] === '"' && cell === '' && !wasQuoted) {
        isQuoting = true;
        wasQuoted = true;
        index += 1;
      } else if (text[index] === separator) {
        endCell();
        index += 1;
      } else if (isBreak(index)) {
        index += text[index] === '\r' && text[index + 1] === '\n' ? 2 : 1;
        endRow(rows);
      } else {
        let end = index + 1;
        while (end < text.length && text[end] !== separator && !isBreak(end)) end += 1;
        cell += text.slice(index, end);
        index = end;
      }
    }
    rest = text.slice(index);
    return rows;
  }

  return {
    push: (piece) => read(rest + piece, false),
    end() {
      const rows = read(rest, true);
      if (row.length > 0 || cell !== '' || wasQuoted) endRow(rows);
      return rows;
    },
  };
}

const separators = [';', ',', '\t'];

/** The one that stands most often between the titles. */
export function guessSeparator(head: string): string {
  const bare = head.split(/\r\n|\n|\r/, 1)[0]!.replace(/"(?:[^"]|"")*"/g, '');
  const counts = separators.map((separator) => bare.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
}

/** One line with its end. An empty text is written as "", no value as nothing, so that a reader can tell them apart. */
export function toCsvLine(cells: readonly Cell[], separator: string): string {
  return `${cells.map(quoteCell).join(separator)}\r\n`;
}

// Whichever separator the reader expects. Blanks at the ends too, since some readers trim what has no quotes.
const needsQuotes = /^$|[",;\t\r\n]|^\s|\s$/;

function quoteCell(cell: Cell): string {
  if (cell === null) return '';
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
