// Headers that keep answers where they belong: in no shared cache, in no other type, and on TLS.
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Browsers must not guess another type than the one that is sent. */
export const noSniff = { 'X-Content-Type-Options': 'nosniff' };

/**
 * Caches treat the header `Authorization` as a reason not to share an answer, and do not know `ApiKey`. Clients may keep
 * an answer and ask with its `ETag` whether it still holds.
 */
export const apiHeaders = {
  'Cache-Control': 'private, no-cache',
  Vary: 'ApiKey, Accept-Encoding, Accept-Language',
};

/** No browser keeps what a signed-in person reads, and no other site can show it. */
export const officeHeaders = {
  'Cache-Control': 'no-store',
  Vary: 'Cookie, Accept-Language',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export const notStored = { 'Cache-Control': 'no-store' };

/** Other hosts of the same domain may lack TLS, so they are not included. */
const strictTransport = 'max-age=31536000';

/** Sets the headers of every answer. A proxy that TRUST_PROXY does not name cannot claim https. */
export function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('X-Request-Id', request.id);
  reply.headers(noSniff);
  if (request.protocol === 'https') reply.header('Strict-Transport-Security', strictTransport);
}
