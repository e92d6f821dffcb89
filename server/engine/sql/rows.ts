// The rows that writes take and answer.
import type { ApiError } from '../../errors.ts';
import { type Author, authorColumns } from '../../http/conventions.ts';
import type { Row } from '../definition/validation.ts';

export interface NewRow extends Row {
  tenant_id: string;
  id: string;
}

/** A row of the table as it is answered. */
export interface Stored {
  id: string;
  version: number;
  json: string;
  /** Whether the name that found it belonged to an object that was merged into this one. */
  isFormerName?: boolean;
}

/** The new state of an object, and the fields that differ. */
export interface Update {
  row: NewRow;
  current: Stored;
  changes: Record<string, unknown>;
}

export interface Deleted {
  resource: string;
  ids: readonly string[];
}

export interface Deletion {
  id: string;
  isCascade: boolean;
}

/** Written, or the reason why not. */
export type Outcome = 'written' | ApiError;

/** The result of an insertion: the row is written, or another object holds its external id. */
export interface Inserted {
  id: string;
  external_id_holder: string | null;
}

/** As the statements take it. */
export function toSentUpdate({ row, current, changes }: Update, author: Author) {
  return { ...row, version: current.version + 1, ...authorColumns(author), changes };
}
