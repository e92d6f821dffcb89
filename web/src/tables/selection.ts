// The ticked rows of a table: some of them one by one, or all that match except some.
import { useState } from 'react';

export interface Selection {
  isAll: boolean;
  /** Ticked ids; the unticked ones if all are selected. */
  ids: ReadonlySet<string>;
}

export interface Ticks {
  has: (id: string) => boolean;
  toggle: (id: string, withRange: boolean) => void;
  /** State of all rows that are loaded. */
  state: 'all' | 'some' | 'none';
  toggleAll: () => void;
}

const nothing: Selection = { isAll: false, ids: new Set() };

/** `key` says what the table shows; another one ends the selection. */
export function useSelection(key: string) {
  const [state, setState] = useState({ key, selection: nothing, anchor: undefined as string | undefined });
  const { selection, anchor } = state.key === key ? state : { selection: nothing, anchor: undefined };
  const set = (next: Selection, nextAnchor?: string) =>
    setState({ key, selection: next, anchor: nextAnchor });
  return {
    selection,
    has: (id: string) => isSelected(selection, id),
    clear: () => set(nothing),
    selectAll: () => set({ isAll: true, ids: new Set() }),
    select: (ids: readonly string[]) => set({ isAll: false, ids: new Set(ids) }),
    /** The shift key ticks all rows from the one that was ticked before. `shown` are the rows in their order. */
    toggle: (id: string, withRange: boolean, shown: readonly string[]) => {
      const isOn = !isSelected(selection, id);
      const ids = withRange && anchor !== undefined ? rangeOf(shown, anchor, id) : [id];
      set(withTicks(selection, ids, isOn), id);
    },
  };
}

export function isSelected({ isAll, ids }: Selection, id: string): boolean {
  return isAll !== ids.has(id);
}

export function countSelected({ isAll, ids }: Selection, total: number | undefined): number {
  return isAll ? Math.max(0, (total ?? 0) - ids.size) : ids.size;
}

export function withTicks(selection: Selection, ids: readonly string[], isOn: boolean): Selection {
  const next = new Set(selection.ids);
  for (const id of ids) {
    if (isOn === selection.isAll) next.delete(id);
    else next.add(id);
  }
  return { ...selection, ids: next };
}

export function rangeOf(shown: readonly string[], from: string, until: string): string[] {
  const places = [shown.indexOf(from), shown.indexOf(until)].sort((one, other) => one - other);
  return places[0]! < 0 ? [until] : shown.slice(places[0], places[1]! + 1);
}
