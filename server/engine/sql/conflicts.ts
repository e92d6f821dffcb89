// Finds the objects that hold the unique values of rows.
import type pg from 'pg';
import { ApiError } from '../../errors.ts';
import { type Column, type Definition, sqlType, uniqueColumnsOf } from '../definition/definition.ts';
import type { NewRow, Update } from './rows.ts';
import { findHolders } from './value-look-up.ts';

/** Of an update only the values that change count. One statement per column, without rows that have an explanation. */
export async function findConflicts(
  client: pg.ClientBase,
  definition: Definition,
  sought: readonly { row: NewRow; changes?: Update['changes'] }[],
): Promise<Map<NewRow, ApiError>> {
  const conflicts = new Map<NewRow, ApiError>();
  for (const column of uniqueColumnsOf(definition)) {
    const { name, path } = column;
    const rows = sought
      .filter(({ row }) => row[name] !== undefined && !conflicts.has(row))
      .filter(({ changes }) => !changes || Object.hasOwn(changes, path[0]!))
      .map(({ row }) => row);
    const place = { resource: definition.name, column: name, type: sqlType(column) };
    for (const [row, id] of await findHolders(client, place, rows, name)) {
      if (id !== row.id) conflicts.set(row, conflictAt(column, id));
    }
  }
  return conflicts;
}

export function conflictAt(column: Column, id: string): ApiError {
  return new ApiError('conflict', { details: { field: column.path.join('.'), id } });
}

/** Whether an object with the same external id stands in the way. */
export function isExternalIdTaken(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'conflict' && error.details.field === 'externalId';
}
