// Decodes CSV files of German and English spreadsheets in the usual encodings.
import { buildCsvParser, type Cell, type Separator } from './csv.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface CsvRow {
  /** Number of the row as a spreadsheet counts: the titles are row 1. */
  number: number;
  cells: Cell[];
}

type Bytes = AsyncIterable<Uint8Array<ArrayBuffer>>;

/** Reads all bytes: a file that is not valid UTF-8 is Windows-1252. */
export async function findEncoding(bytes: Bytes): Promise<Encoding> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  for await (const piece of bytes) {
    if (isFirst && piece[0] === 0xff && piece[1] === 0xfe) return 'utf-16le';
    if (isFirst && piece[0] === 0xfe && piece[1] === 0xff) return 'utf-16be';
    isFirst = false;
    if (!isDecodable(() => decoder.decode(piece, { stream: true }))) return 'windows-1252';
  }
  return isDecodable(() => decoder.decode()) ? 'utf-8' : 'windows-1252';
}

function isDecodable(decode: () => string): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}

/** All rows including the titles, in one batch per piece of the file. */
export async function* readRows(
  bytes: Bytes,
  { encoding, separator }: { encoding: Encoding; separator: Separator },
): AsyncGenerator<CsvRow[]> {
  const decoder = new TextDecoder(encoding);
  const parser = buildCsvParser(separator);
  let number = 0;
  const numbered = (rows: Cell[][]) =>
    rows.map((cells): CsvRow => {
      number += 1;
      return { number, cells };
    });
  for await (const piece of bytes) yield numbered(parser.push(decoder.decode(piece, { stream: true })));
  yield numbered(parser.push(decoder.decode()));
  yield numbered(parser.end());
}
