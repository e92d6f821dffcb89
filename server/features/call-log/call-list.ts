// Recorded calls as the office sees them, and the query string of their list as a statement.
import type { FastifyRequest } from 'fastify';
import { isUuid, lowestUuidAt, timeOfUuid } from '../../engine/definition/formats.ts';
import { isTimestamp } from '../../engine/read/list-query.ts';
import { type ErrorCode, type FieldError, type FieldErrorCode, validationError } from '../../errors.ts';
import { readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { isCode, type Language, text } from '../../messages.ts';

export interface RequestRow {
  id: string;
  method: string;
  route: string;
  path: string;
  status: number;
  duration_ms: number;
  address: string;
  user_agent: string;
  code: ErrorCode | null;
  errors: { field: string; code: FieldErrorCode; params?: FieldError['params'] }[] | null;
  ignored_fields: string[] | null;
  has_body: boolean;
  is_corrected: boolean;
}

const isCorrected = `EXISTS (SELECT FROM corrected_request AS corrected
    WHERE corrected.tenant_id = recorded_request.tenant_id AND corrected.request_id = recorded_request.id)`;

export const requestColumns = `id, method, route, path, status, duration_ms, address, user_agent, code, errors,
  ignored_fields, body IS NOT NULL AS has_body, ${isCorrected} AS is_corrected`;

export function toRequest(row: RequestRow, language: Language) {
  return {
    id: row.id,
    at: new Date(timeOfUuid(row.id)),
    method: row.method,
    path: row.path,
    status: row.status,
    durationMs: row.duration_ms,
    userAgent: row.user_agent,
    address: row.address,
    code: row.code,
    message: row.code && recordedText(row.code, language),
    errors: (row.errors ?? []).map(({ field, code, params }) => ({
      field,
      code,
      message: recordedText(code, language, params),
      params,
    })),
    ignoredFields: row.ignored_fields ?? [],
    hasBody: row.has_body,
    isCorrected: row.is_corrected,
  };
}

/** Another version of the service may have recorded a code that this one does not know. */
export function recordedText(code: ErrorCode | FieldErrorCode, language: Language, params?: object): string {
  return isCode(code) ? text(code, language, params) : code;
}

const defaultLimit = 50;
const maxLimit = 500;

const statusConditions: Record<string, string> = {
  ok: 'status < 400',
  refused: 'status >= 400 AND status < 500',
  failed: 'status >= 500',
  open: `status >= 400 AND status < 500 AND NOT ${isCorrected}`,
  done: isCorrected,
};

/** The column that each text filter compares; its value is the parameter. */
const textConditions: Record<string, (parameter: string) => string> = {
  method: (parameter) => `method = upper(${parameter})`,
  path: (parameter) => `strpos(lower(path), lower(${parameter})) > 0`,
  field: (parameter) =>
    `status >= 400 AND EXISTS (SELECT FROM json_array_elements(errors) AS error WHERE error ->> 'field' = ${parameter})`,
  code: (parameter) =>
    `status >= 400 AND (code = ${parameter}
      OR EXISTS (SELECT FROM json_array_elements(errors) AS error WHERE error ->> 'code' = ${parameter}))`,
};

export function buildRequestList(request: FastifyRequest) {
  const known = ['limit', 'cursor', 'from', 'until', 'status', ...Object.keys(textConditions)];
  refuseUnknownParameters(request, known);
  const fieldErrors: FieldError[] = [];
  const query = readTexts(request, fieldErrors);
  const { conditions, values } = readPeriod(request.tenantId, query, fieldErrors);
  const limit = readLimit(query.limit ?? String(defaultLimit), maxLimit);
  if (limit === undefined)
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  if (query.cursor !== undefined) {
    if (!isUuid(query.cursor)) fieldErrors.push({ path: ['cursor'], code: 'invalid_cursor' });
    conditions.push(`id < $${values.push(query.cursor)}`);
  }
  if (query.status !== undefined) {
    if (!Object.hasOwn(statusConditions, query.status)) {
      const choices = Object.keys(statusConditions);
      fieldErrors.push({ path: ['status'], code: 'invalid_choice', params: { choices } });
    } else conditions.push(statusConditions[query.status]!);
  }
  for (const [name, toCondition] of Object.entries(textConditions)) {
    if (query[name] !== undefined) conditions.push(toCondition(`$${values.push(query[name])}::text`));
  }
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return {
    limit: limit!,
    statement: {
      text: `SELECT ${requestColumns} FROM recorded_request WHERE ${conditions.join(' AND ')}
        ORDER BY id DESC LIMIT ${limit! + 1}`,
      values,
    },
  };
}

/** The part of a query string that says which time is meant, for statements that take nothing else. */
export function readPeriodOnly(request: FastifyRequest) {
  refuseUnknownParameters(request, ['from', 'until']);
  const fieldErrors: FieldError[] = [];
  const query = readTexts(request, fieldErrors);
  const period = readPeriod(request.tenantId, query, fieldErrors);
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { ...period, from: query.from, until: query.until };
}

function readTexts(request: FastifyRequest, fieldErrors: FieldError[]): Record<string, string | undefined> {
  const texts: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (typeof value !== 'string') fieldErrors.push({ path: [name], code: 'repeated_parameter' });
    else if (value.includes('\0') || !value.isWellFormed())
      fieldErrors.push({ path: [name], code: 'invalid_text' });
    else texts[name] = value;
  }
  return texts;
}

/** Ids begin with their time: a period is a range of the primary key. */
function readPeriod(
  tenantId: string,
  { from, until }: Record<string, string | undefined>,
  fieldErrors: FieldError[],
) {
  const conditions = ['tenant_id = $1'];
  const values: unknown[] = [tenantId];
  const add = (name: string, value: string | undefined, operator: string) => {
    if (value === undefined) return;
    if (!isTimestamp(value)) fieldErrors.push({ path: [name], code: 'invalid_timestamp' });
    else conditions.push(`id ${operator} $${values.push(lowestUuidAt(Date.parse(value)))}`);
  };
  add('from', from, '>=');
  add('until', until, '<');
  return { conditions, values };
}
