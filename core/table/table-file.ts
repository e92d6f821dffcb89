// A table that a person chose in the browser: a CSV file, a sheet of a workbook, or pasted cells.
import { isYes, type ThousandsMark, thousandsMarkOf } from './cells.ts';
import { foldTitle } from './columns.ts';
import { type Cell, type CsvErrorCode, guessSeparator, type Separator } from './csv/csv.ts';
import { type CsvRow, type Encoding, findEncoding, readRows } from './csv/csv-file.ts';
import { buildRowSorter, filledIn, isFilled, type LeftOutRows } from './table-rows.ts';
import { isWorkbook, readWorkbook, type Sheet, WorkbookTooLarge } from './workbook.ts';

export interface TableFile {
  /** Missing for a sheet of a workbook. */
  encoding?: Encoding;
  /** Separator of the file, and of the report on it. */
  separator: Separator;
  /** Numbers of a workbook are typed, so a single mark in a text is a decimal mark. */
  thousandsMark: ThousandsMark | undefined;
  /** Names of the workbook's sheets, and the chosen one. */
  sheets?: string[];
  sheet?: string;
  titles: string[];
  /** The row that holds the titles. The rows before it are a heading or empty. Zero if there are none. */
  titleRow: number;
  /** The first rows that hold something: a person can say which of them has the titles. */
  firstRows: CsvRow[];
  /** Marks the columns in which a filled cell means yes and an empty one means no. */
  onlyYes: boolean[];
  /** Rows that hold something, without the titles. */
  rowCount: number;
  /** The first of these rows. */
  head: CsvRow[];
  leftOut: LeftOutRows;
}

/** A file with a way to read its rows, as often as needed. */
export interface OpenTable {
  table: TableFile;
  readRows: () => AsyncIterable<CsvRow[]>;
  /** Opens another sheet of the same workbook. */
  chooseSheet?: (name: string) => Promise<OpenTable>;
  /** Opens the same rows with the titles in another row, or with none (zero). */
  chooseTitleRow: (titleRow: number) => Promise<OpenTable>;
}

/** The error of the file as a whole. */
export type FileErrorCode = 'empty' | 'oldWorkbook' | 'tooLarge' | 'binary' | CsvErrorCode;

export class TableFileError extends Error {
  readonly code: FileErrorCode;
  constructor(code: FileErrorCode) {
    super(code);
    this.code = code;
  }
}

const headBytes = 64 * 1024;
const headRows = 20;

interface Reading {
  /** Pasted cells have the number format of the person who copied them. */
  pastedMark?: ThousandsMark;
  /** Folded titles of all columns that an import takes: these tell the row of titles from a heading above it. */
  knownTitles?: ReadonlySet<string>;
}

export async function openTable(file: Blob, { pastedMark, knownTitles }: Reading = {}): Promise<OpenTable> {
  const start = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  if (isWorkbook(start)) return openWorkbook(file, knownTitles);
  // The mark of an OLE document: workbooks before 2007, and encrypted ones.
  if (start[0] === 0xd0 && start[1] === 0xcf) throw new TableFileError('oldWorkbook');
  const encoding = await findEncoding(readBytes(file));
  if (!encoding.startsWith('utf-16') && start.includes(0)) throw new TableFileError('binary');
  const separator = guessSeparator(new TextDecoder(encoding).decode(start));
  const read = () => readRows(readBytes(file), { encoding, separator });
  return openCsv(read, { encoding, separator }, { pastedMark, knownTitles });
}

/** Opens a CSV whose rows are read elsewhere. */
export async function openCsv(
  read: () => AsyncIterable<CsvRow[]>,
  { encoding, separator }: { encoding: Encoding; separator: Separator },
  { pastedMark, knownTitles }: Reading = {},
): Promise<OpenTable> {
  const format = { encoding, separator, thousandsMark: pastedMark ?? thousandsMarkOf(separator) };
  return openRows(read, format, await findTitles(read(), knownTitles));
}

/** Takes the titles from the row where they were found, or from a person's choice. */
async function openRows(
  read: () => AsyncIterable<CsvRow[]>,
  format: Pick<TableFile, 'encoding' | 'separator' | 'thousandsMark' | 'sheets' | 'sheet'>,
  { titleRow, firstRows }: Pick<FoundTitles, 'titleRow' | 'firstRows'>,
): Promise<OpenTable> {
  const table = {
    ...format,
    titleRow,
    firstRows,
    ...(await inspectRows(read(), titleRow)),
  };
  return {
    table,
    readRows: read,
    chooseTitleRow: (chosen) => openRows(read, format, { titleRow: chosen, firstRows }),
  };
}

