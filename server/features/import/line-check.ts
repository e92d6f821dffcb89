// One line against its envelope and against the definition of what it holds.
import { externalIdSchema } from '../../engine/definition/fields.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { type Checked, isObject } from '../../engine/definition/validation.ts';
import { mergeInto } from '../../engine/write/merge-patch.ts';
import type { WrittenResource } from '../../engine/write/resource.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { type JsonBody, parseJson } from '../../http/json-body.ts';
import type { Line } from './lines.ts';

export const lineActions = ['replace', 'merge', 'create', 'delete'] as const;
export type LineAction = (typeof lineActions)[number];

export interface CheckedLine {
  line: Line & { bytes: Buffer };
  resource: WrittenResource;
  action: LineAction;
  /** Whether a deletion takes dependants along. */
  isCascade: boolean;
  /** Whether it creates an object whose external id is in the bin. */
  mayRevive: boolean;
  /** Of a merge by id: the version that its sender read. */
  version: number | undefined;
  body: JsonBody;
  checked: Checked;
}

/** A line that names no resource or no valid action, or is no JSON. */
export interface RejectedLine extends LineNames {
  error: ApiError;
}

interface LineNames {
  type?: string;
  externalId?: string;
}

export type CheckLine = (line: Line) => CheckedLine | RejectedLine;

/** A report's `errors` may stand beside type and data: a corrected line can be sent as it is. */
const envelopeNames = new Set(['type', 'data', 'errors', 'action']);

export const lastVersion = 2 ** 31 - 1;

const isVersion = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= lastVersion;

export function buildLineCheck(resources: readonly WrittenResource[]): CheckLine {
  const choices = resources.map(({ definition }) => definition.name);

  function findEnvelopeErrors(value: Record<string, unknown>): FieldError[] {
    const found: FieldError[] = [];
    if (!Object.hasOwn(value, 'type')) found.push({ path: ['type'], code: 'required' });
    else if (!choices.includes(value.type as string))
      found.push({ path: ['type'], code: 'invalid_choice', params: { choices } });
    if (value.action !== undefined && !lineActions.includes(value.action as LineAction))
      found.push({ path: ['action'], code: 'invalid_choice', params: { choices: lineActions } });
    for (const flag of ['cascade', 'revive']) {
      if (value[flag] !== undefined && typeof value[flag] !== 'boolean')
        found.push({ path: [flag], code: 'type', params: { type: 'boolean' } });
    }
    if (value.action === 'merge' && value.version !== undefined && !isVersion(value.version))
      found.push({ path: ['version'], code: 'out_of_range', params: { min: 1, max: lastVersion } });
    if (!Object.hasOwn(value, 'data')) found.push({ path: ['data'], code: 'required' });
    return found;
  }

  return function checkLine(line) {
    const { bytes } = line;
    if (bytes === undefined) return { error: new ApiError('line_too_long') };
    const parsed = parseLine(bytes, line.number);
    if (parsed instanceof ApiError) return { error: parsed };
    const { value, exact, fieldErrors } = parsed;
    const found = findEnvelopeErrors(value);
    const resource = resources.find(({ definition }) => definition.name === value.type);
    if (!resource || found.length > 0)
      return { error: validationError(found), ...namesIn(resource, value.data) };
    const action = (value.action ?? 'replace') as LineAction;
    const isDeletion = action === 'delete';
    const body: JsonBody = {
      bytes,
      value: value.data,
      exact: isObject(exact) ? exact.data : undefined,
      // Fields are named as in the body of a creation, which is what `data` holds.
      fieldErrors: fieldErrors.map(({ path, ...error }) => ({
        ...error,
        path: path[0] === 'data' ? path.slice(1) : path,
      })),
    };
    const checked = checkData(resource, action, body);
    const isMergeById = action === 'merge' && checked.row.id !== undefined;
    const ignored = Object.keys(value).filter(
      (name) =>
        !envelopeNames.has(name) &&
        name !== (isDeletion ? 'cascade' : 'revive') &&
        !(isMergeById && name === 'version'),
    );
    return {
      line: { ...line, bytes },
      resource,
      action,
      isCascade: isDeletion && value.cascade === true,
      mayRevive: value.revive !== false,
      version: isMergeById ? (value.version as number | undefined) : undefined,
      body,
      checked: { ...checked, ignoredFields: [...ignored, ...checked.ignoredFields] },
    };
  };
}

