// Finds the checks that a row meets, all in one statement.
import type pg from 'pg';
import type { HolidayRule } from '../../../core/calendar/visit-plan.ts';
import { Pace, type Steps } from '../../../core/pace.ts';
import { type Language, text } from '../../messages.ts';
import { reportRecord, type WarningLog } from '../../telemetry/record-net.ts';
import type { Business, Verdict } from '../definition/definition.ts';
import type { AttentionCheck, AttentionEntry } from './attention-checks.ts';

/** FROM items: a row named "subject", and the places of the checks that it meets as `found.met`. */
export function findMet(
  subject: string,
  checks: readonly Pick<AttentionCheck, 'condition'>[],
  join = '',
): string {
  const places = checks.map(({ condition }, place) => `CASE WHEN ${condition} THEN ${place} END`);
  // OFFSET evaluates the conditions once per row.
  return `${subject} AS subject ${join}
    CROSS JOIN LATERAL (SELECT array_remove(ARRAY[${places.join(', ')}]::integer[], NULL) AS met OFFSET 0) AS found`;
}

/** SQL of an object with the values that judges need. Judges of the same columns share one value. */
export function selectJudged(checks: readonly Pick<AttentionCheck, 'judge'>[]): string {
  const places = checks.flatMap(({ judge }, place) => (judge ? [place] : []));
  const judged = [...Map.groupBy(places, (place) => placeOfValues(checks, place))].map(([first, sharing]) => {
    const values = Object.entries(checks[first]!.judge!.columns).map(([name, sql]) => `'${name}', ${sql}`);
    return `'${first}', CASE WHEN found.met && ARRAY[${sharing.join(', ')}] THEN json_build_object(${values.join(', ')}) END`;
  });
  return `json_build_object(${judged.join(', ')})`;
}

function placeOfValues(checks: readonly Pick<AttentionCheck, 'judge'>[], place: number): number {
  return checks.findIndex(({ judge }) => judge?.columns === checks[place]!.judge?.columns);
}

export type Judged = Record<string, unknown>;

/** The values for the check at this place. */
export function valuesFor(checks: readonly AttentionCheck[], place: number, judged: Judged | null): unknown {
  return judged?.[placeOfValues(checks, place)];
}

/** A record on which a judge fails needs attention: it becomes an entry, and never the end of the list. */
export function* judgeRow(
  { judge }: AttentionCheck,
  { id, judged }: { id: string; judged: unknown },
  business: Business | undefined,
  log: WarningLog,
): Steps<Verdict> {
  if (!judge) return { needsAttention: true };
  try {
    return yield* judge.judge(judged, business!);
  } catch (error) {
    reportRecord(log, 'attention', id, error);
    return { needsAttention: true, until: business!.today };
  }
}

/** A statement of its own: on a cluster it is for the coordinator, and objects are on workers. */
export function businessQuery(tenantId: string): pg.QueryConfig {
  return {
    text: 'SELECT holiday_rule AS "holidayRule" FROM tenant WHERE tenant_id = $1',
    values: [tenantId],
  };
}

export function readBusiness(rows: readonly unknown[]): Business {
  const [found] = rows as { holidayRule: HolidayRule }[];
  return { ...found!, today: Temporal.Now.plainDateISO('UTC').toString() };
}

/** The entries of one row, as this transaction sees it. The checks are those of its resource. */
export async function findAttentionOf(
  client: pg.ClientBase,
  checks: readonly AttentionCheck[],
  { tenant_id: tenantId, id }: { tenant_id: string; id: string },
  language: Language,
  log: WarningLog,
): Promise<AttentionEntry[]> {
  const found = await findAttentionOfRows(client, checks, { tenantId, ids: [id] }, language, log);
  // Do not look up by `id`, which can be in upper case.
  const [entries = []] = found.values();
  return entries;
}

/** The entries of several rows of one resource, by id. */
export async function findAttentionOfRows(
  client: pg.ClientBase,
  checks: readonly AttentionCheck[],
  { tenantId, ids }: { tenantId: string; ids: readonly string[] },
  language: Language,
  log: WarningLog,
): Promise<Map<string, AttentionEntry[]>> {
  const found = new Map<string, AttentionEntry[]>();
  if (checks.length === 0 || ids.length === 0) return found;
  const { rows } = await client.query<{ id: string; met: number[]; judged: Judged }>(
    `SELECT subject.id, found.met, ${selectJudged(checks)} AS judged FROM ${findMet(checks[0]!.table, checks)}
     WHERE subject.tenant_id = $1 AND subject.id = ANY ($2)`,
    [tenantId, ids],
  );
  const needsBusiness = rows.some(({ met }) => met.some((place) => checks[place]!.judge));
  const business = needsBusiness
    ? readBusiness((await client.query(businessQuery(tenantId))).rows)
    : undefined;
  const pace = new Pace();
  for (const { id, met, judged } of rows) {
    const entries: AttentionEntry[] = [];
    for (const place of met) {
      const check = checks[place]!;
      const values = valuesFor(checks, place, judged);
      if (!(await pace.run(judgeRow(check, { id, judged: values }, business, log))).needsAttention) continue;
      const { resource, field, code } = check;
      entries.push({ resource, id, field, code, message: text(code, language) });
    }
    found.set(id, entries);
  }
  return found;
}
