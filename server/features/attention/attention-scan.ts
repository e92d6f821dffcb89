// Reads the attention list: one statement looks at the next rows of all resources, in the order of their ids. (Decision 86.)
import type { Pace, Steps } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import type { AttentionCheck } from '../../engine/attention/attention-checks.ts';
import {
  businessQuery,
  findMet,
  type Judged,
  judgeRow,
  readBusiness,
  selectJudged,
  valuesFor,
} from '../../engine/attention/attention-findings.ts';
import type { Business } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { jsonBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import { UnchangedReadings } from '../../http/unchanged-readings.ts';
import type { WarningLog } from '../../telemetry/record-net.ts';
import type { Pass } from './attention-passes.ts';
import { type KeptVerdict, keepVerdicts, keptVerdict, rulesOf } from './attention-verdicts.ts';
import { leftEntry } from './left-entries.ts';

/** Rows that one statement looks at. */
export const scannedRows = 20_000;
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
  at: Place;
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
  business?: Promise<Business>;
}

export const nothing = '00000000-0000-0000-0000-000000000000';
export const behindAll = 999;
/** A statement and its answer take less. */
const reserveMs = 900;

export function isTimeUp({ deadline }: Reader): boolean {
  return performance.now() > deadline - reserveMs;
}

export const firstPlace: Place = { pass: 0, id: nothing, check: behindAll };

/**
 * Without the entries that the office has left as they are, and one entry for each group of duplicates. Behind a
 * condition that is NULL, PostgreSQL would look up each row.
 */
export function isOpen(check: AttentionCheck): string {
  return `(${check.group?.isFirst ?? check.condition}) IS TRUE AND NOT EXISTS (SELECT ${leftEntry(check)})`;
}

interface FoundRow {
  pass: number;
  id: string;
  /** Null where the statement has looked at enough rows: it ends with this one. */
  met: number[] | null;
  others: string[] | null;
  version: number;
  /** Checks that no kept verdict decides. */
  unjudged: number[];
  /** The values for them; null where the row is beyond the bound of a page. */
  judged: Judged | null;
}

/** At most `limit` findings, by one statement: about all rows, or those with these ids. */
export async function readPart(
  reader: Reader,
  passes: readonly Pass[],
  from: Place,
  limit = scannedRows,
  maxRows = scannedRows,
  ids?: readonly string[],
): Promise<Part> {
  if (from.pass >= passes.length) return { findings: [], next: undefined };
  const { database, tenantId, deadline } = reader;
  const business = passes.some(({ isJudged }) => isJudged) ? await businessOf(reader) : undefined;
  const values = [
    tenantId,
    from.id,
    limit,
    maxRows,
    ...(ids ? [ids] : []),
    ...(business ? [rulesOf(business), business.today] : []),
  ];
  const query = { text: scanText(passes, from, ids !== undefined), values };
  const { rows } = await database.queryInTenants<FoundRow>([tenantId], query, { deadline });
  const verdicts: KeptVerdict[] = [];
  try {
    return await collect(reader, rows, { passes, from, limit, business, verdicts });
  } finally {
    // Also those made before time was up: a retry goes on from them.
    if (business) await keepVerdicts(database, tenantId, business, verdicts);
  }
}

/** Read once per request. */
export async function businessOf(reader: Reader): Promise<Business> {
  const { database, tenantId, deadline } = reader;
  reader.business ??= database
    .queryInTenants([tenantId], businessQuery(tenantId), { deadline })
    .then(({ rows }) => readBusiness(rows));
  return reader.business;
}

/** SQL that differs once an entry is left as it is, or taken back. */
export const leftStamp =
  '(SELECT (count(*), sum(extract(epoch FROM left_at)))::text FROM left_attention WHERE tenant_id = $1)';

/** Entries change with the objects, with what is left as it is, with the day and with the rule for holidays. */
export class UnchangedEntries<Reading> {
  readonly #readings = new UnchangedReadings<Reading>(['current_date', leftStamp]);

  async read(reader: Reader, key: string, read: () => Promise<Reading>): Promise<Reading> {
    const business = await businessOf(reader);
    return this.#readings.read(reader, `${rulesOf(business)} ${business.today} ${key}`, read);
  }
}

interface Collection {
  passes: readonly Pass[];
  from: Place;
  limit: number;
  business: Business | undefined;
  /** Made on the way. */
  verdicts: KeptVerdict[];
}

async function collect(
  { pace, log }: Reader,
  rows: readonly FoundRow[],
  { passes, from, limit, business, verdicts }: Collection,
): Promise<Part> {
  const findings: Finding[] = [];
  let last = from;
  let judgedCount = 0;
  for (const row of rows) {
    const { pass: place, id, met, others } = row;
    const pass = passes[place]!;
    if (met === null) return { findings, next: { pass: place, id, check: behindAll } };
    if (row.unjudged.length > 0 && row.judged === null) return { findings, next: last };
    const verdict = row.unjudged.length > 0 ? await pace.run(judge(pass, row, business, log)) : undefined;
    if (verdict) verdicts.push(verdict);
    for (const number of met) {
      if (place === from.pass && id === from.id && number <= from.check) continue;
      const check = pass.checks[number]!;
      if (verdict && !verdict.codes.has(check.code)) continue;
      const at = { pass: place, id, check: number };
      findings.push({ check, id, others: check.group ? others : null, at });
      if (findings.length === limit) return { findings, next: at };
    }
    last = { pass: place, id, check: behindAll };
    if (pass.isJudged && ++judgedCount === judgedRows) return { findings, next: last };
  }
  return { findings, next: undefined };
}

