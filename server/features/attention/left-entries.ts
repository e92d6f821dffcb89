// Entries that the office has looked at and left as they are. They come back when the check finds something else.
import type pg from 'pg';
import { Pace } from '../../../core/pace.ts';
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
import type { WarningLog } from '../../telemetry/record-net.ts';
import type { Pass } from './attention-passes.ts';

const maxListed = 500;

/** Hashed: a finding may be an address or a foreign id. */
export function hashedFinding({ finding }: AttentionCheck): string {
  return `md5(concat(${finding}))`;
}

/** FROM and WHERE of the row that leaves the entry of "subject" as it is. Names come from definitions. */
export function leftEntry(check: AttentionCheck): string {
  return `FROM left_attention AS left_entry WHERE left_entry.tenant_id = subject.tenant_id
    AND left_entry.object_id = subject.id AND ${isLeftBy(check)}`;
}

function isLeftBy(check: AttentionCheck): string {
  const { resource, field, code } = check;
  return `left_entry.resource = '${resource}' AND left_entry.field = '${field}' AND left_entry.code = '${code}'
    AND left_entry.finding = ${hashedFinding(check)}`;
}

interface LeftRow {
  pass: number;
  id: string;
  reason: string | null;
  leftAt: Date;
  person_id: string;
  met: number[];
  judged: Judged;
}

/** Those whose cause still holds, the newest first. */
export async function readLeft(
  client: pg.ClientBase,
  tenantId: string,
  passes: readonly Pass[],
  log: WarningLog,
) {
  const { rows } = await client.query<LeftRow>(
    `SELECT * FROM (${passes.map(leftOfPass).join(' UNION ALL ')}) AS entries ORDER BY "leftAt" DESC LIMIT ${maxListed}`,
    [tenantId],
  );
  const business = readBusiness((await client.query(businessQuery(tenantId))).rows);
  // By a statement of its own: on a cluster people are on the coordinator, and entries on the workers.
  const { rows: people } = await client.query<{ id: string; name: string }>(
    'SELECT id, name FROM person WHERE tenant_id = $1 AND id = ANY ($2)',
    [tenantId, rows.map((row) => row.person_id)],
  );
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const pace = new Pace();
  const entries = [];
  for (const { pass, id, met, judged, reason, leftAt, person_id } of rows) {
    const [number] = met as [number];
    const { checks } = passes[pass]!;
    const check = checks[number]!;
    const values = valuesFor(checks, number, judged);
    if (!(await pace.run(judgeRow(check, { id, judged: values }, business, log))).needsAttention) continue;
    const { resource, field, code } = check;
    entries.push({ resource, field, code, id, reason, leftAt, leftBy: names.get(person_id) ?? null });
  }
  return entries;
}

/** A row of left_attention names one check, so that it meets one at most. */
function leftOfPass({ table, checks }: Pass, place: number): string {
  const left = checks.map((check) => ({ condition: `${isLeftBy(check)} AND ${check.condition}` }));
  const newest = `(SELECT * FROM left_attention AS newest WHERE newest.tenant_id = $1 AND newest.resource = '${checks[0]!.resource}'
    ORDER BY newest.left_at DESC LIMIT ${maxListed})`;
  const subject = `${newest} AS left_entry JOIN ${table}`;
  return `(SELECT ${place} AS pass, subject.id, left_entry.reason, left_entry.left_at AS "leftAt", left_entry.person_id, found.met,
      ${selectJudged(checks)} AS judged
    FROM ${findMet(subject, left, 'ON subject.tenant_id = $1 AND subject.id = left_entry.object_id')} WHERE found.met <> '{}')`;
}
