// A run over the whole file, tried or in earnest, and what has become of its rows so far.
import { useCallback, useRef, useState } from 'react';
import type { ChosenColumns, KnownNames } from '../../../core/import-lines.ts';
import { useForgetReadings } from '../api/records.ts';
import type { Reader } from './reader.ts';
import { type Counts, type RowError, sendFile } from './sending.ts';

export interface RunState {
  status: 'running' | 'done' | 'cancelled' | 'failed';
  isDryRun: boolean;
  startedAt: number;
  total: number;
  read: number;
  counts: Counts;
  /** The errors of each rejected row. */
  errors: ReadonlyMap<number, readonly RowError[]>;
  error?: unknown;
}

interface Start {
  type: string;
  columns: ChosenColumns;
  names: KnownNames;
  isDryRun: boolean;
  total: number;
}

const nothing: Counts = { created: 0, replaced: 0, unchanged: 0, failed: 0 };

export function useRun(reader: Reader) {
  const [state, setState] = useState<RunState>();
  const isCancelled = useRef(false);
  const forgetReadings = useForgetReadings();

  async function start({ type, columns, names, isDryRun, total }: Start) {
    isCancelled.current = false;
    const errors = new Map<number, readonly RowError[]>();
    let now: RunState = {
      status: 'running',
      isDryRun,
      startedAt: Date.now(),
      total,
      read: 0,
      counts: nothing,
      errors,
    };
    const show = (changes: Partial<RunState>) => {
      now = { ...now, ...changes };
      setState(now);
    };
    show({});
    try {
      await sendFile({
        reader,
        type,
        columns,
        names,
        isDryRun,
        isCancelled: () => isCancelled.current,
        onPart: (read, { results, counts }) => {
          for (const result of results) {
            if (result.outcome === 'failed') errors.set(result.row, result.errors);
          }
          show({ read, counts: addCounts(now.counts, counts) });
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
    /** What was said about other columns does not hold for these. */
    forget: () => setState(undefined),
  };
}

function addCounts(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    replaced: one.replaced + other.replaced,
    unchanged: one.unchanged + other.unchanged,
    failed: one.failed + other.failed,
  };
}
