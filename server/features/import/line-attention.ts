// What a dry run says of each line that would be stored, as that of a single object does.
import type pg from 'pg';
import { type AttentionEntry, attentionChecksOf } from '../../engine/attention/attention-checks.ts';
import { findAttentionOfRows } from '../../engine/attention/attention-findings.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { ApiError } from '../../errors.ts';
import type { Language } from '../../messages.ts';
import type { WarningLog } from '../../telemetry/record-net.ts';
import type { CheckedLine } from './line-check.ts';
import type { Outcomes } from './line-intents.ts';

export type AttentionOfLines = ReadonlyMap<CheckedLine, AttentionEntry[]>;
export type FindAttention = (client: pg.ClientBase, outcomes: Outcomes) => Promise<AttentionOfLines>;

/** One statement per resource, in the transaction that is taken back. */
export function buildFindAttention(resources: readonly Definition[]) {
  const checks = new Map(resources.map((definition) => [definition.name, attentionChecksOf(definition)]));
  return (tenantId: string, language: Language, log: WarningLog): FindAttention =>
    async (client, outcomes) => {
      const found = new Map<CheckedLine, AttentionEntry[]>();
      const stored = [...outcomes].flatMap(([line, outcome]) =>
        outcome instanceof ApiError ? [] : [{ line, id: outcome.id }],
      );
      for (const [name, lines] of Map.groupBy(stored, ({ line }) => line.resource.definition.name)) {
        const ids = lines.map(({ id }) => id);
        const entries = await findAttentionOfRows(
          client,
          checks.get(name)!,
          { tenantId, ids },
          language,
          log,
        );
        for (const { line, id } of lines) found.set(line, entries.get(id) ?? []);
      }
      return found;
    };
}
