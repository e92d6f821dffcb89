// Edited cells of a table: shown immediately, saved one after the other, kept where the service refuses them.
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import { type Definition, type Entity, labelOf } from '../api/definitions.ts';
import { type Page, useForgetReadings } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { tell } from '../frame/notices.tsx';
import { useUnsavedWork } from '../frame/unsaved-work.ts';
import { formatNumber } from '../texts/format.ts';
import { type CellEdit, cellKey, isSame, type PendingCell, withValues } from './cell-edit.ts';

const loadSaving = () => import('./cell-saving.ts');

export type CellEdits = ReturnType<typeof useCellEdits>;

export function useCellEdits(definition: Definition) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const forgetReadings = useForgetReadings();
  const mayImport = useMayEdit();
  const [pending, setPending] = useState<ReadonlyMap<string, PendingCell>>(new Map());
  const [hasEdited, setHasEdited] = useState(false);
  /** Records as this page has saved them: a second change follows the first. */
  const latest = useRef(new Map<string, Entity>());
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  useUnsavedWork(pending.size > 0);

  const change = (work: (next: Map<string, PendingCell>) => void) =>
    setPending((before) => {
      const next = new Map(before);
      work(next);
      return next;
    });

  /** Replaces rows where they stand. Reading the list again would move the row that somebody works on. */
  async function show(entities: readonly Entity[]): Promise<void> {
    if (entities.length === 0) return;
    const byId = new Map(entities.map((entity) => [entity.id, entity]));
    for (const [id, entity] of byId) latest.current.set(id, entity);
    const isList = (key: readonly unknown[]) => key[0] === 'list' && key[1] === definition.collection;
    client.setQueriesData<InfiniteData<Page<Entity>>>(
      { predicate: ({ queryKey }) => isList(queryKey) },
      (list) =>
        list && {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            data: page.data.map((entity) => byId.get(entity.id) ?? entity),
          })),
        },
    );
    setHasEdited(true);
    await client.invalidateQueries({ queryKey: ['list', definition.collection], refetchType: 'none' });
    await forgetReadings(({ queryKey }) => !isList(queryKey));
  }

  async function send(edits: readonly CellEdit[]): Promise<void> {
    const { saveRows } = await loadSaving();
    const rows = [...Map.groupBy(edits, ({ entity }) => entity.id).values()].map((own) => {
      const seen = own[0]!.entity;
      const known = latest.current.get(seen.id);
      return { entity: known && known.version > seen.version ? known : seen, edits: own };
    });
    const { entities, failed, undo } = await saveRows(definition, rows, mayImport);
    await show(entities);
    const failures = new Map(failed.map((cell) => [cellKey(cell.entity.id, cell.column), cell]));
    change((next) => {
      for (const edit of edits) {
        const key = cellKey(edit.entity.id, edit.column);
        const shown = next.get(key);
        // If somebody typed in the cell again meanwhile, the newer text decides.
        if (!shown || shown.values !== edit.values) continue;
        const failure = failures.get(key);
        if (failure) next.set(key, failure);
        else next.delete(key);
      }
    });
    const done = edits.length - failed.length;
    if (done <= 0) return;
    const [{ entity: first }] = edits as [CellEdit];
    const message =
      done === 1 && edits.length === 1
        ? t('undo.saved', { name: labelOf(definition, first) })
        : t('grid.changed', { count: done, formatted: formatNumber(done) });
    tell(message, undo.length === 0 ? undefined : { label: t('undo.undo'), run: () => takeBack(undo) });
  }

  async function takeBack(undo: readonly (() => Promise<number>)[]): Promise<void> {
    let kept = 0;
    // A failure does not keep the rest from being undone.
    let failure: unknown;
    for (const part of undo.toReversed()) {
      kept += await part().catch((error: unknown) => {
        failure = error;
        return 0;
      });
    }
    latest.current.clear();
    await forgetReadings();
    if (failure) throw failure;
    if (kept > 0) throw new ApiError(0, { message: t('grid.undoFailed', { count: kept }) });
    tell(t('undo.done'));
  }

  function save(edits: readonly CellEdit[]): Promise<void> {
    const isReal = (edit: CellEdit) => {
      const { id } = edit.entity;
      // Send a change back to the stored value too: the edit that is being saved would still arrive.
      const isUnderWay = pending.get(cellKey(id, edit.column))?.state === 'saving';
      return isUnderWay || edit.error !== undefined || !isSame(latest.current.get(id) ?? edit.entity, edit);
    };
    const real = edits.filter(isReal);
    const sent = real.filter(({ error }) => error === undefined);
    change((next) => {
      for (const edit of edits) next.delete(cellKey(edit.entity.id, edit.column));
      for (const edit of real)
        next.set(cellKey(edit.entity.id, edit.column), {
          ...edit,
          state: edit.error === undefined ? 'saving' : 'refused',
          ...(edit.error !== undefined && { message: edit.error }),
        });
    });
    if (sent.length === 0) return Promise.resolve();
    const work = queue.current.then(() => send(sent)).catch((error: unknown) => markUnsent(sent, error));
    queue.current = work;
    return work;
  }

  function markUnsent(edits: readonly CellEdit[], error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    change((next) => {
      for (const edit of edits) {
        const key = cellKey(edit.entity.id, edit.column);
        if (next.get(key)?.values === edit.values) next.set(key, { ...edit, state: 'unsent', message });
      }
    });
  }

  const open = [...pending.values()].filter(({ state }) => state !== 'saving');
  return {
    pending,
    /** Cells that wait for the person. */
    open,
    hasEdited,
    save,
    show,
    at: (id: string, column: string) => pending.get(cellKey(id, column)),
    /** The record with the values that are being saved. Rejected texts are no values. */
    shown: (entity: Entity) => {
      const own = [...pending.values()].filter(
        (cell) => cell.entity.id === entity.id && cell.state === 'saving',
      );
      return own.length === 0 ? entity : withValues(entity, own);
    },
    retry: () => save(open.filter(({ error }) => error === undefined)),
    discard: (cells: readonly PendingCell[] = open) =>
      change((next) => {
        for (const { entity, column } of cells) next.delete(cellKey(entity.id, column));
      }),
  };
}
