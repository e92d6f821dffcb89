// The results of the beginning of the file, which follow each change, over those of a check of the whole file.
import { useEffect, useState } from 'react';
import type { CheckedRows, useRun } from '../use-run.ts';
import type { useCheck } from './use-check.ts';

const nothing: CheckedRows = new Map();

export function useWholeCheck(
  { state }: ReturnType<typeof useRun>,
  { key, rows = nothing }: ReturnType<typeof useCheck>,
): CheckedRows {
  const [whole, setWhole] = useState<{ key: string; rows: CheckedRows }>();
  const isDone = state?.isDryRun && state.status === 'done';
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end of a run says something about the whole file.
  useEffect(() => {
    if (isDone) setWhole({ key, rows: state.rows });
  }, [isDone]);
  return whole?.key === key ? new Map([...whole.rows, ...rows]) : rows;
}
