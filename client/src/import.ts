// Imports many objects: lines go out while their results come in.
import type { components } from './api-types.ts';
import { type ErrorCode, notFromStamm, requestIdOf, StammError } from './error.ts';
import {
  type Call,
  type CallOptions,
  connectionFailed,
  type Http,
  makeIdempotencyKey,
  type RawBody,
} from './http.ts';

type Schemas = components['schemas'];

/** The resources that an import takes: CustomerLine says so, beside NewCustomer. */
type Imported = {
  [Name in keyof Schemas]: Name extends `${infer Resource}Line`
    ? `New${Resource}` extends keyof Schemas
      ? Resource
      : never
    : never;
}[keyof Schemas];
type SchemaNamed<Name extends string> = Schemas[Name & keyof Schemas];

type LineOf<Name extends Imported> = Omit<SchemaNamed<`${Name}Line`>, 'action' | 'data'> &
  (
    | { action?: 'replace' | 'create'; data: SchemaNamed<`New${Name}`> }
    | { action: 'merge'; data: SchemaNamed<`${Name}Patch`> & { id?: string } }
    | { action: 'delete'; data: { externalId: string } | { id: string } }
  );

/** Typed by `type` and `action`: a misspelt field does not compile. */
export type ImportLine = { [Name in Imported]: LineOf<Name> }[Imported];
export type ImportResult = Schemas['ImportResult'];
export type ImportSummary = Schemas['ImportSummary']['summary'];

type Source = Iterable<ImportLine> | AsyncIterable<ImportLine>;
/** An array, or a function that opens the lines, is sent again after a broken connection. */
export type ImportLines = Source | (() => Source);

export interface ImportOptions extends CallOptions {
  mode?: 'each' | 'all-or-nothing';
  dryRun?: boolean;
  /** The client makes one if absent. Under the same key, lines that are stored already are not stored again. */
  idempotencyKey?: string;
}

/**
 * The results of the lines, each once; the loop ends with the summary. Throws if the service did not get to the end of the
 * lines. An array or a function is sent again first: its summary then counts lines of earlier attempts as `unchanged`.
 */
export type ImportRun = AsyncGenerator<ImportResult, ImportSummary, undefined> & {
  /** Reads on to the end, and resolves with the summary. */
  finish(): Promise<ImportSummary>;
};

export type Import = (lines: ImportLines, options?: ImportOptions) => ImportRun;

/** The same lines would end the same way. */
const finalCodes: readonly ErrorCode[] = ['import_damaged', 'body_too_large', 'import_expired'];

export function openImport(http: Http): Import {
  return (lines, options = {}) => {
    const { mode, dryRun, signal, idempotencyKey = makeIdempotencyKey() } = options;
    const canRepeat = typeof lines === 'function' || Array.isArray(lines);
    const call: Call = {
      method: 'POST',
      path: '/import',
      query: { mode, dryRun },
      headers: { 'Idempotency-Key': idempotencyKey, Accept: 'application/x-ndjson' },
      contentType: 'application/x-ndjson',
      // Retry twice as often as other calls: a restart of the service takes a while. A stream cannot be sent again.
      retries: canRepeat ? http.maxRetries * 2 : 0,
      signal,
    };

    async function* run(): AsyncGenerator<ImportResult, ImportSummary, undefined> {
      const yielded = new Set<number>();
      for (let failures = 0; ; ) {
        const yieldedBefore = yielded.size;
        try {
          const unsettled: ImportResult[] = [];
          const source = typeof lines === 'function' ? lines() : lines;
          const response = await http
            .attempt({ ...call, ...(await toBody(source)) })
            .catch((error) => throwWhatFetchHides(http, error, signal));
          for await (const answer of readAnswers(response)) {
            if ('summary' in answer) {
              if (answer.summary.code) throw endedEarly(answer.summary, response);
              yield* unsettled;
              return answer.summary;
            }
            if (yielded.has(answer.line)) continue;
            // The next attempt may settle it.
            if (canRepeat && isUnsettled(answer)) {
              unsettled.push(answer);
              continue;
            }
            if (canRepeat) yielded.add(answer.line);
            yield answer;
          }
          throw connectionFailed(new Error('The answer of the import is not complete.'));
        } catch (error) {
          signal?.throwIfAborted();
          if (error instanceof StammError && finalCodes.includes(error.code)) throw error;
          failures = yielded.size > yieldedBefore ? 1 : failures + 1;
          await http.waitBeforeRetry(error, failures, call);
        }
      }
    }

    const results = run();
    const finish = async () => {
      for (;;) {
        const { done, value } = await results.next();
        if (done) return value;
      }
    };
    return Object.assign(results, { finish });
  };
}

/** Some versions of fetch turn a 401 into a network error if the body is a stream. Another call shows it. */
async function throwWhatFetchHides(
  http: Http,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<never> {
  if (error instanceof StammError && error.code === 'connection_failed') {
    const call = { method: 'GET', path: '/changes', query: { after: 'now', limit: 1 }, signal } as const;
    const shown = await http.attempt(call).catch((shown) => shown);
    if (shown instanceof StammError && shown.status === 401) throw shown;
  }
  throw error;
}

/** The service did not get to it, or failed: nothing is wrong with the line. */
function isUnsettled({ status }: ImportResult): boolean {
  return status === 424 || status >= 500;
}

function endedEarly(summary: ImportSummary, response: Response): StammError {
  const message = `The import ended after ${summary.lines} lines. Send the others again.`;
  const body = { code: summary.code, message, summary };
  return new StammError(424, body, { requestId: requestIdOf(response) });
}

/** Node sends a stream as it goes. Browsers can do so over HTTP/2 at best, so the client collects the lines there. */
async function toBody(lines: Source): Promise<{ rawBody: RawBody; duplex?: 'half' }> {
  const isNode = 'process' in globalThis;
  if (isNode) return { rawBody: toStream(lines), duplex: 'half' };
  const texts: string[] = [];
  for await (const line of lines) texts.push(toText(line));
  return { rawBody: new Blob(texts) };
}

function toText(line: ImportLine): string {
  return `${JSON.stringify(line)}\n`;
}

const chunkCharacters = 65_536;

function toStream(lines: Source): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = '';
      while (text.length < chunkCharacters) {
        const { done, value } = await iterator.next();
        if (!done) {
          text += toText(value);
          // Lines that come slowly are not kept back for company.
          if (Symbol.asyncIterator in lines) break;
          continue;
        }
        if (text) controller.enqueue(encoder.encode(text));
        controller.close();
        return;
      }
      controller.enqueue(encoder.encode(text));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

type Answer = ImportResult | Schemas['ImportSummary'];

async function* readAnswers(response: Response): AsyncGenerator<Answer, void, undefined> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw connectionFailed(cause);
      });
      if (done) return;
      const parts = (rest + value).split('\n');
      rest = parts.pop()!;
      for (const part of parts) yield parseAnswer(part, response);
    }
  } finally {
    // A loop that was left ends the import.
    await reader.cancel().catch(() => {});
  }
}

function parseAnswer(line: string, response: Response): Answer {
  try {
    return JSON.parse(line);
  } catch {
    throw notFromStamm(response);
  }
}
