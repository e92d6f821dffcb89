// The answer to a line, and at the end to all of them.
import type { AttentionEntry } from '../../engine/attention/attention-checks.ts';
import type { Outcome } from '../../engine/write/intent.ts';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { errorBody } from '../../http/error-handler.ts';
import type { Language } from '../../messages.ts';

export interface LineResult {
  outcome: 'created' | 'replaced' | 'unchanged' | 'deleted' | 'failed';
  /** As it is answered: line and status, then an id, or what an error answer has. */
  answer: ResultNames & { status: number; [member: string]: unknown };
}

/** What a result calls its line. */
interface ResultNames {
  line: number;
  type?: string;
  externalId?: string;
}

export function pickNames({ line, type, externalId }: ResultNames): ResultNames {
  return { line, ...(type && { type }), ...(externalId && { externalId }) };
}

export interface Summary {
  lines: number;
  created: number;
  replaced: number;
  unchanged: number;
  deleted: number;
  failed: number;
  notStored: number;
  /** How many of the failed lines have no result of their own, because there are too many. */
  unlistedErrors?: number;
  dryRun?: true;
  /** Why the import ended before its input did. */
  code?: ErrorCode;
}

export function emptySummary(isDryRun: boolean): Summary {
  const counts = { lines: 0, created: 0, replaced: 0, unchanged: 0, deleted: 0, failed: 0, notStored: 0 };
  return { ...counts, ...(isDryRun && { dryRun: true }) };
}

export function toResult(
  names: ResultNames,
  outcome: Outcome,
  ignoredFields: readonly string[],
  options: { language: Language; isDryRun: boolean },
  attention?: readonly AttentionEntry[],
): LineResult {
  const ignored = ignoredFields.length > 0 && { ignoredFields };
  if (outcome instanceof ApiError) return toErrorResult(names, outcome, options.language, { ...ignored });
  const { what, id, deleted } = outcome;
  const isReplay = what === 'repeated';
  const { line, ...rest } = names;
  const answer = {
    line,
    status: what === 'created' ? 201 : 200,
    ...rest,
    // What a dry run would create has no id that anybody could use.
    ...(!(options.isDryRun && what === 'created') && { id }),
    ...(isReplay && { replayed: true }),
    ...(deleted && { deleted }),
    ...ignored,
    ...(attention && { dryRun: true, attention, ignoredFields }),
  };
  return { outcome: isReplay ? 'unchanged' : what === 'changed' ? 'replaced' : what, answer };
}

/** The members of an error body without the request id, which is in the header of the answer. */
export function toErrorResult(
  names: ResultNames,
  error: ApiError,
  language: Language,
  more: object = {},
): LineResult {
  const { requestId: _requestId, ...body } = errorBody(error, '', language);
  const { line, ...rest } = names;
  return { outcome: 'failed', answer: { line, status: error.status, ...rest, ...body, ...more } };
}
