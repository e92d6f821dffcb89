// Checks a body against its definition. Returns every invalid field, the ignored fields, and the row to store.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { hasShape } from '../../../core/definition/shape.ts';
import type { FieldError } from '../../errors.ts';
import {
  compareExactly,
  exactNumberText,
  hasFraction,
  isTooPrecise,
  type JsonBody,
  maxDecimalPlaces,
} from '../../http/json-body.ts';
import { columnsOf, type Definition, type Owner, ownersOf, shapeColumnsOf } from './definition.ts';
import { externalIdName, type Field, type Fields, objectSchema } from './fields.ts';
import { formatChecks, formatCodes } from './formats.ts';

/** A row by column names, ready to be written as JSON. Optional fields that were not sent are absent. */
export type Row = Record<string, unknown>;

export interface Checked {
  fieldErrors: FieldError[];
  /** Paths of fields that were sent but are not known, such as "address.zip". */
  ignoredFields: string[];
  /** The known fields as they are stored. Complete only without errors. */
  value: Record<string, unknown>;
  row: Row;
}

export type Check = (body: JsonBody) => Checked;

const ajv = new Ajv({ allErrors: true, strict: true, formats: formatChecks });

const checks = new WeakMap<Definition, Check>();

/** The API, the office, imports and redaction share the check of a definition. */
export function buildCheck(definition: Definition): Check {
  const check = checks.get(definition) ?? compileCheck(definition);
  checks.set(definition, check);
  return check;
}

function compileCheck(definition: Definition): Check {
  let validate: ValidateFunction | undefined;
  const toRow = buildToRow(definition);
  const owners = ownersOf(definition);
  const members = membersOf(definition.fields);
  const lists = Object.entries(definition.fields).filter(([, field]) => field.kind === 'list');

  return function check({ value: sent, exact, fieldErrors: textErrors }) {
    if (!isObject(sent)) {
      const fieldError: FieldError = { path: [], code: 'type', params: { type: 'object' } };
      return { fieldErrors: [...textErrors, fieldError], ignoredFields: [], value: {}, row: {} };
    }
    // Ajv takes long to compile a schema: no start waits for resources that nobody writes.
    validate ??= ajv.compile(objectSchema(definition.fields));
    let fieldErrors = [...textErrors];
    if (!validate(withoutLongLists(lists, sent, fieldErrors))) {
      // A text that cannot be stored, or a number that is none, has been reported already.
      const reported = new Set(textErrors.map((fieldError) => fieldError.path.join('/')));
      const found = validate.errors!.map(toError);
      fieldErrors = fieldErrors.concat(
        found.filter((fieldError) => !reported.has(fieldError.path.join('/'))),
      );
    }
    fieldErrors.push(...findMissingAlternatives(definition, owners, sent));
    const value = toStored(members, sent, exact, fieldErrors);
    fieldErrors = fieldErrors.concat(findDateOrderErrors(definition, value, fieldErrors));
    const ignoredFields = findIgnoredFields(members, sent, '', []);
    return { fieldErrors, ignoredFields, value, row: toRow(value, sent) };
  };
}

/** A list that is too long gets one error. Its items, perhaps fifty thousand, are not checked. */
function withoutLongLists(
  lists: readonly (readonly [name: string, field: Field])[],
  sent: Record<string, unknown>,
  fieldErrors: FieldError[],
): Record<string, unknown> {
  let checked = sent;
  for (const [name, { schema }] of lists) {
    const { [name]: list } = sent;
    const max = schema.maxItems as number;
    if (!Array.isArray(list) || list.length <= max) continue;
    fieldErrors.push({ path: [name], code: 'too_many_items', params: { max } });
    checked = { ...checked, [name]: [] };
  }
  return checked;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Flattens a value into its columns, with the owners' external ids and whether lists have the known shape. */
function buildToRow(definition: Definition): (value: Record<string, unknown>, sent: unknown) => Row {
  const columns = columnsOf(definition.fields);
  const owners = ownersOf(definition);
  const shapes = shapeColumnsOf(definition).map(({ name, list }) => ({
    name,
    list,
    shape: list.field.knownItem!,
  }));
  return function toRow(value, sent) {
    const row: Row = {};
    for (const { name, path } of columns) {
      const member = memberAt(value, path);
      if (member !== undefined) row[name] = member;
    }
    for (const { externalName, externalColumn } of owners) {
      if (value[externalName] !== undefined) row[externalColumn] = value[externalName];
    }
    for (const { name, list, shape } of shapes) {
      if (row[list.name] === undefined) continue;
      // The web app sees numbers as doubles too, and must come to the same verdict.
      const items = memberAt(sent, list.path) ?? memberAt(value, list.path);
      row[name] = Array.isArray(items) && items.every((item) => hasShape(shape, item));
    }
    return row;
  };
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let member = value;
  for (const step of path) {
    if (!isObject(member)) return undefined;
    member = member[step];
  }
  return member;
}

/** The members that an object can have, collected once for all bodies. */
interface Members {
  list: { name: string; path: string[]; field: Field; externalName: string | undefined; members?: Members }[];
  /** The members of each name that may be sent, where it is a group. */
  byName: Map<string, Members | undefined>;
}

function membersOf(fields: Fields, parents: readonly string[] = []): Members {
  const list = Object.entries(fields).map(([name, field]) => {
    const path = [...parents, name];
    const externalName = field.reference?.isOwner ? externalIdName(name) : undefined;
    return { name, path, field, externalName, members: field.fields && membersOf(field.fields, path) };
  });
  const byName = new Map<string, Members | undefined>();
  for (const { name, externalName, members } of list) {
    byName.set(name, members);
    if (externalName) byName.set(externalName, undefined);
  }
  return { list, byName };
}

/** The known members as they were sent, except for ids in lower case, exact numbers and defaults. */
function toStored(
  { list }: Members,
  sent: Record<string, unknown>,
  exact: unknown,
  fieldErrors: FieldError[],
): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const { name, path, field, externalName, members } of list) {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    const exactValue = isObject(exact) ? exact[name] : undefined;
    if (externalName && Object.hasOwn(sent, externalName)) stored[externalName] = sent[externalName];
    if (value === undefined) {
      if (field.default !== undefined) stored[name] = field.default;
    } else if (members) {
      if (isObject(value)) stored[name] = toStored(members, value, exactValue, fieldErrors);
    } else {
      stored[name] = toStoredMember(field, value, exactValue, path, fieldErrors);
    }
  }
  return stored;
}

