// Which checks are answered together.
import type { AttentionCheck } from '../../engine/sql/attention-checks.ts';

/** Checks that one scan of a table answers. Judged checks come last: each of their rows costs more. */
export interface Pass {
  table: string;
  checks: readonly AttentionCheck[];
  isJudged: boolean;
}

export function passesOf(checks: readonly AttentionCheck[]): Pass[] {
  return [false, true].flatMap((isJudged) => {
    const chosen = checks.filter(({ judge }) => Boolean(judge) === isJudged);
    const tables = Map.groupBy(chosen, ({ table }) => table);
    return [...tables].map(([table, ofTable]) => ({ table, checks: ofTable, isJudged }));
  });
}
