// Imports of the last 30 days in the office: what they wrote, and undoing one of them.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { oneOf, readForm, words } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { type IdRoute, idOf } from '../../engine/http/route-conventions.ts';
import { actorTypeOf } from '../../engine/write/journal.ts';
import { retryRaces } from '../../engine/write/races.ts';
import { ApiError, validationError } from '../../errors.ts';
import { authorOf, refuseUnknownParameters } from '../../http/conventions.ts';
import { returnNames } from './former-names.ts';
import { isUndoable, type RunRow, runColumns } from './runs.ts';
import { buildUndo } from './undo.ts';
import { takeTurn, undoStep } from './undo-step.ts';

const maxFileNameLength = 255;
const maxKept = 100;
/** The rest of a request's time is for its commit, and for one slow group of entries. */
const stepShare = 0.4;

const heavy = { config: { isHeavyRead: true } } as const;
const bodiless = { config: { takesNoBody: true } } as const;

export async function importListRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const form = {
    fileName: words(maxFileNameLength),
    resource: oneOf(resources.map(({ name }) => name)),
  };
  const undoEntries = buildUndo(resources);

  /** Begins an import of a file. Its parts name it in the header Stamm-Import. */
  office.post('/imports', async (request, reply) => {
    const { fileName, resource } = readForm(request, form);
    const { actor, actorId } = authorOf(request);
    const id = randomUUIDv7();
    await database.queryInTenants([request.tenantId], {
      text: `INSERT INTO import_run (tenant_id, id, file_name, resource, actor, actor_id)
        VALUES ($1, $2, $3, $4, $5, $6)`,
      values: [request.tenantId, id, fileName, resource, actor, actorId],
    });
    reply.code(201);
    return { id };
  });

  /** Objects that undoing left as they are, and who wrote them since. */
  office.get<IdRoute>('/imports/:id/kept', heavy, async (request) => {
    refuseUnknownParameters(request, ['after']);
    const { after } = request.query as { after?: unknown };
    if (after !== undefined && !isUuid(String(after)))
      throw validationError([{ path: ['after'], code: 'invalid_cursor' }]);
    const { rows } = await database.queryInTenants<{ id: string }>([request.tenantId], {
      text: `SELECT resource, object_id AS id, reason, at, actor, actor_id AS "actorId",
          CASE WHEN actor IS NOT NULL THEN ${actorTypeOf('kept')} END AS "actorType" FROM import_kept AS kept
        WHERE tenant_id = $1 AND import_id = $2 AND ($3::uuid IS NULL OR (resource, object_id) >
          (SELECT last.resource, last.object_id FROM import_kept AS last
            WHERE last.tenant_id = $1 AND last.import_id = $2 AND last.object_id = $3 LIMIT 1))
        ORDER BY resource, object_id LIMIT ${maxKept + 1}`,
      values: [request.tenantId, idOf(request), after ?? null],
    });
    const page = rows.slice(0, maxKept);
    return { data: page, next: rows.length > maxKept ? page.at(-1)!.id : null };
  });

  /** Undoes as much as fits into the request. The caller repeats it until nothing is open. */
  office.post<IdRoute>('/imports/:id/undo', bodiless, async (request) => {
    refuseUnknownParameters(request, []);
    const importId = idOf(request);
    const { tenantId, deadline } = request;
    const author = authorOf(request);
    const until = performance.now() + Math.max(0, deadline - performance.now()) * stepShare;
    return retryRaces(() =>
      database.inTenants(
        [tenantId],
        async (client) => {
          const run = await readRun(client, tenantId, importId);
          if (!run.isOpen) return run;
          if (!(await takeTurn(client, importId))) throw new ApiError('request_in_progress');
          await undoStep(undoEntries, { client, tenantId, importId, author, until });
          const after = await readRun(client, tenantId, importId);
          if (!after.isOpen) await returnNames(client, tenantId, importId);
          return after;
        },
        { deadline },
      ),
    );
  });
}

async function readRun(client: pg.ClientBase, tenantId: string, id: string): Promise<RunRow> {
  const { rows } = await client.query<RunRow>(
    `SELECT ${runColumns} FROM import_run AS run WHERE run.tenant_id = $1 AND run.id = $2 AND ${isUndoable}`,
    [tenantId, id],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}

/** File names are free text, and may name a person. So may external ids. */
export async function eraseFileNames(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query(
    `UPDATE import_run SET file_name = NULL, former_names = NULL
     WHERE tenant_id = $1 AND (file_name IS NOT NULL OR former_names IS NOT NULL)`,
    [tenantId],
  );
}
