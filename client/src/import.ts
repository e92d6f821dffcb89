// Many objects: lines go out while their results come in.
import type { components } from './api-types.ts';
import {
  type Call,
  type CallOptions,
  connectionFailed,
  type Http,
  makeIdempotencyKey,
  type RawBody,
} from './http.ts';

type Schemas = components['schemas'];
export type ImportLine = Schemas['ImportLine'];
export type ImportResult = Schemas['ImportResult'];
export type ImportSummary = Schemas['ImportSummary']['summary'];

type Source = Iterable<ImportLine> | AsyncIterable<ImportLine>;
/** An array, or a function that opens the lines, is sent again after a broken connection. */
export type ImportLines = Source | (() => Source);

export interface ImportOptions extends CallOptions {
  mode?: 'each' | 'all-or-nothing';
  dryRun?: boolean;
  /** Made by the client if absent. Under the same key, lines that are stored already are not stored again. */
  idempotencyKey?: string;
}

/** The results of the lines, each once; the loop ends with the summary. */
export type ImportRun = AsyncGenerator<ImportResult, ImportSummary, undefined> & {
  /** Reads on to the end, and resolves with the summary. */
  finish(): Promise<ImportSummary>;
};

export type Import = (lines: ImportLines, options?: ImportOptions) => ImportRun;

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
      isUnsafe: !canRepeat,
      signal,
    };

    async function* run(): AsyncGenerator<ImportResult, ImportSummary, undefined> {
      const yielded = new Set<number>();
      for (let attempt = 1; ; attempt += 1) {
        try {
          const source = typeof lines === 'function' ? lines() : lines;
          const response = await http.attempt({ ...call, ...(await toBody(source)) });
          for await (const answer of readAnswers(response)) {
            if ('summary' in answer) return answer.summary;
            if (canRepeat && yielded.has(answer.line)) continue;
            if (canRepeat) yielded.add(answer.line);
            yield answer;
          }
          throw connectionFailed(new Error('The answer of the import is not complete.'));
        } catch (error) {
          signal?.throwIfAborted();
          await http.waitBeforeRetry(error, attempt, call);
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

async function* readAnswers({ body }: Response): AsyncGenerator<Answer, void, undefined> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw connectionFailed(cause);
      });
      if (done) return;
      const parts = (rest + value).split('\n');
      rest = parts.pop()!;
      for (const part of parts) yield JSON.parse(part) as Answer;
    }
  } finally {
    // A loop that was left ends the import.
    await reader.cancel().catch(() => {});
  }
}
