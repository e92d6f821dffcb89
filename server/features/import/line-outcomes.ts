// What becomes of lines, and who writes them.
import type { Deleted } from '../../engine/write/rows.ts';
import type { ApiError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { CheckedLine } from './line-check.ts';

export type LineOutcome =
  | {
      outcome: 'created' | 'replaced' | 'unchanged' | 'deleted';
      id: string;
      isReplay?: true;
      /** What a cascade deleted. */
      deleted?: readonly Deleted[];
    }
  | ApiError;

export interface Writer {
  tenantId: string;
  author: Author;
  idempotencyKey: string | undefined;
}

export type Outcomes = Map<CheckedLine, LineOutcome>;
