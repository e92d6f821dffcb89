// The rows of the file below heads that say where each column goes. Cells are corrected in place.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { columnAt, type ImportColumn, idColumn } from '../../../../core/table/columns.ts';
import type { CsvRow } from '../../../../core/table/csv/csv-file.ts';
import { guessesIn, type LinePlan } from '../../../../core/table/import-lines.ts';
import type { TableFile } from '../../../../core/table/table-file.ts';
import classes from '../import.module.css';
import type { RowResult } from '../sending.ts';
import type { CheckedRows } from '../use-run.ts';
import type { RowChanges } from './changes.ts';
import { ColumnHead } from './column-head.tsx';
import { ImportCell } from './import-cell.tsx';
import { errorsElsewhere, RowOutcome } from './row-outcome.tsx';
import { type CellPlace, useGridKeys } from './use-grid-keys.ts';

interface ImportTableProps {
  table: TableFile;
  known: readonly ImportColumn[];
  columns: readonly (ImportColumn | undefined)[];
  onColumn: (index: number, column: ImportColumn | undefined) => void;
  plan: LinePlan | undefined;
  rows: readonly CsvRow[];
  results: CheckedRows;
  changes: ReadonlyMap<number, RowChanges>;
  duplicates: ReadonlySet<number>;
  onEdit: (row: number, index: number, text: string) => void;
}

const leftOut: RowResult = { row: 0, outcome: 'leftOut', errors: [] };

export function ImportTable(props: ImportTableProps) {
  const { table, known, columns, onColumn, plan, rows, results, changes, duplicates, onEdit } = props;
  const { t } = useTranslation();
  const [editing, setEditing] = useState<CellPlace & { text?: string }>();
  const size = { rows: rows.length, columns: table.titles.length };
  const grid = useGridKeys(size, {
    onEdit: setEditing,
    onClear: ({ row, column }) => onEdit(rows[row]!.number, column, ''),
  });
  const notData = new Set([
    ...table.leftOut.notData.map(({ number }) => number),
    ...table.leftOut.repeatedHead,
  ]);
  const taken = new Set(columns.map((column) => column?.path));

  function commit({ row, column }: CellPlace, text: string | undefined, step?: CellPlace) {
    setEditing(undefined);
    if (text !== undefined) onEdit(rows[row]!.number, column, text);
    if (step) grid.focus({ row: row + step.row, column: column + step.column });
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={classes.tableBox} tabIndex={0} aria-label={t('import.rowsOfFile')}>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its cells are edited like a spreadsheet's. */}
      <table className={classes.table} role="grid" aria-label={t('import.rowsOfFile')}>
        <thead>
          <tr>
            <th scope="col">{t('import.row')}</th>
            <th scope="col">{t('import.result')}</th>
            {table.titles.map((title, index) => (
              <ColumnHead
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place; titles may be there twice.
                key={index}
                {...{ title, index, known, taken }}
                column={columns[index]}
                isOnlyYes={table.onlyYes[index] ?? false}
                onChange={(column) => onColumn(index, column)}
              />
            ))}
          </tr>
        </thead>
        <tbody ref={grid.body} onKeyDown={grid.onKeyDown}>
          {rows.map(({ number, cells }, row) => {
            const isData = !notData.has(number);
            const result = isData ? results.get(number) : leftOut;
            const guesses = isData && plan ? guessesIn(plan, cells) : undefined;
            const rowChanges = changes.get(number);
            return (
              <tr key={number}>
                <th scope="row" className="numbers">
                  {number}
                </th>
                <td>
                  <RowOutcome
                    result={result}
                    isDuplicate={duplicates.has(number)}
                    changes={rowChanges}
                    known={known}
                    errors={errorsElsewhere(result, columns, known)}
                  />
                </td>
                {table.titles.map((_, column) => {
                  const isEdited = editing?.row === row && editing.column === column;
                  return (
                    <ImportCell
                      // biome-ignore lint/suspicious/noArrayIndexKey: as above.
                      key={column}
                      {...{ row, column, number }}
                      title={table.titles[column] || String(column + 1)}
                      cell={cells[column] ?? null}
                      target={columns[column]}
                      isOfWorkbook={table.sheet !== undefined}
                      guess={guesses?.get(column)}
                      before={rowChanges?.cells.get(column)}
                      errors={errorsOf(result, columns[column])}
                      isActive={grid.isActive(row, column)}
                      isEditable={isData && columns[column]?.path !== idColumn.path}
                      editing={isEdited ? editing : undefined}
                      onBegin={() => setEditing({ row, column })}
                      onFocus={() => grid.setActive({ row, column })}
                      onEnd={(text, step) => commit({ row, column }, text, step)}
                    />
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function errorsOf(result: RowResult | undefined, column: ImportColumn | undefined): readonly string[] {
  if (!column) return [];
  const messages = (result?.errors ?? [])
    .filter(({ field }) => columnAt([column], field))
    .map(({ message }) => message);
  return [...new Set(messages)];
}
