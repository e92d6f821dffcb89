// The attention list: everything that should be looked at, over all resources.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { attentionCodes } from '../../../core/codes.ts';
import type { Pace } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { pageParameters } from '../../engine/openapi/parameters.ts';
import {
  type AttentionCheck,
  type AttentionEntry,
  attentionChecksOf,
} from '../../engine/sql/attention-checks.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { languageOf, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { paceOf } from '../../http/request-pace.ts';
import { type Language, text } from '../../messages.ts';
import {
  businessOf,
  countFrom,
  encodeCursor,
  firstPlace,
  isTimeUp,
  judgePiece,
  openOnly,
  type Place,
  placeAfter,
  readCursor,
  readPiece,
} from './attention-pieces.ts';

const defaultLimit = 50;
const maxLimit = 500;

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
  from: Place;
  /** The filters as one text. */
  filters: string;
  wantsTotal: boolean;
}

export async function attentionRoutes(
  api: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const checks = resources.flatMap(attentionChecksOf).map(openOnly);
  const resourceNames = resources.map(({ name }) => name);

  api.get(
    '/attention',
    { schema: docsFor(resourceNames), config: { isHeavyRead: true } },
    async (request) => {
      const asked = parseRequest(request, checks, resourceNames);
      const { tenantId, deadline } = request;
      const language = languageOf(request);
      const page = findEntries(database, tenantId, asked, language, deadline, paceOf(request));
      const total = asked.wantsTotal ? countEntries(database, tenantId, asked.checks, deadline) : undefined;
      const [{ entries, next }, counted] = await Promise.all([page, total]);
      return {
        data: entries.map(({ check: _check, ...entry }) => entry),
        nextCursor: next ? encodeCursor(asked.filters, next) : null,
        ...(counted !== undefined && { total: counted }),
      };
    },
  );
}

type PlacedEntry = AttentionEntry & { check: number };

/**
 * One check after the other, in the order of ids, until the page is full or the time is up. A page can therefore be
 * short, or even empty, and still have a next one.
 */
async function findEntries(
  database: Database,
  tenantId: string,
  { checks, from, limit }: AttentionRequest,
  language: Language,
  deadline: number,
  pace: Pace,
): Promise<{ entries: PlacedEntry[]; next: Place | undefined }> {
  const entries: PlacedEntry[] = [];
  const findBusiness = businessOf(database, tenantId, deadline);
  let place: Place = from;
  while (place.check < checks.length) {
    const check = checks[place.check]!;
    const { resource, field, code } = check;
    const piece = await readPiece(database, tenantId, check, place.after, limit - entries.length, deadline);
    const found = await judgePiece(check, piece, findBusiness, pace);
    const message = text(code, language);
    const taken = found.slice(0, limit - entries.length);
    entries.push(
      ...taken.map(({ id, others }) => ({
        ...{ resource, id, field, code, message, check: place.check },
        ...(others && { duplicateIds: others }),
      })),
    );
    if (entries.length >= limit) return { entries, next: { check: place.check, after: taken.at(-1)!.id } };
    place = placeAfter(place, piece);
    if (isTimeUp(deadline) && place.check < checks.length) return { entries, next: place };
  }
  return { entries, next: undefined };
}

async function countEntries(
  database: Database,
  tenantId: string,
  checks: readonly AttentionCheck[],
  deadline: number,
): Promise<number> {
  const { counts } = await countFrom(database, tenantId, checks, firstPlace, deadline, () => false);
  return counts.reduce((sum, count) => sum + count, 0);
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
  const fieldErrors: FieldError[] = [];
  const demandChoice = (name: string, value: unknown, choices: readonly string[]) => {
    if (value !== undefined && !choices.includes(value as string)) {
      fieldErrors.push({ path: [name], code: 'invalid_choice', params: { choices } });
    }
  };
  demandChoice('code', code, attentionCodes);
  demandChoice('resource', resource, resourceNames);
  demandChoice('count', count, ['true', 'false']);
  const entries = readLimit(limit, maxLimit);
  if (entries === undefined) {
    fieldErrors.push({ path: ['limit'], code: 'out_of_range', params: { min: 1, max: maxLimit } });
  }
  const filters = `${code ?? ''} ${resource ?? ''}`;
  const from = readCursor(cursor, filters);
  if (!from) fieldErrors.push({ path: ['cursor'], code: 'invalid_cursor' });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  const checks = allChecks.filter(
    (check) =>
      (code === undefined || check.code === code) && (resource === undefined || check.resource === resource),
  );
  return { limit: entries!, checks, from: from!, filters, wantsTotal: count === 'true' };
}

function docsFor(resourceNames: readonly string[]) {
  return {
    operationId: 'listAttention',
    summary: 'What should be looked at',
    description:
      'Data that is stored as sent but looks wrong: broken references, opening hours or intervals of unknown shape, missing positions and probable duplicates. It also lists sites past their validity, and visits on closed days or without an employee. An entry goes when its cause goes, or when the office leaves it as it is.',
    tags: ['Attention'],
    querystring: {
      type: 'object',
      properties: {
        ...pageParameters(maxLimit, defaultLimit),
        code: { type: 'string', enum: attentionCodes, description: 'Only entries of this kind.' },
        resource: {
          type: 'string',
          enum: resourceNames,
          description: 'Only entries of this type of object.',
        },
        count: { type: 'boolean', default: false, description: 'Include the total.' },
      },
    },
    response: {
      200: answer('A page of the list.', { $ref: 'AttentionPage#' }),
      ...errorResponses(400, 401, 403, 429, 500),
    },
  };
}
