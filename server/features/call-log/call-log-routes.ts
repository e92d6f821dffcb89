// The tenant's API calls of the last 30 days, for Verwaltung: what arrived, what was refused and why.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { oneOf, readForm, uuid } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid, lowestUuidAt, timeOfUuid } from '../../engine/definition/formats.ts';
import { ApiError, type ErrorCode, type FieldErrorCode } from '../../errors.ts';
import { languageOf, refuseUnknownParameters } from '../../http/conventions.ts';
import {
  buildRequestList,
  type RequestRow,
  readPeriodOnly,
  recordedText,
  requestColumns,
  toRequest,
} from './call-list.ts';
import { maskBody } from './masked-body.ts';

const heavy = { config: { isHeavyRead: true } } as const;
/** Groups the newest errors only: those are the ones to fix. */
const groupedRequests = 20_000;
const maxGroups = 200;
/** Longer than calls are kept. */
const correctionsKeptMs = 90 * 24 * 3_600_000;

interface Options {
  database: Database;
  resources: readonly Definition[];
}

export async function requestRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addListRoute(app, options);
  addDetailRoute(app, options);
  addCorrectionRoute(app, options);
  addStatisticRoutes(app, options);
}

function addListRoute(app: FastifyInstance, { database }: Options): void {
  app.get('/requests', heavy, async (request) => {
    const { statement, limit } = buildRequestList(request);
    const rows = await query<RequestRow>(database, request.tenantId, statement);
    const page = rows.slice(0, limit);
    return {
      data: page.map((row) => toRequest(row, languageOf(request))),
      nextCursor: rows.length > limit ? page.at(-1)!.id : null,
    };
  });
}

function addDetailRoute(app: FastifyInstance, { database, resources }: Options): void {
  app.get<{ Params: { id: string } }>('/requests/:id', async (request) => {
    refuseUnknownParameters(request, ['reveal']);
    const { id } = request.params;
    if (!isUuid(id)) throw new ApiError('not_found');
    const [row] = await query<RequestRow & { body: string | null }>(database, request.tenantId, {
      text: `SELECT ${requestColumns}, body FROM recorded_request WHERE tenant_id = $1 AND id = $2`,
      values: [request.tenantId, id],
    });
    if (!row) throw new ApiError('not_found');
    const isRevealed = (request.query as { reveal?: unknown }).reveal === 'true';
    if (isRevealed && row.body !== null) {
      const { person } = sessionOf(request);
      request.server.log.info(
        { requestId: request.id, person: person.id, shown: id },
        'recorded body revealed',
      );
    }
    const body =
      row.body === null || isRevealed ? row.body : maskBody(row.body, definitionOf(resources, row.route));
    const [correction] = await query(database, request.tenantId, {
      text: `SELECT resource, object_id AS id, corrected_at AS at, person_id FROM corrected_request
        WHERE tenant_id = $1 AND request_id = $2`,
      values: [request.tenantId, id],
    });
    return {
      ...toRequest(row, languageOf(request)),
      body,
      correction: correction ? await withPersonName(database, request.tenantId, correction) : null,
    };
  });
}

function addCorrectionRoute(app: FastifyInstance, { database, resources }: Options): void {
  app.post<{ Params: { id: string } }>('/requests/:id/correction', async (request, reply) => {
    if (!isUuid(request.params.id)) throw new ApiError('not_found');
    const { resource, id } = readForm(request, {
      resource: oneOf(resources.map(({ name }) => name)),
      id: uuid,
    });
    await query(database, request.tenantId, {
      text: 'DELETE FROM corrected_request WHERE tenant_id = $1 AND request_id < $2',
      values: [request.tenantId, lowestUuidAt(Date.now() - correctionsKeptMs)],
    });
    // The first correction counts: a second one would hide that the object exists twice.
    await query(database, request.tenantId, {
      text: `INSERT INTO corrected_request (tenant_id, request_id, resource, object_id, person_id)
        SELECT tenant_id, id, $3, $4::uuid, $5::uuid FROM recorded_request WHERE tenant_id = $1 AND id = $2 AND status >= 400
        ON CONFLICT DO NOTHING`,
      values: [request.tenantId, request.params.id, resource, id, sessionOf(request).person.id],
    });
    reply.code(204);
  });
}

function addStatisticRoutes(app: FastifyInstance, { database }: Options): void {
  app.get('/requests/groups', heavy, async (request) => {
    const { conditions, values } = readPeriodOnly(request);
    const rows = await query<GroupRow>(database, request.tenantId, {
      text: `SELECT refused.method, coalesce(nullif(refused.route, ''), refused.path) AS path,
          error ->> 'field' AS field, coalesce(error ->> 'code', refused.code) AS code,
          max((error -> 'params')::text) AS params, count(*)::integer AS count, max(refused.id::text) AS last_id
        FROM (SELECT * FROM recorded_request WHERE ${conditions.join(' AND ')} AND status >= 400
          ORDER BY id DESC LIMIT ${groupedRequests}) AS refused
        LEFT JOIN LATERAL json_array_elements(refused.errors) AS error ON true
        GROUP BY 1, 2, 3, 4 ORDER BY count DESC, last_id DESC LIMIT ${maxGroups}`,
      values,
    });
    return { data: rows.map((row) => toGroup(row, languageOf(request))) };
  });

  app.get('/requests/hours', heavy, async (request) => {
    const { from, until } = readPeriodOnly(request);
    const rows = await query(database, request.tenantId, {
      text: `SELECT hour, requests::integer, refusals::integer, failures::integer, unrecorded::integer FROM request_hour
        WHERE tenant_id = $1 AND hour >= coalesce(date_trunc('hour', $2::timestamptz), now() - interval '7 days')
          AND hour < coalesce($3::timestamptz, 'infinity') ORDER BY hour LIMIT 800`,
      values: [request.tenantId, from, until],
    });
    return { data: rows };
  });
}

async function query<Row extends pg.QueryResultRow>(
  database: Database,
  tenantId: string,
  statement: pg.QueryConfig,
) {
  const { rows } = await database.queryInTenants<Row>([tenantId], statement);
  return rows;
}

/** By a statement of its own: on a cluster people are on the coordinator, and calls on the workers. */
async function withPersonName(
  database: Database,
  tenantId: string,
  { person_id: personId, ...correction }: pg.QueryResultRow,
) {
  const [person] = await query(database, tenantId, {
    text: 'SELECT name FROM person WHERE tenant_id = $1 AND id = $2',
    values: [tenantId, personId],
  });
  return { ...correction, person: person?.name ?? null };
}

/** The resource that a route creates or changes, whose fields say what in a body is harmless. */
function definitionOf(resources: readonly Definition[], route: string): Definition | undefined {
  const path = route.replace('/api/v1', '');
  return resources.find((one) => one.path === path || path.startsWith(`/${one.collection}/`));
}

interface GroupRow {
  method: string;
  path: string;
  field: string | null;
  code: ErrorCode | FieldErrorCode | null;
  params: string | null;
  count: number;
  last_id: string;
}

function toGroup({ params, last_id, ...group }: GroupRow, language: 'de' | 'en') {
  const known = JSON.parse(params ?? '{}');
  return {
    ...group,
    params: known,
    message: group.code && recordedText(group.code, language, known),
    lastAt: new Date(timeOfUuid(last_id)),
  };
}
