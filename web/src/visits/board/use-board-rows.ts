// Finds the visible rows of the board. Sums and visits have different heights.
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';
import { type BoardRow, rowAt } from './board-rows.ts';

/** Rows beyond the edge that are there already when somebody scrolls. */
const reserve = 8;

export function useBoardRows(
  box: RefObject<HTMLElement | null>,
  rows: readonly BoardRow[],
  headHeight: number,
) {
  const [range, setRange] = useState({ first: 0, end: 40 });
  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const first = Math.max(0, rowAt(rows, element.scrollTop) - reserve);
    const end = rowAt(rows, element.scrollTop + element.clientHeight) + 1 + reserve;
    setRange((before) => (before.first === first && before.end === end ? before : { first, end }));
  }, [box, rows]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [measure, box]);

  const scrollTo = useCallback(
    (index: number) => {
      const [element, row] = [box.current, rows[index]];
      if (!element || !row) return;
      const seen = element.clientHeight - headHeight;
      if (row.top < element.scrollTop) element.scrollTop = row.top;
      else if (row.top + row.height > element.scrollTop + seen)
        element.scrollTop = row.top + row.height - seen;
      measure();
    },
    [box, rows, headHeight, measure],
  );
  return { first: Math.min(range.first, rows.length), end: Math.min(range.end, rows.length), scrollTo };
}
