// A body that was refused, as far as a form can show it. What has the wrong type comes in as the text of its value.
import {
  type Definition,
  type Field,
  leavesOf,
  setAt,
  valueAt,
} from '../../../core/definition/definition.ts';
import { parseNumber } from '../forms/form-values.ts';
import { isDay, parseDay } from '../texts/format.ts';

/** The other names by which a body can name an owner: customerExternalId for customerId. */
export function ownerNamesOf(definition: Definition): Map<string, string> {
  return new Map(
    definition.fields
      .filter(({ reference }) => reference?.isOwner)
      .map(({ path }) => [path.replace(/Id$/, 'ExternalId'), path]),
  );
}

/** The object that the form begins with, each value of a kind that its input can show. */
export function toCorrection(
  definition: Definition,
  body: string,
  owners: ReadonlyMap<string, string>,
): Record<string, unknown> {
  // Numbers as they were written, since an exact decimal must not become a double on the way.
  const keepSource = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value;
  const written = JSON.parse(body, keepSource as (name: string, value: unknown) => unknown);
  const sent = JSON.parse(body);
  const entity: Record<string, unknown> = {};
  for (const field of leavesOf(definition.fields)) {
    const source = field.kind === 'list' ? sent : written;
    const value = owners.get(field.path) ?? toShown(field, valueAt(source, field.path)) ?? field.default;
    if (value !== undefined) setAt(entity, field.path, value);
  }
  return entity;
}

function toShown(field: Field, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (field.kind) {
    case 'list':
      return Array.isArray(value) ? value : undefined;
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'choice':
      return field.choices?.some((choice) => choice.value === value) ? value : undefined;
    case 'date':
      return parseDay(String(value)) ?? String(value);
    default:
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

/** Whether the form already sends the right value: the number 20095 as a text, 31.12.2026 as a day. */
export function isRepaired(
  field: Field,
  { code, sent, shown }: { code: string | undefined; sent: unknown; shown: unknown },
  separator: string,
): boolean {
  if (code !== 'type' && code !== 'invalid_date') return false;
  switch (field.kind) {
    case 'date':
      return isDay(String(shown));
    case 'integer':
    case 'decimal':
    case 'double':
      return parseNumber(String(shown), separator) !== undefined;
    case 'text':
      return typeof sent === 'number';
    default:
      return false;
  }
}

/** Values that no input can show, as they were sent: a form must not turn them into something else silently. */
export function unreadableValues(definition: Definition, body: string): Map<string, string> {
  const sent = JSON.parse(body);
  const found = new Map<string, string>();
  for (const field of leavesOf(definition.fields)) {
    const value = valueAt(sent, field.path);
    if (value === undefined || toShown(field, value) !== undefined) continue;
    const written = typeof value === 'string' ? value : JSON.stringify(value);
    found.set(field.path, written.length > maxShown ? `${written.slice(0, maxShown)}…` : written);
  }
  return found;
}

const maxShown = 80;
