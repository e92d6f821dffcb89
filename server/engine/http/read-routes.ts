// Reading one object and lists of them, from a definition.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { buildTenantBatches } from '../../database/tenant-batches.ts';
import { ApiError, validationError } from '../../errors.ts';

import {
  etagOf,
  linkNextPage,
  matchesEtag,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import { isStorableText } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { readDocs } from '../openapi/routes.ts';
import { findCurrentIds } from '../sql/former-names.ts';
import {
  buildCountQuery,
  buildListQuery,
  encodeCursor,
  inclusions,
  type ListedRow,
  type ListRequest,
  parseListRequest,
} from '../sql/list-query.ts';
import { cutPage } from '../sql/page-size.ts';
import { representation } from '../sql/representation.ts';

export function addReadRoutes(api: FastifyInstance, definition: Definition, database: Database): void {
  const docs = readDocs(definition);
  const json = representation(definition, 'subject');
  const jsonWithExternalIds = representation(definition, 'subject', { withExternalIds: true });
  const byId = { column: 'id', type: 'uuid' };
  const byExternalId = { column: 'external_id', type: 'text' };
  const readById = buildReads(byId);
  const readByExternalId = buildReads(byExternalId);

  function buildReads(key: typeof byId): Record<Form, ReadOne> {
    const name = `read ${definition.name} by ${key.column}`;
    return {
      plain: buildReadOne(definition, json, database, key, name),
      withExternalIds: buildReadOne(
        definition,
        jsonWithExternalIds,
        database,
        key,
        `${name}, with external ids`,
      ),
    };
  }

  async function query<Row extends object>(
    { tenantId, deadline }: FastifyRequest,
    statement: pg.QueryConfig,
    isPlannedOnce = false,
  ) {
    const { rows } = await database.queryInTenants<Row>([tenantId], statement, { deadline, isPlannedOnce });
    return rows;
  }

  function readPage(request: FastifyRequest, list: ListRequest): Promise<ListedRow[]> {
    const form = list.withExternalIds ? jsonWithExternalIds : json;
    const statement = buildListQuery(definition, request.tenantId, list, form);
    // With filters the best index depends on their values; without, it is the one of the order.
    if (list.conditions.length > 0 || list.withExternalIds) return query(request, statement);
    const name = `list ${definition.name} by ${list.sort.name}${list.cursor ? ', further' : ''}`;
    return query(request, { ...statement, name }, true);
  }

  /** The object that one with this name was merged into. */
  async function readMerged(
    { tenantId, deadline }: FastifyRequest,
    form: Form,
    column: 'id' | 'external_id',
    name: string,
  ): Promise<Found | undefined> {
    const sought = column === 'id' ? name.toLowerCase() : name;
    const find = (client: pg.ClientBase) =>
      findCurrentIds(client, tenantId, definition.name, column, [sought]);
    const [id] = (await database.inTenants([tenantId], find, { deadline })).values();
    return id === undefined ? undefined : readById[form](tenantId, id, deadline);
  }

  function answerOne(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    form: Form,
    stored: Found | undefined,
  ) {
    if (!stored) throw new ApiError('not_found');
    const etag = etagOf(stored.version);
    reply.header('ETag', etag);
    const known = (headers['if-none-match'] ?? '').replaceAll('W/', '');
    // The external id of another object can change without this version.
    if (form === 'plain' && matchesEtag(known, etag)) return reply.code(304).send();
    return sendJson(reply, stored.json);
  }

  api.get<{ Params: { id: string } }>(
    `/${definition.collection}/:id`,
    { schema: docs.read },
    async (request, reply) => {
      const { id } = request.params;
      const form = formOf(request);
      if (!isUuid(id)) throw new ApiError('not_found');
      const stored =
        (await readById[form](request.tenantId, id, request.deadline)) ??
        (await readMerged(request, form, 'id', id));
      return answerOne(request, reply, form, stored);
    },
  );

  api.get<{ Params: { externalId: string } }>(
    `/${definition.collection}/by-external-id/:externalId`,
    { schema: docs.readByExternalId },
    async (request, reply) => {
      const { externalId } = request.params;
      const form = formOf(request);
      if (!isStorableText(externalId)) throw new ApiError('not_found');
      const stored =
        (await readByExternalId[form](request.tenantId, externalId, request.deadline)) ??
        (await readMerged(request, form, 'external_id', externalId));
      return answerOne(request, reply, form, stored);
    },
  );

  api.get<{ Querystring: Record<string, unknown> }>(
    `/${definition.collection}`,
    { schema: docs.list },
    async (request, reply) => {
      const list = parseListRequest(definition, request.query);
      const [rows, counted] = await Promise.all([
        readPage(request, list),
        list.wantsTotal
          ? query<{ total: number }>(request, buildCountQuery(definition, request.tenantId, list))
          : undefined,
      ]);
      const page = cutPage(rows, list.limit);
      const nextCursor = rows.length > page.length ? encodeCursor(list.sort, page.at(-1)!) : undefined;
      if (nextCursor) linkNextPage(request, reply, nextCursor);
      const members = [
        `"data":[${page.map((row) => row.json).join(',')}]`,
        `"nextCursor":${JSON.stringify(nextCursor ?? null)}`,
        ...(counted ? [`"total":${counted[0]!.total}`] : []),
      ];
      return sendJson(reply, `{${members.join(',')}}`);
    },
  );
}

type Form = 'plain' | 'withExternalIds';
type ReadOne = ReturnType<typeof buildReadOne>;

function formOf(request: FastifyRequest): Form {
  refuseUnknownParameters(request, ['include']);
  const { include } = request.query as { include?: unknown };
  if (include === undefined) return 'plain';
  if (include === inclusions[0]) return 'withExternalIds';
  throw validationError([{ path: ['include'], code: 'invalid_choice', params: { choices: inclusions } }]);
}

interface Found {
  version: number;
  json: string;
}

/** Objects that are asked for at the same time are read with one statement, whichever tenants they belong to. */
function buildReadOne(
  definition: Definition,
  json: string,
  database: Database,
  { column, type }: { column: string; type: string },
  name: string,
) {
  const statement = {
    name,
    text: `SELECT asked.place, subject.version, ${json} AS json
      FROM unnest($1::uuid[], $2::${type}[]) WITH ORDINALITY AS asked (tenant_id, name, place)
      JOIN ${definition.table} AS subject ON subject.tenant_id = asked.tenant_id AND subject.${column} = asked.name`,
  };
  const reads = buildTenantBatches<{ tenantId: string; name: string }, Found | undefined>(database, {
    kind: 'read',
    async run(asked) {
      const tenantIds = asked.map(({ tenantId }) => tenantId);
      const values = [tenantIds, asked.map(({ name }) => name)];
      // For a list of one id PostgreSQL would make a new plan each time, which takes longer than reading the row.
      const { rows } = await database.queryInTenants<Found & { place: string }>(
        [...new Set(tenantIds)],
        { ...statement, values },
        { isPlannedOnce: true, isBatch: true },
      );
      const found: (Found | undefined)[] = asked.map(() => undefined);
      for (const row of rows) found[Number(row.place) - 1] = row;
      return found;
    },
    tenantOf: ({ tenantId }) => tenantId,
    maxItems: 100,
    paceMs: 0,
  });
  return (tenantId: string, name: string, deadline: number) => reads.add({ tenantId, name }, deadline);
}
