// A ZIP archive as a stream: parts are compressed as they come, and their sizes follow them.
import { once } from 'node:events';
import { crc32, createDeflateRaw } from 'node:zlib';

export interface ZipPart {
  name: string;
  content: AsyncIterable<string> | Iterable<string>;
}

interface Written {
  name: Buffer;
  crc: number;
  size: number;
  packedSize: number;
  offset: number;
}

/** Sizes are unknown beforehand, and names are UTF-8. */
const flags = 0x0808;
const deflated = 8;
/** 1980-01-01, the first day of the format: the archive says nothing about its making. */
const day = 0x0021;
const maxSize = 0xffffffff;

export async function* zip(parts: AsyncIterable<ZipPart> | Iterable<ZipPart>): AsyncGenerator<Buffer> {
  const directory: Written[] = [];
  let offset = 0;
  for await (const { name, content } of parts) {
    const part: Written = { name: Buffer.from(name), crc: 0, size: 0, packedSize: 0, offset };
    const head = Buffer.concat([
      fields([0x04034b50], [20, flags, deflated, 0, day], [0, 0, 0], [part.name.length, 0]),
      part.name,
    ]);
    yield head;
    for await (const piece of pack(measured(content, part))) {
      part.packedSize += piece.length;
      yield piece;
    }
    yield fields([0x08074b50, part.crc, part.packedSize, part.size]);
    offset += head.length + part.packedSize + 16;
    if (offset > maxSize || part.size > maxSize)
      throw new Error('The workbook is larger than its format allows.');
    directory.push(part);
  }
  const entries = directory.map((part) =>
    Buffer.concat([
      fields(
        [0x02014b50],
        [20, 20, flags, deflated, 0, day],
        [part.crc, part.packedSize, part.size],
        [part.name.length, 0, 0, 0, 0],
        [0, part.offset],
      ),
      part.name,
    ]),
  );
  const length = entries.reduce((sum, entry) => sum + entry.length, 0);
  yield Buffer.concat([
    ...entries,
    fields([0x06054b50], [0, 0, entries.length, entries.length], [length, offset], [0]),
  ]);
}

async function* measured(content: ZipPart['content'], part: Written): AsyncGenerator<Buffer> {
  for await (const text of content) {
    const bytes = Buffer.from(text);
    part.crc = crc32(bytes, part.crc);
    part.size += bytes.length;
    yield bytes;
  }
}

/** Unlike a pipeline it packs nothing before somebody asks for it: an export waits for its turn. */
async function* pack(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw();
  const packed: Buffer[] = [];
  deflate.on('data', (piece: Buffer) => packed.push(piece));
  try {
    for await (const bytes of content) {
      await new Promise((resolve) => deflate.write(bytes, resolve));
      yield* packed.splice(0);
    }
    const isDone = once(deflate, 'end');
    deflate.end();
    await isDone;
    yield* packed;
  } finally {
    deflate.destroy();
  }
}

/** Numbers of four bytes and of two, in turn. */
function fields(...groups: number[][]): Buffer {
  return Buffer.concat(
    groups.map((numbers, index) => {
      const width = index % 2 === 0 ? 4 : 2;
      const bytes = Buffer.alloc(numbers.length * width);
      numbers.forEach((number, place) => {
        bytes.writeUIntLE(number, place * width, width);
      });
      return bytes;
    }),
  );
}
