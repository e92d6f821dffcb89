// The net below records: one on which work fails is marked, logged and counted, and never the end of a list.
import { topics } from './topics.ts';

export interface WarningLog {
  warn(details: object, message: string): void;
}

export type RecordWork = 'attention' | 'calendar' | 'csv' | 'search' | 'table' | 'visits';

/** Without the error's message, which can quote the record. */
export function reportRecord(log: WarningLog, work: RecordWork, recordId: unknown, error: unknown): void {
  topics.recordError.publish({ work });
  const { name = 'unknown', stack = '' } = error instanceof Error ? error : {};
  const places = stack.match(/^ {4}at .+$/gm) ?? [];
  log.warn(
    { work, recordId, error: name, at: places.slice(0, 3).map((place) => place.trim()) },
    'a record fails',
  );
}

/** Runs work that continues without the record. */
export function reporterOf(log: WarningLog, work: RecordWork) {
  return (error: unknown, { id }: { id: string }) => reportRecord(log, work, id, error);
}

/** Returns the result of `run`, or the mark of a record on which it fails. */
export function netRecord<Result>(
  log: WarningLog,
  [work, recordId]: readonly [RecordWork, unknown],
  run: () => Result,
  mark: () => Result,
): Result {
  try {
    return run();
  } catch (error) {
    reportRecord(log, work, recordId, error);
    return mark();
  }
}
