// ApiError, and the one table from an error to its answer.

// Three statuses do not mean what HTTP says they mean. The published interface assigns 403 to an unknown path or
// method. 413 is a wrong content type, 415 a large body. Integrations rely on it: do not "fix" it.
const statusOfCode = {
  validation_failed: 400,
  bad_request: 400,
  request_timeout: 400,
  key_missing: 401,
  key_malformed: 401,
  key_unknown: 401,
  key_replaced: 401,
  key_deleted: 401,
  session_missing: 401,
  sign_in_failed: 401,
  sign_in_expired: 401,
  passkey_refused: 401,
  recovery_code_wrong: 401,
  not_recognised: 403,
  foreign_origin: 403,
  role_insufficient: 403,
  passkey_required: 403,
  proof_required: 403,
  not_found: 404,
  conflict: 409,
  has_dependants: 409,
  deleted: 409,
  owner_deleted: 409,
  merged_object: 409,
  too_many_references: 409,
  email_taken: 409,
  own_account: 409,
  several_businesses: 409,
  last_administrator: 409,
  last_passkey: 409,
  passkey_missing: 409,
  passkey_known: 409,
  passkeys_unavailable: 409,
  too_many_passkeys: 409,
  too_many_views: 409,
  too_many_webhooks: 409,
  request_in_progress: 409,
  test_business_exists: 409,
  real_business_only: 409,
  business_changed: 409,
  version_mismatch: 412,
  content_type: 413,
  content_encoding: 413,
  body_too_large: 415,
  headers_too_large: 415,
  line_too_long: 415,
  idempotency_key_reused: 422,
  import_damaged: 424,
  import_expired: 424,
  import_idle: 424,
  import_too_slow: 424,
  import_stopped: 424,
  rate_limited: 429,
  too_many_at_once: 429,
  too_many_failed_authentications: 429,
  too_many_imports: 429,
  too_many_sign_ins: 429,
  overloaded: 500,
  shutting_down: 500,
  internal_error: 500,
  database_unavailable: 500,
  outcome_unknown: 500,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

/** Only the office's own calls answer with these. */
const officeCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'session_missing',
  'sign_in_failed',
  'sign_in_expired',
  'passkey_refused',
  'recovery_code_wrong',
  'foreign_origin',
  'role_insufficient',
  'passkey_required',
  'proof_required',
  'email_taken',
  'own_account',
  'several_businesses',
  'last_administrator',
  'last_passkey',
  'passkey_missing',
  'passkey_known',
  'passkeys_unavailable',
  'too_many_passkeys',
  'too_many_sign_ins',
  'too_many_views',
  'test_business_exists',
  'real_business_only',
  'business_changed',
]);

/** The codes of the published interface, with their statuses. */
export const apiErrorCodes = Object.entries(statusOfCode)
  .filter(([code]) => !officeCodes.has(code))
  .map(([code, status]) => ({ code: code as ErrorCode, status }));

/** One faulty field. `path` leads to it from the root of the body; array positions are numbers. */
export interface FieldError {
  path: readonly (string | number)[];
  code: FieldErrorCode;
  params?: Record<string, string | number | readonly string[]>;
}

export const fieldErrorCodes = [
  'required',
  'required_one_of',
  'ambiguous',
  'type',
  'blank',
  'too_long',
  'too_short',
  'too_common',
  'too_small',
  'too_large',
  'too_many_items',
  'invalid_choice',
  'invalid_uuid',
  'invalid_date',
  'invalid_time',
  'invalid_email',
  'invalid_time_zone',
  'invalid_timestamp',
  'invalid_gtin',
  'invalid_currency',
  'invalid_unit_code',
  'invalid_cursor',
  'invalid_text',
  'not_printable',
  'invalid_json',
  'invalid_compression',
  'date_order',
  'too_many_days',
  'too_many_matches',
  'forbidden_name',
  'number_out_of_range',
  'out_of_range',
  'too_deep',
  'too_precise',
  'reference_not_found',
  'differs_from_path',
  'unknown_parameter',
  'unknown_field',
  'repeated_parameter',
  'invalid_url',
  'https_required',
  'private_address',
  'address_of_real_business',
] as const;

/** Errors that only the office's own forms can find. */
type FormErrorCode = 'too_easy' | 'too_complex' | 'wrong_password';

export type FieldErrorCode = (typeof fieldErrorCodes)[number] | FormErrorCode;

const maxFieldErrors = 100;

/** The Retry-After of an error whose cause may last for any time. */
export const momentSeconds = 1;

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fieldErrors: readonly FieldError[];
  /** Further members of the body, such as the id that holds a conflicting value. */
  readonly details: Record<string, unknown>;
  /** Values for the sentence. */
  readonly params: object;

  constructor(
    code: ErrorCode,
    options: { fieldErrors?: readonly FieldError[]; details?: object; params?: object; cause?: unknown } = {},
  ) {
    // An answer needs no stack trace. In a flood of rejected requests it would cost the most.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(code, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.status = statusOfCode[code];
    this.fieldErrors = (options.fieldErrors ?? []).slice(0, maxFieldErrors);
    this.details = { ...options.details };
    this.params = options.params ?? {};
  }
}

export function validationError(fieldErrors: readonly FieldError[]): ApiError {
  return new ApiError('validation_failed', { fieldErrors });
}

/** A mistake at the command line, explained in a sentence. */
export class UsageError extends Error {}
