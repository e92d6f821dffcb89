// Imports, bulk changes and merges of the last 30 days, and undoing one of them.
import { infiniteQueryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeletedObject } from '../api/bin.ts';
import { call, queryString, toApiError } from '../api/client.ts';
import { useForgetReadings } from '../api/records.ts';
import type { ActorNames } from '../records/actor.tsx';

export interface ImportRun extends ActorNames {
  id: string;
  /** Null for an import that was no file of the office. */
  fileName: string | null;
  resource: string | null;
  /** Set for a merge: the object that stayed. */
  objectId: string | null;
  startedAt: string;
  created: number;
  changed: number;
  deleted: number;
  /** Number of objects that undoing has looked at, and of those that it left as they are. */
  settled: number;
  kept: number;
  undoStartedAt: string | null;
  undoActor: string | null;
  undoableUntil: string;
  /** Whether there is anything left to undo. */
  isOpen: boolean;
}

/** The actor is the one who wrote it since. */
export interface KeptObject extends Partial<ActorNames> {
  resource: string;
  id: string;
  reason: 'changed' | 'has_dependants' | 'conflict' | 'owner_deleted' | 'invalid' | 'gone';
  at: string | null;
}

/** A run, or a deletion of its own. */
interface RecentAction {
  run: ImportRun | null;
  deletion: DeletedObject | null;
}

export const recentActionsQuery = infiniteQueryOptions({
  queryKey: ['recent actions'],
  queryFn: ({ pageParam, signal }) =>
    call<{ data: RecentAction[]; next: string | null }>(
      'GET',
      `/recent-actions${queryString({ before: pageParam })}`,
      { signal },
    ),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

export function keptQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['import kept', id],
    queryFn: ({ pageParam, signal }) =>
      call<{ data: KeptObject[]; next: string | null }>(
        'GET',
        `/imports/${id}/kept${queryString({ after: pageParam })}`,
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

const pauseMs = 500;
const maxFailures = 5;

/** Repeats the call until nothing is open. A step that failed for a while is safe to send again. */
export async function undoImport(id: string, onStep?: (run: ImportRun) => void): Promise<ImportRun> {
  for (let failures = 0; ; ) {
    try {
      const run = await call<ImportRun>('POST', `/imports/${id}/undo`);
      onStep?.(run);
      failures = 0;
      if (!run.isOpen) return run;
    } catch (error) {
      const { status, code } = toApiError(error);
      // Somebody else undoes the same import.
      if (code !== 'request_in_progress') failures += 1;
      if (failures > maxFailures || ![0, 409, 429, 500].includes(status)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * Math.max(1, failures)));
    }
  }
}

export function useUndoImport(id: string) {
  const forgetReadings = useForgetReadings();
  const client = useQueryClient();
  const [progress, setProgress] = useState<ImportRun>();
  const work = useMutation({
    mutationFn: () => undoImport(id, setProgress),
    onSettled: async () => {
      await forgetReadings();
      await client.invalidateQueries({ queryKey: ['recent actions'] });
    },
  });
  return { work, progress };
}

export function entriesOf({ created, changed, deleted }: ImportRun): number {
  return created + changed + deleted;
}
