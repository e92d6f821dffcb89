// Rows of a file as lines of an import.

import { setAt, valueAt } from '../definition/definition.ts';
import { readMeasure } from '../definition/measures.ts';
import { foldName, isNameless } from '../definition/names.ts';
import {
  type CellPlace,
  type CellReading,
  type CellRules,
  type GuessKind,
  guessKey,
  isPlaceholder,
  readCell,
  zipKey,
} from './cell-guesses.ts';
import { salutationOf, splitCell, titleOf } from './cell-parts.ts';
import { type ThousandsMark, toFieldValue } from './cells.ts';
import { type Addition, type ImportColumn, idColumn, versionColumn } from './columns.ts';
import { type Cell, unguardText } from './csv/csv.ts';
import { readList } from './list-text.ts';

/** One per title of the file; undefined for an ignored column. */
export type ChosenColumns = readonly (ImportColumn | undefined)[];

/** The ids of the objects that each column's cells name, by path and folded name. A person may have chosen another one. */
export type KnownNames = ReadonlyMap<string, readonly string[] | 'empty' | 'skip'>;

export function nameKey(path: string, name: string, owner?: string): string {
  return `${path} ${foldName(name)}${owner === undefined ? '' : `\n${foldName(owner)}`}`;
}

/** Rules for turning rows into lines. */
export interface LinePlan {
  type: string;
  columns: ChosenColumns;
  mark: ThousandsMark | undefined;
  names?: KnownNames;
  /** Marks the columns in which a filled cell means yes and an empty one means no. */
  onlyYes?: readonly boolean[];
  /** Values of fields that no column brings, for all rows. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Paths of yes-or-no fields that no column brings: a new object has no for them. */
  silent?: readonly string[];
  /** Rules for cells that offices write in their own way. Without rules, each cell is taken as it is. */
  rules?: CellRules;
}

/** `existingId`: the object that the row changes, by a person's choice. */
export function toLine(plan: LinePlan, cells: readonly Cell[], existingId?: string): string {
  const { type, columns, fixed = {}, silent = [] } = plan;
  const id = idIn(columns, cells) ?? existingId;
  const data: Record<string, unknown> = {};
  const put = (path: string, value: unknown) => {
    if (value !== undefined) setAt(data, path, value);
    // An emptied cell of an exported row clears its field. A reference that waits stands in the column of its external id.
    else if (id !== undefined && id !== existingId && !isTwinFilled(columns, cells, path))
      setAt(data, path, null);
  };
  if (id === undefined) for (const path of silent) setAt(data, path, false);
  for (const [path, value] of Object.entries(fixed)) setAt(data, path, value);
  putParts(plan, cells, data, put);
  const unread: Unread[] = [];
  columns.forEach((column, index) => {
    if (!column || column.parts || column.adds || column.narrows || isOwnColumn(column)) return;
    // The name decides, if the file has both.
    if (columns.some((other) => other?.namedPath === column.path)) return;
    const { value, note } = readAt(plan, cells, index);
    const { path, namedPath = path, field } = column;
    if (note !== undefined)
      unread.push({
        path: namedPath,
        note,
        text: unguardText(cells[index] ?? ''),
        isList: field.kind === 'list',
      });
    const isNo = value === undefined && field.kind === 'flag' && plan.onlyYes?.[index] && id === undefined;
    put(namedPath, isNo ? false : value);
  });
  putAdditions(plan, cells, data);
  putTitle(columns, cells, data);
  noteUnread(plan, data, unread);
  if (id === undefined) return JSON.stringify({ type, data });
  const version = id === existingId ? undefined : versionIn(columns, cells);
  return JSON.stringify({ type, action: 'merge', version, data: { id, ...clearEmptyGroups(data) } });
}

function isOwnColumn({ path }: ImportColumn): boolean {
  return path === idColumn.path || path === versionColumn.path;
}

