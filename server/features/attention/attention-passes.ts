// Which checks are answered together.
import type { AttentionCheck } from '../../engine/attention/attention-checks.ts';

/** Checks that one scan of a table answers. Judged checks come last: each of their rows costs more. */
export interface Pass {
  table: string;
  /** In a judged pass all that have a judge, also unwanted ones: a verdict is about all of them. */
  checks: readonly AttentionCheck[];
  isJudged: boolean;
  isWanted: (check: AttentionCheck) => boolean;
}

export function passesOf(
  checks: readonly AttentionCheck[],
  isWanted: (check: AttentionCheck) => boolean = () => true,
): Pass[] {
  return [false, true].flatMap((isJudged) => {
    const chosen = checks.filter(
      (check) => Boolean(check.judge) === isJudged && (isJudged || isWanted(check)),
    );
    const tables = [...Map.groupBy(chosen, ({ table }) => table)];
    return tables
      .filter(([, ofTable]) => ofTable.some(isWanted))
      .map(([table, ofTable]) => ({ table, checks: ofTable, isJudged, isWanted }));
  });
}
