// Compresses answers on request. Not below /app: next to a session cookie, the length of an answer could betray its secrets.
import { pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Shorter answers fit a packet. */
const fewestBytes = 1024;
const compressible = /^(text\/|application\/(json|x-ndjson))/;

type Done = (error: Error | null, compressed: Buffer) => void;

interface Encoder {
  compress(bytes: string | Buffer, done: Done): void;
  createStream(): Transform;
}

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, ZSTD_c_windowLog } = zlib.constants;
/** Brotli's default quality is for files. A window of 256 KiB bounds the memory of each export. */
const brotli = { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_LGWIN]: 18 } };
const zstd = { params: { [ZSTD_c_windowLog]: 18 } };

/** Picks the first of equally welcome encodings. */
const encoders: ReadonlyMap<string, Encoder> = new Map([
  [
    'zstd',
    {
      compress: (bytes, done) => zlib.zstdCompress(bytes, zstd, done),
      createStream: () => zlib.createZstdCompress(zstd),
    },
  ],
  [
    'br',
    {
      compress: (bytes, done) => zlib.brotliCompress(bytes, brotli, done),
      createStream: () => zlib.createBrotliCompress(brotli),
    },
  ],
  [
    'gzip',
    {
      compress: (bytes, done) => zlib.gzip(bytes, done),
      createStream: () => zlib.createGzip(),
    },
  ],
]);

/** Call it after the hook that counts the bytes of answers: many large ones may wait for compression. */
export function addCompression(scope: FastifyInstance): void {
  scope.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (!reply.hasHeader('Vary')) reply.header('Vary', 'Accept-Encoding');
    const accepted = request.headers['accept-encoding'];
    const encoding = accepted === undefined ? undefined : chooseEncoding(String(accepted));
    if (encoding === undefined || !isCompressible(reply)) return done(null, payload);
    const encoder = encoders.get(encoding)!;
    if (payload instanceof Readable) {
      // Other streams, such as the results of an import, are due line by line.
      if (!request.routeOptions.config.streamedBytes) return done(null, payload);
      markEncoded(reply, encoding);
      // The export itself reports its errors, and cuts the connection.
      return done(
        null,
        pipeline(payload, encoder.createStream(), () => {}),
      );
    }
    const isContent = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!isContent || payload.length < fewestBytes) return done(null, payload);
    encoder.compress(payload, (error, compressed) => {
      if (error) return done(null, payload);
      markEncoded(reply, encoding);
      done(null, compressed);
    });
  });
}

function isCompressible(reply: FastifyReply): boolean {
  return compressible.test(String(reply.getHeader('Content-Type'))) && !reply.hasHeader('Content-Encoding');
}

function markEncoded(reply: FastifyReply, encoding: string): void {
  reply.removeHeader('Content-Length');
  reply.header('Content-Encoding', encoding);
}

/** The encoding that a header of the kind "gzip, br;q=0.5" prefers. A client that takes anything gets gzip. */
function chooseEncoding(header: string): string | undefined {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', weight = 'q=1'] = part.split(';').map((word) => word.trim());
    weights.set(name, Number(/^q=([01](?:\.\d{0,3})?)$/.exec(weight)?.[1] ?? 0));
  }
  if (!weights.has('gzip') && weights.has('*')) weights.set('gzip', weights.get('*')!);
  let best: string | undefined;
  let bestWeight = 0;
  for (const name of encoders.keys()) {
    const weight = weights.get(name) ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [name, weight];
  }
  return bestWeight >= (weights.get('identity') ?? 0) ? best : undefined;
}