/** Columns that hold two fields. */
function putParts(
  { columns, rules }: LinePlan,
  cells: readonly Cell[],
  data: Record<string, unknown>,
  put: (path: string, value: unknown) => void,
): void {
  columns.forEach((column, index) => {
    if (!column?.parts) return;
    const text = unguardText(cells[index] ?? '');
    const { paths, kind, salutationPath } = column.parts;
    const values = splitCell(column.parts, text);
    const zipAt = { town: 0, address: 2, street: -1, person: -1 }[kind];
    if (rules && zipAt >= 0) values[zipAt] = completeZip(rules, column, values.slice(zipAt));
    paths.forEach((path, place) => {
      put(path, values[place]);
    });
    const salutation = salutationPath && salutationOf(text);
    // A column of its own decides.
    if (salutation && !columns.some((other) => other?.path === salutationPath))
      setAt(data, salutationPath, salutation);
  });
}

function completeZip(
  { facts, refused }: CellRules,
  { path }: ImportColumn,
  [zipCode, city = '']: readonly (string | undefined)[],
): string | undefined {
  const isLost =
    zipCode && facts.shortZips.has(zipKey(zipCode, city)) && !refused.has(guessKey('zipZeros', path));
  return isLost ? `0${zipCode}` : zipCode;
}

/** A cell of a column with one field. */
function readAt(plan: LinePlan, cells: readonly Cell[], index: number): CellReading {
  const { columns, mark, rules, names } = plan;
  const column = columns[index]!;
  const cell = cells[index] ?? null;
  if (column.namedPath !== undefined) return readName(plan, cells, column as NameColumn);
  if (!rules) return { value: toFieldValue(column.field, cell, mark) };
  const additions = column.adds ? [] : additionsWithin(plan, cells, column.path);
  if (additions.length > 0)
    return readTogether(rules, { column, index, mark }, unguardText(cell ?? '').trim(), additions);
  const assigned = isAssignable(column)
    ? names?.get(nameKey(column.path, unguardText(cell ?? '')))
    : undefined;
  const place: CellPlace = {
    ...{ column, index, mark },
    ...(assigned !== undefined && { assigned: typeof assigned === 'string' ? 'empty' : assigned[0]! }),
    ...(column.field.name === 'zipCode' && { city: textOf(columns, cells, sister(column.path, 'city')) }),
    ...(column.path.length < 7 && { zipCode: textOf(columns, cells, 'address.zipCode') }),
  };
  return readCell(rules, place, cell);
}

interface WithinText {
  /** The text in the notation of a list. */
  text: string;
  written: string;
  note: string;
}

/** Filled cells of columns that belong in a list: the weekday and the duration of visits. */
function additionsWithin(plan: LinePlan, cells: readonly Cell[], path: string): WithinText[] {
  return plan.columns.flatMap((column, index) => {
    if (column?.adds?.how !== 'within' || column.adds.path !== path) return [];
    const written = String(readAddition(plan, cells, index).value ?? '');
    if (written === '') return [];
    const text = column.path.endsWith('+minutes') ? toMinutes(written, plan.mark) : written;
    return [{ text, written, note: `${column.titles[plan.rules!.language]}: ${written}` }];
  });
}

/** Reads "45", "1 Std." and "0:45" as minutes. */
function toMinutes(written: string, mark: ThousandsMark | undefined): string {
  const [, hours, minutes] = /^(\d{1,2}):(\d\d)(?::00)?$/.exec(written) ?? [];
  const number = hours
    ? String(Number(hours) * 60 + Number(minutes))
    : readMeasure('InMinutes', written, mark);
  return number === undefined ? written : `${number} Min.`;
}

/** Reads the cell with the additions that form a list with it. The comment gets the other additions. */
function readTogether(
  rules: CellRules,
  place: CellPlace,
  cell: string,
  additions: readonly WithinText[],
): CellReading {
  const { knownItem } = place.column.field;
  const textWith = (some: readonly WithinText[]) => [cell, ...some.map(({ text }) => text)].join(' ').trim();
  const choices = [additions, ...additions.map((one) => [one])];
  const taken = choices.find((some) => readList(knownItem, textWith(some)) !== undefined) ?? [];
  const left = additions.filter(
    (one) => !taken.includes(one) && !cell.toLowerCase().includes(one.written.toLowerCase()),
  );
  const reading = readCell(rules, place, textWith(taken));
  if (left.length === 0 || rules.commentLength === 0) return reading;
  const note = [...(reading.note ? [reading.note] : []), ...left.map(({ note }) => note)].join('; ');
  return { kind: 'comment', ...reading, note };
}

/** Whether people can say what a word of the column means. */
export function isAssignable({ field }: ImportColumn): boolean {
  return field.kind === 'choice' || field.kind === 'flag';
}

