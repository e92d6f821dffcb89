// The feed of everything that was created, changed or deleted, in the order of commits and without gaps.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { entryMembers, entryRepresentation } from '../../engine/sql/journal.ts';
import { cutPage, jsonBytes, selectWithinPage } from '../../engine/sql/page-size.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLimit, refuseUnknownParameters, sendJson } from '../../http/conventions.ts';

const defaultLimit = 100;
const maxLimit = 1000;

/** How an entry is answered, and what is joined for it. */
interface EntryForm {
  representation: string;
  join: string;
}

const apiEntry: EntryForm = { representation: entryRepresentation, join: '' };

/** For the office: also the present address of the person who acted. */
export const officeEntry: EntryForm = {
  representation: `'{' || concat_ws(',', ${entryMembers}, '"actorEmail":' || to_json(author.email)) || '}'`,
  join: 'LEFT JOIN person AS author ON author.tenant_id = entry.tenant_id AND author.id = entry.actor_id',
};

/** Entries in `order` as pages have them; `condition` begins with $1, the tenant, and $3 is one entry more than the page. */
export function buildEntryQuery(condition: string, order: string, form: EntryForm = apiEntry): string {
  const json = selectWithinPage(form.representation, { sizes: [jsonBytes('entry.changes')], order });
  return `SELECT entry.position, ${json} AS json FROM (
      SELECT * FROM journal AS entry WHERE entry.tenant_id = $1 AND ${condition} ORDER BY ${order} LIMIT $3
    ) AS entry ${form.join} ORDER BY ${order}`;
}

export interface EntryRow {
  position: string;
  /** Null where the entry is beyond the bound of a page. */
  json: string | null;
}

export const journalSchemas: readonly JsonSchema[] = [
  {
    $id: 'Change',
    title: 'Change',
    type: 'object',
    properties: {
      cursor: { type: 'string', description: 'Place of this entry: `after` it come all later ones.' },
      at: { type: 'string', format: 'date-time', description: 'When it happened.' },
      resource: { type: 'string', description: 'Type of the object.', examples: ['site'] },
      id: { type: 'string', format: 'uuid', description: 'The object.' },
      externalId: { type: 'string', description: 'Your own id of it, if it has one.' },
      action: { type: 'string', enum: ['CREATED', 'CHANGED', 'DELETED'] },
      version: {
        type: 'integer',
        description: 'Version that it had afterwards; for a deletion, its last one.',
      },
      actor: {
        type: 'string',
        description: 'Who did it, to read. People choose their names: compare `actorId` instead.',
        examples: ['key …a1B2'],
      },
      actorId: { type: 'string', format: 'uuid', description: 'The person who did it; absent for others.' },
      actorType: {
        type: 'string',
        enum: ['PERSON', 'KEY', 'COMMAND_LINE'],
        description: 'A person of the office, your API key, or the operator of the service.',
      },
      requestId: { type: 'string', format: 'uuid', description: 'The request that did it.' },
      changes: {
        type: 'object',
        description: 'For a change: each field that changed, with `from` and `to`; absent means no value.',
        additionalProperties: { type: 'object', properties: { from: {}, to: {} } },
      },
    },
    required: ['cursor', 'at', 'resource', 'id', 'action', 'version', 'actor', 'actorType'],
  },
  {
    $id: 'ChangePage',
    title: 'Page of changes',
    type: 'object',
    properties: {
      data: { type: 'array', items: { $ref: 'Change#' } },
      nextCursor: { type: 'string', description: 'Send it as `after` next time, also when nothing came.' },
      hasMore: { type: 'boolean', description: 'Whether there is more already.' },
    },
    required: ['data', 'nextCursor', 'hasMore'],
  },
];

const docs = {
  operationId: 'listChanges',
  summary: 'Follow what changes',
  description:
    'Everything that was created, changed or deleted, in the order in which it was committed, each once and without gaps. Begin without `after`, keep `nextCursor`, and ask again with it whenever you like. An answer ends at about 4 MB, so it may be shorter than `limit`: read on while `hasMore` is true. A deletion stays in the feed.',
  tags: ['Changes'],
  querystring: {
    type: 'object',
    properties: {
      after: { type: 'string', description: '`nextCursor` of the last answer.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: maxLimit,
        default: defaultLimit,
        description: 'Entries an answer.',
      },
    },
  },
  response: {
    200: answer('Entries after the cursor.', { $ref: 'ChangePage#' }),
    ...errorResponses(400, 401, 403, 429, 500),
  },
};

export async function changeRoutes(
  api: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  api.get('/changes', { schema: docs }, async (request, reply) => {
    refuseUnknownParameters(request, ['after', 'limit']);
    const { after, limit } = parseFeedRequest(request.query as Record<string, unknown>);
    const { rows } = await database.queryInTenants<EntryRow>(
      [request.tenantId],
      {
        name: 'changes',
        text: buildEntryQuery('entry.position > $2', 'entry.position'),
        values: [request.tenantId, after, limit + 1],
      },
      { deadline: request.deadline },
    );
    if (rows.length === 0) await refuseCursorOfTheFuture(database, request, after);
    const page = cutPage(rows, limit);
    const nextCursor = page.at(-1)?.position ?? after;
    const data = page.map((row) => row.json).join(',');
    return sendJson(
      reply,
      `{"data":[${data}],"nextCursor":"${nextCursor}","hasMore":${rows.length > page.length}}`,
    );
  });
}

/** A reader who is ahead of the journal, as after a restored backup, would otherwise wait for ever. */
async function refuseCursorOfTheFuture(
  database: Database,
  { tenantId, deadline }: FastifyRequest,
  after: string,
): Promise<void> {
  const { rows } = await database.queryInTenants(
    [tenantId],
    {
      name: 'changes head',
      text: 'SELECT FROM journal_head WHERE tenant_id = $1 AND last_position >= $2',
      values: [tenantId, after],
    },
    { deadline },
  );
  if (rows.length === 0) throw validationError([{ path: ['after'], code: 'invalid_cursor' }]);
}

function parseFeedRequest(query: Record<string, unknown>): { after: string; limit: number } {
  const { after = '0', limit = String(defaultLimit) } = query;
  const faults: FieldError[] = [];
  if (typeof after !== 'string' || !/^\d{1,18}$/.test(after)) {
    faults.push({ path: ['after'], code: 'invalid_cursor' });
  }
  const entries = readLimit(limit, maxLimit);
  if (entries === undefined) {
    faults.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  }
  if (faults.length > 0) throw validationError(faults);
  return { after: after as string, limit: entries! };
}
