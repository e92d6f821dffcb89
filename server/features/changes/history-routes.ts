// The journal as the office reads it: the newest first, of one object or of everything.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { cutPage } from '../../engine/read/page-size.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { isStorableText } from '../../http/json-body.ts';
import { sendRows } from '../../http/json-rows.ts';
import { buildEntryQuery, type EntryRow } from './changes-routes.ts';

const defaultLimit = 50;
const maxLimit = 200;
const heavy = { config: { isHeavyRead: true } };

/** Larger than any position. */
const theEnd = '9223372036854775807';

export async function historyRoutes(
  office: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    condition: string,
    values: readonly unknown[],
  ) {
    refuseUnknownParameters(request, ['before', 'limit']);
    const { before, limit } = parseHistoryRequest(request.query as Record<string, unknown>);
    const { rows } = await database.queryInTenants<EntryRow>(
      [request.tenantId],
      {
        text: buildEntryQuery(`entry.position < $2 ${condition}`, 'entry.position DESC'),
        values: [request.tenantId, before, limit + 1, ...values],
      },
      { deadline: request.deadline },
    );
    const page = cutPage(rows, limit);
    const next = rows.length > page.length ? page.at(-1)!.position : null;
    const emails = await readEmails(request, page);
    const data = page.map((row) => ({ json: withEmail(row.json, emails.get(row.actor_id ?? '')) }));
    return sendRows(request, reply, { data }, { nextCursor: next });
  }

  /** The present addresses of the people who acted. Not joined: on a cluster people and changes are on different machines. */
  async function readEmails(
    { tenantId, deadline }: FastifyRequest,
    entries: readonly EntryRow[],
  ): Promise<Map<string, string>> {
    const ids = new Set(entries.flatMap(({ actor_id: id }) => id ?? []));
    if (ids.size === 0) return new Map();
    const { rows } = await database.queryInTenants<{ id: string; email: string }>(
      [tenantId],
      {
        text: 'SELECT id, email FROM person WHERE tenant_id = $1 AND id = ANY ($2::uuid[])',
        values: [tenantId, [...ids]],
      },
      { deadline },
    );
    return new Map(rows.map(({ id, email }) => [id, email]));
  }

  office.get('/history', heavy, async (request, reply) => send(request, reply, '', []));

  office.get<{ Params: { resource: string; id: string } }>(
    '/history/:resource/:id',
    heavy,
    async (request, reply) => {
      const { resource, id } = request.params;
      if (!isUuid(id) || !isStorableText(resource)) throw new ApiError('not_found');
      const condition = 'AND entry.resource_id = $4 AND entry.resource = $5';
      return send(request, reply, condition, [id, resource]);
    },
  );
}

function withEmail(json: string, email: string | undefined): string {
  return email === undefined ? json : `${json.slice(0, -1)},"actorEmail":${JSON.stringify(email)}}`;
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
