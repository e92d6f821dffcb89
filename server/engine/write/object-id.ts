// Ids of new objects: lists in the order of creation sort by them.
import { randomUUIDv7 } from 'node:crypto';

let last = '';

/** Returns a greater id than before, even within one millisecond of a process. */
export function newObjectId(): string {
  const id = randomUUIDv7();
  last = id < last && millisecondOf(id) === millisecondOf(last) ? following(last) : id;
  return last;
}

function millisecondOf(id: string): string {
  return id.slice(0, 13);
}

/** The last group is a number of 48 bits. If it is full, order is lost for once. */
function following(id: string): string {
  const number = Number.parseInt(id.slice(24), 16) + 1;
  return number < 2 ** 48 ? id.slice(0, 24) + number.toString(16).padStart(12, '0') : randomUUIDv7();
}
