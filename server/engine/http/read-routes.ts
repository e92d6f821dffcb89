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
import { isLargePage } from '../../http/heavy-reads.ts';
import { isStorableText } from '../../http/json-body.ts';
import { sendRows } from '../../http/json-rows.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { readDocs } from '../openapi/read-docs.ts';
import { findCurrentIds } from '../sql/former-names.ts';
import {
  buildCountQuery,
  buildListQuery,
  encodeCursor,
  inclusions,
  type ListRequest,
  parseListRequest,
  readListed,
} from '../sql/list-query.ts';
import { cutPage } from '../sql/page-size.ts';
import { representation } from '../sql/representation.ts';

export function addReadRoutes(api: FastifyInstance, definition: Definition, database: Database): void {
  const docs = readDocs(definition);
  const forms = {
    plain: representation(definition, 'subject'),
    withExternalIds: representation(definition, 'subject', { withExternalIds: true }),
  };
  const reads = {
    id: buildReads(definition, forms, database, { column: 'id', type: 'uuid' }),
    external_id: buildReads(definition, forms, database, { column: 'external_id', type: 'text' }),
  };

  /** Finds an object that was merged into another one too, and answers the other. */
  async function readOne(
    { tenantId, deadline }: FastifyRequest,
    form: Form,
    column: 'id' | 'external_id',
    name: string,
  ): Promise<Found | undefined> {
    const found = await reads[column][form](tenantId, name, deadline);
    if (found) return found;
    const sought = column === 'id' ? name.toLowerCase() : name;
    const find = (client: pg.ClientBase) =>
      findCurrentIds(client, tenantId, definition.name, column, [sought]);
    const [id] = (await database.inTenants([tenantId], find, { deadline })).values();
    return id === undefined ? undefined : reads.id[form](tenantId, id, deadline);
  }

  api.get<{ Params: { id: string } }>(
    `/${definition.collection}/:id`,
    { schema: docs.read },
    async (request, reply) => {
      const { id } = request.params;
      const form = formOf(request);
      if (!isUuid(id)) throw new ApiError('not_found');
      return answerOne(request, reply, form, await readOne(request, form, 'id', id));
    },
  );

  api.get<{ Params: { externalId: string } }>(
    `/${definition.collection}/by-external-id/:externalId`,
    { schema: docs.readByExternalId },
    async (request, reply) => {
      const { externalId } = request.params;
      const form = formOf(request);
      if (!isStorableText(externalId)) throw new ApiError('not_found');
      return answerOne(request, reply, form, await readOne(request, form, 'external_id', externalId));
    },
  );

  addListRoute(api, definition, forms, database, docs.list);
}

function answerOne({ headers }: FastifyRequest, reply: FastifyReply, form: Form, stored: Found | undefined) {
  if (!stored) throw new ApiError('not_found');
  const etag = etagOf(stored.version);
  reply.header('ETag', etag);
  const known = (headers['if-none-match'] ?? '').replaceAll('W/', '');
  // The external id of another object can change without this version.
  if (form === 'plain' && matchesEtag(known, etag)) return reply.code(304).send();
  return sendJson(reply, stored.json);
}

function addListRoute(
  api: FastifyInstance,
  definition: Definition,
  forms: Forms,
  database: Database,
  schema: object,
): void {
  async function query<Row extends object>(
    { tenantId, deadline }: FastifyRequest,
    statement: pg.QueryConfig,
    isPlannedOnce = false,
  ) {
    const { rows } = await database.queryInTenants<Row>([tenantId], statement, { deadline, isPlannedOnce });
    return rows;
  }

  async function readPage(request: FastifyRequest, list: ListRequest) {
    const form = list.withExternalIds ? forms.withExternalIds : forms.plain;
    const statement = buildListQuery(definition, request.tenantId, list, form);
    // With filters the best index depends on their values; without, it is the one of the order.
    if (list.conditions.length > 0 || list.withExternalIds)
      return readListed(await query(request, statement));
    const name = `list ${definition.name} by ${list.sort.name}${list.cursor ? ', further' : ''}`;
    return readListed(await query(request, { ...statement, name }, true));
  }

  async function count(request: FastifyRequest, list: ListRequest): Promise<number> {
    const statement = buildCountQuery(definition, request.tenantId, list);
    return (await query<{ total: number }>(request, statement))[0]!.total;
  }

  api.get<{ Querystring: Record<string, unknown> }>(
    `/${definition.collection}`,
    { schema, config: { isHeavyRead: isLargePage } },
    async (request, reply) => {
      const list = parseListRequest(definition, request.query);
      const [{ rows, isWhole, total }, counted] = await Promise.all([
        readPage(request, list),
        list.wantsTotal && !list.search ? count(request, list) : undefined,
      ]);
      const page = cutPage(rows, list.limit);
      const nextCursor = rows.length > page.length ? encodeCursor(list.sort, page.at(-1)!) : undefined;
      if (nextCursor) linkNextPage(request, reply, nextCursor);
      const more = {
        nextCursor: nextCursor ?? null,
        ...(list.wantsTotal && { total: counted ?? total }),
        ...(!isWhole && { truncated: true }),
      };
      return sendRows(request, reply, { data: page }, more);
    },
  );
}

type Form = 'plain' | 'withExternalIds';
/** SQL expressions for the object as it is answered. */
type Forms = Record<Form, string>;
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

function buildReads(
  definition: Definition,
  forms: Forms,
  database: Database,
  key: { column: string; type: string },
): Record<Form, ReadOne> {
  const name = `read ${definition.name} by ${key.column}`;
  return {
    plain: buildReadOne(definition, forms.plain, database, key, name),
    withExternalIds: buildReadOne(
      definition,
      forms.withExternalIds,
      database,
      key,
      `${name}, with external ids`,
    ),
  };
}

/** Objects that are requested at the same time are read with one statement, for any tenants. */
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
      FROM unnest($1::uuid[], $2::${type}[]) WITH ORDINALITY AS asked (tenant_id, name, place), LATERAL (
        SELECT * FROM ${definition.table} AS subject
        WHERE subject.tenant_id = asked.tenant_id AND subject.${column} = asked.name LIMIT 1) AS subject`,
  };
  const reads = buildTenantBatches<{ tenantId: string; name: string }, Found | undefined>(database, {
    kind: 'read',
    async run(asked) {
      const tenantIds = asked.map(({ tenantId }) => tenantId);
      const values = [tenantIds, asked.map(({ name }) => name)];
      // For a list of one id PostgreSQL would plan each time, which takes longer than reading the row.
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
