// Rows of a file as lines of an import.
import { type ThousandsMark, toFieldValue } from './cells.ts';
import { type ImportColumn, idColumn } from './columns.ts';
import { type Cell, unguardText } from './csv.ts';
import { setAt } from './definition.ts';
import { foldName } from './names.ts';

/** One per title of the file; undefined for an ignored column. */
export type ChosenColumns = readonly (ImportColumn | undefined)[];

/** The ids of the objects that each column's cells name, by path and folded name. */
export type KnownNames = ReadonlyMap<string, readonly string[]>;

export function nameKey(path: string, name: string): string {
  return `${path} ${foldName(name)}`;
}

export function toLine(
  type: string,
  columns: ChosenColumns,
  cells: readonly Cell[],
  mark: ThousandsMark | undefined,
  names: KnownNames = new Map(),
): string {
  const id = idIn(columns, cells);
  const data: Record<string, unknown> = {};
  columns.forEach((column, index) => {
    if (!column || column.path === idColumn.path) return;
    if (column.namedPath !== undefined) {
      const named = resolveName(columns, cells, column as NameColumn, cells[index] ?? null, names);
      if (named !== undefined) setAt(data, column.namedPath, named);
      else if (id !== undefined && !isTwinFilled(columns, cells, column.namedPath)) {
        setAt(data, column.namedPath, null);
      }
      return;
    }
    // The name decides, if the file has both.
    if (columns.some((other) => other?.namedPath === column.path)) return;
    const value = toFieldValue(column.field, cells[index] ?? null, mark);
    if (value !== undefined) setAt(data, column.path, value);
    // An emptied cell clears its field. A reference that waits for its object stands in the column of its external id.
    else if (id !== undefined && !isTwinFilled(columns, cells, column.path)) setAt(data, column.path, null);
  });
  if (id === undefined) return JSON.stringify({ type, data });
  return JSON.stringify({ type, action: 'merge', data: { id, ...clearEmptyGroups(data) } });
}

type NameColumn = ImportColumn & { namedPath: string };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of the object that a cell names. The column of the id decides between objects of the same name. A name that nothing
 * answers to, or several do, stays a text, which validation rejects.
 */
function resolveName(
  columns: ChosenColumns,
  cells: readonly Cell[],
  { path, namedPath }: NameColumn,
  cell: Cell,
  names: KnownNames,
): string | undefined {
  const name = unguardText(cell ?? '').trim();
  const id = cells[columns.findIndex((column) => column?.path === namedPath)]?.trim() || undefined;
  if (name === '' || uuid.test(name)) return name || id;
  const ids = names.get(nameKey(path, name)) ?? [];
  if (id !== undefined && ids.includes(id)) return id;
  return ids.length === 1 ? ids[0] : name;
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
