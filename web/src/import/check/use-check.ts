// Checks the rows before anything is stored: duplicates first, then a dry run with the choices for them.
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { RowChoices } from '../../../../core/table/compared-rows.ts';
import type { LinePlan } from '../../../../core/table/import-lines.ts';
import type { TableFile } from '../../../../core/table/table-file.ts';
import { currentLanguage } from '../../texts/language.ts';
import type { OpenedFile, Part } from '../reader.ts';
import { type RowResult, resultsOf, sendFile } from '../sending.ts';
import type { CheckedRows } from '../use-run.ts';
import { type Duplicate, type DuplicateChoice, findDuplicates, toRowChoices } from './duplicates.ts';

/** Number of rows that are checked without a click, after each change. */
export const checkedFirst = 1000;

const part: Part = { first: checkedFirst, withEdits: true };

interface Checking {
  opened: OpenedFile;
  plan: LinePlan | undefined;
  /** Counts the edited cells. */
  edition: number;
  choices: ReadonlyMap<number, DuplicateChoice>;
}

/** Distinguishes plans as far as their lines differ. */
function keyOfPlan({ type, columns, names, fixed, rules }: LinePlan) {
  return [
    type,
    columns.map((column) => column?.path ?? ''),
    [...(names ?? [])],
    fixed,
    [...(rules?.refused ?? [])],
  ];
}

const once = { gcTime: 0, retry: false, staleTime: Number.POSITIVE_INFINITY } as const;

export function useCheck({ opened, plan, edition, choices }: Checking) {
  const client = useQueryClient();
  const { name, size, table, reader } = opened;
  const key = [name, size, table.sheet, table.titleRow, plan && keyOfPlan(plan), currentLanguage()];
  const duplicatesQuery = (isWhole: boolean) =>
    queryOptions({
      ...once,
      queryKey: ['import duplicates', ...key, edition, isWhole],
      queryFn: async () =>
        findDuplicates(plan!.type, await reader.compare(plan!, isWhole ? undefined : part)),
      enabled: plan !== undefined && !isWhole,
    });
  const isPart = table.rowCount > checkedFirst;
  const whole = useQuery(duplicatesQuery(true));
  const first = useQuery({ ...duplicatesQuery(false), placeholderData: keepPreviousData });
  const duplicates: readonly Duplicate[] = whole.data ?? first.data ?? [];
  const rowChoices: RowChoices = toRowChoices(duplicates, choices);
  const check = useQuery({
    ...once,
    queryKey: ['import check', ...key, edition, [...rowChoices]],
    queryFn: async ({ signal }): Promise<CheckedRows> => {
      const rows = new Map<number, RowResult>();
      await sendFile({
        ...{ reader, plan: plan!, choices: rowChoices, part, signal },
        onPart: (sent, chunk) => {
          for (const result of resultsOf(sent, chunk)) rows.set(result.row, result);
        },
      });
      return rows;
    },
    enabled: plan !== undefined && !first.isPending && !first.isPlaceholderData,
    placeholderData: keepPreviousData,
  });
  return {
    rows: check.data,
    isChecking: first.isFetching || check.isFetching,
    error: first.error ?? check.error,
    retry: () => void (first.error ? first.refetch() : check.refetch()),
    duplicates,
    rowChoices,
    /** Identifies the choices that a run over the whole file covers. */
    key: JSON.stringify([key, [...rowChoices]]),
    /** Looks for duplicates that were not shown yet, in the whole file; returns whether there are any. */
    async findMore(): Promise<boolean> {
      const isShown = whole.data ?? (isPart || first.isPlaceholderData ? undefined : first.data);
      if (isShown) return false;
      const found = await client.fetchQuery(duplicatesQuery(isPart));
      return found.length > duplicates.length;
    },
  };
}

export const rowStates = ['valid', 'hint', 'duplicate', 'failed', 'leftOut', 'open'] as const;
export type RowState = (typeof rowStates)[number];

/** Each row has exactly one state, which makes the counts add up to the rows of the file. */
export function stateOf(result: RowResult | undefined, isDuplicate: boolean): RowState {
  if (!result) return 'open';
  if (result.outcome === 'leftOut' || result.outcome === 'failed') return result.outcome;
  if (isDuplicate) return 'duplicate';
  return result.isHinted ? 'hint' : 'valid';
}

export type StateCounts = Readonly<Record<RowState, number>>;

/** Rows that are no data: totals, notes, repeated titles. */
export function countLeftOut({ leftOut }: TableFile): number {
  return leftOut.notData.length + leftOut.repeatedHead.length;
}

export function countStates(
  table: TableFile,
  rows: CheckedRows,
  duplicates: ReadonlySet<number>,
): StateCounts {
  const counts = { valid: 0, hint: 0, duplicate: 0, failed: 0, leftOut: 0, open: table.rowCount - rows.size };
  for (const [row, result] of rows) counts[stateOf(result, duplicates.has(row))] += 1;
  counts.leftOut += countLeftOut(table);
  return counts;
}
