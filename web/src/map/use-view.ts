// The view of a map. Dragging moves it directly; buttons and clicks animate it.
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ChangeView } from './gestures.ts';
import type { View } from './view.ts';

const flightMs = 300;
const settleMs = 150;

/** `settled` follows when nothing has moved for a moment: not every step asks the service. */
export function useView(initial: View) {
  const [view, setView] = useState(initial);
  const [settled, setSettled] = useState(initial);
  const flight = useRef(0);
  const latest = useRef(initial);
  latest.current = view;

  useEffect(() => {
    const timer = setTimeout(() => setSettled(view), settleMs);
    return () => clearTimeout(timer);
  }, [view]);

  useEffect(() => () => cancelAnimationFrame(flight.current), []);

  const change: ChangeView = useCallback((next) => {
    cancelAnimationFrame(flight.current);
    setView(next);
  }, []);

  const flyTo = useCallback((goalFrom: (view: View) => View) => {
    cancelAnimationFrame(flight.current);
    const from = latest.current;
    const goal = goalFrom(from);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setView(goal);
      return;
    }
    const start = performance.now();
    const step = (now: number) => {
      const share = Math.min(Math.max((now - start) / flightMs, 0), 1);
      const eased = 1 - (1 - share) ** 3;
      const between = (before: number, after: number) => before + (after - before) * eased;
      setView({
        x: between(from.x, goal.x),
        y: between(from.y, goal.y),
        zoom: between(from.zoom, goal.zoom),
      });
      if (share < 1) flight.current = requestAnimationFrame(step);
    };
    flight.current = requestAnimationFrame(step);
  }, []);

  return { view, settled, change, flyTo };
}
