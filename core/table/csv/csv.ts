// Reads and writes CSV as spreadsheets do. Accepts a quotation mark within a cell, as in 5" pot.

/** Null is a cell without a value; an empty text has quotes. */
export type Cell = string | null;

export const separators = [';', ',', '\t'] as const;
export type Separator = (typeof separators)[number];

export const byteOrderMark = '\ufeff';

/** Why a file cannot be split into rows. */
export type CsvErrorCode = 'open_quote' | 'row_too_long';

export class CsvFormatError extends Error {
  readonly code: CsvErrorCode;
  constructor(code: CsvErrorCode) {
    super(code);
    this.code = code;
  }
}

/** Longest row in characters. An unclosed quotation mark would otherwise keep the rest of the file in memory. */
const maxRowLength = 10 * 1024 * 1024;

export interface CsvParser {
  /** Rows that end within this piece of text. Throws if a row is too long. */
  push(piece: string): Cell[][];
  /** The last row may lack its line break. Throws if a quotation mark is still open. */
  end(): Cell[][];
}

export function buildCsvParser(separator: Separator): CsvParser {
  let row: Cell[] = [];
  /** Characters of the row that has not ended yet. */
  let rowLength = 0;
  let cell = '';
  let isQuoting = false;
  let wasQuoted = false;
  /** Characters whose meaning depends on the next one. */
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
      // The meaning of a quotation mark or carriage return depends on the next character.
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
        // Text after the closing mark: the cell was not quoted and keeps its marks.
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

/** Rows that decide: a heading above the titles has other characters. */
const guessedRows = 20;

/** The separator that splits most of the first rows into the same number of columns. */
export function guessSeparator(head: string): Separator {
  const rows = head
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|\n|\r/, guessedRows)
    .filter((row) => row.trim() !== '');
  const splits = separators.map((separator) => {
    const columns = rows.map((row) => row.split(separator).length);
    const alike = columns.map((count) => (count > 1 ? columns.filter((other) => other === count).length : 0));
    const most = Math.max(0, ...alike);
    return { separator, rows: most, columns: columns[alike.indexOf(most)] ?? 1 };
  });
  return splits.toSorted((one, other) => other.rows - one.rows || other.columns - one.columns)[0]!.separator;
}

/** Writes one line with its end. An empty text is "", and a missing value is nothing: they stay distinct. */
export function toCsvLine(cells: readonly Cell[], separator: Separator): string {
  return `${cells.map(quoteCell).join(separator)}\r\n`;
}

// Quote cells with any separator, because spreadsheets differ, and with outer blanks, because some readers trim them.
const needsQuotes = /^$|[",;\t\r\n]|^\s|\s$/;

function quoteCell(cell: Cell): string {
  if (cell === null) return '';
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

// A formula can begin where any spreadsheet begins a cell: a German one reads a;=b as two cells. The full-width forms count
// too: a spreadsheet in an East Asian language takes them for the plain ones.
const formulaStart = /(?<=^|[,;\t\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n]|'+\d)/g;
const guardedStart = /(?<=^|[,;\t\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n]|'*\d)/g;
/** Programs write ="01067" to keep the zero from a spreadsheet. */
const textFormula = /^="((?:[^"]|"")*)"$/;

/**
 * Prefixes a text that a spreadsheet would read as a formula with an apostrophe. A text that already has apostrophes there
 * gets one more, because reading removes one.
 */
export function guardText(text: string): string {
  return text.replace(formulaStart, "'");
}

/** Reverts `guardText`: "'t Hoekje" keeps its apostrophe, "'0351" was a number that must keep its zero. */
export function unguardText(cell: string): string {
  const [, text] = textFormula.exec(cell) ?? [];
  return text === undefined ? cell.replace(guardedStart, '') : text.replaceAll('""', '"');
}
