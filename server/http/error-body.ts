// The body of an error answer.
import type { ApiError, Fault } from '../errors.ts';
import { type Language, text } from '../messages.ts';

/** A 400 always has `errors`, as the published ValidationError does. */
export function errorBody(error: ApiError, requestId: string, language: Language) {
  return {
    message: text(error.code, language),
    code: error.code,
    requestId,
    ...error.details,
    ...(error.status === 400 && { errors: error.faults.map((fault) => faultBody(fault, language)) }),
  };
}

function faultBody({ path, code, params }: Fault, language: Language) {
  return {
    field: path.join('.'),
    pointer: path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    code,
    message: text(code, language, params),
    ...(params && { params }),
  };
}
