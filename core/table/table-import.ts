// Turns an opened table into the lines of an import, for the web app and the command line.

import type { Definition } from '../definition/definition.ts';
import { isNameless } from '../definition/names.ts';
import { type CellRules, type FileFacts, isPlaceholder, isReadable } from './cell-guesses.ts';
import { toFieldValue } from './cells.ts';
import { type ImportColumn, idColumn, requiredFlagsOf } from './columns.ts';
import type { Cell } from './csv/csv.ts';
import type { CsvRow } from './csv/csv-file.ts';
import {
  type ChosenColumns,
  isAssignable,
  type KnownNames,
  type LinePlan,
  nameAt,
  nameKey,
  ownerAt,
  standInAt,
} from './import-lines.ts';
import type { OpenTable, TableFile } from './table-file.ts';
import { isFilled } from './table-rows.ts';

/** Yields the rows without titles, totals and notes. */
export async function* dataRows({ table, readRows }: OpenTable): AsyncGenerator<CsvRow> {
  const { notData, repeatedHead } = table.leftOut;
  const leftOut = new Set([...notData.map(({ number }) => number), ...repeatedHead]);
  for await (const rows of readRows()) {
    for (const row of rows)
      if (row.number > table.titleRow && !leftOut.has(row.number) && isFilled(row)) yield row;
  }
}

interface Understanding {
  definition: Definition;
  columns: ChosenColumns;
  table: Pick<TableFile, 'thousandsMark' | 'onlyYes'>;
  facts: FileFacts;
  language: CellRules['language'];
  refused?: CellRules['refused'];
  names?: KnownNames;
  fixed?: Readonly<Record<string, unknown>>;
  /** Whether the file is an export of Stamm, whose cells are as stored. */
  isExport?: boolean;
}

export function planLines(understanding: Understanding): LinePlan {
  const { definition, columns, table, facts, language, refused = new Set(), names, fixed } = understanding;
  const comment = definition.fields.find(({ name }) => name === 'comment');
  return {
    type: definition.name,
    columns,
    mark: table.thousandsMark,
    onlyYes: table.onlyYes,
    ...(names && { names }),
    silent: silentFlags(definition, columns),
    ...(fixed && { fixed }),
    rules: {
      facts,
      refused,
      language,
      commentLength: comment?.maxLength ?? 0,
      isExport: understanding.isExport ?? hasIds(columns),
    },
  };
}

/** Required fields that say yes or no and have no column: they are no, unless a person says else. */
export function silentFlags(definition: Definition, columns: ChosenColumns): string[] {
  if (hasIds(columns)) return [];
  const paths = new Set(columns.map((column) => column?.path));
  return requiredFlagsOf(definition)
    .map(({ path }) => path)
    .filter((path) => !paths.has(path));
}

/** Paths of the fields that columns bring. */
export function takenPaths(columns: ChosenColumns): Set<string> {
  return new Set(
    columns.flatMap((column) =>
      column ? [column.path, column.namedPath ?? '', ...(column.parts?.paths ?? [])] : [],
    ),
  );
}

function hasIds(columns: ChosenColumns): boolean {
  return columns.some((column) => column?.path === idColumn.path);
}

/** A name in the file that stands for an object, or a word that stands for a choice. */
export interface NamedCell {
  column: ImportColumn;
  name: string;
  /** Name of the object's owner, if the file has it. */
  owner?: string | undefined;
  /** Number of rows that have the name. None have one that only stands beside another name. */
  rows: number;
  /** Keys of the other names in these rows; undefined if a row has no other one. */
  besides: readonly string[] | undefined;
}

/** More names beside one name do not explain it. */
const maxBesides = 20;

const maxNameLength = 200;

/** Takes each row, then has each name once. Spellings of one name count as one. */
export function buildNameSearch(columns: ChosenColumns) {
  const found = new Map<string, NamedCell>();

  function add(column: ImportColumn, name: string, owner: string | undefined): NamedCell | undefined {
    if (name === '' || name.length > maxNameLength || !needsMeaning(column, name)) return undefined;
    const key = nameKey(column.path, name, owner);
    const known = found.get(key) ?? { column, name, owner, rows: 0, besides: [] };
    found.set(key, known);
    return known;
  }

  return {
    push(cells: readonly Cell[]): void {
      columns.forEach((column, index) => {
        if (!column || column.adds?.how === 'name') return;
        const name = nameAt(columns, cells, index);
        const owner = ownerAt(columns, cells, index);
        const named = add(column, name, owner);
        const other = standInAt(columns, cells, column.path);
        const beside = other === name ? undefined : add(column, other, owner);
        if (!named) return;
        named.rows += 1;
        const key = beside && nameKey(column.path, other, owner);
        if (key === undefined || named.besides?.length === maxBesides) named.besides = undefined;
        else if (named.besides?.includes(key) === false) named.besides = [...named.besides, key];
      });
    },
    end: (): NamedCell[] => [...found.values()],
  };
}

function needsMeaning(column: ImportColumn, name: string): boolean {
  const { field } = column;
  if (isPlaceholder(field, name)) return false;
  if (column.namedPath !== undefined) return !isNameless(name);
  return isAssignable(column) && !isReadable(field, toFieldValue(field, name, undefined));
}
