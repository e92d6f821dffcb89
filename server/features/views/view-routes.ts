// Saved views of the office's tables: a person's own, and those that everybody of the business sees.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { flag, type Input, oneOf, optional, type Reading, readForm, words } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import { isAllowed } from '../../access/route-rights.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { type IdRoute, inTenantOf } from '../../engine/http/route-conventions.ts';
import { ApiError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';

const maxViews = 200;
const maxNameLength = 60;
const maxSearchLength = 4000;
const maxColumns = 100;
const maxColumnLength = 100;

const bodiless = { config: { takesNoBody: true } } as const;

interface Options {
  database: Database;
  resources: readonly Definition[];
}

export async function viewRoutes(app: FastifyInstance, { database, resources }: Options): Promise<void> {
  const look = {
    name: words(maxNameLength),
    search: searchInput,
    columns: columnsInput,
    isShared: flag,
  };
  const form = { ...look, resource: oneOf(resources.map(({ name }) => name)) };
  const changes = {
    name: optional(look.name),
    search: optional(look.search),
    columns: optional(look.columns),
    isShared: optional(look.isShared),
  };

  app.get('/views', async (request) => {
    refuseUnknownParameters(request, []);
    const { rows } = await database.queryInTenants([request.tenantId], {
      text: `SELECT id, resource, name, search, columns, person_id IS NULL AS "isShared" FROM saved_view
        WHERE tenant_id = $1 AND (person_id = $2 OR person_id IS NULL) ORDER BY lower(name), id`,
      values: [request.tenantId, personOf(request)],
    });
    return { data: rows };
  });

  app.post('/views', async (request, reply) => {
    const { resource, name, search, columns, isShared } = readForm(request, form);
    demandRightToShare(request, isShared);
    const id = randomUUIDv7();
    await inTenantOf(request, database, async (client) => {
      // A count of two at the same moment may miss one of them, which does no harm.
      const { rows } = await client.query<{ count: number }>(
        'SELECT count(*)::integer AS count FROM saved_view WHERE tenant_id = $1 AND person_id IS NOT DISTINCT FROM $2',
        [request.tenantId, isShared ? null : personOf(request)],
      );
      if (rows[0]!.count >= maxViews) throw new ApiError('too_many_views');
      await client.query(
        `INSERT INTO saved_view (tenant_id, id, person_id, resource, name, search, columns)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [request.tenantId, id, isShared ? null : personOf(request), resource, name, search, columns],
      );
    });
    reply.code(201);
    return { id };
  });

  app.patch<IdRoute>('/views/:id', async (request, reply) => {
    const { name, search, columns, isShared } = readForm(request, changes);
    await inTenantOf(request, database, async (client) => {
      const current = await readView(client, request);
      demandRightToShare(request, isShared);
      await client.query(
        `UPDATE saved_view SET name = coalesce($3, name), search = coalesce($4, search),
           columns = coalesce($5, columns), person_id = $6, updated_at = now()
         WHERE tenant_id = $1 AND id = $2`,
        [
          request.tenantId,
          request.params.id,
          name,
          search,
          columns,
          (isShared ?? current.isShared) ? null : personOf(request),
        ],
      );
    });
    reply.code(204);
  });

  app.delete<IdRoute>('/views/:id', bodiless, async (request, reply) => {
    await inTenantOf(request, database, async (client) => {
      await readView(client, request);
      await client.query('DELETE FROM saved_view WHERE tenant_id = $1 AND id = $2', [
        request.tenantId,
        request.params.id,
      ]);
    });
    reply.code(204);
  });
}

/** Runs in the transaction that erases a person: names, filters and columns of views may name the person. */
export async function eraseFromViews(
  client: pg.ClientBase,
  tenantId: string,
  redact: (text: string) => string,
): Promise<void> {
  const { rows } = await client.query<{ id: string; name: string; search: string; columns: string[] }>(
    'SELECT id, name, search, columns FROM saved_view WHERE tenant_id = $1 FOR UPDATE',
    [tenantId],
  );
  const isKept = (text: string) => redact(text) === text;
  for (const view of rows) {
    const filters = [...new URLSearchParams(view.search)];
    const kept = filters.filter((filter) => filter.every(isKept));
    const columns = view.columns.filter(isKept);
    if (isKept(view.name) && kept.length === filters.length && columns.length === view.columns.length)
      continue;
    const search = kept.length === filters.length ? view.search : String(new URLSearchParams(kept));
    await client.query(
      'UPDATE saved_view SET name = $3, search = $4, columns = $5 WHERE tenant_id = $1 AND id = $2',
      [tenantId, view.id, redact(view.name), search, columns],
    );
  }
}

function personOf(request: FastifyRequest): string {
  return sessionOf(request).person.id;
}

/** A view that the person may change: their own, or for Verwaltung and Büro a shared one. */
async function readView(
  client: pg.ClientBase,
  request: FastifyRequest<IdRoute>,
): Promise<{ isShared: boolean }> {
  const { id } = request.params;
  if (!isUuid(id)) throw new ApiError('not_found');
  const { rows } = await client.query<{ isShared: boolean }>(
    `SELECT person_id IS NULL AS "isShared" FROM saved_view
     WHERE tenant_id = $1 AND id = $2 AND (person_id = $3 OR person_id IS NULL) FOR UPDATE`,
    [request.tenantId, id, personOf(request)],
  );
  const [view] = rows;
  if (!view) throw new ApiError('not_found');
  demandRightToShare(request, view.isShared);
  return view;
}

function demandRightToShare(request: FastifyRequest, isShared: boolean | undefined): void {
  if (isShared && !isAllowed(sessionOf(request).person.role, 'OFFICE'))
    throw new ApiError('role_insufficient');
}

/** The query string of a table's page, without the question mark. */
const searchInput: Input<string> = {
  isRequired: true,
  read(value): Reading<string> {
    if (typeof value !== 'string') return { code: 'type', params: { type: 'string' } };
    if (value.length > maxSearchLength) return { code: 'too_long', params: { max: maxSearchLength } };
    return { value };
  },
};

const columnsInput: Input<string[]> = {
  isRequired: true,
  read(value): Reading<string[]> {
    if (!Array.isArray(value)) return { code: 'type', params: { type: 'array' } };
    if (value.length > maxColumns) return { code: 'too_many_items', params: { max: maxColumns } };
    const isColumn = (name: unknown) => typeof name === 'string' && name.length <= maxColumnLength;
    if (!value.every(isColumn)) return { code: 'type', params: { type: 'string' } };
    return { value };
  },
};
