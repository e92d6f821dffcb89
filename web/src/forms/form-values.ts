// Converts between an object and the values in the inputs of its form. Numbers stay texts until they are sent: an exact
// decimal never becomes a double.

import { isOpeningHours } from '../../../core/calendar/opening-hours.ts';
import { isAttendingInterval } from '../../../core/calendar/visits.ts';
import { exactNumber } from '../../../core/exact-json.ts';
import { type Definition, type Field, isMoney, leavesOf, setAt, valueAt } from '../api/definitions.ts';
import { isBefore } from '../texts/format.ts';

export type Values = Record<string, unknown>;

const numberKinds = ['integer', 'decimal', 'double'];

/** Converts an object into the values of its inputs. */
export function toValues(definition: Definition, entity: Record<string, unknown>, separator: string): Values {
  return Object.fromEntries(
    leavesOf(definition.fields).map((field) => {
      const value = valueAt(entity, field.path);
      if (numberKinds.includes(field.kind))
        return [field.path, value === undefined ? '' : writtenNumber(field, value).replace('.', separator)];
      if (field.kind === 'list') return [field.path, value ?? []];
      if (field.kind === 'flag') return [field.path, value ?? (field.isRequired ? false : undefined)];
      return [field.path, value ?? ''];
    }),
  );
}

/** Money has cents: 24.9 is 24.90. */
function writtenNumber(field: Field, value: unknown): string {
  const text = String(value);
  if (!isMoney(field) || !/^-?\d+(\.\d?)?$/.test(text)) return text;
  const [whole, cents = ''] = text.split('.');
  return `${whole}.${cents.padEnd(2, '0')}`;
}

/** A new object begins with the defaults of its fields. */
export function startValues(
  definition: Definition,
  separator: string,
  given: Record<string, string>,
): Values {
  const defaults: Record<string, unknown> = {};
  for (const field of leavesOf(definition.fields)) {
    if (field.default !== undefined) setAt(defaults, field.path, field.default);
  }
  const values = toValues(definition, defaults, separator);
  for (const { name, path } of definition.filters) {
    if (given[name] !== undefined && typeof values[path] === 'string') values[path] = given[name];
  }
  return values;
}

/** A new object that begins as another one, without what only one may have. */
export function copyValues(
  definition: Definition,
  entity: Record<string, unknown>,
  separator: string,
): Values {
  const values = toValues(definition, entity, separator);
  for (const path of definition.uniqueFields) values[path] = '';
  return values;
}

/** The number that somebody typed, written as JSON writes it; undefined if it is none. */
export function parseNumber(text: string, separator: string): string | undefined {
  const trimmed = text.replaceAll(/[\s'’]|€|EUR/gi, '');
  const grouping = separator === ',' ? '.' : ',';
  const isGrouped = new RegExp(`^-?\\d{1,3}(\\${grouping}\\d{3})+(\\${separator}\\d*)?$`).test(trimmed);
  const plain = (isGrouped ? trimmed.replaceAll(grouping, '') : trimmed).replace(',', '.');
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(plain)) return undefined;
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(plain) ?? [];
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign}${digits}${fraction === '' ? '' : `.${fraction}`}`;
}

type LocalError = 'form.number' | 'form.times' | 'form.days';

/** Errors that the form explains better: the service only sees that a number is a text. */
export function findLocalErrors(
  definition: Definition,
  values: Values,
  separator: string,
): Map<string, LocalError> {
  const errors = new Map<string, LocalError>();
  for (const field of leavesOf(definition.fields)) {
    const value = values[field.path];
    if (numberKinds.includes(field.kind)) {
      const text = String(value ?? '').trim();
      if (text !== '' && parseNumber(text, separator) === undefined) errors.set(field.path, 'form.number');
    } else if (field.kind === 'list' && Array.isArray(value) && value.some(hasHalfTime)) {
      errors.set(field.path, 'form.times');
    } else if (field.kind === 'list' && Array.isArray(value) && value.some(endsBeforeStart)) {
      errors.set(field.path, 'form.days');
    }
  }
  return errors;
}

/** An item that our own editor made, but with a time that is none yet. */
function hasHalfTime(item: unknown): boolean {
  if (isOpeningHours(item) || isAttendingInterval(item)) return false;
  const { opens, closes, timeFrom, timeUntil } = (item ?? {}) as Record<string, unknown>;
  const times = [opens, closes, timeFrom, timeUntil].filter((time) => time !== undefined);
  return times.some((time) => typeof time === 'string' && !/^\d\d:\d\d$/.test(time));
}

/** The service keeps such an item, and it would never mean anything. */
function endsBeforeStart(item: unknown): boolean {
  const { startDate, endDate, validFrom, validUntil } = (item ?? {}) as Record<string, unknown>;
  return isBefore(endDate, startDate) || isBefore(validUntil, validFrom);
}

/** The sent value of a field; undefined for nothing. The service refuses a text that is no number, with all other errors. */
export function toJson(field: Field, value: unknown, separator: string): unknown {
  if (numberKinds.includes(field.kind)) {
    const text = String(value ?? '').trim();
    const number = parseNumber(text, separator);
    return number === undefined ? text || undefined : exactNumber(number);
  }
  if (field.kind === 'text' && field.isRequired && field.isBlankAllowed) return value;
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

export function toNewBody(definition: Definition, values: Values, separator: string): object {
  const body = {};
  for (const field of leavesOf(definition.fields)) {
    const value = toJson(field, values[field.path], separator);
    if (value !== undefined) setAt(body, field.path, value);
  }
  return body;
}

export function changedPaths(before: Values, now: Values): string[] {
  return Object.keys(now).filter((path) => JSON.stringify(before[path]) !== JSON.stringify(now[path]));
}

/** A merge patch of what was changed; null clears. */
export function toPatch(definition: Definition, before: Values, now: Values, separator: string): object {
  const patch = {};
  const changed = new Set(changedPaths(before, now));
  for (const field of leavesOf(definition.fields)) {
    if (changed.has(field.path)) {
      setAt(patch, field.path, toJson(field, now[field.path], separator) ?? null);
    }
  }
  return patch;
}

/** A typed time as HH:mm where it can be one: "8", "830" and "8.30" are half of an office's times. */
export function toTime(text: string): string {
  const match = /^(\d{1,2})(?:[:.,h]?(\d{2}))?$/.exec(text.trim().replaceAll(/\s/g, ''));
  if (!match) return text;
  const [, hour = '0', minute = '00'] = match;
  const isTime = Number(hour) < 24 ? Number(minute) < 60 : Number(hour) === 24 && minute === '00';
  return isTime ? `${hour.padStart(2, '0')}:${minute}` : text;
}