function toStoredMember(
  field: Field,
  sent: unknown,
  exact: unknown,
  path: FieldError['path'],
  fieldErrors: FieldError[],
): unknown {
  switch (field.kind) {
    case 'uuid':
      return typeof sent === 'string' ? sent.toLowerCase() : sent;
    case 'integer': {
      const source = exactNumberText(exact);
      if (source && hasFraction(source) && Number.isInteger(sent)) {
        fieldErrors.push({ path, code: 'type', params: { type: 'integer' } });
      }
      return sent;
    }
    case 'decimal': {
      const source = exactNumberText(exact);
      if (source !== undefined) fieldErrors.push(...findExactErrors(field, sent, source, path));
      return exact ?? sent;
    }
    case 'list':
      for (const fieldError of findNestingErrors(exact ?? sent, path)) fieldErrors.push(fieldError);
      return exact ?? sent;
    default:
      return sent;
  }
}

/** Errors that the double hides: too many decimal places, or a limit missed by less than its precision. */
function findExactErrors(
  { schema }: Field,
  sent: unknown,
  source: string,
  path: FieldError['path'],
): FieldError[] {
  if (isTooPrecise(source)) return [{ path, code: 'too_precise', params: { max: maxDecimalPlaces } }];
  const { minimum: min, maximum: max } = schema as { minimum: number; maximum?: number };
  if (sent === min && compareExactly(source, min) < 0) return [{ path, code: 'too_small', params: { min } }];
  if (max !== undefined && sent === max && compareExactly(source, max) > 0)
    return [{ path, code: 'too_large', params: { max } }];
  return [];
}

const maxDepth = 50;

/** Lists hold values of any shape, but a limited depth: they must be readable again. */
function findNestingErrors(root: unknown, path: FieldError['path']): FieldError[] {
  const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) continue;
    if (depth > maxDepth) return [{ path, code: 'too_deep', params: { max: maxDepth } }];
    for (const member of Object.values(value)) pending.push({ value: member, depth: depth + 1 });
  }
  return [];
}

/** Owners that are named by neither of their ids, and fields of which one is needed. */
function findMissingAlternatives(
  definition: Definition,
  owners: readonly Owner[],
  sent: Record<string, unknown>,
): FieldError[] {
  const fieldErrors: FieldError[] = [];
  for (const { column, externalName } of owners) {
    const name = column.path[0]!;
    const isNamed = Object.hasOwn(sent, name) || Object.hasOwn(sent, externalName);
    if (!isNamed && column.field.isRequired)
      fieldErrors.push({ path: [name], code: 'required', params: { name, instead: externalName } });
  }
  for (const names of definition.requiredOneOf) {
    if (names.some((name) => Object.hasOwn(sent, name) || Object.hasOwn(sent, externalIdName(name))))
      continue;
    fieldErrors.push({ path: [names[0]!], code: 'required_one_of', params: { fields: names } });
  }
  return fieldErrors;
}

/** Compares two days only if both are valid. */
function findDateOrderErrors(
  definition: Definition,
  value: Record<string, unknown>,
  fieldErrors: readonly FieldError[],
): FieldError[] {
  return definition.dateOrders.flatMap(([earlier, later]): FieldError[] => {
    if (fieldErrors.some(({ path }) => path[0] === earlier || path[0] === later)) return [];
    const [from, until] = [value[earlier], value[later]];
    // Texts of the form YYYY-MM-DD sort like the days that they name.
    const isWrong = typeof from === 'string' && typeof until === 'string' && until < from;
    return isWrong ? [{ path: [later], code: 'date_order', params: { other: earlier } }] : [];
  });
}

function findIgnoredFields(
  { byName }: Members,
  sent: Record<string, unknown>,
  parents: string,
  ignored: string[],
): string[] {
  for (const name of Object.keys(sent)) {
    const members = byName.get(name);
    if (members) {
      const member = sent[name];
      if (isObject(member)) findIgnoredFields(members, member, `${parents}${name}.`, ignored);
    } else if (!byName.has(name)) ignored.push(parents + name);
  }
  return ignored;
}

function toError({ keyword, instancePath, params }: ErrorObject): FieldError {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  switch (keyword) {
    case 'required':
      return { path: [...path, params.missingProperty], code: 'required' };
    case 'type':
      return { path, code: 'type', params: { type: params.type } };
    case 'pattern':
      return { path, code: 'blank' };
    case 'maxLength':
      return { path, code: 'too_long', params: { max: params.limit } };
    case 'minimum':
      return { path, code: 'too_small', params: { min: params.limit } };
    case 'maximum':
      return { path, code: 'too_large', params: { max: params.limit } };
    case 'enum':
      return { path, code: 'invalid_choice', params: { choices: params.allowedValues } };
    case 'format':
      return { path, code: formatCodes[params.format as keyof typeof formatCodes] };
    default:
      // A new keyword in a schema needs its code here; the test that walks all codes finds it missing.
      throw new Error(`no code for the keyword ${keyword}`);
  }
}
