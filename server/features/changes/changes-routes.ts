// The feed of everything that was created, changed or deleted, in the order of commits and without gaps.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { buildObjectQuery, type CurrentObject } from '../../engine/sql/current-objects.ts';
import { entryRepresentation } from '../../engine/sql/journal.ts';
import { cutPage, jsonBytes, selectWithinPage } from '../../engine/sql/page-size.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { maxOriginLength, originError, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { sendRows } from '../../http/json-rows.ts';

const defaultLimit = 100;
const maxLimit = 1000;
/** A filter that matches little reads no more of the journal than this in one request. */
const scannedEntries = 10_000;
const inclusions = ['data', 'externalIds'];

/** Entries in `order`. `condition` begins with $1, the tenant; $3 is one entry more than the page. */
export function buildEntryQuery(condition: string, order: string): string {
  const json = selectWithinPage(entryRepresentation, { sizes: [jsonBytes('entry.changes')], order });
  return `SELECT entry.position, entry.resource, entry.resource_id, entry.actor_id, ${json} AS json FROM (
      SELECT * FROM journal AS entry WHERE entry.tenant_id = $1 AND ${condition} ORDER BY ${order} LIMIT $3
    ) AS entry ORDER BY ${order}`;
}

export interface EntryRow {
  position: string;
  resource: string;
  resource_id: string;
  actor_id: string | null;
  /** Null where the entry is beyond the bound of a page. */
  json: string | null;
}

const matchingEntries = buildEntryQuery(
  `entry.position > $2 AND entry.position <= $2 + ${scannedEntries}
    AND ($4::text[] IS NULL OR entry.resource = ANY ($4))
    AND ($5::text IS NULL OR entry.origin IS DISTINCT FROM $5)`,
  'entry.position',
);

/** With the head in the same snapshot: later commits are after the next cursor. */
const feedQuery = `
  SELECT head.last_position >= $2 AS is_known, head.last_position > $2 + ${scannedEntries} AS has_more,
    least(head.last_position, $2 + ${scannedEntries}) AS scanned_up_to, page.*
  FROM journal_head AS head LEFT JOIN (${matchingEntries}) AS page ON true
  WHERE head.tenant_id = $1 ORDER BY page.position`;