function sister(path: string, name: string): string {
  return path.replace(/\w+$/, name);
}

function textOf(columns: ChosenColumns, cells: readonly Cell[], path: string): string {
  return unguardText(cellAt(columns, cells, path) ?? '');
}

/** Lists what the rules change in a row, by the place of the column. */
export function guessesIn(
  plan: LinePlan,
  cells: readonly Cell[],
): Map<number, CellReading & { kind: GuessKind }> {
  const guesses = new Map<number, CellReading & { kind: GuessKind }>();
  plan.columns.forEach((column, index) => {
    if (!column || column.narrows || isOwnColumn(column)) return;
    if ((column.parts?.kind === 'town' || column.parts?.kind === 'address') && plan.rules) {
      const [zipCode, city] = splitCell(column.parts, unguardText(cells[index] ?? '')).slice(-2);
      const complete = completeZip(plan.rules, column, [zipCode, city]);
      if (complete !== zipCode)
        guesses.set(index, { kind: 'zipZeros', value: complete, shown: `${complete} ${city}` });
    }
    if (column.parts) return;
    const reading = column.adds ? readAddition(plan, cells, index) : readAt(plan, cells, index);
    if (reading.kind) guesses.set(index, { ...reading, kind: reading.kind });
  });
  return guesses;
}

/** Texts of other columns that complete a field. */
function putAdditions(plan: LinePlan, cells: readonly Cell[], data: Record<string, unknown>): void {
  for (const { path, how, texts } of additionsIn(plan, cells)) {
    const before = String(valueAt(data, path) ?? '').trim();
    if (how === 'behind') setAt(data, path, [before, ...texts].filter(Boolean).join(' '));
    else if (how === 'before' && /^(?:U|[A-Z]?\d)/.test(before)) setAt(data, path, texts.join('') + before);
    else if (how === 'instead' && before === '') setAt(data, path, texts.join(' '));
    const houseNumber = sister(path, 'houseNumber');
    if (path.endsWith('.streetName')) setAt(data, houseNumber, valueAt(data, houseNumber) ?? '');
  }
}

/** Title, first name and last name stand in this order, whatever the order of their columns. */
const nameOrder = ['companyName+title', 'companyName+firstName', 'companyName+lastName'];

function additionsIn(plan: LinePlan, cells: readonly Cell[]) {
  const added = new Map<string, { path: string; how: Addition['how']; texts: string[] }>();
  const filled = plan.columns.flatMap((column, index) => {
    if (!column?.adds || ['title', 'within', 'name'].includes(column.adds.how)) return [];
    const text = String(readAddition(plan, cells, index).value ?? '');
    return text === '' ? [] : [{ ...column.adds, from: column.path, text }];
  });
  const place = ({ from }: { from: string }) => nameOrder.indexOf(from);
  for (const { path, how, word = '', text } of filled.toSorted((one, other) => place(one) - place(other))) {
    const isWhole = text.toLowerCase().startsWith(word.toLowerCase());
    const key = `${how} ${path}`;
    const texts = [...(added.get(key)?.texts ?? []), isWhole ? text : `${word} ${text}`];
    added.set(key, { path, how, texts });
  }
  const order = ['instead', 'behind', 'before'];
  return [...added.values()].toSorted((one, other) => order.indexOf(one.how) - order.indexOf(other.how));
}

/** Only lost zeros and words for nothing are read differently. Everything else stays as written. */
function readAddition(plan: LinePlan, cells: readonly Cell[], index: number): CellReading {
  const reading = readAt(plan, cells, index);
  const isTaken = reading.kind === 'phoneZeros' || reading.kind === 'placeholders';
  return isTaken ? reading : { value: unguardText(cells[index] ?? '').trim() };
}

/** A title stands before the name: "Herr Dr." is a salutation with one. */
function putTitle(columns: ChosenColumns, cells: readonly Cell[], data: Record<string, unknown>): void {
  const title =
    titleOf(textOf(columns, cells, 'salutation')) || textOf(columns, cells, 'lastName+title').trim();
  if (title === '') return;
  const path = valueAt(data, 'firstName') ? 'firstName' : 'lastName';
  const name = valueAt(data, path);
  if (typeof name === 'string' && name !== '') setAt(data, path, `${title} ${name}`);
}

