// Sends an answer piece by piece, at the pace of the client. Between two pieces it holds no turn of the tenant.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toReadError } from '../database/errors.ts';
import { logRequest } from './log.ts';

/** Bounds memory for a slow client: the current page and the next one. */
export const streamedPageBytes = 1024 * 1024;
export const streamConfig = { streamedBytes: 2 * streamedPageBytes, isHeavyRead: true } as const;

/** A failure of `pieces` cuts the answer. Errors that deserve an error response must come before. */
export function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<string | Uint8Array>,
): FastifyReply {
  // The framework logs only answers that end.
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) logRequest(request, reply);
  });
  return reply.send(Readable.from(inTurns(request, pieces), { objectMode: false }));
}

async function* inTurns(request: FastifyRequest, pieces: AsyncIterable<string | Uint8Array>) {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      // While the client reads a piece, other heavy reads of the tenant have their turn.
      await request.heavyRead?.begin();
      const { done, value } = await iterator.next().finally(() => request.heavyRead?.end());
      if (done) return;
      yield value;
    }
  } catch (error) {
    request.apiError = toReadError(error);
    // A plain end looks complete to HTTP/1.0 clients, which many proxies are.
    request.raw.socket.resetAndDestroy();
    throw error;
  } finally {
    await iterator.return?.();
  }
}
