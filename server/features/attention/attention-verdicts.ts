// Verdicts that are kept: an object is judged again when it, the rules of the business or the program change. (Decision 91.)
import { report } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import type { Business } from '../../engine/definition/definition.ts';
import { version } from '../../version.ts';

/** Longest time for which a verdict is kept. Those of deleted objects end with it. */
const keptDays = 28;

export interface KeptVerdict {
  id: string;
  version: number;
  /** The entry that the verdict is about. */
  codes: ReadonlySet<string>;
  /** Absent means for ever. */
  until: string | undefined;
}

/** FROM item: the codes of the kept verdict about "subject", if it holds. Parameters: the rules and today. */
export function keptVerdict(rules: string, today: string): string {
  return `LEFT JOIN LATERAL (SELECT verdict.codes FROM attention_verdict AS verdict
    WHERE verdict.tenant_id = subject.tenant_id AND verdict.object_id = subject.id AND verdict.version = subject.version
      AND verdict.judged_by = ${rules} AND verdict.until >= ${today}::date OFFSET 0) AS kept ON true`;
}

export function rulesOf({ holidayRule }: Business): string {
  return `${holidayRule} ${version}`;
}

/** The list is right without them, so a failure is only reported. */
export async function keepVerdicts(
  database: Database,
  tenantId: string,
  business: Business,
  verdicts: readonly KeptVerdict[],
): Promise<void> {
  if (verdicts.length === 0) return;
  const latest = Temporal.PlainDate.from(business.today).add({ days: keptDays }).toString();
  const judged = verdicts.map(({ id, version, codes, until = latest }) => ({
    ...{ id, version, codes: [...codes].join() },
    until: until < latest ? until : latest,
  }));
  const values = [tenantId, rulesOf(business), JSON.stringify(judged)];
  const text = `INSERT INTO attention_verdict (tenant_id, object_id, version, judged_by, until, codes)
    SELECT $1, id, version, $2, until, string_to_array(codes, ',')
    FROM json_to_recordset($3) AS judged (id uuid, version integer, until date, codes text) ORDER BY id
    ON CONFLICT (tenant_id, object_id) DO UPDATE SET version = excluded.version, judged_by = excluded.judged_by,
      until = excluded.until, codes = excluded.codes`;
  await report('attention', () => database.queryInTenants([tenantId], { text, values }));
}

/** Includes verdicts about deleted objects. */
export async function forgetEndedVerdicts(database: Database): Promise<void> {
  await database.pool.query('SELECT forget_attention_verdicts()');
}
