// What somebody chose for earlier files, kept in this browser: the meanings of words, and where the columns of a file go.
import { errorTitles, foldTitle, officeColumnsOf } from '../../../core/table/columns.ts';
import { type ChosenColumns, nameKey } from '../../../core/table/import-lines.ts';
import type { NamedCell } from '../../../core/table/table-import.ts';
import type { Definition } from '../api/definitions.ts';
import type { FixedValues } from './fixed-values.tsx';

function read<T>(storageKey: string): Record<string, T> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}');
  } catch {
    // Storage may be forbidden, or hold the choices of another version.
    return {};
  }
}

/** The latest ones. Without a value, forgets it. */
function write<T>(storageKey: string, key: string, value: T | undefined, most: number): void {
  const { [key]: _former, ...others } = read<T>(storageKey);
  const all = Object.entries(value === undefined ? others : { ...others, [key]: value });
  try {
    localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(all.slice(-most))));
  } catch {
    // The choice holds for this import.
  }
}

const wordsKey = 'stamm.import-words';
const maxWords = 500;

function keyOfWord(type: string, { column, name }: NamedCell): string {
  return `${type} ${nameKey(column.path, name)}`;
}

/** The value of the choice, or "empty". */
export function rememberedWord(type: string, word: NamedCell): string | undefined {
  return read<string>(wordsKey)[keyOfWord(type, word)];
}

/** Without a value, forgets it. */
export function rememberWord(type: string, word: NamedCell, value: string | undefined): void {
  write(wordsKey, keyOfWord(type, word), value, maxWords);
}

const filesKey = 'stamm.import-files';
const maxFiles = 50;

/** What was chosen for files with the same titles. */
export interface FileChoices {
  definition: Definition;
  columns: ChosenColumns;
  fixed: FixedValues;
  refused: ReadonlySet<string>;
}

interface StoredChoices {
  type: string;
  /** By the place of the title, the error column left out. */
  paths: (string | null)[];
  fixed: FixedValues;
  refused: string[];
}

const ownTitles = new Set(Object.values(errorTitles));

/** A report on a file has its titles and one more. */
function keyOfTitles(titles: readonly string[]): string | undefined {
  const folded = titles.filter((title) => !ownTitles.has(title)).map(foldTitle);
  return folded.some(Boolean) ? JSON.stringify(folded) : undefined;
}

export function rememberedFile(
  definitions: readonly Definition[],
  titles: readonly string[],
): FileChoices | undefined {
  const key = keyOfTitles(titles);
  const stored = key === undefined ? undefined : read<StoredChoices>(filesKey)[key];
  const definition = definitions.find(({ name }) => name === stored?.type);
  if (!stored || !definition) return undefined;
  const known = officeColumnsOf(definition);
  const paths = [...stored.paths];
  const columns = titles.map((title) => {
    const path = ownTitles.has(title) ? null : paths.shift();
    return known.find((column) => column.path === path);
  });
  return { definition, columns, fixed: stored.fixed, refused: new Set(stored.refused) };
}

/** Without choices, forgets those for these titles. */
export function rememberFile(titles: readonly string[], choices: FileChoices | undefined): void {
  const key = keyOfTitles(titles);
  if (key === undefined) return;
  const stored: StoredChoices | undefined = choices && {
    type: choices.definition.name,
    paths: titles.flatMap((title, index) =>
      ownTitles.has(title) ? [] : [choices.columns[index]?.path ?? null],
    ),
    fixed: choices.fixed,
    refused: [...choices.refused],
  };
  write(filesKey, key, stored, maxFiles);
}
