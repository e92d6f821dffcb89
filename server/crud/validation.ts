// A body against its definition: every fault at once, what was ignored, and the row that is to be stored.
import { Ajv, type ErrorObject } from 'ajv';
import type { Fault, FaultCode } from '../errors.ts';
import {
  exactNumberText,
  hasFraction,
  isTooPrecise,
  type JsonBody,
  maxDecimalPlaces,
} from '../http/json-body.ts';
import { type Column, columnsOf, type Definition } from './definition.ts';
import { type Fields, objectSchema } from './fields.ts';

/** A row by column names, ready to be written as JSON. Optional fields that were not sent are absent. */
export type Row = Record<string, unknown>;

export interface Checked {
  faults: Fault[];
  /** Paths of fields that were sent but are not known, such as "address.zip". */
  ignoredFields: string[];
  /** Complete only where there are no faults. */
  row: Row;
}

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  formats: { uuid: isUuid, date: isDate, email: /^[^\s@]+@[^\s@]+$/, 'time-zone': isTimeZone },
});

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** Days that exist. The year 0000 does not: neither the calendar nor PostgreSQL has it. */
function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTimeZone(text: string): boolean {
  // Offsets such as "+01:00" are accepted by the runtime but name no zone: they know no summer time.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

export function buildCheck(definition: Definition): (body: JsonBody) => Checked {
  const validate = ajv.compile(objectSchema(definition.fields));
  const columns = columnsOf(definition.fields);

  return function check({ value, exact, faults: textFaults }) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { faults: [{ path: [], code: 'type', params: { type: 'object' } }], ignoredFields: [], row: {} };
    }
    let faults = [...textFaults];
    if (!validate(value)) {
      // A text that cannot be stored, or a number that is none, has been reported already.
      const reported = new Set(textFaults.map((fault) => fault.path.join('/')));
      const found = validate.errors!.map(toFault);
      faults = faults.concat(found.filter((fault) => !reported.has(fault.path.join('/'))));
    }
    const row: Row = {};
    for (const column of columns) {
      const sent = memberAt(value, column.path);
      if (sent !== undefined) row[column.name] = toStored(column, sent, memberAt(exact, column.path), faults);
      else if (column.field.default !== undefined) row[column.name] = column.field.default;
    }
    faults = faults.concat(findDateOrderFaults(definition, value, faults));
    return { faults, ignoredFields: findIgnoredFields(definition.fields, value), row };
  };
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let member = value;
  for (const step of path) {
    if (typeof member !== 'object' || member === null || !Object.hasOwn(member, step)) return undefined;
    member = (member as Record<string, unknown>)[step];
  }
  return member;
}

/** The value as it is stored, which is the value as it was sent; only ids are written in lower case. */
function toStored({ field, path }: Column, sent: unknown, exact: unknown, faults: Fault[]): unknown {
  switch (field.kind) {
    case 'uuid':
      return typeof sent === 'string' ? sent.toLowerCase() : sent;
    case 'integer': {
      const source = exactNumberText(exact);
      if (source && hasFraction(source) && Number.isInteger(sent)) {
        faults.push({ path, code: 'type', params: { type: 'integer' } });
      }
      return sent;
    }
    case 'decimal': {
      const source = exactNumberText(exact) ?? '';
      if (isTooPrecise(source)) {
        faults.push({ path, code: 'too_precise', params: { max: maxDecimalPlaces } });
      } else if (sent === 0 && field.schema.minimum === 0 && source.startsWith('-')) {
        // Less than nothing, but so little that the validated double is zero.
        faults.push({ path, code: 'too_small', params: { min: 0 } });
      }
      return exact ?? sent;
    }
    case 'list':
      for (const fault of findNestingFaults(exact ?? sent, path)) faults.push(fault);
      return exact ?? sent;
    default:
      return sent;
  }
}

const maxDepth = 50;

/** Lists hold values of any shape, but what is stored must also be readable again: bounded in depth and precision. */
function findNestingFaults(root: unknown, path: readonly string[]): Fault[] {
  const pending: { value: unknown; path: Fault['path'] }[] = [{ value: root, path }];
  const faults: Fault[] = [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path: at } = next;
    const source = exactNumberText(value);
    if (source !== undefined) {
      if (isTooPrecise(source))
        faults.push({ path: at, code: 'too_precise', params: { max: maxDecimalPlaces } });
    } else if (typeof value === 'object' && value !== null) {
      if (at.length > maxDepth) return [{ path, code: 'too_deep', params: { max: maxDepth } }];
      const isList = Array.isArray(value);
      for (const [name, member] of Object.entries(value)) {
        pending.push({ value: member, path: [...at, isList ? Number(name) : name] });
      }
    }
  }
  return faults;
}

/** Days can be compared where both are days, whatever else is wrong with the body. */
function findDateOrderFaults(definition: Definition, value: object, faults: readonly Fault[]): Fault[] {
  return definition.dateOrders.flatMap(([earlier, later]): Fault[] => {
    if (faults.some(({ path }) => path[0] === earlier || path[0] === later)) return [];
    const [from, until] = [memberAt(value, [earlier]), memberAt(value, [later])];
    // Texts of the form YYYY-MM-DD sort like the days that they name.
    const isWrong = typeof from === 'string' && typeof until === 'string' && until < from;
    return isWrong ? [{ path: [later], code: 'date_order', params: { other: earlier } }] : [];
  });
}

function findIgnoredFields(fields: Fields, value: object, parents = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return [parents + name];
    const isGroup = field.fields && typeof member === 'object' && member !== null && !Array.isArray(member);
    return isGroup ? findIgnoredFields(field.fields, member, `${parents}${name}.`) : [];
  });
}

const codesOfFormats: Record<string, FaultCode> = {
  uuid: 'invalid_uuid',
  date: 'invalid_date',
  email: 'invalid_email',
  'time-zone': 'invalid_time_zone',
};

function toFault({ keyword, instancePath, params }: ErrorObject): Fault {
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
    case 'maxItems':
      return { path, code: 'too_many_items', params: { max: params.limit } };
    case 'enum':
      return { path, code: 'invalid_choice', params: { choices: params.allowedValues } };
    case 'format':
      return { path, code: codesOfFormats[params.format]! };
    default:
      // A new keyword in a schema needs its code here; the test that walks all codes finds it missing.
      throw new Error(`no code for the keyword ${keyword}`);
  }
}
