// Reads from requests and writes into answers as the routes of all resources do.
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, type FieldError, validationError } from '../errors.ts';
import { type Language, preferredLanguage } from '../messages.ts';

/** The writer, for the journal. */
export interface Author {
  actor: string;
  /** The id of a person. Other writers have none. */
  actorId?: string | undefined;
  requestId: string | undefined;
  /** The system that the writer names in Stamm-Origin. */
  origin?: string | undefined;
}

/** Throws where the header Stamm-Origin is invalid. */
export function authorOf(request: FastifyRequest): Author {
  const { actor, session, id, headers } = request;
  return { actor, actorId: session?.person.id, requestId: id, origin: readOrigin(headers['stamm-origin']) };
}

/** The author's columns in the journal. */
export function authorColumns({ actor, actorId, requestId, origin }: Author) {
  return { actor, actor_id: actorId, request_id: requestId, origin };
}

export const maxOriginLength = 60;

function readOrigin(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const origin = String(header);
  const fieldError = originError(origin);
  if (fieldError) throw validationError([{ path: ['Stamm-Origin'], ...fieldError }]);
  return origin;
}

/** Headers arrive as Latin-1 and parameters as UTF-8: only in ASCII are both the same text. */
export function originError(origin: string): Omit<FieldError, 'path'> | undefined {
  if (origin.trim() === '') return { code: 'blank' };
  if (origin.length > maxOriginLength) return { code: 'too_long', params: { max: maxOriginLength } };
  return /^[\x20-\x7e]+$/.test(origin) ? undefined : { code: 'not_printable' };
}

export function languageOf(request: FastifyRequest): Language {
  return preferredLanguage(request.headers['accept-language']);
}

/** The language of a file: the parameter `locale`, or that of the request. */
export function readLocale(request: FastifyRequest, locale: unknown, fieldErrors: FieldError[]): Language {
  if (locale === 'de' || locale === 'en') return locale;
  if (Array.isArray(locale)) fieldErrors.push({ path: ['locale'], code: 'repeated_parameter' });
  else if (locale !== undefined)
    fieldErrors.push({ path: ['locale'], code: 'invalid_choice', params: { choices: ['de', 'en'] } });
  return languageOf(request);
}

/** Whether a write is only tried: the same checks and answers, and nothing stored. */
export function isDryRun(request: FastifyRequest): boolean {
  return readFlag(request, 'dryRun', false);
}

export function readFlag(request: FastifyRequest, name: string, fallback: boolean): boolean {
  const { [name]: value = String(fallback) } = request.query as Record<string, unknown>;
  if (value === 'true' || value === 'false') return value === 'true';
  throw validationError([{ path: [name], code: 'invalid_choice', params: { choices: ['true', 'false'] } }]);
}

/** Creations ignore other parameters, but a misspelt dry run must not store a row. */
export function refuseMisspeltDryRun(request: FastifyRequest): void {
  const names = Object.keys(request.query as object).filter(
    (name) => /^dry.?run$/i.test(name) && name !== 'dryRun',
  );
  if (names.length === 0) return;
  const params = { known: ['dryRun'] };
  throw validationError(names.map((name) => ({ path: [name], code: 'unknown_parameter', params })));
}

/** Unknown parameters do no harm on the published creation paths. Everywhere else they are a mistake to report. */
export function refuseUnknownParameters(request: FastifyRequest, known: readonly string[]): void {
  const unknown = Object.keys(request.query as object).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw validationError(
    unknown.map((name) => ({ path: [name], code: 'unknown_parameter', params: { known } })),
  );
}

/** The page size of a query string; undefined if that is no number up to `max`. */
export function readLimit(value: unknown, max: number): number | undefined {
  const isNumber = typeof value === 'string' && /^\d{1,9}$/.test(value);
  return isNumber && Number(value) >= 1 && Number(value) <= max ? Number(value) : undefined;
}

/** `json` is an answer that also holds something of other objects. */
export function etagOf(version: number, json?: string): string {
  if (json === undefined) return `"${version}"`;
  return `"${version}-${createHash('sha256').update(json).digest('base64url').slice(0, 16)}"`;
}

/** Refuses a change of a version that the client has not seen. A condition on a missing object is not met either. */
export function demandVersion(request: FastifyRequest, current: { version: number } | undefined): void {
  const { 'if-match': wanted, 'if-none-match': unwanted } = request.headers;
  const isCurrent = (header: string) =>
    current !== undefined && matchesEtag(versionsOf(header), etagOf(current.version));
  if (wanted !== undefined && !isCurrent(wanted)) throw new ApiError('version_mismatch');
  if (unwanted !== undefined && isCurrent(unwanted)) throw new ApiError('version_mismatch');
}

/** A write changes one object: only the version counts in a tag that was read with other objects. */
function versionsOf(header: string): string {
  return header.replace(/"(\d+)-[\w-]{16}"/g, '"$1"');
}

/** Compares strongly: a tag that is marked as weak matches nothing. */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => part.trim() === '*' || part.trim() === etag);
}

export function linkNextPage({ url }: FastifyRequest, reply: FastifyReply, cursor: string): void {
  const [path = '', ...query] = url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  parameters.set('cursor', cursor);
  reply.header('Link', `<${path}?${parameters}>; rel="next"`);
}

export function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json);
}

/** Proxies and clients refuse answers with long headers, so the names end where this is reached. */
const maxHeaderLength = 2000;
const maxNameLength = 100;

export function nameIgnoredFields(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const names: string[] = [];
  let length = 0;
  for (const field of fields) {
    const name = encodeURIComponent(field.slice(0, maxNameLength).toWellFormed());
    length += name.length + 2;
    if (length > maxHeaderLength) break;
    names.push(name);
  }
  reply.header('Stamm-Ignored-Fields', names.join(', '));
  reply.request.ignoredFields = fields;
}
