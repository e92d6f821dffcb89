// Reading one object and lists of them, from a definition.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError } from '../errors.ts';
import type { Definition } from './definition.ts';
import { isUuid } from './formats.ts';
import { readDocs } from './openapi-routes.ts';
import { buildCountQuery, buildListQuery, encodeCursor, type ListedRow, parseListRequest } from './reads.ts';
import { representation } from './representation.ts';
import { etagOf, matchesEtag, refuseUnknownParameters, sendJson } from './requests.ts';

export function addReadRoutes(api: FastifyInstance, definition: Definition, database: Database): void {
  const docs = readDocs(definition);
  const readOne = {
    name: `read ${definition.name}`,
    text: `SELECT version, ${representation(definition, 'subject')} AS json
      FROM ${definition.table} AS subject WHERE tenant_id = $1 AND id = $2`,
  };

  async function query<Row extends object>(tenantId: string, statement: { text: string; values: unknown[] }) {
    const { rows } = await database.queryInTenants<Row>([tenantId], statement).catch((error) => {
      throw toApiFailure(error);
    });
    return rows;
  }

  api.get<{ Params: { id: string } }>(
    `/${definition.collection}/:id`,
    { schema: docs.read },
    async (request, reply) => {
      const { id } = request.params;
      refuseUnknownParameters(request, []);
      if (!isUuid(id)) throw new ApiError('not_found');
      const statement = { ...readOne, values: [request.tenantId, id] };
      const [stored] = await query<{ version: number; json: string }>(request.tenantId, statement);
      if (!stored) throw new ApiError('not_found');
      const etag = etagOf(stored.version);
      reply.header('ETag', etag);
      if (matchesEtag((request.headers['if-none-match'] ?? '').replaceAll('W/', ''), etag))
        return reply.code(304).send();
      return sendJson(reply, stored.json);
    },
  );

  api.get<{ Querystring: Record<string, unknown> }>(
    `/${definition.collection}`,
    { schema: docs.list },
    async (request, reply) => {
      const list = parseListRequest(definition, request.query);
      const { tenantId } = request;
      const [rows, counted] = await Promise.all([
        query<ListedRow>(tenantId, buildListQuery(definition, tenantId, list)),
        list.wantsTotal
          ? query<{ total: number }>(tenantId, buildCountQuery(definition, tenantId, list))
          : undefined,
      ]);
      const page = rows.slice(0, list.limit);
      const nextCursor = rows.length > list.limit ? encodeCursor(list.sort, page.at(-1)!) : undefined;
      if (nextCursor) reply.header('Link', `<${nextAddress(request.url, nextCursor)}>; rel="next"`);
      const members = [
        `"data":[${page.map((row) => row.json).join(',')}]`,
        `"nextCursor":${JSON.stringify(nextCursor ?? null)}`,
        ...(counted ? [`"total":${counted[0]!.total}`] : []),
      ];
      return sendJson(reply, `{${members.join(',')}}`);
    },
  );
}

function nextAddress(url: string, cursor: string): string {
  const [path = '', ...query] = url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  parameters.set('cursor', cursor);
  return `${path}?${parameters}`;
}
