// Lists in the cells of a spreadsheet: known items as people write them, anything else as JSON.
import type { TextLanguage } from '../calendar/day-words.ts';
import { readIntervals, writeIntervals } from '../calendar/interval-text.ts';
import { isOpeningHours, type OpeningHours } from '../calendar/opening-hours.ts';
import { readOpeningHours, writeOpeningHours } from '../calendar/opening-hours-text.ts';
import { type AttendingInterval, isAttendingInterval } from '../calendar/visits.ts';

interface ListForm {
  isKnown: (item: unknown) => boolean;
  write: (items: never[], language: TextLanguage) => string;
  read: (text: string) => unknown[] | undefined;
}

/** Forms by the title of the item's known shape. */
const forms: Record<string, ListForm> = {
  OpeningHours: {
    isKnown: isOpeningHours,
    write: (items: OpeningHours[], language) => writeOpeningHours(items, language),
    read: readOpeningHours,
  },
  AttendingInterval: {
    isKnown: isAttendingInterval,
    write: (items: AttendingInterval[], language) => writeIntervals(items, language),
    read: readIntervals,
  },
};

/** A text that reads back as the same list; JSON where people's words would lose something. */
export function writeList(
  knownItem: string | undefined,
  items: readonly unknown[],
  json: string,
  language: TextLanguage,
): string {
  const form = forms[knownItem ?? ''];
  if (!form || items.length === 0 || !items.every(form.isKnown)) return json;
  const text = form.write(items as never[], language);
  return isSame(form.read(text), items) ? text : json;
}

/** Undefined where the text is no list in people's words. */
export function readList(knownItem: string | undefined, text: string): unknown[] | undefined {
  const form = forms[knownItem ?? ''];
  const items = form?.read(text);
  return items?.every((item) => form!.isKnown(item)) ? items : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** The order of an object's members says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
