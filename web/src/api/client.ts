// Calls to the service. Every failure is an ApiError with a message for people.
import i18next from 'i18next';
import type { components } from '../../../client/src/api-types.ts';
import { parseExactly } from './exact-numbers.ts';

type Schemas = components['schemas'];

/** One invalid field, as the service names it; the office's own forms have more codes. */
export type FieldError = Omit<Schemas['FieldError'], 'code'> & { code: string };

/** Objects that keep an object from being deleted. */
export type Dependant = Schemas['Dependants']['dependants'][number];

export class ApiError extends Error {
  /** 0 where no answer came. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly errors: readonly FieldError[];
  readonly details: Record<string, unknown>;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, body: Record<string, unknown>, retryAfterSeconds?: number) {
    super(sentenceOf(body));
    this.status = status;
    this.code = typeof body.code === 'string' ? body.code : 'unexpected';
    this.requestId = typeof body.requestId === 'string' ? body.requestId : undefined;
    this.errors = Array.isArray(body.errors) ? (body.errors as FieldError[]) : [];
    this.details = body;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service's own sentences name headers and members of a body where a program needs them. */
function sentenceOf({ code, message }: Record<string, unknown>): string {
  const key = `failure.codes.${String(code)}`;
  if (i18next.exists(key)) return i18next.t(key as 'failure.codes.conflict');
  return typeof message === 'string' ? message : i18next.t('failure.unexpected');
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface CallOptions {
  body?: unknown;
  /** The version that the writer has seen; a newer one is not overwritten. */
  version?: number;
  /** Sent with each attempt, which makes the service write only once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

let onSessionEnd: () => void = () => {};

export function whenSessionEnds(listener: () => void): void {
  onSessionEnd = listener;
}

let onPasskeyRequired: () => void = () => {};

/** The business has begun to require passkeys, and this person has none. */
export function whenPasskeyIsRequired(listener: () => void): void {
  onPasskeyRequired = listener;
}

let shownBusiness: 'true' | 'false' | undefined;

/** From now on calls say which business the page shows; the service rejects those for the other one. */
export function showTestBusiness(isTest: boolean): void {
  shownBusiness = isTest ? 'true' : 'false';
}

export function isTestBusinessShown(): boolean {
  return shownBusiness === 'true';
}

let onBusinessChange: () => void = () => {};

/** Another tab has moved to the test business, or back. */
export function whenBusinessChanges(listener: () => void): void {
  onBusinessChange = listener;
}

let askForProof: () => Promise<boolean> = async () => false;

/** The listener resolves to whether the person has shown password or passkey again. */
export function whenProofIsNeeded(listener: () => Promise<boolean>): void {
  askForProof = listener;
}

let askToSignIn: () => Promise<boolean> | undefined = () => undefined;

/** The listener resolves to whether the person has signed in again; undefined if leaving loses nothing. */
export function whenSignInIsNeeded(listener: () => Promise<boolean> | undefined): void {
  askToSignIn = listener;
}

type Reader = (path: string, read: () => Promise<string>) => Promise<string>;

let readThrough: Reader = (_path, read) => read();

/** Reads every answer through `reader` from now on, for instance from a copy while there is no network. */
export function readAnswersThrough(reader: Reader): void {
  readThrough = reader;
}

/** `path` is below /app. */
export async function call<Answer>(
  method: Method,
  path: string,
  { body, version, idempotencyKey, signal }: CallOptions = {},
): Promise<Answer> {
  const read = async () => {
    const response = await send(method, path, {
      signal,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(version !== undefined && { 'If-Match': `"${version}"` }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // The network can also fail within an answer.
    return response.text().catch((error: unknown) => {
      throw signal?.aborted ? error : unreachable();
    });
  };
  const text = method === 'GET' ? await readThrough(path, read) : await read();
  return text === '' ? (undefined as Answer) : (parseExactly(text) as Answer);
}

interface SendOptions {
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** Sends any body and reads any answer. Throws every error. Repeats a call once that needs a proof of identity. */
export async function send(method: Method, path: string, options: SendOptions): Promise<Response> {
  try {
    return await sendOnce(method, path, options);
  } catch (error) {
    const { code } = toApiError(error);
    if (code === 'session_missing') {
      const signingIn = askToSignIn();
      if (!signingIn) onSessionEnd();
      if (!(await signingIn)) throw error;
    } else if (code !== 'proof_required' || !(await askForProof())) throw error;
    return sendOnce(method, path, options);
  }
}

async function sendOnce(
  method: Method,
  path: string,
  { headers, body, signal }: SendOptions,
): Promise<Response> {
  const response = await fetch(`/app${path}`, {
    method,
    signal,
    headers: {
      Accept: 'application/json',
      'Accept-Language': i18next.language,
      ...(shownBusiness && { 'Stamm-Test-Business': shownBusiness }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw unreachable();
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  const retryAfter = Number(response.headers.get('Retry-After')) || undefined;
  const failure = new ApiError(response.status, answer, retryAfter);
  if (failure.code === 'passkey_required') onPasskeyRequired();
  if (failure.code === 'business_changed') onBusinessChange();
  throw failure;
}

export function unreachable(): ApiError {
  return new ApiError(0, { message: i18next.t('failure.offline'), code: 'offline' });
}

export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, { message: String(error) });
}

/** Leaves out empty parameters, which the service rejects. */
export function queryString(parameters: Record<string, string | number | boolean | undefined>): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]));
  return query.size > 0 ? `?${query}` : '';
}
