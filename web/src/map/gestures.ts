// Moves a map by mouse, wheel, fingers and keys.
import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import { moveView, type Size, type View, zoomView } from './view.ts';

export type ChangeView = (change: (view: View) => View) => void;

interface Gestures {
  element: RefObject<HTMLElement | null>;
  size: Size;
  onView: ChangeView;
  /** A click or tap that moved nothing. */
  onTap: (left: number, top: number) => void;
  onEnter: () => void;
}

const tapPixels = 5;
const keyPixels = 80;

export function useGestures({ element, size, onView, onTap, onEnter }: Gestures) {
  const fingers = useRef(new Map<number, { left: number; top: number }>());
  const travelled = useRef(0);

  const placeOf = ({ clientX, clientY }: { clientX: number; clientY: number }) => {
    const box = element.current!.getBoundingClientRect();
    return { left: clientX - box.left, top: clientY - box.top };
  };

  // Do not use a property of the element: its listener cannot keep the page from scrolling.
  useEffect(() => {
    const target = element.current;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const box = target!.getBoundingClientRect();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      // A pinch on a touchpad comes as a small turn of the wheel with the control key.
      const change = -(event.deltaY * lines) / (event.ctrlKey ? 60 : 240);
      const bounded = Math.min(Math.max(change, -1), 1);
      onView((view) => zoomView(view, size, bounded, event.clientX - box.left, event.clientY - box.top));
    };
    target?.addEventListener('wheel', turn, { passive: false });
    return () => target?.removeEventListener('wheel', turn);
  }, [element, size, onView]);

  function onPointerDown(event: PointerEvent) {
    if (event.button !== 0) return;
    if (fingers.current.size === 0) travelled.current = 0;
    fingers.current.set(event.pointerId, placeOf(event));
    element.current?.setPointerCapture(event.pointerId);
  }

  function onPointerMove(event: PointerEvent) {
    const before = fingers.current.get(event.pointerId);
    if (!before) return;
    const now = placeOf(event);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    fingers.current.set(event.pointerId, now);
    travelled.current += Math.hypot(now.left - before.left, now.top - before.top);
    if (!other) {
      onView((view) => moveView(view, before.left - now.left, before.top - now.top));
      return;
    }
    const distance = (one: typeof now) => Math.hypot(one.left - other.left, one.top - other.top);
    const change = Math.log2(Math.max(distance(now), 1) / Math.max(distance(before), 1));
    const middle = { left: (now.left + other.left) / 2, top: (now.top + other.top) / 2 };
    const shift = { left: (before.left - now.left) / 2, top: (before.top - now.top) / 2 };
    onView((view) => zoomView(moveView(view, shift.left, shift.top), size, change, middle.left, middle.top));
  }

  function onPointerUp(event: PointerEvent) {
    const place = fingers.current.get(event.pointerId);
    fingers.current.delete(event.pointerId);
    if (place && fingers.current.size === 0 && travelled.current < tapPixels) onTap(place.left, place.top);
  }

  function onKeyDown(event: KeyboardEvent) {
    const changes: Record<string, (view: View) => View> = {
      ArrowLeft: (view) => moveView(view, -keyPixels, 0),
      ArrowRight: (view) => moveView(view, keyPixels, 0),
      ArrowUp: (view) => moveView(view, 0, -keyPixels),
      ArrowDown: (view) => moveView(view, 0, keyPixels),
      '+': (view) => zoomView(view, size, 1),
      '=': (view) => zoomView(view, size, 1),
      '-': (view) => zoomView(view, size, -1),
    };
    const change = changes[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') onEnter();
    else if (change) onView(change);
    else return;
    event.preventDefault();
  }

  return {
    onPointerDown,
    onPointerMove,
    onPointerUp,
    onPointerCancel: (event: PointerEvent) => fingers.current.delete(event.pointerId),
    onKeyDown,
  };
}
