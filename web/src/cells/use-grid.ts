// The table as a grid: one cell has the focus, keys move it, and texts are copied, pasted, filled down and cleared.
import { useQueryClient } from '@tanstack/react-query';
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import type { Definition, Entity } from '../api/definitions.ts';
import type { Named } from '../api/named.ts';
import { tell, tellFailure } from '../frame/notices.tsx';
import { formatNumber } from '../texts/format.ts';
import { withTexts } from '../texts/language.ts';
import { type CellEdit, fieldsOf } from './cell-edit.ts';
import { moveBy, type Place, type Range, rangeBetween, sizeOf, within } from './cell-range.ts';
import type { CellEdits } from './use-cell-edits.ts';

const loadWork = withTexts(['tables'], () => import('./grid-work.ts'));

type Work = Awaited<ReturnType<typeof loadWork>>;

interface GridOptions {
  definition: Definition;
  entities: readonly Entity[];
  /** Ids of the columns, the name's first. */
  columns: readonly string[];
  edits: CellEdits;
  canEdit: (column: string) => boolean;
  /** Loads until there are so many rows, or no more. */
  loadRows: (count: number) => Promise<readonly Entity[]>;
  scrollTo: (row: number) => void;
  onOpen: (entity: Entity) => void;
  preview: { isOpen: boolean; toggle: (entity: Entity) => void; close: () => void };
  onMove: (entity: Entity) => void;
}

export interface Editing extends Place {
  /** Text that was typed in place of the value. */
  typed?: string;
}

export type Grid = ReturnType<typeof useGrid>;

