// Lists what can be taken back for 30 days: imports, bulk changes, merges and deletions, newest first.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import { binRepresentation, isRestorable } from '../../engine/bin/bin.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { isTimestamp } from '../../engine/read/list-query.ts';
import { actorTypeOf } from '../../engine/write/journal.ts';
import { validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { isUndoable, runColumns } from './runs.ts';

const maxActions = 30;
/** One action more than the page, and the moment at which the page before ended, which may have no more of them. */
const maxMoments = maxActions + 2;

interface ActionRow {
  at: string;
  id: string;
  run: object | null;
  deletion: object | null;
}

export async function recentRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const text = buildQuery(resources);
  office.get('/recent-actions', { config: { isHeavyRead: true } }, async (request) => {
    refuseUnknownParameters(request, ['before']);
    const { before } = request.query as { before?: unknown };
    const [at, id] = before === undefined ? [] : String(before).split(' ');
    if (before !== undefined && !(isTimestamp(at ?? '') && isUuid(id ?? '')))
      throw validationError([{ path: ['before'], code: 'invalid_cursor' }]);
    const { rows } = await database.queryInTenants<ActionRow>(
      [request.tenantId],
      { text, values: [request.tenantId, at ?? null, id ?? null] },
      { deadline: request.deadline },
    );
    const page = rows.slice(0, maxActions);
    const last = page.at(-1);
    const next = last && rows.length > page.length ? `${last.at} ${last.id}` : null;
    return { data: page.map(({ run, deletion }) => ({ run, deletion })), next };
  });
}

/**
 * A deletion that belongs to an import, a bulk change or a merge is told there. What is deleted at one moment is deleted by one
 * transaction, so one of its objects tells of all: an import deletes thousands.
 */
function buildQuery(resources: readonly Definition[]): string {
  const isEarlier = (at: string, id: string) =>
    `($2::timestamptz IS NULL OR (${at}, ${id}) < ($2, $3::uuid))`;
  const isRoot = `bin.tenant_id = $1 AND bin.id = bin.root_id AND ${isRestorable('bin')}`;
  // A subquery instead of EXISTS: PostgreSQL looks at the newest ones only.
  const partOfRun = `(SELECT entry.position FROM journal AS entry
      JOIN import_chunk AS chunk ON chunk.tenant_id = $1 AND entry.position BETWEEN chunk.first_position AND chunk.last_position
      WHERE entry.tenant_id = $1 AND entry.resource_id = moment.id AND entry.action = 'DELETED' AND entry.at = moment.deleted_at LIMIT 1)`;
  const order = (at: string, id: string) => `ORDER BY ${at} DESC, ${id} DESC LIMIT ${maxActions + 1}`;
  return `WITH run AS (
      SELECT run.started_at AS at, run.id, row_to_json(shown) AS run FROM (
        SELECT * FROM import_run AS run
        WHERE run.tenant_id = $1 AND run.created + run.changed + run.deleted > 0 AND ${isUndoable}
          AND ${isEarlier('run.started_at', 'run.id')} ${order('run.started_at', 'run.id')}
      ) AS run, LATERAL (SELECT ${runColumns}) AS shown
    ), moment AS (
      SELECT moment.deleted_at FROM (
        SELECT bin.deleted_at, min(bin.id::text)::uuid AS id FROM deleted_object AS bin
        WHERE ${isRoot} AND ($2::timestamptz IS NULL OR bin.deleted_at <= $2) GROUP BY bin.deleted_at
      ) AS moment WHERE ${partOfRun} IS NULL ORDER BY moment.deleted_at DESC LIMIT ${maxMoments}
    ), deletion AS (
      SELECT bin.deleted_at AS at, bin.id, json_build_object('resource', bin.resource, 'id', bin.id,
        'deletedAt', bin.deleted_at, 'restorableUntil', bin.deleted_at + interval '30 days',
        'actor', bin.actor, 'actorId', bin.actor_id, 'actorType', ${actorTypeOf('bin')},
        'data', (${binRepresentation(resources)})::json, 'included', (
          SELECT coalesce(json_agg(json_build_object('resource', part.resource, 'count', part.count) ORDER BY part.resource), '[]')
          FROM (SELECT other.resource, count(*) AS count FROM deleted_object AS other
            WHERE other.tenant_id = $1 AND other.root_id = bin.id AND other.id <> bin.id GROUP BY other.resource) AS part
        )) AS deletion
      FROM (SELECT * FROM deleted_object AS bin
        WHERE ${isRoot} AND ${isEarlier('bin.deleted_at', 'bin.id')} AND bin.deleted_at IN (SELECT moment.deleted_at FROM moment)
        ${order('bin.deleted_at', 'bin.id')}) AS bin
    )
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, id, run, deletion FROM (
      SELECT at, id, run, NULL::json AS deletion FROM run
      UNION ALL SELECT at, id, NULL, deletion FROM deletion
    ) AS action ${order('action.at', 'action.id')}`;
}
