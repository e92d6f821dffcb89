// The journal as the office reads it: the newest first, of one object or of everything.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { cutPage } from '../../engine/sql/page-size.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { readLimit, refuseUnknownParameters, sendJson } from '../../http/conventions.ts';
import { isStorableText } from '../../http/json-body.ts';
import { buildEntryQuery, type EntryRow, officeEntry } from './changes-routes.ts';

const defaultLimit = 50;
const maxLimit = 200;

/** Larger than any position. */
const theEnd = '9223372036854775807';

export async function historyRoutes(
  office: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  async function read(
    request: FastifyRequest,
    condition: string,
    values: readonly unknown[],
  ): Promise<string> {
    refuseUnknownParameters(request, ['before', 'limit']);
    const { before, limit } = parseHistoryRequest(request.query as Record<string, unknown>);
    const { rows } = await database.queryInTenants<EntryRow>(
      [request.tenantId],
      {
        text: buildEntryQuery(`entry.position < $2 ${condition}`, 'entry.position DESC', officeEntry),
        values: [request.tenantId, before, limit + 1, ...values],
      },
      { deadline: request.deadline },
    );
    const page = cutPage(rows, limit);
    const next = rows.length > page.length ? page.at(-1)!.position : null;
    return `{"data":[${page.map((row) => row.json).join(',')}],"nextCursor":${JSON.stringify(next)}}`;
  }

  office.get('/history', async (request, reply) => sendJson(reply, await read(request, '', [])));

  office.get<{ Params: { resource: string; id: string } }>(
    '/history/:resource/:id',
    async (request, reply) => {
      const { resource, id } = request.params;
      if (!isUuid(id) || !isStorableText(resource)) throw new ApiError('not_found');
      const condition = 'AND entry.resource_id = $4 AND entry.resource = $5';
      return sendJson(reply, await read(request, condition, [id, resource]));
    },
  );
}

function parseHistoryRequest(query: Record<string, unknown>): { before: string; limit: number } {
  const { before = theEnd, limit = String(defaultLimit) } = query;
  const fieldErrors: FieldError[] = [];
  if (typeof before !== 'string' || !/^\d{1,19}$/.test(before) || BigInt(before) > BigInt(theEnd)) {
    fieldErrors.push({ path: ['before'], code: 'invalid_cursor' });
  }
  const entries = readLimit(limit, maxLimit);
  if (entries === undefined) {
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  }
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { before: before as string, limit: entries! };
}
