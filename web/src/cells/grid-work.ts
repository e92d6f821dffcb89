// Actions of a grid on many cells. The module loads when a cell first has the focus.

import i18next from 'i18next';
import { ApiError } from '../api/client.ts';
import { type Definition, type Entity, valueAt } from '../api/definitions.ts';
import { maxBulk } from '../bulk/bulk.ts';
import { type CellEdit, fieldsOf } from './cell-edit.ts';
import { type Range, spread } from './cell-range.ts';
import { type Copied, cellText, type NameOf, writeCells } from './clipboard.ts';
import { readCells, readTargets, type Target } from './pasted-cells.ts';

export interface Cells {
  definition: Definition;
  entities: readonly Entity[];
  columns: readonly string[];
  range: Range;
  canEdit: (column: string) => boolean;
}

/** Ids of the names that were copied last: pasted here, they mean the same objects. */
let copiedNames = new Map<string, string>();

const textKinds = ['text', 'list', 'choice', 'uuid'];

export function copy({ definition, entities, columns, range }: Cells, nameOf: NameOf): Copied {
  copiedNames = new Map();
  const own = columns.slice(range.left, range.right + 1);
  const rows = entities.slice(range.top, range.bottom + 1).map((entity) =>
    own.map((column) => {
      const text = cellText(definition, entity, column, nameOf);
      const [field] = fieldsOf(definition, column);
      if (field?.reference && text !== '')
        copiedNames.set(`${column} ${text}`, String(valueAt(entity, column)));
      return text;
    }),
  );
  return writeCells(rows, (index) => {
    const fields = fieldsOf(definition, own[index]!);
    return fields.length !== 1 || textKinds.includes(fields[0]!.kind);
  });
}

/** Number of rows that the table must have for a text. */
export function needsRows(text: string, range: Range): number {
  const rows = spread(readCells(text), range);
  if (rows.length > maxBulk) throw new ApiError(0, { message: i18next.t('bulk.tooMany') });
  return range.top + rows.length;
}

export interface Pasted {
  edits: CellEdit[];
  /** Filled cells beyond the table, or in columns that cannot be changed. */
  left: number;
  height: number;
  width: number;
}

export async function paste(cells: Cells, text: string): Promise<Pasted> {
  const { definition, entities, columns, range, canEdit } = cells;
  const rows = spread(readCells(text), range);
  const targets: Target[] = [];
  let left = 0;
  rows.forEach((row, down) => {
    row.forEach((cell, across) => {
      const entity = entities[range.top + down];
      const column = columns[range.left + across];
      if (entity && column !== undefined && canEdit(column)) targets.push({ entity, column, text: cell });
      else if (cell.trim() !== '') left += 1;
    });
  });
  const width = Math.max(...rows.map((row) => row.length));
  const edits = await readTargets(definition, targets, copiedNames);
  return { edits, left, height: rows.length, width };
}

/** The first row's values for all below; a single row takes those of the row above it. */
export function fillDown({ definition, entities, columns, range, canEdit }: Cells): CellEdit[] {
  const isSingle = range.top === range.bottom;
  const source = entities[isSingle ? range.top - 1 : range.top];
  if (!source) return [];
  const rows = entities.slice(isSingle ? range.top : range.top + 1, range.bottom + 1);
  return editsIn(definition, rows, columns.slice(range.left, range.right + 1).filter(canEdit), (path) =>
    valueAt(source, path),
  );
}

export function clear({ definition, entities, columns, range, canEdit }: Cells): CellEdit[] {
  const own = columns.slice(range.left, range.right + 1).filter(canEdit);
  // An address is required, and cleared field by field.
  const single = own.filter((column) => fieldsOf(definition, column).length === 1);
  return editsIn(definition, entities.slice(range.top, range.bottom + 1), single, () => undefined);
}

function editsIn(
  definition: Definition,
  rows: readonly Entity[],
  columns: readonly string[],
  valueFor: (path: string) => unknown,
): CellEdit[] {
  if (rows.length > maxBulk) throw new ApiError(0, { message: i18next.t('bulk.tooMany') });
  return rows.flatMap((entity) =>
    columns.map((column) => ({
      entity,
      column,
      shown: '',
      values: fieldsOf(definition, column).map((field) => {
        const empty = field.isRequired && field.isBlankAllowed ? '' : null;
        return [field.path, valueFor(field.path) ?? empty] as const;
      }),
    })),
  );
}
