// Dragging visits with a pointer. The rows under it come and go while the board scrolls, so the board itself listens.
import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { Visit } from '../visits-query.ts';
import type { Target } from './moves.ts';

const [threshold, edge, scrollStep] = [6, 36, 14];

/** The cell of the board under a point. */
function targetAt(x: number, y: number): Target | undefined {
  const cell = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-person]');
  if (!cell) return undefined;
  return { employeeId: cell.dataset.person || null, day: cell.dataset.day };
}

export function isSame(one: Target | undefined, other: Target | undefined): boolean {
  return one?.day === other?.day && one?.employeeId === other?.employeeId;
}

interface Drag {
  visits: readonly Visit[];
  target: Target | undefined;
}

export function useDrag(
  box: RefObject<HTMLElement | null>,
  ghost: RefObject<HTMLElement | null>,
  onDrop: (visits: readonly Visit[], target: Target) => void,
) {
  const [drag, show] = useState<Drag>();
  // A pointer can be lifted before what it did last is rendered.
  const current = useRef<Drag>(undefined);
  const pressed = useRef<{ visits: readonly Visit[]; x: number; y: number }>(undefined);
  /** A drag ends with a click that is none. */
  const hasDragged = useRef(false);
  const setDrag = (next: Drag | undefined) => {
    current.current = next;
    show(next);
  };
  const end = () => {
    pressed.current = undefined;
    setDrag(undefined);
  };

  const isDragging = drag !== undefined;
  useEffect(() => {
    if (!isDragging) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      pressed.current = undefined;
      current.current = undefined;
      show(undefined);
    };
    window.addEventListener('keydown', onKey, true);
    return () => window.removeEventListener('keydown', onKey, true);
  }, [isDragging]);

  return {
    drag,
    hasDragged,
    press(event: PointerEvent, visits: readonly Visit[]) {
      hasDragged.current = false;
      // A finger scrolls. It has the menu.
      if (event.button !== 0 || event.pointerType === 'touch') return;
      pressed.current = { visits, x: event.clientX, y: event.clientY };
    },
    handlers: {
      onPointerMove(event: PointerEvent) {
        const start = pressed.current;
        const element = box.current;
        if (!start || !element) return;
        const { clientX: x, clientY: y } = event;
        const drag = current.current;
        if (!drag && Math.hypot(x - start.x, y - start.y) < threshold) return;
        if (!drag) element.setPointerCapture(event.pointerId);
        hasDragged.current = true;
        const { top, bottom } = element.getBoundingClientRect();
        if (y < top + edge) element.scrollBy({ top: -scrollStep });
        if (y > bottom - edge) element.scrollBy({ top: scrollStep });
        if (ghost.current) ghost.current.style.translate = `${x + 12}px ${y + 12}px`;
        const target = targetAt(x, y);
        if (!drag || !isSame(drag.target, target)) setDrag({ visits: start.visits, target });
      },
      onPointerUp() {
        const drag = current.current;
        end();
        if (drag?.target) onDrop(drag.visits, drag.target);
      },
      onPointerCancel: end,
    },
  };
}
