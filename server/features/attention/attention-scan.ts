// Reads the attention list: one statement looks at the next rows of all resources, in the order of their ids. (Decision 86.)
import type pg from 'pg';
import type { Pace } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import type { AttentionCheck } from '../../engine/sql/attention-checks.ts';
import {
  businessQuery,
  findMet,
  isJudged,
  type Judged,
  readBusiness,
  selectJudged,
  valuesFor,
  type WarningLog,
} from '../../engine/sql/attention-findings.ts';
import { jsonBytes, selectWithinPage } from '../../engine/sql/page-size.ts';
import type { Pass } from './attention-passes.ts';
import { leftEntry } from './left-entries.ts';

/** Rows that one statement looks at. */
const scannedRows = 20_000;
/** Rows that one statement returns to be judged. */
const judgedRows = 5000;

/** The list goes on behind this check of this object. */
export interface Place {
  pass: number;
  id: string;
  check: number;
}

export interface Finding {
  check: AttentionCheck;
  id: string;
  others: string[] | null;
}

export interface Part {
  findings: Finding[];
  /** Undefined behind the last row of all. */
  next: Place | undefined;
}

/** Reads for one tenant, until its deadline. */
export interface Reader {
  database: Database;
  tenantId: string;
  deadline: number;
  pace: Pace;
  log: WarningLog;
}

const nothing = '00000000-0000-0000-0000-000000000000';
const behindAll = 999;
export const firstPlace: Place = { pass: 0, id: nothing, check: behindAll };

/** Without the entries that the office has left as they are, and one entry for each group of duplicates. */
export function openOnly(check: AttentionCheck): AttentionCheck {
  const condition = check.group?.isFirst ?? check.condition;
  return { ...check, condition: `${condition} AND NOT EXISTS (SELECT ${leftEntry(check)})` };
}

interface FoundRow {
  pass: number;
  id: string;
  /** Null where the statement has looked at enough rows: it ends with this one. */
  met: number[] | null;
  others: string[] | null;
  /** Null in a judged pass where the row is beyond the bound of a page. */
  judged: Judged | null;
}

/** At most `limit` findings, by one statement. */
export async function readPart(
  { database, tenantId, deadline, pace, log }: Reader,
  passes: readonly Pass[],
  from: Place,
  limit = scannedRows,
  maxRows = scannedRows,
): Promise<Part> {
  if (from.pass >= passes.length) return { findings: [], next: undefined };
  const query = scanQuery(passes, from, [tenantId, from.id, limit, maxRows]);
  const followedBy = passes.some(({ isJudged }) => isJudged) ? [businessQuery(tenantId)] : [];
  const { rows, following } = await database.queryInTenants<FoundRow>([tenantId], query, {
    deadline,
    followedBy,
  });
  const business = following[0] && readBusiness(following[0].rows);
  const findings: Finding[] = [];
  let last = from;
  let judgedCount = 0;
  for (const { pass: place, id, met, others, judged } of rows) {
    const pass = passes[place]!;
    if (met === null) return { findings, next: { pass: place, id, check: behindAll } };
    if (pass.isJudged && judged === null) return { findings, next: last };
    for (const number of met) {
      if (place === from.pass && id === from.id && number <= from.check) continue;
      const check = pass.checks[number]!;
      const row = { id, judged: valuesFor(pass.checks, number, judged) };
      if (!(await pace.run(isJudged(check, row, business, log)))) continue;
      findings.push({ check, id, others: check.group ? others : null });
      if (findings.length === limit) return { findings, next: { pass: place, id, check: number } };
    }
    last = { pass: place, id, check: behindAll };
    if (pass.isJudged && ++judgedCount === judgedRows) return { findings, next: last };
  }
  return { findings, next: undefined };
}

