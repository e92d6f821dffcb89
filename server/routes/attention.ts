// The attention list: everything that should be looked at, over all resources.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AttentionCheck, type AttentionEntry, attentionChecksOf } from '../crud/attention.ts';
import type { Definition } from '../crud/definition.ts';
import type { JsonSchema } from '../crud/fields.ts';
import { isUuid } from '../crud/formats.ts';
import { answer, errorResponses } from '../crud/openapi-answers.ts';
import { languageOf, refuseUnknownParameters } from '../crud/requests.ts';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { attentionCodes, type Fault, validationError } from '../errors.ts';
import { type Language, text } from '../messages.ts';

const defaultLimit = 50;
const maxLimit = 500;

/** A look over all rows of a large tenant takes longer than a request usually may. */
const queryTimeoutMs = 30_000;

export const attentionSchemas: readonly JsonSchema[] = [
  {
    $id: 'AttentionPage',
    title: 'Page of the attention list',
    type: 'object',
    properties: {
      data: { type: 'array', items: { $ref: 'AttentionEntry#' } },
      nextCursor: {
        type: ['string', 'null'],
        description: 'Where the next page begins; null on the last one.',
      },
      total: { type: 'integer', description: 'How many entries there are in all, with `count=true`.' },
    },
    required: ['data', 'nextCursor'],
  },
];

interface AttentionRequest {
  limit: number;
  checks: AttentionCheck[];
  /** The check to begin with, and the object after which to begin in it. */
  from: { check: number; after: string };
  wantsTotal: boolean;
}

const nothing = '00000000-0000-0000-0000-000000000000';

export async function attentionRoutes(
  api: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const checks = resources.flatMap(attentionChecksOf);
  const resourceNames = resources.map(({ name }) => name);

  api.get('/attention', { schema: docsFor(resourceNames) }, async (request) => {
    const asked = parseRequest(request, checks, resourceNames);
    const { tenantId } = request;
    const entries = await findEntries(database, tenantId, asked, languageOf(request)).catch((error) => {
      throw toApiFailure(error);
    });
    const page = entries.slice(0, asked.limit);
    const hasMore = entries.length > asked.limit;
    return {
      data: page.map(({ check: _check, ...entry }) => entry),
      nextCursor: hasMore ? encodeCursor(page.at(-1)!) : null,
      ...(asked.wantsTotal && { total: await countEntries(database, tenantId, asked.checks) }),
    };
  });
}

type PlacedEntry = AttentionEntry & { check: number };

/** One check after the other, each in the order of ids, until the page is full and one more is known. */
async function findEntries(
  database: Database,
  tenantId: string,
  { checks, from, limit }: AttentionRequest,
  language: Language,
): Promise<PlacedEntry[]> {
  const entries: PlacedEntry[] = [];
  for (let index = from.check; index < checks.length && entries.length <= limit; index++) {
    const { resource, field, code, table, condition } = checks[index]!;
    const { rows } = await database.queryInTenants<{ id: string }>([tenantId], {
      text: `SELECT subject.id FROM ${table} AS subject
        WHERE subject.tenant_id = $1 AND subject.id > $2 AND (${condition}) ORDER BY subject.id LIMIT $3`,
      values: [tenantId, index === from.check ? from.after : nothing, limit + 1 - entries.length],
      query_timeout: queryTimeoutMs,
    });
    const message = text(code, language);
    entries.push(...rows.map(({ id }) => ({ resource, id, field, code, message, check: index })));
  }
  return entries;
}

async function countEntries(
  database: Database,
  tenantId: string,
  checks: readonly AttentionCheck[],
): Promise<number> {
  let total = 0;
  for (const { table, condition } of checks) {
    const { rows } = await database.queryInTenants<{ count: number }>([tenantId], {
      text: `SELECT count(*)::integer AS count FROM ${table} AS subject WHERE subject.tenant_id = $1 AND (${condition})`,
      values: [tenantId],
      query_timeout: queryTimeoutMs,
    });
    total += rows[0]!.count;
  }
  return total;
}

function parseRequest(
  request: FastifyRequest,
  allChecks: readonly AttentionCheck[],
  resourceNames: readonly string[],
): AttentionRequest {
  refuseUnknownParameters(request, ['limit', 'cursor', 'code', 'resource', 'count']);
  const {
    limit = String(defaultLimit),
    cursor,
    code,
    resource,
    count = 'false',
  } = request.query as Record<string, string>;
  const faults: Fault[] = [];
  const demandChoice = (name: string, value: unknown, choices: readonly string[]) => {
    if (value !== undefined && !choices.includes(value as string)) {
      faults.push({ path: [name], code: 'invalid_choice', params: { choices } });
    }
  };
  demandChoice('code', code, attentionCodes);
  demandChoice('resource', resource, resourceNames);
  demandChoice('count', count, ['true', 'false']);
  if (!/^\d{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit) {
    faults.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  }
  const from = cursor === undefined ? { check: 0, after: nothing } : decodeCursor(cursor);
  if (!from) faults.push({ path: ['cursor'], code: 'invalid_cursor' });
  if (faults.length > 0) throw validationError(faults);
  const checks = allChecks.filter(
    (check) =>
      (code === undefined || check.code === code) && (resource === undefined || check.resource === resource),
  );
  return { limit: Number(limit), checks, from: from!, wantsTotal: count === 'true' };
}

function encodeCursor({ check, id }: PlacedEntry): string {
  return Buffer.from(`${check} ${id}`).toString('base64url');
}

function decodeCursor(cursor: string): AttentionRequest['from'] | undefined {
  const [check = '', after = ''] = Buffer.from(String(cursor), 'base64url').toString('utf8').split(' ');
  return /^\d{1,4}$/.test(check) && isUuid(after) ? { check: Number(check), after } : undefined;
}

function docsFor(resourceNames: readonly string[]) {
  return {
    operationId: 'listAttention',
    summary: 'What should be looked at',
    description:
      'What is stored as it was sent but looks wrong: references to nothing, opening hours or visit intervals of a shape that is not known, half a position or none, probable duplicates, sites past their validity. An entry goes when its cause goes.',
    tags: ['Attention'],
    querystring: {
      type: 'object',
      properties: {
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: maxLimit,
          default: defaultLimit,
          description: 'Entries a page.',
        },
        cursor: { type: 'string', description: '`nextCursor` of the page before, with the same filters.' },
        code: { type: 'string', enum: attentionCodes, description: 'Only entries of this kind.' },
        resource: {
          type: 'string',
          enum: resourceNames,
          description: 'Only entries of this type of object.',
        },
        count: { type: 'boolean', default: false, description: 'Also tell the total.' },
      },
    },
    response: {
      200: answer('A page of the list.', { $ref: 'AttentionPage#' }),
      ...errorResponses(400, 401, 403, 429, 500),
    },
  };
}
