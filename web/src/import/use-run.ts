// A run over the whole file, tried or in earnest, and what has become of its rows so far.
import { useCallback, useRef, useState } from 'react';
import type { RowChoices } from '../../../core/compared-rows.ts';
import type { LinePlan } from '../../../core/import-lines.ts';
import { call } from '../api/client.ts';
import { useForgetReadings } from '../api/records.ts';
import type { OpenedFile } from './reader.ts';
import { type Counts, noCounts, type RowError, sendFile } from './sending.ts';

export interface RunState {
  status: 'running' | 'done' | 'cancelled' | 'failed';
  isDryRun: boolean;
  /** Of an import, to undo it. */
  importId?: string;
  startedAt: number;
  total: number;
  read: number;
  counts: Counts;
  /** The errors of each rejected row. */
  errors: ReadonlyMap<number, readonly RowError[]>;
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
    const errors = new Map<number, readonly RowError[]>();
    let now: RunState = {
      status: 'running',
      isDryRun,
      startedAt: Date.now(),
      total,
      read: 0,
      counts: noCounts,
      errors,
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
