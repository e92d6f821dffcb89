// Edits that were typed, pasted or cleared in a cell, before the service has taken them.
import { type Definition, type Entity, type Field, leavesOf, setAt, valueAt } from '../api/definitions.ts';
import { type Column, isAddress } from '../tables/columns.ts';

export interface CellEdit {
  entity: Entity;
  /** Id of the column. */
  column: string;
  /** The text as it was typed. */
  shown: string;
  /** New values by path; null clears. */
  values: readonly (readonly [path: string, value: unknown])[];
  /** The reason why the edit cannot even be sent. */
  error?: string;
}

export interface PendingCell extends CellEdit {
  state: 'saving' | 'refused' | 'unsent' | 'conflict';
  message?: string;
}

export const cellKey = (id: string, column: string) => `${id} ${column}`;

export function withValues(entity: Entity, edits: readonly CellEdit[]): Entity {
  const changed = structuredClone(entity);
  for (const { values } of edits) for (const [path, value] of values) setAt(changed, path, plainValue(value));
  return changed;
}

/** Exact numbers are raw JSON until they are sent. */
function plainValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'rawJSON' in value
    ? Number(value.rawJSON)
    : (value ?? undefined);
}

export function patchOf(edits: readonly CellEdit[]): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const { values } of edits) for (const [path, value] of values) setAt(patch, path, value);
  return patch;
}

const same = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

export function isSame(entity: Entity, { values }: CellEdit): boolean {
  return values.every(([path, value]) => same(valueAt(entity, path), value));
}

/** Whether nobody else has touched what the edits change. */
export function isUntouched(before: Entity, now: Entity, edits: readonly CellEdit[]): boolean {
  return edits.every(({ values }) =>
    values.every(([path]) => same(valueAt(before, path), valueAt(now, path))),
  );
}

/** The cell's fields: one, or the members of an address. None where the service keeps the value. */
export function fieldsOf(definition: Definition, column: string): readonly Field[] {
  const leaf = leavesOf(definition.fields).find(({ path, twinOf }) => path === column && !twinOf);
  if (leaf) return [leaf];
  const group = definition.fields.find((field) => field.path === column && isAddress(field));
  return group?.fields ?? [];
}

/** The column of the name stands first. */
export function gridColumns(definition: Definition, shown: readonly Column[]): string[] {
  return [definition.nameField, ...shown.map(({ id }) => id)];
}