/** An entry, or nothing but the head where no entry matches. */
interface FeedRow extends Omit<EntryRow, 'position'> {
  /** False for a reader ahead of the journal, as after a restored backup: it would wait for ever. */
  is_known: boolean;
  has_more: boolean;
  scanned_up_to: string;
  position: string | null;
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
      origin: { type: 'string', description: 'What the writer sent as `Stamm-Origin`.', examples: ['erp'] },
      mergedInto: {
        type: 'string',
        format: 'uuid',
        description: 'For a deletion by a merge: the object that answers for this one now.',
      },
      changes: {
        type: 'object',
        description:
          'For a change: each field that changed, with `from` and `to`; absent means no value. For a deletion: what the object was called, in `from`.',
        additionalProperties: { type: 'object', properties: { from: {}, to: {} } },
      },
      data: {
        type: 'object',
        additionalProperties: true,
        description: 'With `include=data`: the object as it is now; absent once it is deleted.',
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
  description: `Everything that was created, changed or deleted, in the order in which it was committed, each once and without gaps. Begin without \`after\`, keep \`nextCursor\`, and ask again with it whenever you like. A deletion stays in the feed.

An answer ends at about 4 MB, and a filter looks at ${scannedEntries.toLocaleString('en')} entries per request. So an answer may be shorter than \`limit\`, or empty: read on while \`hasMore\` is true.`,
  tags: ['Changes'],
  querystring: {
    type: 'object',
    properties: {
      after: {
        type: 'string',
        description: '`nextCursor` of the last answer; `now` skips everything that has happened so far.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: maxLimit,
        default: defaultLimit,
        description: 'Entries per answer.',
      },
      resource: {
        type: 'string',
        description: 'Only changes of these types, separated by commas.',
        examples: ['site,contact-person'],
      },
      excludeOrigin: {
        type: 'string',
        maxLength: maxOriginLength,
        description: 'Leave out writes that named this system in `Stamm-Origin`, such as your own.',
        examples: ['erp'],
      },
      include: {
        type: 'string',
        description:
          '`data` adds each object as it is now; a deleted one has none. `externalIds` adds it with the external ids of its references.',
        examples: inclusions,
      },
    },
  },
  response: {
    200: answer('Entries after the cursor.', { $ref: 'ChangePage#' }),
    ...errorResponses(400, 401, 403, 429, 500),
  },
};

interface ChangeRoutesOptions {
  database: Database;
  resources: readonly Definition[];
}

export async function changeRoutes(
  api: FastifyInstance,
  { database, resources }: ChangeRoutesOptions,
): Promise<void> {
  const names = resources.map(({ name }) => name);

  api.get('/changes', { schema: docs, config: { isHeavyRead: true } }, async (request, reply) => {
    refuseUnknownParameters(request, ['after', 'limit', 'resource', 'excludeOrigin', 'include']);
    const feed = parseFeedRequest(request.query as Record<string, unknown>, names);
    if (feed.after === 'now')
      return sendRows(request, reply, { data: [] }, { nextCursor: await readHead(request), hasMore: false });
    const { rows } = await database.queryInTenants<FeedRow>(
      [request.tenantId],
      {
        name: 'changes',
        text: feedQuery,
        values: [request.tenantId, feed.after, feed.limit + 1, feed.resources, feed.excludedOrigin],
      },
      { deadline: request.deadline },
    );
    const [first] = rows;
    if (!first?.is_known) throw validationError([{ path: ['after'], code: 'invalid_cursor' }]);
    const entries = rows.filter((row): row is FeedRow & EntryRow => row.position !== null);
    const cut = cutPage(entries, feed.limit);
    const page = feed.includesData ? cutPage(await addData(request, feed, cut), feed.limit) : cut;
    const isCut = entries.length > page.length;
    const nextCursor = isCut ? page.at(-1)!.position : first.scanned_up_to;
    return sendRows(request, reply, { data: page }, { nextCursor, hasMore: isCut || first.has_more });
  });

  async function readHead({ tenantId, deadline }: FastifyRequest): Promise<string> {
    const { rows } = await database.queryInTenants<{ last_position: string }>(
      [tenantId],
      {
        name: 'changes head',
        text: 'SELECT last_position FROM journal_head WHERE tenant_id = $1',
        values: [tenantId],
      },
      { deadline },
    );
    return rows[0]!.last_position;
  }

  /** Entries with their objects, until the objects fill a page. */
  async function addData(
    { tenantId, deadline }: FastifyRequest,
    feed: FeedRequest,
    entries: readonly (EntryRow & { json: string })[],
  ): Promise<EntryRow[]> {
    const query = buildObjectQuery(resources, tenantId, entries, feed);
    if (!query) return [...entries];
    const { rows } = await database.queryInTenants<CurrentObject>([tenantId], query, { deadline });
    const objects = new Map(rows.map((object) => [`${object.resource} ${object.resource_id}`, object.json]));
    return entries.map((entry) => {
      const object = objects.get(`${entry.resource} ${entry.resource_id}`);
      if (object === undefined) return entry;
      return { ...entry, json: object === null ? null : `${entry.json.slice(0, -1)},"data":${object}}` };
    });
  }
}

interface FeedRequest {
  after: string;
  limit: number;
  resources: string[] | undefined;
  excludedOrigin: string | undefined;
  includesData: boolean;
  withExternalIds: boolean;
}

function parseFeedRequest(query: Record<string, unknown>, names: readonly string[]): FeedRequest {
  const { after = '0', limit = String(defaultLimit), resource, excludeOrigin, include } = query;
  const fieldErrors: FieldError[] = [];
  const choose = (name: string, value: unknown, choices: readonly string[]): string[] | undefined => {
    if (value === undefined) return undefined;
    const chosen = String(value).split(',');
    if (typeof value === 'string' && chosen.every((one) => choices.includes(one))) return chosen;
    fieldErrors.push({ path: [name], code: 'invalid_choice', params: { choices } });
    return undefined;
  };
  if (typeof after !== 'string' || !/^(\d{1,18}|now)$/.test(after)) {
    fieldErrors.push({ path: ['after'], code: 'invalid_cursor' });
  }
  const entries = readLimit(limit, maxLimit);
  if (entries === undefined) {
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  }
  const resources = choose('resource', resource, names);
  const included = choose('include', include, inclusions);
  if (Array.isArray(excludeOrigin)) fieldErrors.push({ path: ['excludeOrigin'], code: 'repeated_parameter' });
  else if (excludeOrigin !== undefined) {
    const fieldError = originError(String(excludeOrigin));
    if (fieldError) fieldErrors.push({ path: ['excludeOrigin'], ...fieldError });
  }
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return {
    after: after as string,
    limit: entries!,
    resources,
    excludedOrigin: excludeOrigin as string | undefined,
    includesData: included !== undefined,
    withExternalIds: included?.includes('externalIds') ?? false,
  };
}
