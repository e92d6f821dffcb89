// Plants by the room they stand in, in the order in which somebody walks: buildings, floors, rooms.
import type { Entity } from '../api/definitions.ts';

interface Room {
  /** Empty where nothing says the place. */
  place: string;
  plants: Entity[];
}

export function groupByRoom(plants: readonly Entity[]): Room[] {
  const present = plants.filter(({ status }) => status !== 'REMOVED' && status !== 'REPLACED');
  const rooms = Map.groupBy(present, ({ building, floor, room }) =>
    [building, floor, room].filter(Boolean).join(', '),
  );
  return [...rooms]
    .map(([place, inRoom]) => ({ place, plants: inRoom }))
    .sort((one, other) => compare(one.place, other.place));
}

/** Floor 10 comes after floor 2, and plants without a place come last. */
function compare(one: string, other: string): number {
  if (one === '' || other === '') return one === other ? 0 : one === '' ? 1 : -1;
  return one.localeCompare(other, 'de', { numeric: true });
}
