// Sends the rows of a file, some at a time. Each part has a key of its own, which makes a retry safe.
import i18next from 'i18next';
import type { components } from '../../../client/src/api-types.ts';
import { columnAt, type ImportColumn } from '../../../core/table/columns.ts';
import type { RowChoices } from '../../../core/table/compared-rows.ts';
import type { ChosenColumns, LinePlan } from '../../../core/table/import-lines.ts';
import { ApiError, type FieldError, send, toApiError, unreachable } from '../api/client.ts';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import type { Chunk, Part, Reader } from './reader.ts';

type LineAnswer = components['schemas']['ImportResult'];
type Summary = components['schemas']['ImportSummary']['summary'];

export interface RowError {
  /** "" where no field is to blame. */
  field: string;
  message: string;
}

/** The outcome of a row. */
export interface RowResult {
  row: number;
  outcome: 'created' | 'known' | 'failed' | 'leftOut';
  /** Whether a cell was read in another way than it is written. */
  isHinted?: boolean;
  /** Id of the stored object, which existed before the import. */
  id?: string;
  errors: RowError[];
}

export type Counts = Pick<Summary, 'created' | 'replaced' | 'unchanged' | 'failed'>;

export const noCounts: Counts = { created: 0, replaced: 0, unchanged: 0, failed: 0 };

interface Sending {
  columns: ChosenColumns;
  isDryRun: boolean;
  /** The import that the rows are part of. */
  importId?: string | undefined;
  key?: string | undefined;
  signal?: AbortSignal;
}

export interface Sent {
  results: RowResult[];
  counts: Counts;
}

const maxAttempts = 6;

/** A check can be repeated by hand, and each attempt has waited for half a minute in the service's queue. */
const maxAttemptsOfCheck = 2;

async function sendLines(body: string, rows: readonly number[], sending: Sending): Promise<Sent> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce(body, rows, sending);
    } catch (error) {
      if (sending.signal?.aborted) throw error;
      const failure = inOfficeWords(toApiError(error));
      const isBusy = failure.code === 'too_many_imports';
      const most = isBusy && sending.isDryRun ? maxAttemptsOfCheck : maxAttempts;
      const isPassing = [0, 429, 500].includes(failure.status) || failure.code === 'request_in_progress';
      if (!isPassing || attempt === most) throw failure;
      await waitFor(failure.retryAfterSeconds ?? attempt, sending.signal);
    }
  }
}

const endCodes = ['import_expired', 'import_idle', 'import_too_slow', 'too_many_imports'] as const;

/** The service's sentences about imports are for programs that send lines. */
function inOfficeWords(failure: ApiError): ApiError {
  const code = endCodes.find((known) => known === failure.code);
  if (!code) return failure;
  const message = i18next.t(`importEnd.${code}`);
  return new ApiError(failure.status, { ...failure.details, message }, failure.retryAfterSeconds);
}

/** The outcome of each row of a part, including rows that were not sent. */
export function resultsOf({ results }: Sent, { leftOut, hinted, contradictions }: Chunk): RowResult[] {
  const marked = new Set(hinted);
  const explain = (row: number, error: RowError): RowError =>
    contradictions.get(row)?.includes(error.field)
      ? { ...error, message: i18next.t('import.namesDiffer') }
      : error;
  return [
    ...results.map((result) => ({
      ...result,
      errors: result.errors.map((error) => explain(result.row, error)),
      ...(marked.has(result.row) && { isHinted: true }),
    })),
    ...leftOut.map((row): RowResult => ({ row, outcome: 'leftOut', errors: [] })),
  ];
}

/** Browsers over HTTP/1.1 send a whole request before they read the answer. */
async function sendOnce(body: string, rows: readonly number[], sending: Sending): Promise<Sent> {
  const { columns, isDryRun, importId, key, signal } = sending;
  const response = await send('POST', `/import${isDryRun ? '?dryRun=true' : ''}`, {
    headers: {
      'Content-Type': 'application/x-ndjson',
      ...(key && { 'Idempotency-Key': key }),
      ...(importId && { 'Stamm-Import': importId }),
    },
    body,
    signal,
  });
  const text = await response.text().catch(() => '');
  const last = text.lastIndexOf('{"summary"');
  const summary = last < 0 ? undefined : (JSON.parse(text.slice(last)).summary as Summary);
  // An answer that breaks off, or an import that ended early, does not speak for all rows.
  if (!summary) throw unreachable();
  if (summary.code) throw new ApiError(0, { code: summary.code, message: i18next.t('failure.offline') });
  const answers = text
    .slice(0, last)
    .split('\n')
    // The service sends spaces now and then, also before the summary.
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as LineAnswer);
  // An object counts as new if an earlier attempt stored it and its answer was lost.
  const replayed = answers.filter((answer) => answer.replayed).length;
  const { created, replaced, unchanged, failed } = summary;
  return {
    results: answers.map((answer) => ({ row: rows[answer.line - 1]!, ...toResult(answer, columns) })),
    counts: { created: created + replayed, replaced, unchanged: unchanged - replayed, failed },
  };
}

function toResult(answer: LineAnswer, columns: ChosenColumns): Omit<RowResult, 'row'> {
  const { status, replayed, id, errors, code, field = '', message = '' } = answer;
  if (status === 201 || replayed) return { outcome: 'created', errors: [] };
  if (status === 200) return { outcome: 'known', ...(id && { id }), errors: [] };
  if (code === 'version_mismatch')
    return { outcome: 'failed', errors: [{ field, message: i18next.t('import.changedSince') }] };
  const chosen = columns.filter((column) => column !== undefined);
  const fieldErrors: Partial<FieldError>[] = errors ?? [{ field, message }];
  return {
    outcome: 'failed',
    errors: fieldErrors.map(({ field = '', code, message = '' }) => ({
      field,
      message: cellErrorText(columnAt(chosen, field), { code, message }),
    })),
  };
}

function cellErrorText(column: ImportColumn | undefined, error: { code?: string; message: string }): string {
  // A name that was not found, or found twice, was sent as it is.
  if (column?.namedPath && error.code === 'invalid_uuid') return i18next.t('import.nameNotFound');
  return fieldErrorText(column?.field, error);
}

function waitFor(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

interface FileSending {
  reader: Reader;
  plan: LinePlan;
  choices: RowChoices;
  /** Missing for the whole file. */
  part?: Part;
  /** Missing for a check. */
  importId?: string | undefined;
  signal?: AbortSignal;
  /** Receives the latest results. */
  onPart: (sent: Sent, chunk: Chunk) => void;
  /** Called between two parts: parts that were sent get their results. */
  isCancelled?: () => boolean;
}

export async function sendFile({ reader, plan, choices, part, importId, signal, ...asked }: FileSending) {
  const { columns } = plan;
  const isDryRun = importId === undefined;
  let number = 0;
  for await (const chunk of reader.chunks(plan, choices, part)) {
    number += 1;
    if (asked.isCancelled?.()) return;
    signal?.throwIfAborted();
    if (chunk.rows.length === 0) {
      asked.onPart({ results: [], counts: noCounts }, chunk);
      continue;
    }
    const key = isDryRun ? undefined : `${importId}-${number}`;
    const sending = { columns, isDryRun, importId, key, ...(signal && { signal }) };
    asked.onPart(await sendLines(chunk.body, chunk.rows, sending), chunk);
  }
}
