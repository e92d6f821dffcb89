// A CSV file on this machine.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import {
  type CsvErrorCode,
  CsvFormatError,
  guessSeparator,
  type Separator,
} from '../../../../core/table/csv/csv.ts';
import { type CsvRow, type Encoding, findEncoding, readRows } from '../../../../core/table/csv/csv-file.ts';

/** The error of the file as a whole, in a sentence. */
export class CsvError extends Error {}

export interface CsvFile {
  name: string;
  encoding: Encoding;
  separator: Separator;
}

const headBytes = 64 * 1024;

export async function inspectCsv(name: string): Promise<CsvFile> {
  const encoding = await findEncoding(readBytes(name));
  const file = await open(name);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(headBytes) });
  await file.close();
  const head = new TextDecoder(encoding).decode(buffer.subarray(0, bytesRead));
  return { name, encoding, separator: guessSeparator(head) };
}

function readBytes(name: string): AsyncIterable<Buffer<ArrayBuffer>> {
  return createReadStream(name);
}

const reasons: Record<CsvErrorCode, string> = {
  open_quote: 'a quotation mark is never closed.',
  row_too_long: 'the next row is too long. Perhaps a quotation mark is never closed.',
};

/** All rows, the titles included, a piece of the file at a time. `onBytes` learns how much of the file has been read. */
export async function* readFileRows(
  file: CsvFile,
  onBytes: (bytes: number) => void = () => {},
): AsyncGenerator<CsvRow[]> {
  const input = createReadStream(file.name);
  let last = 0;
  try {
    for await (const rows of readRows(input, file)) {
      onBytes(input.bytesRead);
      last = rows.at(-1)?.number ?? last;
      yield rows;
    }
  } catch (error) {
    const reason = error instanceof CsvFormatError ? reasons[error.code] : (error as Error).message;
    throw new CsvError(`${file.name} cannot be read after row ${last}: ${reason}`);
  }
}