/** Parameters: tenant, first id, how many findings and how many rows at most. */
function scanQuery(passes: readonly Pass[], from: Place, values: unknown[]): pg.QueryConfig {
  const numbered = passes.map((pass, place) => ({ pass, place })).slice(from.pass);
  const rows = ({ pass, place }: NumberedPass) => `FROM ${pass.table} AS piece
    WHERE piece.tenant_id = $1 ${place === from.pass ? `AND piece.id ${from.check === behindAll ? '>' : '>='} $2` : 'AND $2::uuid IS NOT NULL'}`;
  const rooms = numbered.map(
    (one) => `room_${one.place + 1} AS MATERIALIZED (
      SELECT room_${one.place}.rows - (SELECT count(*) FROM (SELECT ${rows(one)} LIMIT (SELECT rows FROM room_${one.place})) AS counted) AS rows
      FROM room_${one.place})`,
  );
  const branches = (isJudged: boolean) =>
    numbered.filter(({ pass }) => pass.isJudged === isJudged).map((one) => branch(one, rows(one)));
  const definite = branches(false);
  const most = definite.length > 0 ? `(SELECT count(met) FROM definite)` : '0';
  const text = `WITH room_${from.pass} AS MATERIALIZED (SELECT $4::bigint AS rows), ${rooms.join(', ')}
    ${definite.length > 0 ? `, definite AS MATERIALIZED (SELECT * FROM (${definite.join(' UNION ALL ')}) AS passes LIMIT $3 + ${numbered.length + 1})` : ''}
    ${[
      ...(definite.length > 0 ? ['SELECT * FROM definite'] : []),
      ...branches(true).map(
        (judged) =>
          `(SELECT * FROM (${judged}) AS passes LIMIT (CASE WHEN ${most} > $3 THEN 0 ELSE ${judgedRows + 1} END))`,
      ),
    ].join(' UNION ALL ')}`;
  return { text, values };
}

interface NumberedPass {
  pass: Pass;
  place: number;
}

/** The rows that meet a check, and one without `met` if there was no room for all rows of the table. */
function branch({ pass: { checks, isJudged }, place }: NumberedPass, rows: string): string {
  const piece = `(SELECT * ${rows} ORDER BY piece.id LIMIT (SELECT rows FROM room_${place}))`;
  const group = checks.findIndex((check) => check.group);
  const others =
    group < 0
      ? 'NULL::uuid[]'
      : `CASE WHEN ${group} = ANY (found.met) THEN ${checks[group]!.group!.others} END`;
  const sizes = [...new Set(checks.flatMap(({ judge }) => judge?.lists ?? []))].map(jsonBytes);
  const judged = isJudged
    ? selectWithinPage(selectJudged(checks), { sizes, order: 'subject.id' })
    : 'NULL::json';
  return `(SELECT ${place} AS pass, subject.id, found.met, ${others} AS others, ${judged} AS judged
      FROM ${findMet(piece, checks)} WHERE found.met <> '{}')
    UNION ALL (SELECT ${place}, (SELECT piece.id ${rows} ORDER BY piece.id OFFSET (SELECT rows - 1 FROM room_${place}) LIMIT 1),
      NULL, NULL, NULL FROM room_${place} CROSS JOIN room_${place + 1}
      WHERE room_${place}.rows > 0 AND room_${place + 1}.rows = 0)`;
}

/** A cursor is good for the filters that it was made with: a place in another list says nothing. */
export function encodeCursor(filters: string, { pass, id, check }: Place): string {
  return Buffer.from(JSON.stringify([filters, pass, id, check])).toString('base64url');
}

/** Undefined if it is none of ours. */
export function readCursor(cursor: unknown, filters: string): Place | undefined {
  if (cursor === undefined) return firstPlace;
  try {
    const [madeWith, ...place] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'));
    const [pass, id, check] = place;
    const isSound = madeWith === filters && [pass, check].every(isPlace) && isUuid(String(id));
    return isSound ? { pass, id, check } : undefined;
  } catch {
    return undefined;
  }
}

function isPlace(number: unknown): boolean {
  return Number.isInteger(number) && (number as number) >= 0;
}
