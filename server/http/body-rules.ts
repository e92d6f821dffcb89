// Asks for a body, reads and counts it: 413 before 415 before 400, and nothing is read before 413.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { answerExpectation } from './early-answers.ts';
import { checkContentEncoding, decodeBody, encodedLimit } from './encoded-body.ts';
import { holdAnswer } from './in-flight-limit.ts';
import { checkContentType, checkDeclaredLength, parseJson, readBody } from './json-body.ts';
import { delayRejection } from './rejection-delay.ts';

const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

export function addBodyRules(scope: FastifyInstance, limitBytes: number): void {
  scope.addHook('preParsing', (request, reply, payload, done) => {
    const { bodyType } = request.routeOptions.config;
    if (expectsBody(request)) {
      checkContentType(request.raw, bodyType);
      checkContentEncoding(request.headers);
      if (!bodyType) checkDeclaredLength(request.headers, encodedLimit(request.headers, limitBytes));
      answerExpectation(request.headers.expect, reply.raw);
    }
    done(null, payload);
  });
  scope.addHook('onSend', (request, _reply, payload, done) => {
    try {
      holdAnswer(request, payload);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    if (!expectsBody(request)) return undefined;
    const { headers } = request;
    const bytes = await readBody(payload, encodedLimit(headers, limitBytes));
    return parseJson(await decodeBody(headers, bytes, limitBytes));
  });
}

/** A body that the route does not need still follows the rules. A content type without a body means nothing. */
function expectsBody({ method, headers, routeOptions }: FastifyRequest): boolean {
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
  return bodyMethods.has(method) && (isSent || !routeOptions.config.takesNoBody);
}

/** Counts a request for its tenant once that is known: before the body, and before anything is done. */
export async function joinTenant(request: FastifyRequest, credential: 'key' | 'session'): Promise<void> {
  const { tenantId, place } = request;
  const { bodyType, streamedBytes } = request.routeOptions.config;
  try {
    place?.joinTenant(tenantId, credential);
    if (streamedBytes) {
      place?.demandRoom(streamedBytes);
      place?.holdAnswer(streamedBytes);
    }
    if (expectsBody(request) && !bodyType) place?.awaitBody(request.raw);
  } catch (error) {
    place?.leave();
    await delayRejection(tenantId);
    throw error;
  }
}

/** The router accepts an empty id too. A path that ends there is unknown. */
export function isOpenEnded(request: FastifyRequest): boolean {
  return request.url.split('?', 1)[0]!.endsWith('/');
}
