// Checks small JSON bodies of the office's own routes. Like the API it reports every invalid field, with the same codes.
import type { FastifyRequest } from 'fastify';
import { formatChecks, isUuid } from '../engine/definition/formats.ts';
import { isObject } from '../engine/definition/validation.ts';
import { type FieldError, validationError } from '../errors.ts';
import type { JsonBody } from '../http/json-body.ts';

/** The value, or its error. */
export type Reading<Value> = { value: Value } | Omit<FieldError, 'path'>;

export interface Input<Value> {
  isRequired: boolean;
  read(value: unknown): Reading<Value>;
}

type Inputs = Record<string, Input<unknown>>;
type Form<Of extends Inputs> = { [Name in keyof Of]: Of[Name] extends Input<infer Value> ? Value : never };

export function readForm<Of extends Inputs>(request: FastifyRequest, inputs: Of): Form<Of> {
  const { value: sent, fieldErrors: textErrors } = request.body as JsonBody;
  if (!isObject(sent)) throw validationError([{ path: [], code: 'type', params: { type: 'object' } }]);
  const fieldErrors = [...textErrors];
  const form: Record<string, unknown> = {};
  for (const [name, input] of Object.entries(inputs)) {
    if (!Object.hasOwn(sent, name)) {
      if (input.isRequired) fieldErrors.push({ path: [name], code: 'required' });
      continue;
    }
    const result = input.read(sent[name]);
    if ('value' in result) form[name] = result.value;
    else fieldErrors.push({ path: [name], ...result });
  }
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return form as Form<Of>;
}

export function optional<Value>(input: Input<Value>): Input<Value | undefined> {
  return { ...input, isRequired: false };
}

/** An explicit null clears the value. */
export function nullable<Value>(input: Input<Value>): Input<Value | null> {
  return {
    ...input,
    read: (value): Reading<Value | null> => (value === null ? { value: null } : input.read(value)),
  };
}

/** A text with more than white space, without the white space around it. */
export function words(maxLength: number): Input<string> {
  return {
    isRequired: true,
    read(value): Reading<string> {
      if (typeof value !== 'string') return { code: 'type', params: { type: 'string' } };
      if (value.trim() === '') return { code: 'blank' };
      if ([...value].length > maxLength) return { code: 'too_long', params: { max: maxLength } };
      return { value: value.trim() };
    },
  };
}

/** Any texts, empty ones included. */
export function texts(maxTexts: number, maxLength: number): Input<string[]> {
  return {
    isRequired: true,
    read(value): Reading<string[]> {
      if (!Array.isArray(value)) return { code: 'type', params: { type: 'array' } };
      if (value.length > maxTexts) return { code: 'too_many_items', params: { max: maxTexts } };
      const isText = (text: unknown) => typeof text === 'string' && text.length <= maxLength;
      return value.every(isText) ? { value } : { code: 'too_long', params: { max: maxLength } };
    },
  };
}

export const uuid: Input<string> = {
  isRequired: true,
  read: (value): Reading<string> =>
    typeof value === 'string' && isUuid(value) ? { value: value.toLowerCase() } : { code: 'invalid_uuid' },
};

const maxEmailLength = 254;

export const emailAddress: Input<string> = {
  isRequired: true,
  read(value): Reading<string> {
    const text = words(maxEmailLength).read(value);
    return 'value' in text && !formatChecks['idn-email'](text.value) ? { code: 'invalid_email' } : text;
  },
};

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Input<Choice> {
  return {
    isRequired: true,
    read(value): Reading<Choice> {
      const choice = choices.find((candidate) => candidate === value);
      return choice === undefined ? { code: 'invalid_choice', params: { choices } } : { value: choice };
    },
  };
}

export const flag: Input<boolean> = {
  isRequired: true,
  read: (value): Reading<boolean> =>
    typeof value === 'boolean' ? { value } : { code: 'type', params: { type: 'boolean' } },
};

/** An agreement: it can be given but not taken back. */
export const yes: Input<true> = {
  isRequired: true,
  read: (value): Reading<true> =>
    value === true ? { value } : { code: 'invalid_choice', params: { choices: ['true'] } },
};
