// The body of an error answer.
import type { ApiError, FieldError } from '../errors.ts';
import { type Language, text } from '../messages.ts';

/** A 400 always has `errors`, as the published ValidationError does. */
export function errorBody(error: ApiError, requestId: string, language: Language) {
  return {
    message: text(error.code, language, error.params),
    code: error.code,
    requestId,
    ...error.details,
    ...(error.status === 400 && {
      errors: error.fieldErrors.map((fieldError) => fieldErrorBody(fieldError, language)),
    }),
  };
}

function fieldErrorBody({ path, code, params }: FieldError, language: Language) {
  return {
    field: path.join('.'),
    pointer: path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    code,
    message: text(code, language, params),
    ...(params && { params }),
  };
}
