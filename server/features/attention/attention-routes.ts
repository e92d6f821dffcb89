// The attention list: everything that should be looked at, over all resources.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { attentionCodes } from '../../../core/definition/codes.ts';
import type { Database } from '../../database/database.ts';
import {
  type AttentionCheck,
  type AttentionEntry,
  attentionChecksOf,
} from '../../engine/attention/attention-checks.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { pageParameters } from '../../engine/openapi/parameters.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { languageOf, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { InterruptedPages } from '../../http/interrupted-pages.ts';
import { paceOf } from '../../http/request-pace.ts';
import { type Language, text } from '../../messages.ts';
import { type AttentionCount, type Counting, countEntries } from './attention-counts.ts';
import { type Interruption, type PageRequest, readPage } from './attention-page.ts';
import { passesOf } from './attention-passes.ts';
import {
  encodeCursor,
  type Finding,
  firstPlace,
  type Part,
  type Reader,
  readCursor,
  UnchangedEntries,
} from './attention-scan.ts';
import { CatchUp } from './catch-up.ts';
import type { KeptFindings } from './kept-findings.ts';
import { countsOf, pageOf } from './listed-findings.ts';

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

interface AttentionRequest extends PageRequest {
  wantsTotal: boolean;
}

export async function attentionRoutes(
  api: FastifyInstance,
  {
    database,
    resources,
    findings: kept,
  }: { database: Database; resources: readonly Definition[]; findings: KeptFindings },
): Promise<void> {
  const checks = resources.flatMap(attentionChecksOf);
  const resourceNames = resources.map(({ name }) => name);
  const interrupted = new InterruptedPages<Interruption>();
  const totals = new InterruptedPages<Counting>();
  const unchanged = new UnchangedEntries<Part & { total: number | undefined }>();
  const catchUp = new CatchUp(passesOf(checks));
  api.addHook('onClose', () => catchUp.stop());

  const heavy = { schema: docsFor(resourceNames), config: { isHeavyRead: true } };
  api.get('/attention', heavy, async (request) => {
    const asked = parseRequest(request, checks, resourceNames);
    const reader = readerOf(database, request);
    const { filters, from, limit, wantsTotal } = asked;
    const { findings, next, total } = await catchUp.behind(reader, () =>
      unchanged.read(reader, JSON.stringify([filters, from, limit, wantsTotal]), async () => {
        const found = await kept.read(reader);
        if (found) {
          const { passes } = asked;
          const page = pageOf(found, passes, { from, limit });
          return { ...page, total: wantsTotal ? sumOf(countsOf(found, passes)) : undefined };
        }
        const page = await readPage(reader, asked, interrupted);
        return { ...page, total: wantsTotal ? await readTotal(reader, asked, page) : undefined };
      }),
    );
    return {
      data: findings.map((finding) => toEntry(finding, languageOf(request))),
      nextCursor: next ? encodeCursor(asked.filters, next) : null,
      ...(total !== undefined && { total }),
    };
  });

  async function readTotal(reader: Reader, { passes, from, filters }: PageRequest, page: Part) {
    const isWhole = from === firstPlace && !page.next;
    if (isWhole) return page.findings.length;
    return sumOf(await countEntries(reader, passes, filters, totals));
  }
}

function sumOf(counts: readonly AttentionCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

export function readerOf(database: Database, request: FastifyRequest): Reader {
  const { tenantId, deadline, log } = request;
  return { database, tenantId, deadline, log, pace: paceOf(request) };
}

export function toEntry({ check, id, others }: Finding, language: Language): AttentionEntry {
  const { resource, field, code } = check;
  return {
    ...{ resource, id, field, code, message: text(code, language) },
    ...(others && { duplicateIds: others }),
  };
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
  const passes = passesOf(
    allChecks,
    (check) =>
      (code === undefined || check.code === code) && (resource === undefined || check.resource === resource),
  );
  return { limit: entries!, passes, from: from!, filters, wantsTotal: count === 'true' };
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
