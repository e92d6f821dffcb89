// An import from its lines to its answers. It reads no line before somebody wants the next answer. So a client that
// does not read is not read from either.
import { Pace } from '../../../core/pace.ts';
import { toApiError } from '../../database/errors.ts';
import type { AttentionEntry } from '../../engine/attention/attention-checks.ts';
import type { Writing } from '../../engine/write/resource.ts';
import { ApiError } from '../../errors.ts';
import { type Turn, writePartsConcurrently } from './concurrent-parts.ts';
import { buildLineCheck, type CheckedLine, namesOf, type RejectedLine } from './line-check.ts';
import { type ImportOptions, type RunningImport, writeTogether } from './line-writes.ts';
import type { Line } from './lines.ts';
import { isOwnerMissing, keepLinesWithoutOwner } from './lines-without-owner.ts';
import {
  emptySummary,
  type LineResult,
  pickNames,
  type Summary,
  toErrorResult,
  toResult,
} from './results.ts';
import type { ImportSession } from './session/import-transaction.ts';
import { buildSpool } from './session/spool.ts';

export type ImportAnswer = LineResult | { summary: Summary };

/**
 * Answers for each line; for all or nothing only the rejected lines, if there are any. The summary comes last. The
 * session is closed by then.
 */
export async function* runImport(
  session: ImportSession,
  writing: Writing,
  input: AsyncIterable<Line[]>,
  options: ImportOptions,
): AsyncGenerator<ImportAnswer[]> {
  const summary = emptySummary(options.isDryRun);
  const written = countResults(writeInput(session, writing, session.take(input), options, summary), summary);
  const results = options.mode === 'each' ? written : settleTogether(session, written, options, summary);
  try {
    yield* results;
  } finally {
    await session.close();
  }
  yield [{ summary }];
}

async function* countResults(
  results: AsyncIterable<LineResult[]>,
  summary: Summary,
): AsyncGenerator<LineResult[]> {
  for await (const some of results) {
    summary.lines += some.length;
    for (const { outcome } of some) summary[outcome]++;
    yield some;
  }
}

/** The results of all lines in their order. Lines that had to wait for their owner come last. */
async function* writeInput(
  session: ImportSession,
  writing: Writing,
  input: AsyncIterable<Line[]>,
  options: ImportOptions,
  summary: Summary,
): AsyncGenerator<LineResult[]> {
  const checkLine = buildLineCheck(writing.resources);
  const withoutOwner = keepLinesWithoutOwner(writing.resources);
  const attention = new Map<CheckedLine, AttentionEntry[]>();
  const run: RunningImport = { session, writing, options, summary, attention };

  /** Writes lines, and before them those that have waited for one of them. */
  async function writeChunk(chunk: Chunk, mayWait: boolean, turn?: Turn): Promise<LineResult[]> {
    const sound = chunk
      .filter(({ checked }) => !('error' in checked))
      .map(({ checked }) => checked as CheckedLine);
    const woken = new Map(
      mayWait
        ? withoutOwner.awaiting(sound).map((kept) => [checkLine(kept.line) as CheckedLine, kept] as const)
        : [],
    );
    const outcomes = await writeTogether(run, sound, [...woken.keys()], turn);
    const resultOf = (checked: CheckedLine) => {
      const { ignoredFields } = checked.checked;
      const entries = attention.get(checked);
      attention.delete(checked);
      const outcome = outcomes.get(checked)!;
      return toResult(namesAt(checked.line.number, checked), outcome, ignoredFields, options, entries);
    };
    for (const [checked, kept] of woken)
      if (outcomes.has(checked) && !isOwnerMissing(checked, outcomes.get(checked)!))
        kept.result = resultOf(checked);
    return chunk.flatMap(({ line: { number }, checked }): LineResult[] => {
      if ('error' in checked) return [toResult(namesAt(number, checked), checked.error, [], options)];
      const isWaiting = mayWait && isOwnerMissing(checked, outcomes.get(checked)!);
      return isWaiting && withoutOwner.add(checked) ? [] : [resultOf(checked)];
    });
  }

  /** Lines are stored only if the error says that they may be. */
  function giveUp(error: unknown, chunk: Chunk): LineResult[] {
    const apiError = toApiError(error);
    if (!summary.code && !session.signal.aborted) options.onError(error);
    summary.code ??= apiError.code;
    return chunk.map(({ line, checked }) =>
      toErrorResult(namesAt(line.number, checked), apiError, options.language),
    );
  }

  const pace = new Pace();
  const check = async (lines: readonly Line[]): Promise<Chunk> => {
    const chunk: { line: Line; checked: CheckedLine | RejectedLine }[] = [];
    for (const line of lines) {
      chunk.push({ line, checked: checkLine(line) });
      const wait = pace.step();
      if (wait) await wait;
    }
    return chunk;
  };
  let inputError: ApiError | undefined;
  const lines = endAtError(input, (error) => {
    inputError = error;
  });
  const isOver = () => summary.code !== undefined || session.signal.aborted;
  const writePart = (chunk: Chunk, turn: Turn) =>
    writeChunk(chunk, true, turn).catch((error) => giveUp(error, chunk));
  for await (const results of writePartsConcurrently(
    checkEach(lines, check),
    session.connections,
    writePart,
    isOver,
  )) {
    if (results.length > 0) yield results;
  }
  if (session.signal.aborted) summary.code ??= toApiError(session.signal.reason).code;
  if (inputError) summary.code ??= inputError.code;
  for (const kept of withoutOwner.take()) {
    const chunk = await check(kept.filter(({ result }) => !result).map(({ line }) => line));
    const results = summary.code
      ? giveUp(new ApiError(summary.code), chunk)
      : await writeChunk(chunk, false).catch((error) => giveUp(error, chunk));
    yield kept.map(({ result }) => result ?? results.shift()!);
  }
}