async function openWorkbook(file: Blob, knownTitles?: ReadonlySet<string>): Promise<OpenTable> {
  const all = await readWorkbook(file).catch((error) => {
    throw error instanceof WorkbookTooLarge ? new TableFileError('tooLarge') : error;
  });
  const sheets = all.filter(({ rows }) => rows.some(isFilled));
  const names = sheets.map(({ name }) => name);
  const read = ({ rows }: Sheet) =>
    async function* () {
      yield rows;
    };
  const found = await Promise.all(
    sheets.map(async (sheet) => ({ sheet, ...(await findTitles(read(sheet)(), knownTitles)) })),
  );
  async function openSheet({ sheet, ...titles }: (typeof found)[number]): Promise<OpenTable> {
    const format = { separator: ';', thousandsMark: undefined, sheets: names, sheet: sheet.name } as const;
    const opened = await openRows(read(sheet), format, titles);
    return { ...opened, chooseSheet: (other) => openSheet(found[names.indexOf(other)]!) };
  }
  // A workbook may begin with a cover sheet. A hidden sheet is often an old state or a list of choices.
  const best = found.toSorted(
    (one, other) =>
      Number(one.sheet.isHidden) - Number(other.sheet.isHidden) || other.knownCount - one.knownCount,
  )[0];
  if (!best) throw new TableFileError('empty');
  return openSheet(best);
}

interface FoundTitles {
  titleRow: number;
  firstRows: CsvRow[];
  /** Number of titles that an import knows. */
  knownCount: number;
}

/** The first row with most known titles. A file without any has its titles in the first row that is not a lone heading. */
async function findTitles(
  batches: AsyncIterable<CsvRow[]>,
  knownTitles: ReadonlySet<string> = new Set(),
): Promise<FoundTitles> {
  const firstRows: CsvRow[] = [];
  for await (const rows of batches) {
    firstRows.push(...rows.filter(isFilled).slice(0, headRows - firstRows.length));
    if (firstRows.length === headRows) break;
  }
  if (!firstRows[0]) throw new TableFileError('empty');
  const counted = firstRows.map((row, index) => ({
    row,
    known: new Set(titlesIn(row, firstRows[index - 1]).map(foldTitle)).intersection(knownTitles).size,
  }));
  const best = counted.toSorted((one, other) => other.known - one.known)[0]!;
  const first = firstRows.find((row) => filledCells(row).length > 1) ?? firstRows[0];
  return { titleRow: (best.known > 1 ? best.row : first).number, firstRows, knownCount: best.known };
}

/** A merged head can have the title of a column in the row above. */
function titlesIn({ number, cells }: CsvRow, above?: CsvRow): string[] {
  const upper = above?.number === number - 1 ? above.cells : [];
  return cells.map((cell, index) => toTitle(cell) || toTitle(upper[index] ?? null));
}

function filledCells({ cells }: CsvRow): string[] {
  return cells.map(toTitle).filter(Boolean);
}

/** Reads all rows once: their number is known only then. */
async function inspectRows(
  batches: AsyncIterable<CsvRow[]>,
  titleRow: number,
): Promise<Pick<TableFile, 'titles' | 'onlyYes' | 'rowCount' | 'head' | 'leftOut'>> {
  const saysElse: boolean[] = [];
  let titles: string[] = [];
  let above: CsvRow | undefined;
  let width = 0;
  let rowCount = 0;
  const head: CsvRow[] = [];
  const rowsToTitles: CsvRow[] = [];
  let sorter: ReturnType<typeof buildRowSorter> | undefined;
  const take = (row: CsvRow) => {
    rowCount += 1;
    width = Math.max(width, row.cells.length);
    if (head.length < headRows) head.push(row);
    for (const index of filledIn(row)) saysElse[index] ||= !isYes(toTitle(row.cells[index]!));
  };
  for await (const rows of batches) {
    for (const row of rows) {
      if (row.number === titleRow) titles = titlesIn(row, above);
      above = row;
      if (row.number <= titleRow) {
        if (isFilled(row)) rowsToTitles.push(row);
        continue;
      }
      sorter ??= buildRowSorter(rowsToTitles);
      const data = sorter.push(row);
      if (data) take(data);
    }
  }
  sorter ??= buildRowSorter(rowsToTitles);
  for (const row of sorter.end()) take(row);
  if (titleRow === 0) titles = Array.from({ length: width }, () => '');
  return {
    titles,
    onlyYes: titles.map((_, index) => saysElse[index] === false),
    rowCount,
    head,
    leftOut: sorter.leftOut,
  };
}

function toTitle(cell: Cell): string {
  return (cell ?? '').trim();
}

async function* readBytes(file: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
