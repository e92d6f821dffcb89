// How many entries there are of each kind. One statement counts the next rows of all resources: each row is read once, and
// duplicates are grouped once per count. (Decision 99.)
import { isOverloaded } from '../../database/errors.ts';
import { ApiError } from '../../errors.ts';
import type { InterruptedPages } from '../../http/interrupted-pages.ts';
import { halfOf } from './attention-page.ts';
import type { Pass } from './attention-passes.ts';
import { behindAll, businessOf, isOpen, isTimeUp, nothing, type Reader, readPart } from './attention-scan.ts';
import { keptVerdict, rulesOf } from './attention-verdicts.ts';

/** Rows of each resource that one statement looks at. */
const countedRows = 20_000;

export interface AttentionCount {
  resource: string;
  code: string;
  count: number;
}

/** How far entries have been counted. */
export interface Counting {
  counts: ReadonlyMap<string, AttentionCount>;
  /** By table, the last row that was counted; absent for a table that is counted. */
  open: ReadonlyMap<string, string>;
  /** How many rows of each table the next statement looks at. */
  rows: number;
}

interface CountedRow {
  table: string;
  /** The last row that was looked at; null at the end of the table. */
  last: string | null;
  /** Rows that no kept verdict decides. */
  unjudged: number;
  /** In the order of `countedChecks`. */
  counts: number[];
}

/** Out of time is `overloaded`, and a retry goes on where this stopped. */
export async function countEntries(
  reader: Reader,
  passes: readonly Pass[],
  filters: string,
  interrupted: InterruptedPages<Counting>,
  { mustEnd = () => isTimeUp(reader), maxRows = countedRows } = {},
): Promise<AttentionCount[]> {
  const { tenantId } = reader;
  let counting = interrupted.find(tenantId, filters) ?? begin(passes, maxRows);
  while (counting.open.size > 0) {
    counting = await countMore(reader, passes, counting).catch((error) => {
      if (isOverloaded(error))
        interrupted.keep(tenantId, filters, { ...counting, rows: halfOf(counting.rows) });
      throw error;
    });
    interrupted.keep(tenantId, filters, counting);
    if (counting.open.size > 0 && mustEnd()) throw new ApiError('overloaded');
  }
  interrupted.forget(tenantId, filters);
  return [...counting.counts.values()].filter(({ count }) => count > 0);
}

function begin(passes: readonly Pass[], rows: number): Counting {
  const kinds = passes
    .flatMap(wantedChecks)
    .map(({ resource, code }) => [`${resource} ${code}`, { resource, code, count: 0 }] as const);
  return { counts: new Map(kinds), open: new Map(passes.map(({ table }) => [table, nothing])), rows };
}

function wantedChecks({ checks, isWanted }: Pass) {
  return checks.filter(isWanted);
}

async function countMore(
  reader: Reader,
  passes: readonly Pass[],
  { counts, open, rows: maxRows }: Counting,
): Promise<Counting> {
  const { database, tenantId, deadline } = reader;
  const business = await businessOf(reader);
  const tables = [...open].map(([table, from]) => ({ table, from, own: ofTable(passes, table) }));
  const query = {
    text: tables.map(countText).join(' UNION ALL '),
    values: [tenantId, maxRows, rulesOf(business), business.today, tables.map(({ from }) => from)],
  };
  const { rows } = await database.queryInTenants<CountedRow & Record<string, unknown>>([tenantId], query, {
    deadline,
  });
  const summed = new Map(counts);
  const left = new Map(open);
  for (const { table, last, unjudged, counts: found } of rows) {
    if (unjudged > 0) {
      // Counted again, by the verdicts that this keeps.
      await judgeRows(reader, ofTable(passes, table), open.get(table)!, last);
      continue;
    }
    for (const [place, { resource, code }] of ofTable(passes, table).flatMap(wantedChecks).entries()) {
      const kind = `${resource} ${code}`;
      summed.set(kind, { resource, code, count: summed.get(kind)!.count + found[place]! });
    }
    if (last === null) left.delete(table);
    else left.set(table, last);
  }
  return { counts: summed, open: left, rows: maxRows };
}

function ofTable(passes: readonly Pass[], table: string): Pass[] {
  return passes.filter((pass) => pass.table === table);
}

/** Judges the rows behind `from`, up to `last`. */
async function judgeRows(
  reader: Reader,
  passes: readonly Pass[],
  from: string,
  last: string | null,
): Promise<void> {
  const judged = passes.filter(({ isJudged }) => isJudged);
  let place = { pass: 0, id: from, check: behindAll };
  for (;;) {
    const { next } = await readPart(reader, judged, place);
    if (!next || (last !== null && next.id >= last)) return;
    if (isTimeUp(reader)) throw new ApiError('overloaded');
    place = next;
  }
}

/** Parameters: tenant, rows at most, rules, today, and by place the last row that was counted. */
function countText(
  { table, from, own }: { table: string; from: string; own: readonly Pass[] },
  place: number,
): string {
  const behind = `($5::uuid[])[${place + 1}]`;
  const ends = `(SELECT (SELECT piece.id FROM ${table} AS piece WHERE piece.tenant_id = $1 AND piece.id > ${behind}
    ORDER BY piece.id OFFSET $2::bigint - 1 LIMIT 1) AS last) AS ends`;
  const judged = own.find(({ isJudged }) => isJudged);
  const unjudged = judged?.checks.map(({ condition }) => `(${condition})`).join(' OR ') ?? 'false';
  const counts = own.flatMap((pass) =>
    wantedChecks(pass).map((check) => {
      if (check.group)
        return from === nothing
          ? `(SELECT count(*) FILTER (WHERE ${isOpen(check)}) FROM ${table} AS subject WHERE subject.tenant_id = $1)`
          : '0';
      const kept = pass.isJudged ? `'${check.code}' = ANY (kept.codes) AND ` : '';
      return `count(*) FILTER (WHERE ${kept}${isOpen(check)})`;
    }),
  );
  return `SELECT '${table}' AS table, ends.last, counted.unjudged, counted.counts FROM ${ends} CROSS JOIN LATERAL (
    SELECT (count(*) FILTER (WHERE ${judged ? 'kept.codes IS NULL AND ' : ''}(${unjudged})))::integer AS unjudged,
      ARRAY[${counts.join(', ')}]::integer[] AS counts
    FROM ${table} AS subject ${judged ? keptVerdict('$3', '$4') : ''}
    WHERE subject.tenant_id = $1 AND subject.id > ${behind}
      AND subject.id <= coalesce(ends.last, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) AS counted
    WHERE $3::text IS NOT NULL AND $4::text IS NOT NULL`;
}
