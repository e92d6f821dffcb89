// A CSV as people have it: from a German or an English spreadsheet, in any of the usual encodings and separators.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import type { Cell } from './csv-cells.ts';

/** What is wrong with the file as a whole, in a sentence. */
export class CsvError extends Error {}

export interface CsvFile {
  name: string;
  encoding: 'utf-8' | 'utf-16le' | 'windows-1252';
  separator: string;
  titles: string[];
}

export interface CsvRow {
  /** As a spreadsheet counts: the titles are row 1. */
  number: number;
  cells: Cell[];
}

const headBytes = 64 * 1024;
const separators = [';', ',', '\t'];

export async function inspectCsv(name: string): Promise<CsvFile> {
  const encoding = await findEncoding(name);
  const file = await open(name);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(headBytes) });
  await file.close();
  const head = new TextDecoder(encoding).decode(buffer.subarray(0, bytesRead));
  const separator = guessSeparator(head.split(/\r\n|\n|\r/, 1)[0]!);
  const described = { name, encoding, separator, titles: [] };
  for await (const { cells } of readRows(described)) {
    return { ...described, titles: cells.map((cell) => (cell ?? '').trim()) };
  }
  throw new CsvError(`${name} is empty. The first row must hold the titles of the columns.`);
}

/** The one that stands most often between the titles. */
function guessSeparator(line: string): string {
  const bare = line.replace(/"(?:[^"]|"")*"/g, '');
  const counts = separators.map((separator) => bare.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
}

/** What is no valid UTF-8 was written by an older Windows program. */
async function findEncoding(name: string): Promise<CsvFile['encoding']> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  for await (const bytes of createReadStream(name) as AsyncIterable<Buffer>) {
    if (isFirst && bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
    isFirst = false;
    try {
      decoder.decode(bytes, { stream: true });
    } catch {
      return 'windows-1252';
    }
  }
  return 'utf-8';
}

/** All rows, the titles included. `onBytes` is told how much of the file has been read. */
export async function* readRows(
  file: Pick<CsvFile, 'name' | 'encoding' | 'separator'>,
  onBytes: (bytes: number) => void = () => {},
): AsyncGenerator<CsvRow> {
  async function* decoded(): AsyncGenerator<string> {
    const decoder = new TextDecoder(file.encoding);
    const input = createReadStream(file.name);
    for await (const bytes of input as AsyncIterable<Buffer>) {
      onBytes(input.bytesRead);
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  }
  const parser = parse({
    delimiter: file.separator,
    // A quotation mark within a cell, as in 5" pot, is no reason to refuse the file.
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: 10 * 1024 * 1024,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  });
  // Whatever fails on the way reaches whoever reads the rows.
  const rows = pipeline(decoded, parser, () => {});
  let number = 0;
  try {
    for await (const cells of rows as AsyncIterable<Cell[]>) {
      number++;
      yield { number, cells };
    }
  } catch (error) {
    throw new CsvError(`${file.name} cannot be read after row ${number}: ${(error as Error).message}`);
  }
}
