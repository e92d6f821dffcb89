// The view of a map: moved at once by hands, and smoothly by buttons and clicks.
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ChangeView } from './gestures.ts';
import type { View } from './view.ts';

const flightMs = 300;
const settleMs = 150;

/** `settled` follows when nothing has moved for a moment, so that not every step asks the service. */
export function useView(initial: View) {
  const [view, setView] = useState(initial);
  const [settled, setSettled] = useState(initial);
  const flight = useRef(0);

  useEffect(() => {
    const timer = setTimeout(() => setSettled(view), settleMs);
    return () => clearTimeout(timer);
  }, [view]);

  useEffect(() => () => cancelAnimationFrame(flight.current), []);

  const change: ChangeView = useCallback((next) => {
    cancelAnimationFrame(flight.current);
    setView(next);
  }, []);

  function flyTo(goal: View) {
    cancelAnimationFrame(flight.current);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setView(goal);
      return;
    }
    const start = performance.now();
    const step = (now: number) => {
      const share = Math.min(Math.max((now - start) / flightMs, 0), 1);
      const eased = 1 - (1 - share) ** 3;
      const between = (from: number, to: number) => from + (to - from) * eased;
      setView({
        x: between(view.x, goal.x),
        y: between(view.y, goal.y),
        zoom: between(view.zoom, goal.zoom),
      });
      if (share < 1) flight.current = requestAnimationFrame(step);
    };
    flight.current = requestAnimationFrame(step);
  }

  return { view, settled, change, flyTo };
}