interface Unread {
  path: string;
  note: string;
  text: string;
  isList: boolean;
}

/** The attention list finds comments with unread cells by these words. */
export const unreadMarks = { de: 'Nicht gelesen:', en: 'Not read:' } as const;

/** Adds as many notes as the comment has room for. A list keeps its text itself; other fields are rejected. */
function noteUnread({ rules }: LinePlan, data: Record<string, unknown>, unread: readonly Unread[]): void {
  if (!rules) return;
  const notes: string[] = [];
  const before = typeof data.comment === 'string' && data.comment.trim() !== '' ? `${data.comment} · ` : '';
  const join = (some: readonly string[]) => `${before}${unreadMarks[rules.language]} ${some.join('; ')}`;
  for (const { path, note, text, isList } of unread) {
    if ([...join([...notes, note])].length <= rules.commentLength) notes.push(note);
    else setAt(data, path, isList ? [{ text }] : text);
  }
  if (notes.length > 0) data.comment = join(notes);
}

/** Whether a person leaves out rows with a name in this row. */
export function isLeftOut({ columns, names }: LinePlan, cells: readonly Cell[]): boolean {
  return columns.some(
    (column, index) => column && isNamed(column) && names?.get(keyAt(columns, cells, index)) === 'skip',
  );
}

/** Whether people assign what the cells of a column mean. */
function isNamed(column: ImportColumn): boolean {
  return column.namedPath !== undefined || isAssignable(column);
}

/** A name that belongs to an owner in the same row has another key for each owner. */
function keyAt(columns: ChosenColumns, cells: readonly Cell[], index: number): string {
  const { path } = columns[index]!;
  return nameKey(path, nameAt(columns, cells, index), ownerAt(columns, cells, index));
}

/** What a row calls an object. Another column may name it where this one is empty. */
export function nameAt(columns: ChosenColumns, cells: readonly Cell[], index: number): string {
  const own = unguardText(cells[index] ?? '').trim();
  const { path } = columns[index]!;
  return own === '' ? standInAt(columns, cells, path) : own;
}

/** "Firma" beside "Kunden-Nr." */
export function standInAt(columns: ChosenColumns, cells: readonly Cell[], path: string): string {
  const index = columns.findIndex((one) => one?.adds?.how === 'name' && one.adds.path === path);
  return index < 0 ? '' : unguardText(cells[index] ?? '').trim();
}

interface TwoNames {
  /** "" where a row has one name, whose meaning is left out then. */
  other: string;
  ids: readonly string[];
  otherIds: readonly string[];
}

/** What the two names in a row mean. */
function twoNamesAt({ columns, names }: LinePlan, cells: readonly Cell[], index: number): TwoNames {
  const { path } = columns[index]!;
  const other = standInAt(columns, cells, path);
  if (other === '') return { other, ids: [], otherIds: [] };
  const idsOf = (key: string) => {
    const ids = names?.get(key);
    return Array.isArray(ids) ? ids : [];
  };
  const otherIds = idsOf(nameKey(path, other, ownerAt(columns, cells, index)));
  return { other, ids: idsOf(keyAt(columns, cells, index)), otherIds };
}

/** The other name in a row, where it belongs to another object than the first one. */
function contradictionOf(plan: LinePlan, cells: readonly Cell[], index: number): string {
  const { other, ids, otherIds } = twoNamesAt(plan, cells, index);
  return ids.length === 1 && otherIds.length > 0 && !otherIds.includes(ids[0]!) ? other : '';
}

/** Whether the other name in a row decides: the first one is unknown, or several objects have it. */
export function isDecidedBy(ids: readonly string[], otherIds: readonly string[]): boolean {
  return otherIds.length === 1 && ids.length !== 1 && (ids.length === 0 || ids.includes(otherIds[0]!));
}

/** The references for which a row names two objects. */
export function contradictionsIn(plan: LinePlan, cells: readonly Cell[]): string[] {
  return plan.columns.flatMap((column, index) =>
    column?.namedPath !== undefined && contradictionOf(plan, cells, index) !== '' ? [column.namedPath] : [],
  );
}