type Chunk = readonly { line: Line; checked: CheckedLine | RejectedLine }[];

function namesAt(line: number, checked: CheckedLine | RejectedLine) {
  return { line, ...namesOf(checked) };
}

async function* checkEach(
  input: AsyncIterable<Line[]>,
  check: (lines: readonly Line[]) => Promise<Chunk>,
): AsyncGenerator<Chunk> {
  for await (const lines of input) yield await check(lines);
}

/** Lines before the error still count. */
async function* endAtError(
  input: AsyncIterable<Line[]>,
  onError: (error: ApiError) => void,
): AsyncGenerator<Line[]> {
  try {
    yield* input;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    onError(error);
  }
}

/** Holds all results back until it is known whether anything is stored. */
async function* settleTogether(
  session: ImportSession,
  results: AsyncIterable<LineResult[]>,
  { isDryRun, language, onError }: ImportOptions,
  summary: Summary,
): AsyncGenerator<LineResult[]> {
  const spool = buildSpool();
  try {
    for await (const some of results) {
      await spool.write(some).catch((error) => {
        onError(error);
        session.stop(new ApiError('internal_error', { cause: error }));
      });
    }
    if (session.signal.aborted) summary.code ??= toApiError(session.signal.reason).code;
    const isRejected = summary.failed > 0 || summary.code !== undefined;
    let apiError: ApiError | undefined;
    if (!isRejected && !isDryRun) {
      await session.commit().catch((error) => {
        onError(error);
        apiError = toApiError(error);
      });
    }
    // Others need not wait until the client has read everything.
    await session.close();
    if (isRejected) noteNothingStored(summary, 'notStored');
    if (apiError) noteNothingStored(summary, 'failed');
    if (spool.unlistedErrors > 0) summary.unlistedErrors = spool.unlistedErrors;
    if (isRejected && summary.failed === 0) return;
    for await (const some of spool.read()) {
      yield apiError ? some.map(({ answer }) => toErrorResult(pickNames(answer), apiError!, language)) : some;
    }
  } finally {
    await spool.close();
  }
}

/** Moves the lines that would have been stored. */
function noteNothingStored(summary: Summary, outcome: 'failed' | 'notStored'): void {
  for (const stored of ['created', 'replaced', 'unchanged', 'deleted'] as const) {
    summary[outcome] += summary[stored];
    summary[stored] = 0;
  }
}
