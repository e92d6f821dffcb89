// Reads the sheets of an .xlsx workbook as rows of cells, like those of a CSV file.
import { type Unzipped, unzipSync, zipSync } from 'fflate';
import readSheets from 'read-excel-file/universal';
import { type Cell, guardText } from './csv/csv.ts';
import type { CsvRow } from './csv/csv-file.ts';
import { completeCells, countCells, findNumberStyles, keepTables, writeShown } from './workbook-parts.ts';

export interface Sheet {
  name: string;
  isHidden: boolean;
  rows: CsvRow[];
}

/** A workbook that unpacks to more is refused before it is unpacked. */
const maxUnpackedBytes = 50 * 1024 * 1024;
const maxParts = 2000;
/** Limit for all sheets together: the library fills gaps between cells, so one distant cell would take all memory. */
const maxCells = 5_000_000;
/** Limit between two tags. Excel's longest text has 32,767 characters; the library takes minutes for a megabyte. */
const maxTextBytes = 256 * 1024;

export class WorkbookTooLarge extends Error {}

export function isWorkbook(start: Uint8Array): boolean {
  return start[0] === 0x50 && start[1] === 0x4b;
}

/** All sheets, in the order of the workbook. */
export async function readWorkbook(file: Blob): Promise<Sheet[]> {
  const parts = unpack(new Uint8Array(await file.arrayBuffer()));
  const hidden = keepTables(parts);
  // Pack again without compression: the library would unpack large parts in workers, which the page's policy forbids.
  const stored = zipSync(parts, { level: 0 }).buffer as ArrayBuffer;
  const sheets = await readSheets<TypedNumber>(stored, {
    trim: false,
    parseNumber: (text) => new TypedNumber(text),
  });
  return sheets.map(({ sheet, data }, place) => ({
    name: sheet,
    isHidden: hidden[place] ?? false,
    rows: data.map((cells, index): CsvRow => ({ number: index + 1, cells: cells.map(toCell) })),
  }));
}

function unpack(bytes: Uint8Array): Unzipped {
  let unpackedBytes = 0;
  let count = 0;
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      const isNeeded = name.endsWith('.xml') || name.endsWith('.xml.rels');
      if (!isNeeded) return false;
      unpackedBytes += originalSize;
      count += 1;
      if (unpackedBytes > maxUnpackedBytes || count > maxParts) throw new WorkbookTooLarge();
      return true;
    },
  });
  const styles = findNumberStyles(parts);
  let cells = 0;
  for (const [name, part] of Object.entries(parts)) {
    if (hasLongText(part)) throw new WorkbookTooLarge();
    if (!name.includes('worksheets/')) continue;
    const sheet = new TextDecoder().decode(part);
    const placed = completeCells(sheet);
    cells += countCells(placed);
    if (cells > maxCells) throw new WorkbookTooLarge();
    const complete = writeShown(placed, styles);
    if (complete !== sheet) parts[name] = new TextEncoder().encode(complete);
  }
  return parts;
}

function hasLongText(part: Uint8Array): boolean {
  for (let start = 0; start < part.length; ) {
    const tag = part.indexOf(60, start);
    const end = tag === -1 ? part.length : tag;
    if (end - start > maxTextBytes) return true;
    start = end + 1;
  }
  return false;
}

class TypedNumber {
  readonly text: string;
  constructor(text: string) {
    // Excel calculates with 15 digits; the file may hold the noise behind them.
    this.text = String(Number(Number(text).toPrecision(15)));
  }
}

/** Returns the cell as a CSV would hold it. Only a text can be mistaken for a guarded formula. */
function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (value instanceof TypedNumber) return value.text;
  if (value instanceof Date) return toDayOrTime(value);
  return typeof value === 'string' ? guardText(decode(value)) : String(value);
}

/** Excel writes characters that XML forbids or changes as _x000D_. */
function decode(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

const dayZero = Date.UTC(1899, 11, 31);

function toDayOrTime(moment: Date): string {
  if (Number.isNaN(moment.getTime())) return '';
  const [day = '', time = ''] = new Date(Math.round(moment.getTime() / 1000) * 1000).toISOString().split('T');
  if (moment.getTime() < dayZero + 86_400_000) return time.slice(0, 5);
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 5)}`;
}
