import type { components } from './api-types.ts';

export type FieldError = components['schemas']['FieldError'];

/** Codes of the service, and three that only the client knows. Later versions of the service may add codes. */
export type ErrorCode =
  | components['schemas']['ErrorCode']
  | 'connection_failed'
  | 'unexpected_answer'
  | 'too_many_matches'
  | (string & {});

/** Every failure of a request. */
export class StammError extends Error {
  override readonly name = 'StammError';
  /** The HTTP status; 0 if no answer arrived. */
  readonly status: number;
  readonly code: ErrorCode;
  /** Every invalid field of a rejected body; empty for other failures. */
  readonly errors: readonly FieldError[];
  /** Quote it to support. */
  readonly requestId: string | undefined;
  /** The whole body of the answer, such as `id` of the object that holds a taken value. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    body: Record<string, unknown>,
    options: { requestId?: string | undefined; cause?: unknown } = {},
  ) {
    const errors = Array.isArray(body.errors) ? (body.errors as FieldError[]) : [];
    const named = errors.map(({ field, message }) => `${field || 'body'}: ${message}`).join('; ');
    super(`${status} ${body.code}: ${body.message}${named && ` (${named})`}`, { cause: options.cause });
    this.status = status;
    this.code = String(body.code);
    this.errors = errors;
    this.requestId = options.requestId ?? (body.requestId as string | undefined);
    this.details = body;
  }
}

export async function toStammError(response: Response): Promise<StammError> {
  const body: unknown = await response.json().catch(() => undefined);
  const isProblem = typeof body === 'object' && body !== null && 'code' in body;
  if (!isProblem) return notFromStamm(response);
  return new StammError(response.status, body as Record<string, unknown>, {
    requestId: requestIdOf(response),
  });
}

/** A proxy or another service answered. */
export function notFromStamm(response: Response): StammError {
  const message = 'The answer is not from Stamm. Check the base address.';
  const body = { code: 'unexpected_answer', message };
  return new StammError(response.status, body, { requestId: requestIdOf(response) });
}

export function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}