/** The owner of the object that a cell names, where the file names it too. */
export function ownerAt(columns: ChosenColumns, cells: readonly Cell[], index: number): string | undefined {
  const { namedPath } = columns[index]!;
  const owner = columns.findIndex((column) => namedPath !== undefined && column?.narrows === namedPath);
  return owner < 0 ? undefined : unguardText(cells[owner] ?? '').trim() || undefined;
}

type NameColumn = ImportColumn & { namedPath: string };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An optional object that nobody knows goes into the comment: the row is worth more than its employee. */
function readName(plan: LinePlan, cells: readonly Cell[], column: NameColumn): CellReading {
  const value = resolveName(plan, cells, column);
  const { rules } = plan;
  const { field, path, titles } = column;
  const { other, ids, otherIds } = twoNamesAt(plan, cells, plan.columns.indexOf(column));
  const isGuess = rules && !rules.isExport && !rules.refused.has(guessKey('otherName', path));
  if (isGuess && value !== undefined && !uuid.test(value) && isDecidedBy(ids, otherIds))
    return { value: otherIds[0], kind: 'otherName', shown: other };
  const isLost = value !== undefined && !uuid.test(value) && !field.isRequired && !field.reference?.isOwner;
  if (!isLost || !rules || rules.isExport) return { value };
  if (isPlaceholder(field, value) && !rules.refused.has(guessKey('placeholders', path)))
    return { value: undefined, kind: 'placeholders', shown: '' };
  if (rules.commentLength === 0 || rules.refused.has(guessKey('comment', path))) return { value };
  return { value: undefined, kind: 'comment', note: `${titles[rules.language]}: ${value}` };
}

/**
 * The id of the object that a cell names. The column of the id decides between objects of the same name, and for those
 * without one. A name that nothing answers to, or several do, stays a text, which validation rejects, and so do two names
 * of different objects.
 */
function resolveName(plan: LinePlan, cells: readonly Cell[], column: NameColumn): string | undefined {
  const { columns, names } = plan;
  const { namedPath } = column;
  const index = columns.indexOf(column);
  const name = nameAt(columns, cells, index);
  const id = cells[columns.findIndex((column) => column?.path === namedPath)]?.trim() || undefined;
  if (isNameless(name) && id !== undefined) return id;
  // An emptied name of an exported row clears the reference, although the column of the id still has its id.
  if (name === '') return idIn(columns, cells) === undefined ? id : undefined;
  if (uuid.test(name)) return name;
  const ids = names?.get(keyAt(columns, cells, index)) ?? [];
  if (ids === 'empty' || ids === 'skip') return undefined;
  const other = contradictionOf(plan, cells, index);
  if (other !== '') return `${name} ≠ ${other}`;
  if (id !== undefined && ids.includes(id)) return id;
  return ids.length === 1 ? ids[0] : name;
}

function idIn(columns: ChosenColumns, cells: readonly Cell[]): string | undefined {
  return cellAt(columns, cells, idColumn.path);
}

function versionIn(columns: ChosenColumns, cells: readonly Cell[]): number | undefined {
  const cell = cellAt(columns, cells, versionColumn.path);
  return cell !== undefined && /^\d{1,9}$/.test(cell) ? Number(cell) : undefined;
}

function cellAt(columns: ChosenColumns, cells: readonly Cell[], path: string): string | undefined {
  const index = columns.findIndex((column) => column?.path === path);
  return index < 0 ? undefined : cells[index]?.trim() || undefined;
}

/** A reference has two columns, for its id and for its external id. */
function isTwinFilled(columns: ChosenColumns, cells: readonly Cell[], path: string): boolean {
  const twinOf = columns.find((column) => column?.path === path)?.field.twinOf;
  return columns.some(
    (column, index) =>
      column &&
      (column.field.twinOf === path || column.path === twinOf) &&
      (cells[index] ?? '').trim() !== '',
  );
}

/** A position without both numbers is none. The service says which members a group needs. */
function clearEmptyGroups(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) {
        return [name, value];
      }
      const members = clearEmptyGroups(value as Record<string, unknown>);
      return [name, Object.values(members).every((member) => member === null) ? null : members];
    }),
  );
}

function isRawNumber(value: object): boolean {
  return 'rawJSON' in value;
}

/** Rows in which every chosen column is empty are left out. */
export function holdsData(columns: ChosenColumns, cells: readonly Cell[]): boolean {
  return columns.some((column, index) => column && (cells[index] ?? '').trim() !== '');
}
