// Bodies that clients send compressed. Limits count decoded bytes, so a decompression bomb costs no more than the limit.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { ApiError, validationError } from '../errors.ts';

interface Decoder {
  decode(bytes: Buffer, limitBytes: number): Promise<Buffer>;
  createStream(): Transform & { bytesWritten: number };
}

const chunkSize = 64 * 1024;
const whole = { rejectGarbageAfterEnd: true };
/** RFC 8878 recommends decoders to support windows of 8 MiB. zlib's own limit is 128 MiB. */
const zstd = { ...whole, params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
const inflate = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate);
const brotliDecompress = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress);
const zstdDecompress = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress);

/** A gzip file may have several members, and zlib rejects anything else after the first by itself. */
const gzip: Decoder = {
  decode: (bytes, maxOutputLength) => gunzip(bytes, { maxOutputLength }),
  createStream: () => zlib.createGunzip({ chunkSize }),
};

const decoders: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  [
    'deflate',
    {
      decode: (bytes, maxOutputLength) => inflate(bytes, { ...whole, maxOutputLength }),
      createStream: () => zlib.createInflate({ ...whole, chunkSize }),
    },
  ],
  [
    'br',
    {
      decode: (bytes, maxOutputLength) => brotliDecompress(bytes, { ...whole, maxOutputLength }),
      createStream: () => zlib.createBrotliDecompress({ ...whole, chunkSize }),
    },
  ],
  [
    'zstd',
    {
      decode: (bytes, maxOutputLength) => zstdDecompress(bytes, { ...zstd, maxOutputLength }),
      createStream: () => zlib.createZstdDecompress({ ...zstd, chunkSize }),
    },
  ],
]);

function encodingOf(headers: IncomingHttpHeaders): string {
  return headers['content-encoding']?.toLowerCase() ?? 'identity';
}

export function checkContentEncoding(headers: IncomingHttpHeaders): void {
  const encoding = encodingOf(headers);
  if (encoding !== 'identity' && !decoders.has(encoding)) throw new ApiError('content_encoding');
}

/** Bytes that arrive for a body of `limitBytes`: stored blocks make incompressible data a little longer. */
export function encodedLimit(headers: IncomingHttpHeaders, limitBytes: number): number {
  return encodingOf(headers) === 'identity' ? limitBytes : limitBytes + Math.ceil(limitBytes / 100) + 1024;
}

export async function decodeBody(
  headers: IncomingHttpHeaders,
  bytes: Buffer,
  limitBytes: number,
): Promise<Buffer> {
  const decoder = decoders.get(encodingOf(headers));
  if (!decoder) return bytes;
  try {
    return await decoder.decode(bytes, limitBytes);
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? new ApiError('body_too_large') : invalidCompression();
  }
}

export function invalidCompression(): ApiError {
  return validationError([{ path: [], code: 'invalid_compression' }]);
}

/** Real data of imports shrinks to a hundredth at best. */
const highestRatio = 200;
const uncheckedBytes = 4 * 1024 * 1024;

/**
 * A body of any length, decoded at the pace of its reader. It ends with `import_damaged` if it cannot be decoded. It
 * ends with `body_too_large` if it grows far beyond the sent bytes.
 */
export function decodeStream(request: IncomingMessage): Readable {
  const decoder = decoders.get(encodingOf(request.headers))?.createStream();
  if (!decoder) return request;
  let length = 0;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      const isBomb = length > uncheckedBytes && length > highestRatio * decoder.bytesWritten;
      if (isBomb) done(new ApiError('body_too_large'));
      else done(null, chunk);
    },
  });
  decoder.on('error', (error) => checked.destroy(new ApiError('import_damaged', { cause: error })));
  // Nobody else may listen any more, and an error without a listener ends the process.
  checked.on('error', () => {});
  checked.once('close', () => {
    request.unpipe(decoder);
    decoder.destroy();
    // The client gets to reading the answer only once it has sent everything.
    request.resume();
  });
  request.pipe(decoder).pipe(checked);
  return checked;
}
