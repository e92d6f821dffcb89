// The board by keyboard: arrows walk and extend the selection, and in the move mode they choose the target.
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Visit } from '../visits-query.ts';
import type { BoardRow, Person } from './board-rows.ts';
import type { Target } from './moves.ts';

export interface Place {
  row: number;
  /** 0 is the head of the row. */
  column: number;
}

interface Moving {
  visits: readonly Visit[];
  person: number;
  /** 0 leaves the day. */
  column: number;
}

interface Options {
  box: RefObject<HTMLElement | null>;
  rows: readonly BoardRow[];
  people: readonly Person[];
  days: readonly string[];
  mayMove: boolean;
  scrollTo: (row: number) => void;
  visitAt: (place: Place) => Visit | undefined;
  /** The selected visits, or the one of the place. */
  visitsFor: (visit: Visit) => readonly Visit[];
  onSelect: (from: Place, to: Place) => void;
  onToggle: (visit: Visit) => void;
  onClear: () => void;
  onFold: (person: Person) => void;
  onMenu: (visit: Visit, element: Element) => void;
  onDrop: (visits: readonly Visit[], target: Target) => void;
}

const steps: Record<string, [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
};

export function useBoardKeys(options: Options) {
  const { box, rows, people, days, scrollTo } = options;
  const [active, setActive] = useState<Place>({ row: 0, column: 1 });
  const [moving, setMoving] = useState<Moving>();
  const anchor = useRef<Place>(active);
  const wantsFocus = useRef(false);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const cell = box.current?.querySelector<HTMLElement>(`[data-cell="${active.row}-${active.column}"]`);
    if (!cell) return;
    wantsFocus.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });

  function goTo(place: Place, isExtending: boolean): void {
    const row = clamp(place.row, 0, rows.length - 1);
    const column = clamp(place.column, 0, days.length);
    wantsFocus.current = true;
    if (isExtending) options.onSelect(anchor.current, { row, column });
    else anchor.current = { row, column };
    setActive({ row, column });
    scrollTo(row);
  }

  function moveTarget(event: KeyboardEvent, { visits, person, column }: Moving): void {
    event.preventDefault();
    event.stopPropagation();
    const [down, right] = steps[event.key] ?? [0, 0];
    if (event.key === 'Escape') setMoving(undefined);
    else if (event.key === 'Enter') {
      setMoving(undefined);
      const day = days[column - 1];
      options.onDrop(visits, { employeeId: people[person]!.id || null, ...(day && { day }) });
    } else if (event.key !== 'Tab') {
      const next = clamp(person + down, 0, people.length - 1);
      setMoving({ visits, person: next, column: clamp(column + right, 0, days.length) });
      scrollTo(rows.findIndex((row) => row.line === undefined && row.person.id === people[next]!.id));
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (moving) {
      moveTarget(event, moving);
      return;
    }
    const row = rows[active.row];
    const visit = options.visitAt(active);
    const step = steps[event.key];
    const isOnFold = row && row.line === undefined && (event.key === 'Enter' || event.key === ' ');
    if (step) goTo({ row: active.row + step[0], column: active.column + step[1] }, event.shiftKey);
    else if (event.key === 'Home' || event.key === 'End') {
      const column = event.key === 'Home' ? 1 : days.length;
      goTo({ row: event.ctrlKey ? (event.key === 'Home' ? 0 : rows.length - 1) : active.row, column }, false);
    } else if (isOnFold) options.onFold(row.person);
    else if (event.key === ' ' && visit) options.onToggle(visit);
    else if (event.key === 'Escape') options.onClear();
    else if (visit && (event.key === 'Enter' || event.key === 'ContextMenu'))
      options.onMenu(visit, event.target as Element);
    else if (visit && row && options.mayMove && event.key.toLowerCase() === 'm' && !event.ctrlKey)
      setMoving({
        visits: options.visitsFor(visit),
        person: people.findIndex(({ id }) => id === row.person.id),
        column: active.column,
      });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    active,
    moving,
    onKeyDown,
    /** Called after a click. */
    setActive(place: Place, isExtending = false) {
      if (isExtending) options.onSelect(anchor.current, place);
      else anchor.current = place;
      setActive(place);
    },
    /** Called when the tab key moves the focus. */
    onFocus(place: Place) {
      if (place.row === active.row && place.column === active.column) return;
      anchor.current = place;
      setActive(place);
    },
    focusActive() {
      wantsFocus.current = true;
      setActive((place) => ({ ...place }));
    },
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), Math.max(low, high));
}
