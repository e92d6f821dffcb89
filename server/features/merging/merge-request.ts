// The body of a merge: which objects, which of them gives each field, and which versions were seen.
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { isObject } from '../../engine/definition/validation.ts';
import { type FieldError, validationError } from '../../errors.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { choosableFields } from './merged-fields.ts';

export const maxMerged = 20;

export interface MergeRequest {
  /** The object that stays. */
  id: string;
  /** The objects that are merged into it. */
  ids: readonly string[];
  /** By the name of a field: the object that gives it. */
  fields: ReadonlyMap<string, string>;
  versions: ReadonlyMap<string, number>;
}

type MemberError = Omit<FieldError, 'path'> | undefined;

/** Throws one error that names every invalid member. */
const members = ['ids', 'fields', 'versions'];

export function unknownMembers({ value }: JsonBody): string[] {
  return isObject(value) ? Object.keys(value).filter((name) => !members.includes(name)) : [];
}

export function readMergeRequest(definition: Definition, path: string, body: JsonBody): MergeRequest {
  const id = path.toLowerCase();
  const fieldErrors: FieldError[] = [...body.fieldErrors];
  if (!isObject(body.value)) {
    throw validationError([...fieldErrors, { path: [], code: 'type', params: { type: 'object' } }]);
  }
  const { ids: sentIds, fields = {}, versions = {} } = body.value;
  const ids = readIds(sentIds, fieldErrors);
  const involved = new Set([id, ...ids]);
  const read = <Value>(
    name: string,
    sent: unknown,
    toError: (key: string, value: unknown) => MemberError,
  ) => {
    if (!isObject(sent)) {
      fieldErrors.push({ path: [name], code: 'type', params: { type: 'object' } });
      return [];
    }
    const entries = Object.entries(sent);
    for (const [key, value] of entries) {
      const fieldError = toError(key, value);
      if (fieldError) fieldErrors.push({ path: [name, key], ...fieldError });
    }
    return entries as [string, Value][];
  };
  const known = choosableFields(definition);
  const isInvolved = (value: unknown) => typeof value === 'string' && involved.has(value.toLowerCase());
  const choices = [...involved];
  const chosen = read<string>('fields', fields, (key, value): MemberError => {
    if (!known.includes(key)) return { code: 'unknown_parameter', params: { known } };
    return isInvolved(value) ? undefined : { code: 'invalid_choice', params: { choices } };
  });
  const seen = read<number>('versions', versions, (key, value): MemberError => {
    if (!isInvolved(key)) return { code: 'invalid_choice', params: { choices } };
    return Number.isSafeInteger(value) ? undefined : { code: 'type', params: { type: 'integer' } };
  });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return {
    id,
    ids,
    fields: new Map(chosen.map(([field, value]) => [field, value.toLowerCase()])),
    versions: new Map(seen.map(([key, value]) => [key.toLowerCase(), value])),
  };
}

function readIds(sent: unknown, fieldErrors: FieldError[]): string[] {
  const reject = (error: Omit<FieldError, 'path'>, ...place: number[]) =>
    fieldErrors.push({ path: ['ids', ...place], ...error });
  if (sent === undefined) reject({ code: 'required' });
  else if (!Array.isArray(sent)) reject({ code: 'type', params: { type: 'array' } });
  else if (sent.length === 0) reject({ code: 'required' });
  else if (sent.length > maxMerged) reject({ code: 'too_many_items', params: { max: maxMerged } });
  else {
    const ids = sent.map((id, place) => {
      if (typeof id === 'string' && isUuid(id)) return id.toLowerCase();
      reject({ code: 'invalid_uuid' }, place);
      return '';
    });
    return ids;
  }
  return [];
}
