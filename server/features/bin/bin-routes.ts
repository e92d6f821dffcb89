// The bin: lists what was deleted, and restores it.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { binDays, binRepresentation, isRestorable } from '../../engine/bin/bin.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { buildDryRunNotes } from '../../engine/http/dry-run.ts';
import { isTimestamp } from '../../engine/read/list-query.ts';
import { cutPage, jsonBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import { timestamp } from '../../engine/read/representation.ts';
import { actorTypeOf } from '../../engine/write/journal.ts';
import { retryRaces } from '../../engine/write/races.ts';
import { prepareWriting } from '../../engine/write/resource.ts';
import { restoreObject } from '../../engine/write/restoration.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { authorOf, etagOf, isDryRun, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { isStorableText } from '../../http/json-body.ts';
import { sendRows } from '../../http/json-rows.ts';
import { defaultLimit, listDocs, longestSearch, maxLimit, restoreDocs } from './bin-docs.ts';

interface BinRow {
  id: string;
  deleted_at: string;
  /** Null where the row is beyond the bound of a page. */
  json: string | null;
}

export async function binRoutes(
  api: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const names = resources.map(({ name }) => name);
  const data = binRepresentation(resources);
  const writing = prepareWriting(resources);

  // In the office for those who may restore: entries hold whole records.
  api.get('/deleted', { schema: listDocs(names), config: { isHeavyRead: true } }, async (request, reply) => {
    refuseUnknownParameters(request, ['limit', 'cursor', 'resource', 'q', 'id']);
    const asked = parseBinRequest(request.query as Record<string, unknown>, names);
    const { tenantId, deadline } = request;
    const query = buildBinQuery(data, tenantId, asked);
    const { rows } = await database.queryInTenants<BinRow>([tenantId], query, { deadline });
    const page = cutPage(rows, asked.limit);
    const last = page.at(-1);
    const next = last && rows.length > page.length ? encodeCursor(last) : null;
    return sendRows(request, reply, { data: page }, { nextCursor: next });
  });

  for (const definition of resources) {
    const path = `/${definition.collection}/:id/restore`;
    const options = { schema: restoreDocs(definition), config: { takesNoBody: true } };
    api.post<{ Params: { id: string } }>(path, options, async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      const restored = await restore(request, definition, request.params.id.toLowerCase());
      reply.header('ETag', etagOf(restored.version));
      return restored;
    });
  }

  async function restore(request: FastifyRequest, definition: Definition, id: string) {
    if (!isUuid(id)) throw new ApiError('not_found');
    const { name, table } = definition;
    const { tenantId, deadline } = request;
    const author = authorOf(request);
    const options = { isDryRun: isDryRun(request), deadline };
    return retryRaces(() =>
      database.inTenants(
        [tenantId],
        async (client) => {
          const restored = await restoreObject(client, writing, tenantId, { resource: name, id }, author);
          const { rows } = await client.query<{ version: number }>(
            `SELECT version FROM ${table} WHERE tenant_id = $1 AND id = $2`,
            [tenantId, id],
          );
          if (!rows[0]) throw new ApiError('not_found');
          const notes = options.isDryRun && (await buildDryRunNotes(definition)(client, request, id));
          return { id, version: rows[0].version, restored: restored ?? [], ...notes };
        },
        options,
      ),
    );
  }
}

const order = 'bin.deleted_at DESC, bin.id DESC';

function buildBinQuery(data: string, tenantId: string, asked: BinRequest) {
  const values: unknown[] = [tenantId];
  const add = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['bin.tenant_id = $1', isRestorable('bin')];
  const { before, resources, words, id } = asked;
  if (before) {
    const [at, last] = before.map(add);
    conditions.push(`(bin.deleted_at, bin.id) < (${at}::timestamptz, ${last}::uuid)`);
  }
  if (resources) conditions.push(`bin.resource = ANY (${add(resources)})`);
  if (id) conditions.push(`bin.id = ${add(id)}`);
  if (words)
    conditions.push(`NOT EXISTS (
      SELECT FROM unnest(${add(words)}::text[]) AS word WHERE position(fold(word) IN bin.search_text) = 0)`);
  if (!resources && !id && !words) conditions.push('bin.id = bin.root_id');
  const entry = `'{' || concat_ws(',', ${entryMembers}, '"data":' || ${data}) || '}'`;
  const json = selectWithinPage(entry, { sizes: [jsonBytes('bin.content')], order });
  const text = `SELECT bin.id, ${timestamp('bin.deleted_at')} AS deleted_at, ${json} AS json FROM (
      SELECT * FROM deleted_object AS bin WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${add(asked.limit + 1)}
    ) AS bin ORDER BY ${order}`;
  return { text, values };
}

