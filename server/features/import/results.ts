// What is answered for a line, and at the end for all of them.
import { ApiError, type ErrorCode } from '../../errors.ts';
import { errorBody } from '../../http/error-body.ts';
import type { Language } from '../../messages.ts';
import type { LineOutcome } from './line-writes.ts';

export interface LineResult {
  outcome: 'created' | 'replaced' | 'unchanged' | 'failed';
  /** As it is answered: line and status, then an id, or what an error answer has. */
  answer: { line: number; status: number; [member: string]: unknown };
}

export interface Summary {
  lines: number;
  created: number;
  replaced: number;
  unchanged: number;
  failed: number;
  notStored: number;
  /** How many of the failed lines have no result of their own, because there are too many. */
  unlistedFaults?: number;
  dryRun?: true;
  /** Why the import ended before its input did. */
  code?: ErrorCode;
}

export function emptySummary(isDryRun: boolean): Summary {
  const counts = { lines: 0, created: 0, replaced: 0, unchanged: 0, failed: 0, notStored: 0 };
  return { ...counts, ...(isDryRun && { dryRun: true }) };
}

export function toResult(
  line: number,
  outcome: LineOutcome,
  ignoredFields: readonly string[],
  options: { language: Language; isDryRun: boolean },
): LineResult {
  const ignored = ignoredFields.length > 0 && { ignoredFields };
  if (outcome instanceof ApiError) return toErrorResult(line, outcome, options.language, { ...ignored });
  const { outcome: what, id, isReplay } = outcome;
  const answer = {
    line,
    status: what === 'created' ? 201 : 200,
    // What a dry run would create has no id that anybody could use.
    ...(!(options.isDryRun && what === 'created') && { id }),
    ...(isReplay && { replayed: true }),
    ...ignored,
  };
  return { outcome: what, answer };
}

/** The same members as the body of an error, but for the id of the request, which is in the header of the answer. */
export function toErrorResult(
  line: number,
  error: ApiError,
  language: Language,
  more: object = {},
): LineResult {
  const { requestId: _requestId, ...body } = errorBody(error, '', language);
  return { outcome: 'failed', answer: { line, status: error.status, ...body, ...more } };
}
