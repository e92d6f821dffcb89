// Collects facts that only the whole file reveals, and cells that the import reads differently than written.

import { judgeLostZero } from '../place/postcodes.ts';
import { type FileFacts, type GuessKind, guessKinds, zipKey } from './cell-guesses.ts';
import { splitCell } from './cell-parts.ts';
import { type Cell, unguardText } from './csv/csv.ts';
import { type ChosenColumns, guessesIn, type LinePlan } from './import-lines.ts';

/** One kind of guess in one column. */
export interface ColumnGuess {
  kind: GuessKind;
  path: string;
  count: number;
  /** Distinct cells, as written and as read. */
  examples: { from: string; to: string }[];
}

const maxExamples = 3;

/** Takes each row, then knows what only all of them show. */
export function buildFactSearch(columns: ChosenColumns) {
  const lost = new Set<string>();
  const possible = new Set<string>();
  let hasShortForeign = false;
  const dayFirst = new Set<number>();
  const monthFirst = new Set<number>();

  function judgeZip(zipCode: string, city: string): void {
    const key = zipKey(zipCode, city);
    if (!/^\d{4}$/.test(zipCode) || lost.has(key) || possible.has(key)) return;
    const verdict = judgeLostZero({ zipCode, city });
    if (verdict === 'lost') lost.add(key);
    else if (verdict === 'possible') possible.add(key);
    else hasShortForeign = true;
  }

  function judgeDate(index: number, text: string): void {
    const [, first, second] = /^(\d{1,2})\/(\d{1,2})\/\d{2,4}$/.exec(text) ?? [];
    if (Number(first) > 12) dayFirst.add(index);
    else if (Number(second) > 12) monthFirst.add(index);
  }

  return {
    push(cells: readonly Cell[]): void {
      columns.forEach((column, index) => {
        const text = unguardText(cells[index] ?? '').trim();
        if (!column || text === '') return;
        if (column.parts?.kind === 'town' || column.parts?.kind === 'address') {
          const [zipCode = '', city = ''] = splitCell(column.parts, text).slice(-2);
          judgeZip(zipCode, city);
        } else if (column.field.name === 'zipCode') {
          const city = columns.findIndex((other) => other?.path === column.path.replace(/\w+$/, 'city'));
          judgeZip(text, unguardText(cells[city] ?? '').trim());
        } else if (column.field.kind === 'date') judgeDate(index, text);
      });
    },
    end(): FileFacts {
      return {
        // Without a known town, the other postcodes of the file decide.
        shortZips: lost.size > 0 && !hasShortForeign ? lost.union(possible) : lost,
        monthFirst: monthFirst.difference(dayFirst),
      };
    },
  };
}

/** Takes each row, then lists the guesses, those that change most rows first. */
export function buildGuessSearch(plan: LinePlan) {
  const found = new Map<string, ColumnGuess>();
  return {
    push(cells: readonly Cell[]): void {
      for (const [index, { kind, shown = '' }] of guessesIn(plan, cells)) {
        const column = plan.columns[index]!;
        const key = `${kind} ${index}`;
        const guess = found.get(key) ?? { kind, path: column.path, count: 0, examples: [] };
        found.set(key, guess);
        guess.count += 1;
        const from = unguardText(cells[index] ?? '').trim();
        if (guess.examples.length < maxExamples && !guess.examples.some((example) => example.from === from))
          guess.examples.push({ from, to: shown });
      }
    },
    end: (): ColumnGuess[] =>
      [...found.values()].toSorted(
        (one, other) =>
          guessKinds.indexOf(one.kind) - guessKinds.indexOf(other.kind) || other.count - one.count,
      ),
  };
}
