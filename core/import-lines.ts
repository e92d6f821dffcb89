// Rows of a file as lines of an import.
import { type ThousandsMark, toFieldValue } from './cells.ts';
import type { ImportColumn } from './columns.ts';
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
  const data: Record<string, unknown> = {};
  columns.forEach((column, index) => {
    if (!column) return;
    const value = toFieldValue(column.field, cells[index] ?? null, mark);
    if (value !== undefined) setAt(data, column.path, value);
  });
  return JSON.stringify({ type, data });
}

/** Rows in which every chosen column is empty are left out. */
export function holdsData(columns: ChosenColumns, cells: readonly Cell[]): boolean {
  return columns.some((column, index) => column && (cells[index] ?? '').trim() !== '');
}
