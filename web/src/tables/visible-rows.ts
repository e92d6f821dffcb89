// Finds the visible rows of a long table. All rows have one height, so a division is enough.
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

interface Options {
  count: number;
  rowHeight: number;
  /** The element that holds the rows. It scrolls by itself, or with the page. */
  box: RefObject<HTMLElement | null>;
  isScrolledByPage: boolean;
  /** Stays at the top and hides the content under it. */
  headHeight: number;
}

/** Rows beyond the edge that are there already when somebody scrolls. */
const reserve = 12;

export function useVisibleRows({ count, rowHeight, box, isScrolledByPage, headHeight }: Options) {
  const [range, setRange] = useState({ first: 0, end: 40 });

  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const top = isScrolledByPage ? -element.getBoundingClientRect().top : element.scrollTop;
    const height = isScrolledByPage ? window.innerHeight : element.clientHeight;
    const first = Math.max(0, Math.floor(top / rowHeight) - reserve);
    const end = Math.ceil((top + height) / rowHeight) + reserve;
    setRange((before) => (before.first === first && before.end === end ? before : { first, end }));
  }, [box, rowHeight, isScrolledByPage]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another number of rows can be another height.
  useLayoutEffect(() => {
    measure();
    const scrolled = isScrolledByPage ? window : box.current;
    scrolled?.addEventListener('scroll', measure, { passive: true });
    window.addEventListener('resize', measure);
    return () => {
      scrolled?.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
    };
  }, [measure, box, isScrolledByPage, count]);

  function scrollTo(index: number) {
    const element = box.current;
    if (!element) return;
    const top = index * rowHeight;
    const seenFrom = isScrolledByPage ? -element.getBoundingClientRect().top : element.scrollTop;
    const seenHeight = (isScrolledByPage ? window.innerHeight : element.clientHeight) - headHeight;
    const distance = top < seenFrom ? top - seenFrom : Math.max(0, top + rowHeight - (seenFrom + seenHeight));
    if (distance !== 0) (isScrolledByPage ? window : element).scrollBy({ top: distance });
    measure();
  }

  const first = Math.min(range.first, Math.max(0, count - 1));
  return { first, end: Math.min(range.end, count), scrollTo };
}
