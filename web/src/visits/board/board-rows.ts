// The rows of the board from top to bottom: a sum for each person, and below it the visits if the person is unfolded.
import { addSums, nobody, type Sums, sumOn } from './board-data.ts';

export interface Person {
  id: string;
  name: string;
}

export interface BoardRow {
  person: Person;
  /** The place of its visits among those of their day. Undefined for the sum. */
  line: number | undefined;
  top: number;
  height: number;
}

const [sumHeight, lineHeight] = [44, 28];

/** Visits without an employee come first: somebody has to take them. */
export function toPeople(
  active: readonly Person[],
  sums: Sums,
  { only, nobodyName }: { only: string | undefined; nobodyName: string },
): Person[] {
  const names = new Map([...active.map(({ id, name }) => [id, name] as const), ...sums.employees]);
  const people = [...names]
    .map(([id, name]) => ({ id, name }))
    .filter(({ id }) => only === undefined || id === only)
    .sort((one, other) => one.name.localeCompare(other.name));
  const hasNobody = [...sums.byDay.keys()].some((key) => key.endsWith(` ${nobody}`));
  return hasNobody ? [{ id: nobody, name: nobodyName }, ...people] : people;
}

export function toRows(
  people: readonly Person[],
  sums: Sums,
  days: readonly string[],
  isOpen: (id: string) => boolean,
): BoardRow[] {
  const rows: BoardRow[] = [];
  let top = 0;
  const push = (person: Person, line: number | undefined) => {
    const height = line === undefined ? sumHeight : lineHeight;
    rows.push({ person, line, top, height });
    top += height;
  };
  for (const person of people) {
    push(person, undefined);
    if (!isOpen(person.id)) continue;
    const lines = Math.max(...days.map((date) => sumOn(sums, person.id, date).listed));
    for (let line = 0; line < lines; line += 1) push(person, line);
  }
  return rows;
}

export function heightOf(rows: readonly BoardRow[]): number {
  const last = rows.at(-1);
  return last ? last.top + last.height : 0;
}

/** The first row that ends below a position. */
export function rowAt(rows: readonly BoardRow[], position: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.top + rows[middle]!.height > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Monday to Saturday, and Sunday if something is on it. */
export function shownDays(days: readonly string[], sums: Sums | undefined): string[] {
  const isBusy = (date: string) =>
    sums !== undefined &&
    addSums([...sums.byDay].filter(([key]) => key.startsWith(date)).map(([, sum]) => sum)).listed > 0;
  return days.filter((date, index) => index < 6 || isBusy(date));
}
