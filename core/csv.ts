// Rows of CSV as spreadsheets write them. A quotation mark within a cell, as in 5" pot, is no reason to refuse a file.

/** Null is a cell without a value; an empty text has quotes. */
export type Cell = string | null;

export const separators = [';', ',', '\t'] as const;
export type Separator = (typeof separators)[number];

export const byteOrderMark = '\ufeff';

/** Why rows cannot be told apart. */
export type CsvErrorCode = 'open_quote' | 'row_too_long';

export class CsvFormatError extends Error {
  readonly code: CsvErrorCode;
  constructor(code: CsvErrorCode) {
    super(code);
    this.code = code;
  }
}

/** Characters of a row. A quotation mark that is never closed would otherwise keep the rest of the file in memory. */
const maxRowLength = 10 * 1024 * 1024;

export interface CsvParser {
  /** The rows that end within this piece of text. Throws where the row before it has grown too long. */
  push(piece: string): Cell[][];
  /** The last row may lack its line break. Throws where a quotation mark is still open. */
  end(): Cell[][];
}

export function buildCsvParser(separator: Separator): CsvParser {
  let row: Cell[] = [];
  /** Characters of the row that has not ended yet. */
  let rowLength = 0;
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
    rowLength = 0;
  }

  function read(text: string, isEnd: boolean): Cell[][] {
    if (rowLength > maxRowLength) throw new CsvFormatError('row_too_long');
    const rows: Cell[][] = [];
    let rowStart = 0;
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
        rowStart = index;
      } else {
        let end = index + 1;
        while (end < text.length && text[end] !== separator && !isBreak(end)) end += 1;
        cell += text.slice(index, end);
        index = end;
      }
    }
    rest = text.slice(index);
    rowLength += index - rowStart;
    return rows;
  }

  return {
    push: (piece) => read(rest + piece, false),
    end() {
      const rows = read(rest, true);
      if (isQuoting) throw new CsvFormatError('open_quote');
      if (row.length > 0 || cell !== '' || wasQuoted) endRow(rows);
      return rows;
    },
  };
}

/** The one that stands most often between the titles. */
export function guessSeparator(head: string): Separator {
  const bare = head.split(/\r\n|\n|\r/, 1)[0]!.replace(/"(?:[^"]|"")*"/g, '');
  const counts = separators.map((separator) => bare.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
}

/** One line with its end. An empty text is written as "", no value as nothing: a reader can tell them apart. */
export function toCsvLine(cells: readonly Cell[], separator: Separator): string {
  return `${cells.map(quoteCell).join(separator)}\r\n`;
}

// Any separator, since a spreadsheet may expect another than the file has; blanks at the ends, since some readers trim them.
const needsQuotes = /^$|[",;\t\r\n]|^\s|\s$/;

function quoteCell(cell: Cell): string {
  if (cell === null) return '';
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

// A formula can begin where any spreadsheet begins a cell: a German one reads a;=b as two cells, also in a file with commas.
// The full-width forms count too: a spreadsheet in an East Asian language takes them for the plain ones.
const formulaStart = /(?<=^|[,;\t\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guardedStart = /(?<=^|[,;\t\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

/**
 * An apostrophe keeps a text that a spreadsheet would take for a formula a text. One that already has apostrophes there
 * gets another, or reading would take away one that belongs to it.
 */
export function guardText(text: string): string {
  return text.replace(formulaStart, "'");
}

/** Takes away what `guardText` put there, and nothing else: "'t Hoekje" keeps its apostrophe. */
export function unguardText(cell: string): string {
  return cell.replace(guardedStart, '');
}
