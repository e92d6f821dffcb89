// One line against its envelope and against the definition of what it holds.
import type { Definition } from '../../engine/definition/definition.ts';
import {
  type Owner,
  ownersOf,
  type Reference,
  referencesOf,
  uniqueColumnsOf,
} from '../../engine/definition/definition.ts';
import { buildCheck, type Check, type Checked, isObject } from '../../engine/definition/validation.ts';
import { buildReplacement, type Replacement } from '../../engine/sql/replacement.ts';
import { buildWrites, type Writes } from '../../engine/sql/row-store.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { parseJson } from '../../http/json-body.ts';
import type { Line } from './lines.ts';

/** A definition and what the engine makes of it, built once. */
export interface ImportedResource {
  definition: Definition;
  check: Check;
  writes: Writes;
  replacement: Replacement;
  /** Columns whose value only one object may have. */
  uniqueColumns: readonly string[];
  /** What owns it. A line can call an owner that another line brings by its external id. */
  owners: readonly Owner[];
  references: readonly Reference[];
}

export interface CheckedLine {
  line: Line & { bytes: Buffer };
  resource: ImportedResource;
  checked: Checked;
}

/** Owners stand before what they own, as in the list of definitions. */
export function prepareResources(definitions: readonly Definition[]): ImportedResource[] {
  return definitions.map((definition) => {
    const check = buildCheck(definition);
    const writes = buildWrites(definition, definitions);
    return {
      definition,
      check,
      writes,
      replacement: buildReplacement(definition, check, writes),
      uniqueColumns: uniqueColumnsOf(definition).map(({ name }) => name),
      owners: ownersOf(definition),
      references: referencesOf(definition),
    };
  });
}

export type CheckLine = (line: Line) => CheckedLine | ApiError;

/** `errors` of an earlier report may stand beside type and data, so that a corrected line can be sent as it is. */
const envelopeNames = new Set(['type', 'data', 'errors']);

export function buildLineCheck(resources: readonly ImportedResource[]): CheckLine {
  const choices = resources.map(({ definition }) => definition.name);

  function readEnvelope({ bytes }: Line & { bytes: Buffer }) {
    const { value, exact, fieldErrors } = parseJson(bytes);
    if (!isObject(value)) throw validationError([{ path: [], code: 'type', params: { type: 'object' } }]);
    const resource = resources.find(({ definition }) => definition.name === value.type);
    const found: FieldError[] = [];
    if (!Object.hasOwn(value, 'type')) found.push({ path: ['type'], code: 'required' });
    else if (!resource) found.push({ path: ['type'], code: 'invalid_choice', params: { choices } });
    if (!Object.hasOwn(value, 'data')) found.push({ path: ['data'], code: 'required' });
    if (found.length > 0) throw validationError(found);
    // Fields are named as in the body of a creation, which is what `data` holds.
    const dataErrors = fieldErrors.map(({ path, ...error }) => ({
      ...error,
      path: path[0] === 'data' ? path.slice(1) : path,
    }));
    const body = {
      bytes,
      value: value.data,
      exact: isObject(exact) ? exact.data : undefined,
      fieldErrors: dataErrors,
    };
    return {
      resource: resource!,
      body,
      ignored: Object.keys(value).filter((name) => !envelopeNames.has(name)),
    };
  }

  return function checkLine(line) {
    const { bytes } = line;
    if (bytes === undefined) return new ApiError('line_too_long');
    try {
      const { resource, body, ignored } = readEnvelope({ ...line, bytes });
      const checked = resource.check(body);
      return {
        line: { ...line, bytes },
        resource,
        checked: { ...checked, ignoredFields: [...ignored, ...checked.ignoredFields] },
      };
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  };
}
