// Rows that probably exist already: found before anything is written, and what becomes of each.

import { type ComparedRow, findRepeatedRows, type RowChoices } from '../../../../core/table/compared-rows.ts';
import { call } from '../../api/client.ts';
import type { Entity } from '../../api/definitions.ts';

const rowsPerCall = 100;

export type DuplicateReason = 'number' | 'name' | 'email' | 'phone' | 'repeated';

export interface Duplicate {
  compared: ComparedRow;
  reason: DuplicateReason;
  /** The stored object; missing where an earlier row says the same. */
  entity?: Entity;
  earlierRow?: number;
}

export type DuplicateChoice = 'update' | 'create' | 'skip';

export async function findDuplicates(resource: string, rows: readonly ComparedRow[]): Promise<Duplicate[]> {
  const repeated = findRepeatedRows(rows);
  const found: Duplicate[] = [];
  for (let start = 0; start < rows.length; start += rowsPerCall) {
    const some = rows.slice(start, start + rowsPerCall);
    const body = { resource, rows: some };
    const { data } = await call<{ data: { row: number; reason: DuplicateReason; entity: Entity }[] }>(
      'POST',
      '/duplicate-matches',
      { body },
    );
    const stored = new Map(data.map((match) => [match.row, match]));
    for (const compared of some) {
      const match = stored.get(compared.row);
      const earlier = repeated.get(compared.row);
      if (match) found.push({ compared, reason: match.reason, entity: match.entity });
      else if (earlier) found.push({ compared, reason: earlier.reason, earlierRow: earlier.row });
    }
  }
  return found;
}

/** Several people of a customer share a telephone number. */
export function likelyChoice({ reason }: Duplicate): DuplicateChoice {
  if (reason === 'repeated') return 'skip';
  return reason === 'number' || reason === 'name' ? 'update' : 'create';
}

export function choicesOf({ entity }: Duplicate): DuplicateChoice[] {
  return entity ? ['update', 'create', 'skip'] : ['create', 'skip'];
}

export function toRowChoices(
  duplicates: readonly Duplicate[],
  choices: ReadonlyMap<number, DuplicateChoice>,
): RowChoices {
  return new Map(
    duplicates.flatMap((duplicate): [number, string][] => {
      const { row } = duplicate.compared;
      const choice = choices.get(row) ?? likelyChoice(duplicate);
      if (choice === 'create') return [];
      return [[row, choice === 'skip' ? 'skip' : duplicate.entity!.id]];
    }),
  );
}