function parseLine(bytes: Buffer, line: number) {
  try {
    const { value, exact, fieldErrors } = parseJson(bytes);
    if (isObject(value)) return { value, exact, fieldErrors };
    return validationError([{ path: [], code: 'type', params: { type: 'object' } }]);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isBroken = error.fieldErrors.some(({ code }) => code === 'invalid_json');
    return isBroken ? validationError([{ path: [], code: 'invalid_json', params: { line } }]) : error;
  }
}

function checkData(resource: WrittenResource, action: LineAction, body: JsonBody): Checked {
  if (action === 'delete') return checkDeletion(body);
  const { definition, check } = resource;
  if (action !== 'merge') return check(body);
  const id = isObject(body.value) ? body.value.id : undefined;
  if (id !== undefined) return checkMergeById(resource, body, id);
  const checked = check(mergeInto(definition, undefined, body));
  const isNamed = checked.row.external_id !== undefined;
  if (isNamed || !isObject(body.value)) return checked;
  const missing: FieldError = { path: ['externalId'], code: 'required' };
  return { ...checked, fieldErrors: [missing, ...checked.fieldErrors] };
}

/** A merge by id is checked once its object is known. */
function checkMergeById({ check }: WrittenResource, body: JsonBody, id: unknown): Checked {
  const { ignoredFields, row } = check(withoutId(body));
  const nothing = { ignoredFields, value: {} };
  if (typeof id === 'string' && isUuid(id)) {
    return { ...nothing, fieldErrors: body.fieldErrors, row: { ...row, id: id.toLowerCase() } };
  }
  return { ...nothing, row: {}, fieldErrors: [{ path: ['id'], code: 'invalid_uuid' }] };
}

/** The body of a merge by id, without the id. */
export function withoutId(body: JsonBody): JsonBody {
  const strip = (value: unknown) => {
    if (!isObject(value)) return value;
    const { id: _id, ...fields } = value;
    return fields;
  };
  return { ...body, value: strip(body.value), exact: body.exact && strip(body.exact) };
}

/** A deletion needs one id. An exported object has both, and more. */
function checkDeletion({ value, fieldErrors }: JsonBody): Checked {
  const nothing = { ignoredFields: [], value: {}, row: {} };
  if (!isObject(value)) {
    return { ...nothing, fieldErrors: [{ path: ['data'], code: 'type', params: { type: 'object' } }] };
  }
  const { externalId, id } = value;
  if (externalId !== undefined) {
    if (typeof externalId === 'string') return { ...nothing, fieldErrors, row: { external_id: externalId } };
    return { ...nothing, fieldErrors: [{ path: ['externalId'], code: 'type', params: { type: 'string' } }] };
  }
  if (id === undefined) {
    const params = { name: 'externalId', instead: 'id' };
    return { ...nothing, fieldErrors: [{ path: ['externalId'], code: 'required', params }] };
  }
  if (typeof id === 'string' && isUuid(id)) return { ...nothing, fieldErrors, row: { id: id.toLowerCase() } };
  return { ...nothing, fieldErrors: [{ path: ['id'], code: 'invalid_uuid' }] };
}

/** What a result calls its line: the type, and the external id if it is a possible one. */
export function namesOf(line: CheckedLine | RejectedLine): LineNames {
  if (!('error' in line)) return namesIn(line.resource, line.body.value);
  const { type, externalId } = line;
  return { ...(type && { type }), ...(externalId && { externalId }) };
}

function namesIn(resource: WrittenResource | undefined, data: unknown): LineNames {
  const { externalId } = isObject(data) ? data : {};
  const isPossible = typeof externalId === 'string' && externalId.length <= externalIdSchema.maxLength;
  return { ...(resource && { type: resource.definition.name }), ...(isPossible && { externalId }) };
}
