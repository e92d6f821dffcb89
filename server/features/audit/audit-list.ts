// The query string of the audit record as a statement, and its rows as the office sees them.
import type { FastifyRequest } from 'fastify';
import { type AuditEvent, auditEvents } from '../../access/audit-log.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { isTimestamp } from '../../engine/read/list-query.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import type { Language } from '../../messages.ts';
import { eventTitles } from './titles.ts';

export const filterNames = ['event', 'actorId', 'from', 'until'];
const defaultLimit = 50;
const maxLimit = 500;

export interface AuditRow {
  id: string;
  at: string;
  event: string;
  actorType: string;
  actorId: string | null;
  actor: string;
  /** Set while the person still exists. */
  actorEmail: string | null;
  subjectId: string | null;
  subject: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  details: Record<string, unknown> | null;
}

/** Filters as SQL conditions; $1 is the tenant. */
export interface AuditFilters {
  conditions: string[];
  values: unknown[];
}

/** A place in the record: it is read from the newest entry on. */
export type Place = readonly [at: string, id: string];

export function readAuditList(request: FastifyRequest) {
  refuseUnknownParameters(request, [...filterNames, 'limit', 'cursor']);
  const fieldErrors: FieldError[] = [];
  const query = readTexts(request, fieldErrors);
  const filters = readFilters(request.tenantId, query, fieldErrors);
  const limit = readLimit(query.limit ?? String(defaultLimit), maxLimit);
  if (limit === undefined)
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
  if (query.cursor !== undefined && !after) fieldErrors.push({ path: ['cursor'], code: 'invalid_cursor' });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { filters, after, limit: limit! };
}

export function readAuditExport(request: FastifyRequest) {
  refuseUnknownParameters(request, [...filterNames, 'locale']);
  const fieldErrors: FieldError[] = [];
  const query = readTexts(request, fieldErrors);
  const filters = readFilters(request.tenantId, query, fieldErrors);
  const { locale } = query;
  if (locale !== undefined && locale !== 'de' && locale !== 'en')
    fieldErrors.push({ path: ['locale'], code: 'invalid_choice', params: { choices: ['de', 'en'] } });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { filters, language: locale as Language | undefined };
}

function readTexts(request: FastifyRequest, fieldErrors: FieldError[]): Record<string, string | undefined> {
  const texts: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (typeof value === 'string') texts[name] = value;
    else fieldErrors.push({ path: [name], code: 'repeated_parameter' });
  }
  return texts;
}

function readFilters(
  tenantId: string,
  { event, actorId, from, until }: Record<string, string | undefined>,
  fieldErrors: FieldError[],
): AuditFilters {
  const conditions = ['entry.tenant_id = $1'];
  const values: unknown[] = [tenantId];
  if (event !== undefined) {
    const events = event.split(',');
    if (!events.every((one) => auditEvents.includes(one as AuditEvent)))
      fieldErrors.push({ path: ['event'], code: 'invalid_choice', params: { choices: [...auditEvents] } });
    conditions.push(`entry.event = ANY ($${values.push(events)})`);
  }
  if (actorId !== undefined) {
    if (!isUuid(actorId)) fieldErrors.push({ path: ['actorId'], code: 'invalid_uuid' });
    conditions.push(`entry.actor_id = $${values.push(actorId)}`);
  }
  for (const [name, value, operator] of [
    ['from', from, '>='],
    ['until', until, '<'],
  ] as const) {
    if (value === undefined) continue;
    if (!isTimestamp(value)) fieldErrors.push({ path: [name], code: 'invalid_timestamp' });
    conditions.push(`entry.at ${operator} $${values.push(value)}::timestamptz`);
  }
  return { conditions, values };
}

/** One row more than the page, which tells whether there is a next one. */
export function buildAuditQuery(
  { conditions, values }: AuditFilters,
  after: Place | undefined,
  limit: number,
) {
  const place = after && [...after];
  const [at, id] = [values.length + 1, values.length + 2];
  const where = place
    ? [...conditions, `(entry.at, entry.id) < ($${at}::timestamptz, $${id}::uuid)`]
    : conditions;
  return {
    text: `SELECT entry.id, to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, entry.event,
        entry.actor_type AS "actorType", entry.actor_id AS "actorId", entry.actor, author.email AS "actorEmail",
        entry.subject_id AS "subjectId", entry.subject, entry.address, entry.user_agent AS "userAgent",
        entry.request_id AS "requestId", entry.details
      FROM audit_entry AS entry
      LEFT JOIN person AS author ON author.tenant_id = entry.tenant_id AND author.id = entry.actor_id
      WHERE ${where.join(' AND ')} ORDER BY entry.at DESC, entry.id DESC LIMIT ${limit + 1}`,
    values: [...values, ...(place ?? [])],
  };
}

export function titleOf(event: string, language: Language): string {
  // A newer version of the service, beside this one, may have recorded an event that this one does not know.
  return Object.hasOwn(eventTitles, event) ? eventTitles[event as AuditEvent][language] : event;
}

export function encodeCursor({ at, id }: AuditRow): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

function decodeCursor(text: string): Place | undefined {
  try {
    const [at, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const isSound = typeof at === 'string' && isTimestamp(at) && typeof id === 'string' && isUuid(id);
    return isSound ? [at, id] : undefined;
  } catch {
    return undefined;
  }
}
