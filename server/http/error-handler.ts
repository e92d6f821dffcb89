// One place turns what a route throws into an answer, an outage of the database included.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../database/errors.ts';
import { momentSeconds } from '../errors.ts';
import { notStored } from './answer-headers.ts';
import { languageOf } from './conventions.ts';
import { errorBody } from './error-body.ts';

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const apiError = toApiError(error);
  request.apiError = apiError;
  // Fastify would close the connection after a body that was refused. Ours has been read, or is read and thrown away.
  reply.removeHeader('connection');
  const mayComeAgain = apiError.status === 429 || apiError.code === 'overloaded';
  if (mayComeAgain && !reply.hasHeader('Retry-After')) reply.header('Retry-After', momentSeconds);
  if (!reply.hasHeader('Cache-Control')) reply.headers(notStored);
  const body = errorBody(apiError, request.id, languageOf(request));
  reply.code(apiError.status).send(body);
}
