// The checks of the attention list, one after the other and in pieces, so each request ends in time.
import { Pace } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import type { Business } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import {
  type AttentionCheck,
  isJudged,
  readBusiness,
  selectJudged,
} from '../../engine/sql/attention-checks.ts';
import { jsonBytes, selectWithinPage } from '../../engine/sql/page-size.ts';
import { leftEntry } from './left-entries.ts';

const scannedRows = 5000;
/** A piece and its answer take less. */
const reserveMs = 900;

export function isTimeUp(deadline: number): boolean {
  return performance.now() > deadline - reserveMs;
}

/** Where the list goes on: a check, and the last object that was looked at in it. */
export interface Place {
  check: number;
  after: string;
}

const nothing = '00000000-0000-0000-0000-000000000000';
export const firstPlace: Place = { check: 0, after: nothing };

export function placeAfter({ check }: Place, { scannedTo }: Pick<Piece, 'scannedTo'>): Place {
  return scannedTo === null ? { check: check + 1, after: nothing } : { check, after: scannedTo };
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

export async function readPiece(
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

export function businessOf(database: Database, tenantId: string, deadline: number): () => Promise<Business> {
  let business: Promise<Business> | undefined;
  return () => {
    business ??= database.inTenants([tenantId], (client) => readBusiness(client, tenantId), { deadline });
    return business;
  };
}

export async function judgePiece(
  check: Condition,
  { rows }: Piece,
  findBusiness: () => Promise<Business>,
  pace: Pace,
): Promise<Piece['rows']> {
  if (!check.judge || rows.length === 0) return rows;
  const business = await findBusiness();
  const found: Piece['rows'] = [];
  for (const row of rows) if (await pace.run(isJudged(check, row.judged, business))) found.push(row);
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

/** The next rows in the order of ids, and their end; scanned_to is NULL behind the last of all. */
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

/** Counts the entries of each check, as far as there is time. */
export async function countFrom(
  database: Database,
  tenantId: string,
  checks: readonly AttentionCheck[],
  from: Place,
  deadline: number,
  mustEnd: (deadline: number) => boolean = isTimeUp,
): Promise<{ counts: number[]; next: Place | undefined }> {
  const counts = checks.map(() => 0);
  const pace = new Pace();
  const findBusiness = businessOf(database, tenantId, deadline);
  for (let place = from; place.check < checks.length; ) {
    if (place !== from && mustEnd(deadline)) return { counts, next: place };
    const check = checks[place.check]!;
    if (check.judge) {
      const piece = await readPiece(database, tenantId, check, place.after, scannedRows, deadline);
      counts[place.check]! += (await judgePiece(check, piece, findBusiness, pace)).length;
      place = placeAfter(place, piece);
    } else {
      const { count, scannedTo } = await countPiece(database, tenantId, check, place.after, deadline);
      counts[place.check]! += count;
      place = placeAfter(place, { scannedTo });
    }
  }
  return { counts, next: undefined };
}

/** A count over all rows of a large business would outlast the request, each time. */
async function countPiece(
  database: Database,
  tenantId: string,
  { table, condition, needsScan }: AttentionCheck,
  after: string,
  deadline: number,
): Promise<{ count: number; scannedTo: string | null }> {
  const rows = (filter: string) => `SELECT subject.* FROM ${table} AS subject
    WHERE subject.tenant_id = $1 AND subject.id > $2 ${filter} ORDER BY subject.id LIMIT ${scannedRows}`;
  const query = {
    text: `WITH subject AS MATERIALIZED (${rows(needsScan ? '' : `AND (${condition})`)})
      SELECT count(*) ${needsScan ? `FILTER (WHERE ${condition})` : ''}::integer AS count,
        CASE WHEN count(*) = ${scannedRows} THEN max(id::text) END AS scanned_to FROM subject`,
    values: [tenantId, after],
  };
  const counted = await database.queryInTenants<{ count: number; scanned_to: string | null }>(
    [tenantId],
    query,
    { deadline },
  );
  const { count, scanned_to: scannedTo } = counted.rows[0]!;
  return { count, scannedTo };
}

/** A cursor is good for the filters that it was made with: a place in another list says nothing. */
export function encodeCursor(filters: string, { check, after }: Place): string {
  return Buffer.from(JSON.stringify([filters, check, after])).toString('base64url');
}

/** Undefined if it is none of ours. */
export function readCursor(cursor: unknown, filters: string): Place | undefined {
  if (cursor === undefined) return firstPlace;
  try {
    const [madeWith, check, after] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'));
    const isSound = madeWith === filters && Number.isInteger(check) && check >= 0 && isUuid(String(after));
    return isSound ? { check, after } : undefined;
  } catch {
    return undefined;
  }
}
