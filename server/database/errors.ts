// What goes wrong between us and PostgreSQL, as the error that is answered.
import { ApiError, type ErrorCode } from '../errors.ts';

/** The database did not answer before the request's own deadline. */
export class DeadlineError extends Error {}

/** Whether an error means that PostgreSQL is away or going away, and not that it refused a statement. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DeadlineError) return true;
  const { code } = error as { code?: string };
  if (code === undefined) return /timeout|connection terminated|not queryable/i.test(error.message);
  // Classes 08 (connection), 53 (resources), 57 (shutdown, crash, cancel), 58 (system) and what the socket reports.
  return /^(08|53|57|58)/.test(code) || /^E[A-Z]+$/.test(code);
}

/** Whether a transaction ended because somebody else held a lock for longer than it would wait. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03';
}

/** Any thrown value as the ApiError to answer with. The cause is for the log only. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(codeOf(error), { cause: error });
}

function codeOf(error: unknown): ErrorCode {
  if ((error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'content_type';
  return isDatabaseAway(error) ? 'database_unavailable' : 'internal_error';
}
