// The record of API calls in the database: how it is written, kept within its bounds, and made to forget.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { longStatementMs, type TimedQuery } from '../../database/timeouts.ts';
import { lowestUuidAt } from '../../engine/definition/formats.ts';
import type { ApiError, FieldError } from '../../errors.ts';
import { maskKeys } from '../../http/log.ts';

const maxTextLength = 500;
const maxIgnoredFields = 50;

/** Bounds of the record: each tenant, all of them together, and bodies, which are the largest part. */
const bounds = { rowsEach: 100_000, rowsInAll: 2_000_000, bodiesEach: 2000 };
export const hourMs = 3_600_000;

/** A call as a process remembers it until it is written. */
export interface Entry {
  id: string;
  tenantId: string;
  method: string;
  route: string;
  url: string;
  status: number;
  durationMs: number;
  address: string;
  userAgent: string | undefined;
  apiError: ApiError | undefined;
  ignoredFields: readonly string[] | undefined;
  body: string | undefined;
}

/** How many calls of a tenant an hour had. */
export interface Hour {
  tenant_id: string;
  hour: Date;
  requests: number;
  refusals: number;
  failures: number;
  unrecorded: number;
}

/** Erasing waits for writes that are under way, and writes wait for an erasure. */
const erasureLock = `hashtextextended('stamm: erase recorded bodies', 0)`;
/** Longer than any process holds a body before it is written. */
const erasureEchoSeconds = 15;

/** Whether a path says no more than its route and an id that we made. */
const isHarmlessPath = `path = replace(route, ':id', coalesce(substring(path FROM '[0-9a-fA-F-]{36}'), ''))`;
const routeAsPath = `coalesce(nullif(route, ''), '…')`;

export async function writeEntries(client: pg.ClientBase, entries: readonly Entry[], hours: readonly Hour[]) {
  // Losing the last second at a crash of the database is better than waiting for the disk.
  await client.query(
    `SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock_shared(${erasureLock})`,
  );
  await client.query({
    name: 'record requests',
    text: `WITH recorded AS (
        INSERT INTO recorded_request (tenant_id, id, method, route, path, status, duration_ms, address, user_agent,
          code, errors, ignored_fields, body)
        SELECT sent.tenant_id, sent.id, method, route,
          CASE WHEN erasure.erased_at IS NULL OR ${isHarmlessPath} THEN path ELSE ${routeAsPath} END, status,
          duration_ms, address, CASE WHEN erasure.erased_at IS NULL THEN user_agent ELSE '' END, code,
          CASE WHEN erasure.erased_at IS NULL THEN errors END,
          CASE WHEN erasure.erased_at IS NULL THEN ignored_fields END, CASE WHEN erasure.erased_at IS NULL THEN body END
        FROM json_to_recordset($1) AS sent (tenant_id uuid, id uuid, method text, route text, path text,
          status smallint, duration_ms real, address text, user_agent text, code text, errors json,
          ignored_fields json, body text)
        LEFT JOIN request_erasure AS erasure ON erasure.tenant_id = sent.tenant_id
          AND erasure.erased_at BETWEEN now() - interval '${erasureEchoSeconds} seconds'
            AND now() + interval '${erasureEchoSeconds} seconds'
        ON CONFLICT DO NOTHING
      )
      INSERT INTO request_hour AS known (tenant_id, hour, requests, refusals, failures, unrecorded)
      SELECT * FROM json_to_recordset($2) AS counted (tenant_id uuid, hour timestamptz, requests bigint,
        refusals bigint, failures bigint, unrecorded bigint)
      ORDER BY 1, 2
      ON CONFLICT (tenant_id, hour) DO UPDATE SET
        requests = known.requests + excluded.requests,
        refusals = known.refusals + excluded.refusals,
        failures = known.failures + excluded.failures,
        unrecorded = known.unrecorded + excluded.unrecorded`,
    values: [JSON.stringify(entries.map(toRow)), JSON.stringify(hours)],
  });
}

