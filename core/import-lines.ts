// Rows of a file as lines of an import.
import { salutationOf, splitCell } from './cell-parts.ts';
import { type ThousandsMark, toFieldValue } from './cells.ts';
import { type ImportColumn, idColumn, versionColumn } from './columns.ts';
import { type Cell, unguardText } from './csv.ts';
import { setAt } from './definition.ts';
import { foldName, isNameless } from './names.ts';

/** One per title of the file; undefined for an ignored column. */
export type ChosenColumns = readonly (ImportColumn | undefined)[];

/** The ids of the objects that each column's cells name, by path and folded name. A person may have chosen another one. */
export type KnownNames = ReadonlyMap<string, readonly string[] | 'empty' | 'skip'>;

export function nameKey(path: string, name: string): string {
  return `${path} ${foldName(name)}`;
}

/** How rows become lines. */
export interface LinePlan {
  type: string;
  columns: ChosenColumns;
  mark: ThousandsMark | undefined;
  names?: KnownNames;
  /** By column: each filled cell says yes, so an empty one says no. */
  onlyYes?: readonly boolean[];
  /** Values of fields that no column brings, for all rows. */
  fixed?: Readonly<Record<string, unknown>>;
}

/** `existingId`: the object that the row changes, by a person's choice. */
export function toLine(plan: LinePlan, cells: readonly Cell[], existingId?: string): string {
  const { type, columns, mark, names = new Map(), onlyYes = [], fixed = {} } = plan;
  const id = idIn(columns, cells) ?? existingId;
  const data: Record<string, unknown> = {};
  const put = (path: string, value: unknown) => {
    if (value !== undefined) setAt(data, path, value);
    // An emptied cell of an exported row clears its field. A reference that waits stands in the column of its external id.
    else if (id !== undefined && id !== existingId && !isTwinFilled(columns, cells, path))
      setAt(data, path, null);
  };
  for (const [path, value] of Object.entries(fixed)) setAt(data, path, value);
  columns.forEach((column, index) => {
    if (!column?.parts) return;
    const text = unguardText(cells[index] ?? '');
    const values = splitCell(column.parts, text);
    column.parts.paths.forEach((path, place) => {
      put(path, values[place]);
    });
    const { salutationPath } = column.parts;
    const salutation = salutationPath && salutationOf(text);
    // A column of its own decides.
    if (salutation && !columns.some((other) => other?.path === salutationPath))
      setAt(data, salutationPath, salutation);
  });
  columns.forEach((column, index) => {
    if (!column || column.parts || column.path === idColumn.path || column.path === versionColumn.path)
      return;
    if (column.namedPath !== undefined) {
      put(column.namedPath, resolveName(columns, cells, column as NameColumn, cells[index] ?? null, names));
      return;
    }
    // The name decides, if the file has both.
    if (columns.some((other) => other?.namedPath === column.path)) return;
    const value = toFieldValue(column.field, cells[index] ?? null, mark);
    const isNo = value === undefined && column.field.kind === 'flag' && onlyYes[index] && id === undefined;
    put(column.path, isNo ? false : value);
  });
  if (id === undefined) return JSON.stringify({ type, data });
  const version = id === existingId ? undefined : versionIn(columns, cells);
  return JSON.stringify({ type, action: 'merge', version, data: { id, ...clearEmptyGroups(data) } });
}

/** Whether a person leaves out rows with a name in this row. */
export function isLeftOut({ columns, names }: LinePlan, cells: readonly Cell[]): boolean {
  return columns.some(
    (column, index) =>
      column?.namedPath && names?.get(nameKey(column.path, unguardText(cells[index] ?? ''))) === 'skip',
  );
}

type NameColumn = ImportColumn & { namedPath: string };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of the object that a cell names. The column of the id decides between objects of the same name, and for those
 * without one. A name that nothing answers to, or several do, stays a text, which validation rejects.
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
  if (isNameless(name) && id !== undefined) return id;
  // An emptied name of an exported row clears the reference, although the column of the id still has its id.
  if (name === '') return idIn(columns, cells) === undefined ? id : undefined;
  if (uuid.test(name)) return name;
  const ids = names.get(nameKey(path, name)) ?? [];
  if (ids === 'empty' || ids === 'skip') return undefined;
  if (id !== undefined && ids.includes(id)) return id;
  return ids.length === 1 ? ids[0] : name;
}

function idIn(columns: ChosenColumns, cells: readonly Cell[]): string | undefined {
  return cellAt(columns, cells, idColumn.path);
}

function versionIn(columns: ChosenColumns, cells: readonly Cell[]): number | undefined {
  const cell = cellAt(columns, cells, versionColumn.path);
  return cell !== undefined && /^\d{1,9}$/.test(cell) ? Number(cell) : undefined;
}

function cellAt(columns: ChosenColumns, cells: readonly Cell[], path: string): string | undefined {
  const index = columns.findIndex((column) => column?.path === path);
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
