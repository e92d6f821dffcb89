// A CSV file that somebody chose in the browser.
import { type CsvErrorCode, guessSeparator, type Separator } from '../../../core/csv.ts';
import { type CsvRow, type Encoding, findEncoding, readRows } from '../../../core/csv-file.ts';

export interface CsvFile {
  encoding: Encoding;
  separator: Separator;
  titles: string[];
  /** Rows that hold something, without the titles. */
  rowCount: number;
  /** The first of them. */
  head: CsvRow[];
}

/** What is wrong with the file as a whole. */
export type FileErrorCode = 'empty' | 'spreadsheet' | 'binary' | CsvErrorCode;

export class CsvFileError extends Error {
  readonly code: FileErrorCode;
  constructor(code: FileErrorCode) {
    super(code);
    this.code = code;
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
  const encoding = await findEncoding(readBytes(file));
  if (encoding !== 'utf-16le' && start.includes(0)) throw new CsvFileError('binary');
  const separator = guessSeparator(new TextDecoder(encoding).decode(start));
  let titles: string[] | undefined;
  let rowCount = 0;
  const head: CsvRow[] = [];
  for await (const rows of readFileRows(file, { encoding, separator })) {
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

export function readFileRows(
  file: Blob,
  format: Pick<CsvFile, 'encoding' | 'separator'>,
): AsyncGenerator<CsvRow[]> {
  return readRows(readBytes(file), format);
}

async function* readBytes(file: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
