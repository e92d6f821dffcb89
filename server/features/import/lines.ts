// From a stream of bytes to numbered lines, holding no more than one chunk of them.
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Line {
  /** Beginning with 1; blank lines count, but are left out. */
  number: number;
  /** Undefined where the line is longer than a line may be. */
  bytes: Buffer | undefined;
}

/** What one transaction writes at most. */
export const maxChunkLines = 500;
const maxChunkBytes = 1024 * 1024;

/** A chunk holds the lines that have arrived by the next turn of the event loop. It never waits for more. */
export async function* readLines(input: Readable, maxLineBytes: number): AsyncGenerator<Line[]> {
  const splitter = buildSplitter(maxLineBytes);
  let chunk: Line[] = [];
  let chunkBytes = 0;
  // After an early end the caller still answers on the connection of the input.
  for await (const bytes of input.iterator({ destroyOnReturn: false })) {
    for (const line of splitter.split(bytes)) {
      chunk.push(line);
      chunkBytes += line.bytes?.length ?? 0;
      if (chunk.length === maxChunkLines || chunkBytes >= maxChunkBytes) {
        yield chunk;
        chunk = [];
        chunkBytes = 0;
      }
    }
    await nextTurn();
    if (chunk.length > 0 && input.readableLength === 0) {
      yield chunk;
      chunk = [];
      chunkBytes = 0;
    }
  }
  chunk.push(...splitter.end());
  if (chunk.length > 0) yield chunk;
}

const newline = 0x0a;
const byteOrderMark = Buffer.from('\ufeff');

function buildSplitter(maxLineBytes: number) {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function add(part: Buffer): void {
    length += part.length;
    if (length <= maxLineBytes) parts.push(part);
    else parts = [];
  }

  /** The line that its parts make, or none where it is blank. */
  function finish(): Line[] {
    number++;
    const isTooLong = length > maxLineBytes;
    let bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    parts = [];
    length = 0;
    if (isTooLong) return [{ number, bytes: undefined }];
    const isMarked = number === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    if (isMarked) bytes = bytes.subarray(byteOrderMark.length);
    return isBlank(bytes) ? [] : [{ number, bytes }];
  }

  /** Counts the blank lines that begin here, and returns where they end. Each byte costs one look. */
  function skipBlankLines(bytes: Buffer, start: number): number {
    if (length > 0) return start;
    let lineStart = start;
    for (let index = start; index < bytes.length && isBlankByte(bytes[index]!); index++) {
      if (index - lineStart > maxLineBytes) break;
      if (bytes[index] !== newline) continue;
      number++;
      lineStart = index + 1;
    }
    return lineStart;
  }

  return {
    *split(bytes: Buffer): Generator<Line> {
      let start = skipBlankLines(bytes, 0);
      for (let end = bytes.indexOf(newline, start); end >= 0; end = bytes.indexOf(newline, start)) {
        add(bytes.subarray(start, end));
        yield* finish();
        start = skipBlankLines(bytes, end + 1);
      }
      if (start < bytes.length) add(bytes.subarray(start));
    },
    /** The last line may lack its line break. */
    end: (): Line[] => (length > 0 ? finish() : []),
  };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every(isBlankByte);
}

function isBlankByte(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
