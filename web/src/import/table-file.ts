// A table that a person chose in the browser: a CSV file, a sheet of a workbook, or pasted cells.
import { type ThousandsMark, thousandsMarkOf } from '../../../core/cells.ts';
import { type CsvErrorCode, guessSeparator, type Separator } from '../../../core/csv.ts';
import { type CsvRow, type Encoding, findEncoding, readRows } from '../../../core/csv-file.ts';
import { isWorkbook, readWorkbook, type Sheet, WorkbookTooLarge } from './workbook.ts';

export interface TableFile {
  /** Missing for a sheet of a workbook. */
  encoding?: Encoding;
  /** Of the file, and of the report on it. */
  separator: Separator;
  /** Numbers of a workbook are typed, so a single mark in a text is a decimal mark. */
  thousandsMark: ThousandsMark | undefined;
  /** Names of the workbook's sheets, and the chosen one. */
  sheets?: string[];
  sheet?: string;
  titles: string[];
  /** The row that holds the titles: the first that is not empty. */
  titleRow: number;
  /** Rows that hold something, without the titles. */
  rowCount: number;
  /** The first of them. */
  head: CsvRow[];
}

/** A file with a way to read its rows, as often as needed. */
export interface OpenTable {
  table: TableFile;
  readRows: () => AsyncIterable<CsvRow[]>;
  /** Another sheet of the same workbook. */
  chooseSheet?: (name: string) => Promise<OpenTable>;
}

/** What is wrong with the file as a whole. */
export type FileErrorCode = 'empty' | 'oldWorkbook' | 'tooLarge' | 'binary' | CsvErrorCode;

export class TableFileError extends Error {
  readonly code: FileErrorCode;
  constructor(code: FileErrorCode) {
    super(code);
    this.code = code;
  }
}

const headBytes = 64 * 1024;
export const headRows = 20;

/** Pasted cells have the number format of the person who copied them. */
export async function openTable(file: Blob, pastedMark?: ThousandsMark): Promise<OpenTable> {
  const start = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  if (isWorkbook(start)) return openWorkbook(file);
  // The mark of an OLE document: workbooks before 2007, and encrypted ones.
  if (start[0] === 0xd0 && start[1] === 0xcf) throw new TableFileError('oldWorkbook');
  const encoding = await findEncoding(readBytes(file));
  if (encoding !== 'utf-16le' && start.includes(0)) throw new TableFileError('binary');
  const separator = guessSeparator(new TextDecoder(encoding).decode(start));
  const read = () => readRows(readBytes(file), { encoding, separator });
  const table = {
    encoding,
    separator,
    thousandsMark: pastedMark ?? thousandsMarkOf(separator),
    ...(await inspectRows(read())),
  };
  return { table, readRows: read };
}

async function openWorkbook(file: Blob): Promise<OpenTable> {
  const sheets = await readWorkbook(file).catch((error) => {
    throw error instanceof WorkbookTooLarge ? new TableFileError('tooLarge') : error;
  });
  const names = sheets.map(({ name }) => name);
  async function openSheet({ name, rows }: Sheet): Promise<OpenTable> {
    const read = async function* () {
      yield rows;
    };
    const table: TableFile = {
      separator: ';',
      thousandsMark: undefined,
      sheets: names,
      sheet: name,
      ...(await inspectRows(read())),
    };
    return {
      table,
      readRows: read,
      chooseSheet: (other) => openSheet(sheets.find((sheet) => sheet.name === other)!),
    };
  }
  if (!sheets[0]) throw new TableFileError('empty');
  return openSheet(sheets[0]);
}

/** Reads all rows once: their number is known only then. */
async function inspectRows(
  batches: AsyncIterable<CsvRow[]>,
): Promise<Pick<TableFile, 'titles' | 'titleRow' | 'rowCount' | 'head'>> {
  let titles: string[] | undefined;
  let titleRow = 0;
  let rowCount = 0;
  const head: CsvRow[] = [];
  for await (const rows of batches) {
    for (const row of rows) {
      if (!isFilled(row)) continue;
      if (titles === undefined) {
        titles = row.cells.map((cell) => (cell ?? '').trim());
        titleRow = row.number;
        continue;
      }
      rowCount += 1;
      if (head.length < headRows) head.push(row);
    }
  }
  if (titles === undefined) throw new TableFileError('empty');
  return { titles, titleRow, rowCount, head };
}

/** Spreadsheets have rows that hold nothing at their end. */
export function isFilled({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell !== null && cell.trim() !== '');
}

async function* readBytes(file: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
