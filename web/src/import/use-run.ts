// A run over the whole file, tried or in earnest, and what has become of its rows so far.
import { useCallback, useRef, useState } from 'react';
import type { RowChoices } from '../../../core/table/compared-rows.ts';
import type { LinePlan } from '../../../core/table/import-lines.ts';
import { call } from '../api/client.ts';
import { useForgetReadings } from '../api/records.ts';
import type { OpenedFile } from './reader.ts';
import { type Counts, noCounts, type RowResult, resultsOf, sendFile } from './sending.ts';

/** Results by the number of the row. */
export type CheckedRows = ReadonlyMap<number, RowResult>;

export interface RunState {
  status: 'running' | 'done' | 'cancelled' | 'failed';
  isDryRun: boolean;
  /** Set for an import, to undo it. */
  importId?: string;
  startedAt: number;
  total: number;
  read: number;
  counts: Counts;
  rows: CheckedRows;
  error?: unknown;
}

interface Start {
  plan: LinePlan;
  choices: RowChoices;
  isDryRun: boolean;
}

export function useRun({ reader, name, table }: OpenedFile) {
  const total = table.rowCount;
  const [state, setState] = useState<RunState>();
  const isCancelled = useRef(false);
  const forgetReadings = useForgetReadings();

  async function start({ plan, choices, isDryRun }: Start) {
    isCancelled.current = false;
    const rows = new Map<number, RowResult>();
    let now: RunState = {
      status: 'running',
      isDryRun,
      startedAt: Date.now(),
      total,
      read: 0,
      counts: noCounts,
      rows,
    };
    const show = (changes: Partial<RunState>) => {
      now = { ...now, ...changes };
      setState(now);
    };
    show({});
    try {
      const importId = isDryRun ? undefined : await beginImport(name, plan.type);
      show({ importId });
      await sendFile({
        reader,
        plan,
        choices,
        importId,
        isCancelled: () => isCancelled.current,
        onPart: (sent, chunk) => {
          for (const result of resultsOf(sent, chunk)) rows.set(result.row, result);
          show({ read: chunk.read, counts: addCounts(now.counts, sent.counts) });
        },
      });
      show({ status: isCancelled.current && now.read < total ? 'cancelled' : 'done' });
    } catch (error) {
      show({ status: 'failed', error });
    }
    if (!isDryRun) await forgetReadings();
  }

  return {
    state,
    start,
    cancel: useCallback(() => {
      isCancelled.current = true;
    }, []),
    /** Forgets results, which do not hold for other columns. */
    forget: () => setState(undefined),
  };
}

const maxFileNameLength = 255;

async function beginImport(fileName: string, resource: string): Promise<string> {
  const body = { fileName: fileName.slice(-maxFileNameLength), resource };
  return (await call<{ id: string }>('POST', '/imports', { body })).id;
}

function addCounts(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    replaced: one.replaced + other.replaced,
    unchanged: one.unchanged + other.unchanged,
    failed: one.failed + other.failed,
  };
}