function* judge(
  { checks }: Pass,
  { id, version, unjudged, judged }: FoundRow,
  business: Business | undefined,
  log: WarningLog,
): Steps<KeptVerdict> {
  const codes = new Set<string>();
  let until: string | undefined;
  for (const number of unjudged) {
    const check = checks[number]!;
    const verdict = yield* judgeRow(check, { id, judged: valuesFor(checks, number, judged) }, business, log);
    if (verdict.needsAttention) codes.add(check.code);
    if (verdict.until && (until === undefined || verdict.until < until)) until = verdict.until;
  }
  return { id, version, codes, until };
}

/** Parameters: tenant, first id, how many findings and how many rows at most, ids; with judged passes the rules and today. */
function scanText(passes: readonly Pass[], from: Place, hasIds: boolean): string {
  const kept = hasIds ? keptVerdict('$6', '$7') : keptVerdict('$5', '$6');
  const numbered = passes.map((pass, place) => ({ pass, place })).slice(from.pass);
  const rows = ({ pass, place }: NumberedPass) => `FROM ${pass.table} AS piece
    WHERE piece.tenant_id = $1 ${hasIds ? 'AND piece.id = ANY ($5)' : ''} ${place === from.pass ? `AND piece.id ${from.check === behindAll ? '>' : '>='} $2` : 'AND $2::uuid IS NOT NULL'}`;
  const rooms = numbered.map(
    (one) => `room_${one.place + 1} AS MATERIALIZED (
      SELECT room_${one.place}.rows - (SELECT count(*) FROM (SELECT ${rows(one)} LIMIT (SELECT rows FROM room_${one.place})) AS counted) AS rows
      FROM room_${one.place})`,
  );
  const branches = (isJudged: boolean) =>
    numbered.filter(({ pass }) => pass.isJudged === isJudged).map((one) => branch(one, rows(one), kept));
  const definite = branches(false);
  const most = definite.length > 0 ? `(SELECT count(met) FROM definite)` : '0';
  return `WITH room_${from.pass} AS MATERIALIZED (SELECT $4::bigint AS rows), ${rooms.join(', ')}
    ${definite.length > 0 ? `, definite AS MATERIALIZED (SELECT * FROM (${definite.join(' UNION ALL ')}) AS passes LIMIT $3 + ${numbered.length + 1})` : ''}
    ${[
      ...(definite.length > 0 ? ['SELECT * FROM definite'] : []),
      ...branches(true).map(
        (judged) =>
          `(SELECT * FROM (${judged}) AS passes LIMIT (CASE WHEN ${most} > $3 THEN 0 ELSE ${judgedRows + 1} END))`,
      ),
    ].join(' UNION ALL ')}`;
}

interface NumberedPass {
  pass: Pass;
  place: number;
}

/** The rows that meet a check, and one without `met` if there was no room for all rows of the table. */
function branch({ pass, place }: NumberedPass, rows: string, kept: string): string {
  const piece = `(SELECT * ${rows} ORDER BY piece.id LIMIT (SELECT rows FROM room_${place}))`;
  return `(SELECT ${place} AS pass, subject.id, ${pass.isJudged ? selectToJudge(pass, piece, kept) : selectDefinite(pass, piece)})
    UNION ALL (SELECT ${place}, (SELECT piece.id ${rows} ORDER BY piece.id OFFSET (SELECT rows - 1 FROM room_${place}) LIMIT 1),
      NULL, NULL, NULL, NULL, NULL FROM room_${place} CROSS JOIN room_${place + 1}
      WHERE room_${place}.rows > 0 AND room_${place + 1}.rows = 0)`;
}

function selectDefinite({ checks }: Pass, piece: string): string {
  const group = checks.findIndex((check) => check.group);
  const others =
    group < 0
      ? 'NULL::uuid[]'
      : `CASE WHEN ${group} = ANY (found.met) THEN ${checks[group]!.group!.others} END`;
  const open = checks.map((check) => ({ condition: isOpen(check) }));
  return `found.met, ${others} AS others, subject.version, '{}'::integer[] AS unjudged, NULL::json AS judged
      FROM ${findMet(piece, open)} WHERE found.met <> '{}'`;
}

/** Rows that the kept verdict puts on the list, and those without one. */
function selectToJudge({ checks, isWanted }: Pass, piece: string, kept: string): string {
  const unjudged = checks.map(({ condition }) => ({ condition: `kept.codes IS NULL AND ${condition}` }));
  const listed = checks.map((check, place) =>
    isWanted(check)
      ? `CASE WHEN (kept.codes IS NULL OR '${check.code}' = ANY (kept.codes)) AND ${isOpen(check)} THEN ${place} END`
      : 'NULL',
  );
  const sizes = [...new Set(checks.flatMap(({ judge }) => judge?.lists ?? []))].map(
    (list) => `CASE WHEN found.met = '{}' THEN 0 ELSE ${jsonBytes(list)} END`,
  );
  const judged = selectWithinPage(selectJudged(checks), { sizes, order: 'subject.id' });
  return `listed.met, NULL::uuid[] AS others, subject.version, found.met AS unjudged, ${judged} AS judged
      FROM ${findMet(piece, unjudged, kept)}
      CROSS JOIN LATERAL (SELECT CASE WHEN kept.codes = '{}' THEN '{}'
        ELSE array_remove(ARRAY[${listed.join(', ')}]::integer[], NULL) END AS met OFFSET 0) AS listed
      WHERE found.met <> '{}' OR listed.met <> '{}'`;
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
