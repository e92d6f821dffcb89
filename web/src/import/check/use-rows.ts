// The rows that are shown, with what a person wrote into their cells.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { guardText } from '../../../../core/table/csv/csv.ts';
import type { CsvRow } from '../../../../core/table/csv/csv-file.ts';
import { tellFailure } from '../../frame/notices.tsx';
import type { OpenedFile } from '../reader.ts';
import type { CheckedRows } from '../use-run.ts';
import { type RowState, stateOf } from './use-check.ts';

const most = 100;

export function useRows({ reader, table, name, size }: OpenedFile) {
  const [edits, setEdits] = useState<ReadonlyMap<number, ReadonlyMap<number, string>>>(new Map());
  const [edition, setEdition] = useState(0);
  const [shown, setShown] = useState<{ state: RowState; numbers: number[] }>();
  const query = useQuery({
    queryKey: ['import rows', name, size, table.sheet, table.titleRow, shown?.numbers],
    queryFn: () => reader.rows(shown ? { numbers: shown.numbers } : { first: most }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

  function withEdits(row: CsvRow): CsvRow {
    const changed = edits.get(row.number);
    if (!changed) return row;
    const cells = [...row.cells];
    for (const [index, text] of changed) cells[index] = text === '' ? null : guardText(text);
    return { ...row, cells };
  }

  const { notData, repeatedHead } = table.leftOut;
  const leftOut = [...notData, ...repeatedHead.map((number) => ({ number, cells: table.titles }))];
  const rows = (query.data ?? table.head).map(withEdits);
  return {
    /** The rows of the chosen state. A corrected row stays until another state is chosen. */
    rows: shown?.state === 'leftOut' ? [...leftOut, ...rows].slice(0, most) : rows,
    shown: shown?.state,
    show(state: RowState | undefined, results: CheckedRows, duplicates: ReadonlySet<number>): void {
      const found = [...results].filter(([row, result]) => stateOf(result, duplicates.has(row)) === state);
      setShown(state && { state, numbers: found.map(([row]) => row).slice(0, most) });
    },
    /** Counts the edits. */
    edition,
    edit(row: number, index: number, text: string): void {
      reader.edit(row, index, text).catch(tellFailure);
      setEdits((before) => new Map(before).set(row, new Map(before.get(row)).set(index, text)));
      setEdition((before) => before + 1);
    },
  };
}
