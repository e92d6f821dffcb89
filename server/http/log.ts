// Writes one JSON line per request, without secrets: no key, no cookie, no body, no query.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import pg from 'pg';
import { pino } from 'pino';

export function openLog(level: string): FastifyBaseLogger {
  // Write in blocks: a write per request would cost more than the request's own work. A pipe takes each write as a
  // whole, so lines of several workers do not mix.
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: 3072,
    maxWrite: 4096,
    periodicFlush: 200,
  });
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { apiError, ignoredFields } = request;
  const line = {
    requestId: request.id,
    tenantId: request.tenantId || undefined,
    personId: request.session?.person.id,
    person: request.session?.person.name,
    method: request.method,
    path: loggedPath(request.url),
    status: reply.statusCode,
    isCutOff: reply.raw.writableEnded ? undefined : true,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    address: request.ip,
    userAgent: logged(request.headers['user-agent']),
    code: apiError?.code,
    errors: apiError?.fieldErrors.length
      ? apiError.fieldErrors.map(({ path, code }) => `${logged(path.join('.'), maxNameLength)}: ${code}`)
      : undefined,
    ignoredFields: ignoredFields?.length ? loggedNames(ignoredFields) : undefined,
  };
  if (reply.statusCode < 500) request.server.log.info(line, 'request');
  else if (apiError?.code === 'overloaded') request.server.log.warn(line, 'request refused');
  else request.server.log.error({ ...line, err: withoutData(apiError?.cause ?? apiError) }, 'request failed');
}

const maxTextLength = 1000;
const maxNameLength = 100;
const maxNames = 50;

/** A client's text without keys, and no longer than anybody reads: a log line costs disk space. */
function logged(text: string, maxLength?: number): string;
function logged(text: string | undefined): string | undefined;
function logged(text: string | undefined, maxLength = maxTextLength): string | undefined {
  if (text === undefined) return undefined;
  const masked = maskKeys(text);
  return masked.length <= maxLength ? masked : `${masked.slice(0, maxLength).toWellFormed()}…`;
}

function loggedNames(names: readonly string[]): string[] {
  const some = names.slice(0, maxNames).map((name) => logged(name, maxNameLength));
  return names.length > maxNames ? [...some, `… and ${names.length - maxNames} more`] : some;
}

/** A one-time link is worth as much as a password. Its token is known by its form, wherever in the path it stands. */
function loggedPath(url: string): string {
  const path = url.split('?', 1)[0]!;
  return logged(path.startsWith('/app/') ? path.replaceAll(/[\w-]{43,}/g, '…') : path);
}

/** PostgreSQL may quote the rejected row in a report. Keep only what names the place. */
export function withoutData(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code, severity, table, column, constraint, routine } = error;
  const mayQuoteData = /^(22|23|P0)/.test(code ?? '');
  return {
    type: 'DatabaseError',
    code,
    severity,
    table,
    column,
    constraint,
    routine,
    ...(!mayQuoteData && { message: error.message }),
  };
}

/**
 * Masks API keys, which people put into paths, user agents and bodies: logs and records must not hold them. Also a key that
 * has lost or gained a few characters: most of a key is as bad as all.
 */
export function maskKeys(text: string): string {
  return text.replace(keyInText, 'stamm_…');
}

const keyInText = /stamm(?:_|%5f)(?:test(?:_|%5f))?[0-9a-z]{20,}/gi;
