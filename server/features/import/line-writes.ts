// Writes lines of an import together, and in smaller parts where that fails.
import { isDatabaseAway, toApiError } from '../../database/errors.ts';
import type { AttentionEntry } from '../../engine/attention/attention-checks.ts';
import { RaceError } from '../../engine/write/races.ts';
import type { Writing } from '../../engine/write/resource.ts';
import { ApiError } from '../../errors.ts';
import type { Language } from '../../messages.ts';
import type { Turn } from './concurrent-parts.ts';
import type { FindAttention } from './line-attention.ts';
import type { CheckedLine } from './line-check.ts';
import { type Outcomes, type Writer, writeLines } from './line-intents.ts';
import { isOwnerMissing, wokenBy } from './lines-without-owner.ts';
import type { Summary } from './results.ts';
import type { ImportSession } from './session/import-transaction.ts';

export const importModes = ['each', 'all-or-nothing'] as const;

export interface ImportOptions extends Writer {
  mode: (typeof importModes)[number];
  isDryRun: boolean;
  language: Language;
  /** For a dry run with the key. The office checks its own form after each edit and shows no such entries. */
  findAttention?: FindAttention | undefined;
  /** For the log: what no line is to blame for. */
  onError(error: unknown): void;
}

export interface RunningImport {
  session: ImportSession;
  writing: Writing;
  options: ImportOptions;
  summary: Summary;
  /** Entries of a dry run, by the line that would cause them. */
  attention: Map<CheckedLine, AttentionEntry[]>;
}

/**
 * All lines in one write, and before them those that have waited for one of them. If that fails, try a smaller part: one
 * bad line or a race must not fail its neighbours. Throws only where the database is away or the import has to end.
 */
export async function writeTogether(
  run: RunningImport,
  lines: readonly CheckedLine[],
  woken: readonly CheckedLine[],
  turn?: Turn,
): Promise<Outcomes> {
  if (lines.length === 0) return new Map();
  try {
    return await writeOnce(run, [...woken, ...lines], turn);
  } catch (error) {
    await turn?.fail();
    throwIfOver(run, error);
    if (turn) return writeTogether(run, lines, woken);
    if (lines.length > 1) return writeHalves(run, lines, woken);
  }
  try {
    return await writeOnce(run, [...woken, ...lines]);
  } catch (error) {
    throwIfOver(run, error);
    run.options.onError(error);
    return new Map([[lines[0]!, toApiError(error)]]);
  }
}

async function writeHalves(
  run: RunningImport,
  lines: readonly CheckedLine[],
  woken: readonly CheckedLine[],
): Promise<Outcomes> {
  const middle = lines.length >> 1;
  const [before, rest] = [lines.slice(0, middle), lines.slice(middle)];
  const first = await writeTogether(run, before, woken);
  const waiting = [...woken, ...before].filter((line) => {
    const outcome = first.get(line);
    return !outcome || isOwnerMissing(line, outcome);
  });
  const second = await writeTogether(run, rest, wokenBy(rest, waiting));
  return new Map([...first, ...second]);
}

function writeOnce(
  { session, writing, options, attention }: RunningImport,
  lines: readonly CheckedLine[],
  turn?: Turn,
): Promise<Outcomes> {
  return session.write(async (client, onWritten) => {
    const watch = { onWritten, ...(turn && { onDecided: turn.onDecided }) };
    const outcomes = await writeLines(client, writing, lines, options, watch);
    const found = await options.findAttention?.(client, outcomes);
    for (const [line, entries] of found ?? []) attention.set(line, entries);
    if (turn && !(await turn.isNext())) throw new RaceError('The lines before these are not stored.');
    return outcomes;
  });
}

function throwIfOver({ session, summary }: RunningImport, error: unknown): void {
  if (isDatabaseAway(error)) throw error;
  session.signal.throwIfAborted();
  if (summary.code) throw new ApiError(summary.code);
}
