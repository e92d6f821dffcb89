// Errors of PostgreSQL and of the connection to it, as ApiErrors.
import pg from 'pg';
import { ApiError, type ErrorCode } from '../errors.ts';

/** The database did not answer before the request's own deadline. */
export class DeadlineError extends Error {
  /** Whether the statement was under way by then, and may still be stored. */
  readonly wasSent: boolean;
  /** Whether PostgreSQL answered anything to anybody meanwhile: then it is busy, not away. */
  readonly isBusy: boolean;

  constructor(message: string, { wasSent = false, isBusy }: { wasSent?: boolean; isBusy: boolean }) {
    super(message);
    this.wasSent = wasSent;
    this.isBusy = isBusy;
  }
}

/** A timeout of the driver as a DeadlineError; any other error as it is. */
export function explainTimeout(error: unknown, isBusy: boolean): unknown {
  const isTimeout =
    error instanceof Error &&
    !(error instanceof DeadlineError || error instanceof pg.DatabaseError || isMistake(error)) &&
    /timeout/i.test(error.message);
  return isTimeout ? new DeadlineError(error.message, { isBusy }) : error;
}

/** PostgreSQL may have committed: the answer to the commit is lost. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super('The commit was not answered.', { cause });
  }
}

/** Whether a transaction may be stored although its commit failed with this error. */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isFatal(error) || isUnansweredByWorker(error);
  // The driver says this instead of sending the statement.
  return !/not queryable/.test((error as Error).message);
}

/** A Citus coordinator says so if a worker did not answer its commit. */
function isUnansweredByWorker({ message }: Error): boolean {
  return message.startsWith('could not commit transaction');
}

/** PostgreSQL reports it and closes the connection. */
function isFatal({ severity }: { severity?: string | undefined }): boolean {
  return severity === 'FATAL' || severity === 'PANIC';
}

/**
 * 08 connection, 53 resources, 57 shutdown, crash or cancel, 58 system. After a failover a connection may lead to a
 * standby: 25006 refuses writes there, 55000 some locks.
 */
const awayStates = /^(08|53|57|58|25006|55000)/;

/** From the socket or the resolver. Node's codes for mistakes in a program also begin with ERR. */
const awaySocketCodes = /^(E[A-Z]+|EAI_[A-Z]+|ERR_(STREAM|SOCKET|SSL|TLS)_\w+)$/;

/** A mistake in our program, whatever words it uses: "socket.setTimeout is not a function". */
function isMistake(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);
}

/** Whether PostgreSQL is away, shutting down or too busy, as opposed to rejecting a statement. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error) || isMistake(error)) return false;
  if (error instanceof DeadlineError || error instanceof OutcomeUnknownError) return true;
  const { code, severity } = error as { code?: string; severity?: string };
  if (code === undefined) return /timeout|connection terminated|not queryable|SSL/i.test(error.message);
  return awayStates.test(code) || awaySocketCodes.test(code) || isFatal({ severity });
}

/** 53300 too many connections, 55P03 lock timeout, 57014 statement timeout: PostgreSQL says so itself. */
const busyStates = new Set(['53300', '55P03', '57014']);

/** Whether PostgreSQL is there and had no time, lock or connection for the statement. Nothing of it is stored. */
function isDatabaseBusy(error: unknown): boolean {
  if (error instanceof DeadlineError) return error.isBusy;
  return error instanceof pg.DatabaseError && busyStates.has(error.code ?? '');
}

/** Whether a transaction ended because a lock was not free in time. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03';
}

/** Any thrown value as an ApiError. The cause is for the log only. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(codeOf(error), { cause: error });
}

/** Likewise for a request that only reads: nothing of it can be stored. */
export function toReadError(error: unknown): ApiError {
  return toApiError(error instanceof OutcomeUnknownError ? error.cause : error);
}

/** Whether the work had no time left, by its own pace or in PostgreSQL. */
export function isOverloaded(error: unknown): boolean {
  return toReadError(error).code === 'overloaded';
}

function codeOf(error: unknown): ErrorCode {
  if ((error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'content_type';
  if (error instanceof OutcomeUnknownError) return 'outcome_unknown';
  if (isDatabaseBusy(error)) return 'overloaded';
  return isDatabaseAway(error) || isConflictWithRecovery(error) ? 'database_unavailable' : 'internal_error';
}

/** A standby cancels statements with the states of a race. Those of real races are tried again and seldom get here. */
function isConflictWithRecovery(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40(001|P01)$/.test(error.code ?? '');
}
