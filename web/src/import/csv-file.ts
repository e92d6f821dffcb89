// A CSV file as people have it: from a German or an English spreadsheet, in any of the usual encodings and separators.
import type { Cell } from './cells.ts';
import { buildCsvParser, guessSeparator } from './csv.ts';

export interface CsvFile {
  encoding: 'utf-8' | 'utf-16le' | 'windows-1252';
  separator: string;
  titles: string[];
  /** Rows that hold something, without the titles. */
  rowCount: number;
  /** The first of them. */
  head: CsvRow[];
}

export interface CsvRow {
  /** As a spreadsheet counts: the titles are row 1. */
  number: number;
  cells: Cell[];
}

/** What is wrong with the file as a whole. */
export type FileFault = 'empty' | 'spreadsheet' | 'binary';

export class CsvFileError extends Error {
  readonly fault: FileFault;
  constructor(fault: FileFault) {
    super(fault);
    this.fault = fault;
  }
}

const headBytes = 64 * 1024;
export const headRows = 20;

/** Reads the whole file once: whether it is UTF-8, and how many rows it has, is known only then. */
export async function inspectFile(file: Blob): Promise<CsvFile> {
  const start = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  // Workbooks of today are ZIP archives, older ones have the mark of an OLE document.
  if ((start[0] === 0x50 && start[1] === 0x4b) || (start[0] === 0xd0 && start[1] === 0xcf)) {
    throw new CsvFileError('spreadsheet');
  }
  const encoding = await findEncoding(file, start);
  if (encoding !== 'utf-16le' && start.includes(0)) throw new CsvFileError('binary');
  const separator = guessSeparator(new TextDecoder(encoding).decode(start));
  let titles: string[] | undefined;
  let rowCount = 0;
  const head: CsvRow[] = [];
  for await (const rows of readRows(file, { encoding, separator })) {
    for (const row of rows) {
      if (titles === undefined) titles = row.cells.map((cell) => (cell ?? '').trim());
      else if (isFilled(row)) {
        rowCount += 1;
        if (head.length < headRows) head.push(row);
      }
    }
  }
  if (!titles?.some((title) => title !== '')) throw new CsvFileError('empty');
  return { encoding, separator, titles, rowCount, head };
}

/** Spreadsheets have rows that hold nothing at their end. */
export function isFilled({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell !== null && cell.trim() !== '');
}

/** What is no valid UTF-8 was written by an older Windows program. */
async function findEncoding(file: Blob, start: Uint8Array): Promise<CsvFile['encoding']> {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of readBytes(file)) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return 'utf-8';
  } catch (error) {
    // A file that cannot be read any more is another matter.
    if (error instanceof TypeError) return 'windows-1252';
    throw error;
  }
}

/** All rows, the titles included, as many at a time as a piece of the file holds. */
export async function* readRows(
  file: Blob,
  { encoding, separator }: Pick<CsvFile, 'encoding' | 'separator'>,
): AsyncGenerator<CsvRow[]> {
  const decoder = new TextDecoder(encoding);
  const parser = buildCsvParser(separator);
  let number = 0;
  const numbered = (rows: Cell[][]) =>
    rows.map((cells): CsvRow => {
      number += 1;
      return { number, cells };
    });
  for await (const bytes of readBytes(file))
    yield numbered(parser.push(decoder.decode(bytes, { stream: true })));
  yield numbered(parser.push(decoder.decode()));
  yield numbered(parser.end());
}

async function* readBytes(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
