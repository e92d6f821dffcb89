// Keys of a grid: arrows move, Enter, F2 or a letter edits, Delete clears.
import { type KeyboardEvent, useRef, useState } from 'react';

export interface CellPlace {
  row: number;
  column: number;
}

interface GridActions {
  onEdit: (place: CellPlace & { text?: string }) => void;
  onClear: (place: CellPlace) => void;
}

export function useGridKeys(size: { rows: number; columns: number }, { onEdit, onClear }: GridActions) {
  const [active, setActive] = useState<CellPlace>({ row: 0, column: 0 });
  const body = useRef<HTMLTableSectionElement>(null);

  /** At once: the next key may come before the next frame. */
  function focus({ row, column }: CellPlace): void {
    const place = {
      row: Math.min(Math.max(row, 0), size.rows - 1),
      column: Math.min(Math.max(column, 0), size.columns - 1),
    };
    body.current?.querySelector<HTMLElement>(`[data-place="${place.row} ${place.column}"]`)?.focus();
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    const [row, column] = ((event.target as HTMLElement).dataset.place ?? '').split(' ').map(Number);
    if (row === undefined || column === undefined) return;
    const step = event.ctrlKey || event.metaKey ? Number.POSITIVE_INFINITY : 1;
    const moves: Record<string, CellPlace> = {
      ArrowDown: { row: row + step, column },
      ArrowUp: { row: row - step, column },
      ArrowRight: { row, column: column + step },
      ArrowLeft: { row, column: column - step },
      Home: { row: step > 1 ? 0 : row, column: 0 },
      End: { row: step > 1 ? size.rows : row, column: size.columns },
    };
    const next = moves[event.key];
    const isLetter = event.key.length === 1 && event.key !== ' ' && step === 1 && !event.altKey;
    if (next) focus(next);
    else if (event.key === 'Enter' || event.key === 'F2') onEdit({ row, column });
    else if (event.key === 'Delete' || event.key === 'Backspace') onClear({ row, column });
    else if (isLetter) onEdit({ row, column, text: event.key });
    else return;
    event.preventDefault();
  }

  const isActive = (row: number, column: number) =>
    row === Math.min(active.row, size.rows - 1) && column === Math.min(active.column, size.columns - 1);
  return { body, isActive, setActive, focus, onKeyDown };
}
