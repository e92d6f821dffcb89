// Sends one request: headers, safe retries, and failures as StammError.
import { notFromStamm, requestIdOf, StammError, toStammError } from './error.ts';

export interface StammOptions {
  /** Address of the service, with or without `/api/v1`. */
  baseUrl: string;
  apiKey: string;
  /** Language of messages; English if absent. */
  language?: 'en' | 'de';
  /** Name of your system, kept with every write; `changes` can leave out what it wrote itself. */
  origin?: string;
  /** Number of retries of a failed request, 4 by default. */
  maxRetries?: number;
  /** Milliseconds to wait for an answer, 60,000 by default. */
  timeoutMs?: number;
  /** Called with every answer, for your log: fields that were ignored, and calls that will end. */
  onResponse?: (response: StammResponse) => void;
  fetch?: typeof fetch;
}

/** Facts about an answer beside its body. */
export interface StammResponse {
  method: string;
  /** The path without the query, which can hold search terms. */
  path: string;
  status: number;
  requestId: string | undefined;
  /** Fields that were sent and are not known, such as misspelt ones. Import lines name theirs in their results. */
  ignoredFields: string[];
  /** Whether a write changed anything; undefined for other calls. */
  isChanged: boolean | undefined;
  /** `Deprecation` and `Sunset`, as they were sent: the call will end. */
  deprecation: string | undefined;
  sunset: string | undefined;
  headers: Headers;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: object | undefined;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  contentType?: string;
  /** A repetition would be refused or act twice where the first attempt was carried out but not answered. */
  isUnsafe?: boolean;
  /** Number of retries, if not `maxRetries`. */
  retries?: number;
  /** The body of the answer takes as long as it needs. */
  isStream?: boolean;
}

/** A body that is sent unchanged. */
export type RawBody = ReadableStream<Uint8Array> | Blob;

export interface Http {
  /** The body of the answer, of the type that the document declares. */
  read<Body>(call: Call): Promise<Body>;
  /** Answers that are no success throw. */
  send(call: Call): Promise<Response>;
  /** A single attempt, for callers that repeat it themselves. */
  attempt(call: Call & { rawBody?: RawBody; duplex?: 'half' }): Promise<Response>;
  /** Throws the error if the call is not repeated. */
  waitBeforeRetry(error: unknown, attempt: number, call: Call): Promise<void>;
  /** Number of retries of a request. */
  maxRetries: number;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A rate limit ends within a minute. A service that asks for much more is left alone. */
const longestRetryAfterMs = 120_000;
const retryAfters = new WeakMap<StammError, number>();

export function openHttp(options: StammOptions): Http {
  const base = options.baseUrl.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  const ask = options.fetch ?? globalThis.fetch.bind(globalThis);
  const { maxRetries = 4, timeoutMs = 60_000 } = options;

  const attempt: Http['attempt'] = async (call) => {
    const isWrite = call.method !== 'GET';
    const headers = new Headers({ ApiKey: options.apiKey, Accept: 'application/json' });
    if (options.language) headers.set('Accept-Language', options.language);
    if (options.origin !== undefined && isWrite) headers.set('Stamm-Origin', options.origin);
    for (const [name, value] of Object.entries(call.headers ?? {}))
      if (value !== undefined) headers.set(name, value);
    const body = call.rawBody ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    if (body !== undefined) headers.set('Content-Type', call.contentType ?? 'application/json');
    const timeout = new AbortController();
    const signal = AbortSignal.any([timeout.signal, ...(call.signal ? [call.signal] : [])]);
    // A body that is streamed takes as long as it needs.
    const timer = call.rawBody === undefined && setTimeout(() => timeout.abort(timedOut()), timeoutMs);
    const stopTimer = () => timer && clearTimeout(timer);
    const url = `${base}/api/v1${call.path}${toQuery(call.query)}`;
    const init = { method: call.method, headers, signal, redirect: 'error' as const };
    const more = { ...(body !== undefined && { body }), ...(call.duplex && { duplex: call.duplex }) };
    let response: Response;
    try {
      response = await ask(url, { ...init, ...more });
      // The timeout covers the body too: it is read here, and a broken connection counts as a failure.
      if (!call.isStream && !call.rawBody) response = await readWhole(response);
    } catch (cause) {
      call.signal?.throwIfAborted();
      throw connectionFailed(cause);
    } finally {
      stopTimer();
    }
    options.onResponse?.(describe(call, response));
    if (response.ok || response.status === 304) return response;
    const error = await toStammError(response);
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
    if (retryAfterMs !== undefined) retryAfters.set(error, retryAfterMs);
    throw error;
  };

  const waitBeforeRetry: Http['waitBeforeRetry'] = async (error, attemptNumber, call) => {
    const { retries = maxRetries } = call;
    if (!(error instanceof StammError) || attemptNumber > retries || !isRetryable(error, call)) throw error;
    const asked = retryAfters.get(error);
    if (asked !== undefined && asked > longestRetryAfterMs && retries < Infinity) throw error;
    const longest = Math.min(firstPauseMs * 2 ** attemptNumber, longestPauseMs);
    await pause((asked ?? 0) + Math.random() * (asked === undefined ? longest : firstPauseMs), call.signal);
  };

  const send: Http['send'] = async (call) => {
    for (let number = 1; ; number += 1) {
      try {
        return await attempt(call);
      } catch (error) {
        // The attempt before was carried out, and only its answer was lost.
        const isGone = error instanceof StammError && error.code === 'not_found';
        if (number > 1 && call.method === 'DELETE' && isGone) return new Response(null, { status: 204 });
        await waitBeforeRetry(error, number, call);
      }
    }
  };

  async function read<Body>(call: Call): Promise<Body> {
    const response = await send(call);
    return (await response.json().catch(() => {
      throw notFromStamm(response);
    })) as Body;
  }

  return { attempt, read, send, waitBeforeRetry, maxRetries };
}

async function readWhole(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  const bytes = await response.arrayBuffer();
  return new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers });
}