function toRow(entry: Entry) {
  const { apiError, ignoredFields } = entry;
  return {
    tenant_id: entry.tenantId,
    id: entry.id,
    method: entry.method,
    route: entry.route,
    path: storable(entry.url.split('?', 1)[0]!),
    status: entry.status,
    duration_ms: Math.round(entry.durationMs * 10) / 10,
    address: entry.address,
    user_agent: storable(entry.userAgent ?? ''),
    code: apiError?.code,
    errors: apiError?.fieldErrors.length ? apiError.fieldErrors.map(toStoredError) : undefined,
    ignored_fields: ignoredFields?.length
      ? ignoredFields.slice(0, maxIgnoredFields).map(storable)
      : undefined,
    body: entry.body && maskKeys(entry.body),
  };
}

/** Without messages: the office makes them from codes, in the reader's language. */
function toStoredError({ path, code, params }: FieldError) {
  return { field: storable(path.join('.')), code, params };
}

/** Without keys. One entry that PostgreSQL refuses would lose all that are written with it. */
function storable(text: string): string {
  return maskKeys(text).slice(0, maxTextLength).toWellFormed().replaceAll('\0', '\ufffd');
}

/** Words that callers cannot have chosen. They stay when a person is erased. */
export interface HarmlessWords {
  /** Paths in field errors: "address.city". */
  fields: readonly string[];
  /** Paths in the first call that the checklist remembers. */
  paths: readonly string[];
}

/**
 * Runs in the transaction that erases a person. Any call may name the person, so everything goes that a caller chose.
 * That is bodies, user agents, names of unknown fields and parameters, and parts of paths that are no id of ours.
 */
export async function eraseRecordedCalls(
  client: pg.ClientBase,
  tenantId: string,
  { fields, paths }: HarmlessWords,
): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${erasureLock})`);
  await client.query(
    `INSERT INTO request_erasure (tenant_id, erased_at) VALUES ($1, clock_timestamp())
     ON CONFLICT (tenant_id) DO UPDATE SET erased_at = excluded.erased_at`,
    [tenantId],
  );
  const erasure: TimedQuery = {
    text: `UPDATE recorded_request SET body = NULL, ignored_fields = NULL, user_agent = '',
        path = CASE WHEN ${isHarmlessPath} THEN path ELSE ${routeAsPath} END,
        errors = CASE WHEN errors IS NULL THEN NULL ELSE (
          SELECT json_agg(CASE WHEN error ->> 'field' = ANY ($2) THEN error
            ELSE json_build_object('field', '…', 'code', error -> 'code', 'params', error -> 'params') END)
          FROM json_array_elements(errors) AS error) END
      WHERE tenant_id = $1 AND (body IS NOT NULL OR ignored_fields IS NOT NULL OR errors IS NOT NULL OR user_agent <> ''
        OR NOT (${isHarmlessPath}))`,
    values: [tenantId, fields],
    query_timeout: longStatementMs,
  };
  await client.query(erasure);
  await client.query(
    `UPDATE checklist SET first_request = jsonb_set(first_request::jsonb, '{path}', '"…"')::json
     WHERE tenant_id = $1 AND first_request ->> 'path' <> ALL ($2)`,
    [tenantId, paths],
  );
}

/** Keeps the record within its bounds, for these tenants, or for all of them over a patient connection. */
export async function trimRecordedCalls(
  database: Database,
  days: number,
  tenantIds?: readonly string[],
): Promise<void> {
  const oldest = lowestUuidAt(Date.now() - days * 24 * hourMs);
  const { rowsEach, rowsInAll, bodiesEach } = bounds;
  const trim = {
    text: 'SELECT trim_recorded_requests($1, $2, $3, $4, $5)',
    values: [tenantIds ?? null, oldest, rowsEach, rowsInAll, bodiesEach],
  };
  if (tenantIds) {
    await database.pool.query(trim);
    return;
  }
  const client = await database.connect();
  try {
    await client.query(trim);
  } finally {
    await client.end();
  }
}
