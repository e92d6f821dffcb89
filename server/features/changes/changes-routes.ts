// The feed of everything that was created, changed or deleted, in the order of commits and without gaps.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { fieldsParameter } from '../../engine/openapi/list-parameters.ts';
import { originSchema, severalOf } from '../../engine/openapi/parameters.ts';
import { buildObjectQuery, type CurrentObject } from '../../engine/read/current-objects.ts';
import { inclusionsOf, maxFields, type ObjectForm, readForms } from '../../engine/read/object-form.ts';
import { cutPage, jsonBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import { entryRepresentation } from '../../engine/write/journal.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { originError, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { InterruptedPages } from '../../http/interrupted-pages.ts';
import { sendRows } from '../../http/json-rows.ts';

const defaultLimit = 100;
const maxLimit = 1000;
/** How many entries of the journal one statement looks at. A filter that matches little needs several. */
const [firstScan, maxScan] = [10_000, 160_000];
/** A statement takes less. */
const reserveMs = 600;

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

/** Parameters: tenant, place, one entry more than the page, resources, excluded origin, how many entries to look at. */
const matchingEntries = buildEntryQuery(
  `entry.position > $2 AND entry.position <= $2::bigint + $6::bigint
    AND ($4::text[] IS NULL OR entry.resource = ANY ($4))
    AND ($5::text IS NULL OR entry.origin IS DISTINCT FROM $5)`,
  'entry.position',
);

/** With the head in the same snapshot: later commits are after the next cursor. */
const feedQuery = `
  SELECT head.last_position >= $2 AS is_known, head.last_position > $2::bigint + $6 AS has_more,
    least(head.last_position, $2::bigint + $6) AS scanned_up_to, page.*
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
        description: 'With `include=data` or `fields`: the object as it is now; absent once it is deleted.',
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

const ownInclusions = ['data'];

function feedInclusionsOf(resources: readonly Definition[]): string[] {
  return [...new Set([...ownInclusions, ...resources.flatMap(inclusionsOf)])];
}

const docsFor = (resources: readonly Definition[]) => ({
  operationId: 'listChanges',
  summary: 'Follow what changes',
  description: `Everything that was created, changed or deleted, in the order in which it was committed, each once and without gaps. Begin without \`after\`, keep \`nextCursor\`, and ask again with it whenever you like. A deletion stays in the feed.

An answer ends at about 4 MB or when its time is up, so it may be shorter than \`limit\`: read on while \`hasMore\` is true. Only the last one is empty. A filter that finds nothing in time is 500 \`overloaded\`, and a retry goes on where it ended.`,
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
        ...severalOf({ type: 'string', enum: resources.map(({ name }) => name) }),
        description: 'Only changes of these types.',
        examples: [['site', 'contact-person']],
      },
      excludeOrigin: {
        ...originSchema,
        description: 'Leave out writes that named this system in `Stamm-Origin`, such as your own.',
        examples: ['erp'],
      },
      include: {
        ...severalOf({ type: 'string', enum: feedInclusionsOf(resources) }, maxFields),
        description:
          '`data` adds each object as it is now; a deleted one has none. `externalIds` adds it with the external ids of its references, `customer` or another reference with the object behind it.',
        examples: [['data'], ['externalIds'], ['customer', 'contactPerson']],
      },
      fields: {
        ...fieldsParameter(['name', 'customer.companyName']),
        description:
          'Adds only these fields of each object as it is now, and `id`. Types that do not have a field leave it out.',
      },
    },
  },
  response: {
    200: answer('Entries after the cursor.', { $ref: 'ChangePage#' }),
    ...errorResponses(400, 401, 403, 429, 500),
  },
});

interface ChangeRoutesOptions {
  database: Database;
  resources: readonly Definition[];
}

export async function changeRoutes(
  api: FastifyInstance,
  { database, resources }: ChangeRoutesOptions,
): Promise<void> {
  const interrupted = new InterruptedPages<string>();

  api.get(
    '/changes',
    { schema: docsFor(resources), config: { isHeavyRead: true } },
    async (request, reply) => {
      refuseUnknownParameters(request, ['after', 'limit', 'resource', 'excludeOrigin', 'include', 'fields']);
      const feed = parseFeedRequest(request.query as Record<string, unknown>, resources);
      if (feed.after === 'now')
        return sendRows(
          request,
          reply,
          { data: [] },
          { nextCursor: await readHead(request), hasMore: false },
        );
      const rows = await readFeed(request, feed);
      const [first] = rows;
      if (!first?.is_known) throw validationError([{ path: ['after'], code: 'invalid_cursor' }]);
      const entries = rows.filter((row): row is FeedRow & EntryRow => row.position !== null);
      const cut = cutPage(entries, feed.limit);
      const page = feed.forms ? cutPage(await addData(request, feed.forms, cut), feed.limit) : cut;
      const isCut = entries.length > page.length;
      const nextCursor = isCut ? page.at(-1)!.position : first.scanned_up_to;
      return sendRows(request, reply, { data: page }, { nextCursor, hasMore: isCut || first.has_more });
    },
  );

  /** Reads on until an entry matches or the journal ends. */
  async function readFeed({ tenantId, deadline, signal }: FastifyRequest, feed: FeedRequest) {
    const { limit, resources, excludedOrigin } = feed;
    const key = JSON.stringify([feed.after, resources, excludedOrigin]);
    let after = interrupted.find(tenantId, key) ?? feed.after;
    for (let scanned = firstScan; ; scanned = Math.min(2 * scanned, maxScan)) {
      const values = [tenantId, after, limit + 1, resources, excludedOrigin, scanned];
      const query = { name: 'changes', text: feedQuery, values };
      const { rows } = await database.queryInTenants<FeedRow>([tenantId], query, { deadline });
      const [first] = rows;
      if (first?.position !== null || !first.has_more) {
        interrupted.forget(tenantId, key);
        return rows;
      }
      after = first.scanned_up_to;
      interrupted.keep(tenantId, key, after);
      if (signal.aborted || performance.now() > deadline - reserveMs) throw new ApiError('overloaded');
    }
  }

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
    forms: ReadonlyMap<string, ObjectForm>,
    entries: readonly (EntryRow & { json: string })[],
  ): Promise<EntryRow[]> {
    const query = buildObjectQuery(resources, tenantId, entries, forms);
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
  /** Members to add to each object, by its resource; undefined for none. */
  forms: ReadonlyMap<string, ObjectForm> | undefined;
}

function parseFeedRequest(query: Record<string, unknown>, all: readonly Definition[]): FeedRequest {
  const { after = '0', limit = String(defaultLimit), resource, excludeOrigin, include, fields } = query;
  const fieldErrors: FieldError[] = [];
  if (typeof after !== 'string' || !/^(\d{1,18}|now)$/.test(after)) {
    fieldErrors.push({ path: ['after'], code: 'invalid_cursor' });
  }
  const entries = readLimit(limit, maxLimit);
  if (entries === undefined) {
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  }
  const choices = all.map(({ name }) => name);
  const resources = resource === undefined ? undefined : String(resource).split(',');
  if (Array.isArray(resource) || resources?.some((name) => !choices.includes(name)))
    fieldErrors.push({ path: ['resource'], code: 'invalid_choice', params: { choices } });
  const wanted = all.filter(({ name }) => resources?.includes(name) ?? true);
  const forms = readForms(
    wanted.length > 0 ? wanted : all,
    all,
    { fields, include },
    fieldErrors,
    ownInclusions,
  );
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
    forms: include === undefined && fields === undefined ? undefined : forms,
  };
}