function timedOut(): DOMException {
  return new DOMException('No answer came in time.', 'TimeoutError');
}

function describe({ method, path }: Call, response: Response): StammResponse {
  const { status, headers } = response;
  const changed = headers.get('stamm-changed');
  return {
    method,
    path,
    status,
    requestId: requestIdOf(response),
    ignoredFields: (headers.get('stamm-ignored-fields')?.split(', ') ?? []).map(decodeURIComponent),
    isChanged: changed === null ? undefined : changed === 'true',
    deprecation: headers.get('deprecation') ?? undefined,
    sunset: headers.get('sunset') ?? undefined,
    headers,
  };
}

export function connectionFailed(cause: unknown): StammError {
  const message = cause instanceof Error ? cause.message : 'The connection failed.';
  return new StammError(0, { code: 'connection_failed', message }, { cause });
}

/**
 * 429 and `overloaded` say that nothing was done, 424 that an import was not done to its end. After other failures a request
 * may have been carried out.
 */
function isRetryable(error: StammError, call: Call): boolean {
  if (
    error.status === 429 ||
    error.status === 424 ||
    error.code === 'overloaded' ||
    error.code === 'request_in_progress'
  )
    return true;
  return !call.isUnsafe && (error.status === 0 || error.status >= 500);
}

function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Lists are sent with commas, as `externalId=a,b`, unless the caller has written the parameters. */
function toQuery(query: object = {}): string {
  const sent = Object.entries(query).filter(([, value]) => value !== undefined);
  const written = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]));
  const text = String(query instanceof URLSearchParams ? query : written);
  return text && `?${text}`;
}

/** The body as it comes. One that breaks off is a failure, as everywhere. */
export function streamOf(response: Response): ReadableStream<Uint8Array> {
  const reader = response.body!.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((cause) => {
        throw connectionFailed(cause);
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Works on pages without TLS too, where `crypto.randomUUID` is missing. */
export function makeIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
