// Turns everything that a route throws into an answer, database outages included, and writes the body of each error.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toApiError, toReadError } from '../database/errors.ts';
import { type ApiError, type FieldError, momentSeconds } from '../errors.ts';
import { type Language, text } from '../messages.ts';
import { notStored } from './answer-headers.ts';
import { languageOf } from './conventions.ts';

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const apiError = isRead ? toReadError(error) : toApiError(error);
  request.apiError = apiError;
  // Fastify would close the connection after a body that was refused. Ours has been read, or is read and thrown away.
  reply.removeHeader('connection');
  if (mayComeAgain(apiError) && !reply.hasHeader('Retry-After')) reply.header('Retry-After', momentSeconds);
  if (!reply.hasHeader('Cache-Control')) reply.headers(notStored);
  const body = errorBody(apiError, request.id, languageOf(request));
  reply.code(apiError.status).send(body);
}

const passingCodes = new Set(['overloaded', 'database_unavailable', 'outcome_unknown']);

function mayComeAgain({ status, code }: ApiError): boolean {
  return status === 429 || passingCodes.has(code);
}

/** A 400 always has `errors`, as the published ValidationError does. */
export function errorBody(error: ApiError, requestId: string, language: Language) {
  return {
    message: text(error.code, language, error.params),
    code: error.code,
    requestId,
    ...error.details,
    ...(error.status === 400 && {
      errors: error.fieldErrors.map((fieldError) => fieldErrorBody(fieldError, language)),
    }),
  };
}

function fieldErrorBody({ path, code, params }: FieldError, language: Language) {
  return {
    field: path.join('.'),
    pointer: path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    code,
    message: text(code, language, params),
    ...(params && { params }),
  };
}
