// Masks personal data in a recorded body and keeps its shape. Choices, ids, days, numbers and flags of the definition stay
// visible if they are valid. Every other value is hidden: a person's name may stand in any field.
import { isDay } from '../../../core/calendar/calendar-days.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { Field, Fields } from '../../engine/definition/fields.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { isObject } from '../../engine/definition/validation.ts';

const hidden = '•••';
/** A body of the longest kind could be nested deeper than can be walked. */
const maxDepth = 50;

export function maskBody(body: string, definition: Definition | undefined): string {
  try {
    return JSON.stringify(mask(JSON.parse(body), { fields: definition?.fields ?? {} }, 0));
  } catch {
    // It was read once, so it can be read again; but nothing is shown that could not be looked through.
    return JSON.stringify(hidden);
  }
}

function mask(value: unknown, known: { fields?: Fields; field?: Field }, depth: number): unknown {
  if (depth > maxDepth) return hidden;
  if (Array.isArray(value)) return value.map((item) => mask(item, {}, depth + 1));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const field = known.fields && Object.hasOwn(known.fields, name) ? known.fields[name] : undefined;
        return [name, mask(member, { fields: field?.fields, field }, depth + 1)];
      }),
    );
  }
  if (value === null || typeof value === 'boolean' || value === '') return value;
  return isHarmless(value, known.field) ? value : hidden;
}

function isHarmless(value: unknown, field: Field | undefined): boolean {
  switch (field?.kind) {
    case 'integer':
    case 'decimal':
      return typeof value === 'number';
    case 'date':
      return typeof value === 'string' && isDay(value);
    case 'uuid':
      return typeof value === 'string' && isUuid(value);
    case 'text':
      return field.choiceTitles?.has(String(value)) ?? false;
    default:
      return false;
  }
}
