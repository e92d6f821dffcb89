// Rows of a file as lines of an import.
import { type ThousandsMark, toFieldValue } from './cells.ts';
import { type ImportColumn, idColumn } from './columns.ts';
import type { Cell } from './csv.ts';
import { setAt } from './definition.ts';

/** One per title of the file; undefined for an ignored column. */
export type ChosenColumns = readonly (ImportColumn | undefined)[];

export function toLine(
  type: string,
  columns: ChosenColumns,
  cells: readonly Cell[],
  mark: ThousandsMark | undefined,
): string {
  const id = idIn(columns, cells);
  const data: Record<string, unknown> = {};
  columns.forEach((column, index) => {
    if (!column || column.path === idColumn.path) return;
    const value = toFieldValue(column.field, cells[index] ?? null, mark);
    if (value !== undefined) setAt(data, column.path, value);
    // An emptied cell clears its field. A reference that waits for its object stands in the column of its external id.
    else if (id !== undefined && !isTwinFilled(columns, cells, column.path)) setAt(data, column.path, null);
  });
  if (id === undefined) return JSON.stringify({ type, data });
  return JSON.stringify({ type, action: 'merge', data: { id, ...clearEmptyGroups(data) } });
}

function idIn(columns: ChosenColumns, cells: readonly Cell[]): string | undefined {
  const index = columns.findIndex((column) => column?.path === idColumn.path);
  return index < 0 ? undefined : cells[index]?.trim() || undefined;
}

/** A reference has two columns, for its id and for its external id. */
function isTwinFilled(columns: ChosenColumns, cells: readonly Cell[], path: string): boolean {
  const twinOf = columns.find((column) => column?.path === path)?.field.twinOf;
  return columns.some(
    (column, index) =>
      column &&
      (column.field.twinOf === path || column.path === twinOf) &&
      (cells[index] ?? '').trim() !== '',
  );
}

/** A position without both numbers is none. The service says which members a group needs. */
function clearEmptyGroups(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) {
        return [name, value];
      }
      const members = clearEmptyGroups(value as Record<string, unknown>);
      return [name, Object.values(members).every((member) => member === null) ? null : members];
    }),
  );
}

function isRawNumber(value: object): boolean {
  return 'rawJSON' in value;
}

/** Rows in which every chosen column is empty are left out. */
export function holdsData(columns: ChosenColumns, cells: readonly Cell[]): boolean {
  return columns.some((column, index) => column && (cells[index] ?? '').trim() !== '');
}