export function useGrid(options: GridOptions) {
  const { definition, entities, columns, edits, canEdit, scrollTo } = options;
  const { t } = useTranslation();
  const client = useQueryClient();
  const [focused, setFocused] = useState<Place>({ row: 0, column: 0 });
  const [corner, setCorner] = useState<Place>();
  const [editing, setEditing] = useState<Editing>();
  const [spoken, setSpoken] = useState('');
  const body = useRef<HTMLTableSectionElement>(null);
  const work = useRef<Work>(undefined);
  const last = { row: Math.max(0, entities.length - 1), column: columns.length - 1 };
  const active = within(focused, last);
  const range = rangeBetween(active, corner ? within(corner, last) : active);

  /** Copying cannot wait for its code. */
  const preload = () => {
    if (work.current === undefined)
      loadWork().then((module) => {
        work.current = module;
      }, tellFailure);
  };

  const nameOf = (resources: readonly string[], id: string) =>
    client.getQueryData<Named | null>(['named', resources, id]);

  function focusCell({ row, column }: Place): void {
    scrollTo(row);
    const focus = () => {
      const cell = body.current?.querySelector<HTMLElement>(`[data-cell="${row}:${column}"]`);
      cell?.focus({ preventScroll: true });
      cell?.closest('td, th')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      return cell != null;
    };
    // A row that is far away must be made first.
    if (!focus()) requestAnimationFrame(() => requestAnimationFrame(focus));
  }

  function select(place: Place, isExtending = false): void {
    const next = within(place, last);
    setFocused(next);
    const kept = isExtending ? (corner ?? active) : undefined;
    setCorner(kept);
    const count = kept ? sizeOf(rangeBetween(next, kept)) : 0;
    setSpoken(count > 1 ? t('grid.selected', { count, formatted: formatNumber(count) }) : '');
    if (entities[next.row]) options.onMove(entities[next.row]!);
  }

  function go(place: Place, isExtending = false): void {
    select(place, isExtending);
    focusCell(within(place, last));
  }

  function edit(place: Place, typed?: string): void {
    const column = columns[place.column]!;
    if (!entities[place.row]) return;
    if (!canEdit(column)) {
      setSpoken(t('grid.readOnly'));
      return;
    }
    setCorner(undefined);
    setFocused(place);
    setEditing({ ...place, ...(typed !== undefined && { typed }) });
  }

  /** Ends editing and moves on. */
  function finish(change: CellEdit | undefined, move: [rows: number, columns: number] | undefined): void {
    if (!editing) return;
    const { row, column } = editing;
    setEditing(undefined);
    if (change) edits.save([change]).catch(tellFailure);
    if (move) go({ row: row + move[0], column: column + move[1] });
  }

  async function run(job: (tools: Work) => Promise<CellEdit[]> | CellEdit[]) {
    try {
      const changes = await job(await loadWork());
      if (changes.length > 0) await edits.save(changes);
    } catch (error) {
      tellFailure(error);
    }
  }

  const targetsIn = (part: Range) => ({ definition, entities, columns, range: part, canEdit });

  function onPaste(event: ClipboardEvent): void {
    if (editing) return;
    const text = event.clipboardData.getData('text/plain');
    if (text === '') return;
    event.preventDefault();
    run(async ({ paste, needsRows }) => {
      const count = needsRows(text, range);
      const rows = count > entities.length ? await options.loadRows(count) : entities;
      const pasted = await paste({ ...targetsIn(range), entities: rows }, text);
      if (pasted.left > 0) tell(t('grid.left', { count: pasted.left, formatted: formatNumber(pasted.left) }));
      setCorner({ row: range.top + pasted.height - 1, column: range.left + pasted.width - 1 });
      setFocused({ row: range.top, column: range.left });
      return pasted.edits;
    });
  }

  function onCopy(event: ClipboardEvent): void {
    if (editing || !work.current || window.getSelection()?.toString()) return;
    event.preventDefault();
    const { plain, html } = work.current.copy(targetsIn(range), nameOf);
    event.clipboardData.setData('text/plain', plain);
    event.clipboardData.setData('text/html', html);
    const count = sizeOf(range);
    setSpoken(t('grid.copied', { count, formatted: formatNumber(count) }));
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (editing || event.altKey || !(event.target as HTMLElement).dataset.cell) return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    action();
  }

  function actionOf({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent): (() => void) | undefined {
    const isControl = ctrlKey || metaKey;
    const entity = entities[active.row];
    const column = columns[active.column]!;
    if (!entity) return undefined;
    const moved = moveBy(key, isControl, active, last);
    if (moved) return () => go(moved, shiftKey);
    if (isControl) return controlActions(entity)[key.toLowerCase()];
    const actions: Record<string, () => void> = {
      F2: () => edit(active),
      ' ': () => options.preview.toggle(entity),
      Delete: () => run(({ clear }) => clear(targetsIn(range))),
      Backspace: () => run(({ clear }) => clear(targetsIn(range))),
      Escape: () => stepBack(entity, column),
    };
    // The name is a link, which Enter follows.
    if (key === 'Enter' && active.column > 0)
      return () => (canEdit(column) ? edit(active) : options.onOpen(entity));
    const isTyped = key.length === 1 && key !== '/' && key !== '?';
    return actions[key] ?? (isTyped ? () => edit(active, key) : undefined);
  }

  function controlActions(entity: Entity): Record<string, () => void> {
    return {
      d: () => run(({ fillDown }) => fillDown(targetsIn(range))),
      a: () => {
        setFocused({ row: 0, column: 0 });
        setCorner(last);
      },
      enter: () => options.onOpen(entity),
    };
  }

  /** Goes one step back: discards a rejected text, ends the range, or closes the preview. */
  function stepBack(entity: Entity, column: string): void {
    const refused = edits.at(entity.id, column);
    if (refused && refused.state !== 'saving') edits.discard([refused]);
    else if (corner) setCorner(undefined);
    else options.preview.close();
  }

  /** Cells say their place in `data-place`. */
  function placeOf(event: { target: EventTarget }): Place | undefined {
    const place = (event.target as HTMLElement).closest<HTMLElement>('[data-place]')?.dataset.place;
    const [row, column] = place?.split(':').map(Number) ?? [];
    return row === undefined || column === undefined ? undefined : { row, column };
  }

  const isControl = (event: { target: EventTarget }) =>
    (event.target as HTMLElement).closest('a, button, input, label, textarea') !== null;

  function onPointerDown(event: PointerEvent): void {
    const place = placeOf(event);
    if (!place || event.button !== 0 || isControl(event)) return;
    if (editing?.row === place.row && editing.column === place.column) return;
    select(place, event.shiftKey);
  }

  function onClick(event: MouseEvent): void {
    const place = placeOf(event);
    if (place && !editing && !isControl(event)) focusCell(place);
  }

  function onPointerMove(event: PointerEvent): void {
    if (event.buttons !== 1 || event.pointerType !== 'mouse' || editing) return;
    const place = placeOf(event);
    if (!place || isControl(event) || (place.row === active.row && place.column === active.column)) return;
    setCorner(corner ?? active);
    setFocused(place);
  }

  // The cell has the focus again when its editor has gone.
  const wasEditing = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end of editing counts.
  useEffect(() => {
    if (!editing && wasEditing.current && !document.activeElement?.closest('[data-cell], a, button, input'))
      focusCell(active);
    wasEditing.current = editing !== undefined;
  }, [editing]);

  return {
    body,
    active,
    range,
    editing,
    spoken,
    fieldsOf: (column: string) => fieldsOf(definition, column),
    canEdit,
    edits,
    select,
    finish,
    focusCell,
    handlers: {
      onKeyDown,
      onPaste,
      onCopy,
      onPointerDown,
      onPointerMove,
      onClick,
      onFocus: preload,
      onDoubleClick: (event: { target: EventTarget }) => {
        const place = placeOf(event);
        if (place && !isControl(event)) edit(place);
      },
    },
  };
}