const entryMembers = `
  '"resource":' || to_json(bin.resource),
  '"id":' || to_json(bin.id),
  '"version":' || bin.version,
  '"deletedAt":' || ${timestamp('bin.deleted_at')},
  '"restorableUntil":' || ${timestamp(`(bin.deleted_at + interval '${binDays} days')`)},
  '"actor":' || to_json(bin.actor),
  '"actorId":' || to_json(bin.actor_id),
  '"actorType":"' || ${actorTypeOf('bin')} || '"',
  '"deletedWith":' || (SELECT json_build_object('resource', root.resource, 'id', root.id) FROM deleted_object AS root
    WHERE root.tenant_id = $1 AND root.root_id = bin.root_id AND root.id = bin.root_id AND bin.id <> bin.root_id),
  '"included":' || (SELECT coalesce(json_agg(json_build_object('resource', part.resource, 'count', part.count) ORDER BY part.resource), '[]')
    FROM (SELECT other.resource, count(*) AS count FROM deleted_object AS other
      WHERE other.tenant_id = $1 AND other.root_id = bin.id AND other.id <> bin.id GROUP BY other.resource) AS part)`;

interface BinRequest {
  limit: number;
  /** The last entry of the page before. */
  before: [deletedAt: string, id: string] | undefined;
  resources: string[] | undefined;
  words: string[] | undefined;
  id: string | undefined;
}

function parseBinRequest(query: Record<string, unknown>, names: readonly string[]): BinRequest {
  const fieldErrors: FieldError[] = [];
  const reject = (name: string, code: FieldError['code'], params?: FieldError['params']) =>
    fieldErrors.push({ path: [name], code, params });
  const read = (name: string): string | undefined => {
    const { [name]: value } = query;
    if (value === undefined || typeof value === 'string') return value;
    reject(name, 'repeated_parameter');
    return undefined;
  };
  const limit = readLimit(read('limit') ?? String(defaultLimit), maxLimit);
  if (limit === undefined) reject('limit', 'out_of_range', { min: 1, max: maxLimit });
  const resources = read('resource')?.split(',');
  if (resources?.some((name) => !names.includes(name)))
    reject('resource', 'invalid_choice', { choices: names });
  const id = read('id')?.toLowerCase();
  if (id !== undefined && !isUuid(id)) reject('id', 'invalid_uuid');
  const q = read('q') ?? '';
  const words = q.split(/\s+/).filter(Boolean);
  if (q.length > longestSearch) reject('q', 'too_long', { max: longestSearch });
  else if (words.some((word) => !isStorableText(word))) reject('q', 'invalid_text');
  const cursor = read('cursor') || undefined;
  const before = cursor === undefined ? undefined : decodeCursor(cursor);
  if (cursor !== undefined && !before) reject('cursor', 'invalid_cursor');
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { limit: limit!, before, resources, words: words.length > 0 ? words : undefined, id };
}

function encodeCursor({ deleted_at: deletedAt, id }: BinRow): string {
  return Buffer.from(JSON.stringify([JSON.parse(deletedAt), id])).toString('base64url');
}

function decodeCursor(text: string): [string, string] | undefined {
  try {
    const [deletedAt, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const isSound =
      typeof deletedAt === 'string' && isTimestamp(deletedAt) && typeof id === 'string' && isUuid(id);
    return isSound ? [deletedAt, id] : undefined;
  } catch {
    return undefined;
  }
}
