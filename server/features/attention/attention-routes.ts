// The attention list: everything that should be looked at, over all resources.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { attentionCodes } from '../../../core/codes.ts';
import type { Database } from '../../database/database.ts';
import type { Business, Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { pageParameters } from '../../engine/openapi/routes.ts';
import {
  type AttentionCheck,
  type AttentionEntry,
  attentionChecksOf,
  isJudged,
  readBusiness,
  selectJudged,
} from '../../engine/sql/attention-checks.ts';
import { jsonBytes, selectWithinPage } from '../../engine/sql/page-size.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { languageOf, readLimit, refuseUnknownParameters } from '../../http/conventions.ts';
import { type Language, text } from '../../messages.ts';
import { leftEntry } from './left-entries.ts';

const defaultLimit = 50;
const maxLimit = 500;

/** What needs every row to be looked at is looked at in pieces, and ends in time with a cursor to go on from. */
const scannedRows = 5000;
const reserveMs = 900;

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

const nothing = '00000000-0000-0000-0000-000000000000';

export async function attentionRoutes(
  api: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const checks = resources.flatMap(attentionChecksOf).map(openOnly);
  const resourceNames = resources.map(({ name }) => name);

  api.get('/attention', { schema: docsFor(resourceNames) }, async (request) => {
    const asked = parseRequest(request, checks, resourceNames);
    const { tenantId, deadline } = request;
    const language = languageOf(request);
    const page = findEntries(database, tenantId, asked, language, deadline);
    const total = asked.wantsTotal ? countEntries(database, tenantId, asked.checks, deadline) : undefined;
    const [{ entries, next }, counted] = await Promise.all([page, total]);
    return {
      data: entries.map(({ check: _check, ...entry }) => entry),
      nextCursor: next ? encodeCursor(asked, next) : null,
      ...(counted !== undefined && { total: counted }),
    };
  });
}

type PlacedEntry = AttentionEntry & { check: number };

/** Where the list goes on: a check, and the last object that was looked at in it. */
interface Place {
  check: number;
  after: string;
}

/**
 * One check after the other, each in the order of ids, until the page is full or the time is up. A page can therefore
 * be short, or even empty, and still have a next one.
 */
async function findEntries(
  database: Database,
  tenantId: string,
  { checks, from, limit }: AttentionRequest,
  language: Language,
  deadline: number,
): Promise<{ entries: PlacedEntry[]; next: Place | undefined }> {
  const entries: PlacedEntry[] = [];
  const findBusiness = businessOf(database, tenantId, deadline);
  let place: Place = from;
  while (place.check < checks.length) {
    const check = checks[place.check]!;
    const { resource, field, code } = check;
    const piece = await readPiece(database, tenantId, check, place.after, limit - entries.length, deadline);
    const found = await judgePiece(check, piece, findBusiness);
    const message = text(code, language);
    const taken = found.slice(0, limit - entries.length);
    entries.push(
      ...taken.map(({ id, others }) => ({
        ...{ resource, id, field, code, message, check: place.check },
        ...(others && { duplicateIds: others }),
      })),
    );
    if (entries.length >= limit) return { entries, next: { check: place.check, after: taken.at(-1)!.id } };
    place =
      piece.scannedTo === null
        ? { check: place.check + 1, after: nothing }
        : { ...place, after: piece.scannedTo };
    if (performance.now() > deadline - reserveMs && place.check < checks.length)
      return { entries, next: place };
  }
  return { entries, next: undefined };
}

interface FoundRow {
  id: string | null;
  others?: string[] | null;
  /** Null where the row is beyond the bound of a piece. */
  judged: unknown;
  scanned_to?: string | null;
}

interface Piece {
  rows: { id: string; others?: string[] | null; judged: unknown }[];
  /** Null behind the last row of all. */
  scannedTo: string | null;
}

type Condition = Pick<AttentionCheck, 'table' | 'condition' | 'group' | 'judge'>;

async function readPiece(
  database: Database,
  tenantId: string,
  check: Condition & Pick<AttentionCheck, 'needsScan'>,
  after: string,
  room: number,
  deadline: number,
): Promise<Piece> {
  // A judge refuses rows, so it needs more of them than there is room for.
  const limit = check.judge ? scannedRows : room;
  const { rows } = await database.queryInTenants<FoundRow>(
    [tenantId],
    { text: check.needsScan ? scanQuery(check) : indexedQuery(check), values: [tenantId, after, limit] },
    { deadline },
  );
  const found = rows.filter((row): row is FoundRow & { id: string } => row.id !== null);
  const cut = found.findIndex(({ judged }) => judged === null);
  if (cut > 0) return { rows: found.slice(0, cut), scannedTo: found[cut - 1]!.id };
  const scannedTo = check.needsScan ? (rows[0]?.scanned_to ?? null) : null;
  const isFull = !check.needsScan && check.judge && found.length === limit;
  return { rows: found, scannedTo: isFull ? found.at(-1)!.id : scannedTo };
}

function businessOf(database: Database, tenantId: string, deadline: number): () => Promise<Business> {
  let business: Promise<Business> | undefined;
  return () => {
    business ??= database.inTenants([tenantId], (client) => readBusiness(client, tenantId), { deadline });
    return business;
  };
}

/** Longer turns would delay the requests of others. */
const turnMs = 10;

async function judgePiece(
  check: Condition,
  { rows }: Piece,
  findBusiness: () => Promise<Business>,
): Promise<Piece['rows']> {
  if (!check.judge || rows.length === 0) return rows;
  const business = await findBusiness();
  const found: Piece['rows'] = [];
  let turnEnds = performance.now() + turnMs;
  for (const row of rows) {
    if (isJudged(check, row.judged, business)) found.push(row);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + turnMs;
  }
  return found;
}

/** Without the entries that the office has left as they are, and one entry for each group of duplicates. */
export function openOnly(check: AttentionCheck): AttentionCheck {
  const conditions = [
    check.condition,
    ...(check.group ? [check.group.isFirst] : []),
    `NOT EXISTS (SELECT ${leftEntry(check)})`,
  ];
  return { ...check, condition: conditions.join(' AND ') };
}

function judgedWithinPage(check: Condition): string {
  const sizes = (check.judge?.lists ?? []).map(jsonBytes);
  return selectWithinPage(selectJudged(check), { sizes, order: 'subject.id' });
}

function indexedQuery(check: Condition): string {
  return `SELECT subject.id, ${judgedWithinPage(check)} AS judged FROM ${check.table} AS subject
    WHERE subject.tenant_id = $1 AND subject.id > $2 AND (${check.condition}) ORDER BY subject.id LIMIT $3`;
}

/** The next rows in the order of ids, and where they end; scanned_to is NULL behind the last of all. */
function scanQuery(check: Condition): string {
  const { table, condition, group } = check;
  return `WITH piece AS MATERIALIZED (
      SELECT * FROM ${table} WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT ${scannedRows}
    ), piece_end AS (
      SELECT CASE WHEN count(*) = ${scannedRows} THEN max(id::text) END AS scanned_to FROM piece
    )
    SELECT subject.id, piece_end.scanned_to, ${judgedWithinPage(check)} AS judged
      ${group ? `, CASE WHEN subject.id IS NOT NULL THEN ${group.others} END AS others` : ''}
    FROM piece_end
    LEFT JOIN piece AS subject ON (${condition}) ORDER BY subject.id LIMIT $3`;
}

async function countEntries(
  database: Database,
  tenantId: string,
  checks: readonly AttentionCheck[],
  deadline: number,
): Promise<number> {
  let total = 0;
  for (const check of checks) total += await countCheck(database, tenantId, check, deadline);
  return total;
}

export async function countCheck(
  database: Database,
  tenantId: string,
  check: AttentionCheck,
  deadline: number,
): Promise<number> {
  if (check.judge) return countJudged(database, tenantId, check, deadline);
  const { table, condition } = check;
  const query = {
    text: `SELECT count(*)::integer AS count FROM ${table} AS subject WHERE subject.tenant_id = $1 AND (${condition})`,
    values: [tenantId],
  };
  const { rows } = await database.queryInTenants<{ count: number }>([tenantId], query, { deadline });
  return rows[0]!.count;
}

async function countJudged(
  database: Database,
  tenantId: string,
  check: AttentionCheck,
  deadline: number,
): Promise<number> {
  const findBusiness = businessOf(database, tenantId, deadline);
  let count = 0;
  for (let after: string | null = nothing; after !== null; ) {
    const piece: Piece = await readPiece(database, tenantId, check, after, scannedRows, deadline);
    count += (await judgePiece(check, piece, findBusiness)).length;
    after = piece.scannedTo;
  }
  return count;
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
  const from = cursor === undefined ? { check: 0, after: nothing } : decodeCursor(cursor, filters);
  if (!from) fieldErrors.push({ path: ['cursor'], code: 'invalid_cursor' });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  const checks = allChecks.filter(
    (check) =>
      (code === undefined || check.code === code) && (resource === undefined || check.resource === resource),
  );
  return { limit: entries!, checks, from: from!, filters, wantsTotal: count === 'true' };
}

/** A cursor is good for the filters that it was made with: a place in another list says nothing. */
function encodeCursor({ filters }: AttentionRequest, { check, after }: Place): string {
  return Buffer.from(JSON.stringify([filters, check, after])).toString('base64url');
}

function decodeCursor(cursor: unknown, filters: string): Place | undefined {
  try {
    const [madeWith, check, after] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'));
    const isSound = madeWith === filters && Number.isInteger(check) && check >= 0 && isUuid(String(after));
    return isSound ? { check, after } : undefined;
  } catch {
    return undefined;
  }
}

function docsFor(resourceNames: readonly string[]) {
  return {
    operationId: 'listAttention',
    summary: 'What should be looked at',
    description:
      'What is stored as it was sent but looks wrong: references to nothing, opening hours or visit intervals of a shape that is not known, half a position or none, probable duplicates, sites past their validity, visits on days when the site is closed or without an employee. An entry goes when its cause goes, or when the office leaves it as it is.',
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
