// What somebody of the business chose for earlier files: the meanings of words, and where the columns of a file go.
import { errorTitles, foldTitle, officeColumnsOf } from '../../../core/table/columns.ts';
import { type ChosenColumns, nameKey } from '../../../core/table/import-lines.ts';
import type { NamedCell } from '../../../core/table/table-import.ts';
import { call } from '../api/client.ts';
import type { Definition } from '../api/definitions.ts';
import { tellFailure } from '../frame/notices.tsx';
import type { FixedValues } from './fixed-values.tsx';

const maxKeys = 200;
const maxKeyLength = 20_000;

/** By the place of the key: what somebody of the business chose. */
async function find(keys: readonly string[]): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  for (let start = 0; start < keys.length; start += maxKeys) {
    const body = { keys: keys.slice(start, start + maxKeys) };
    found.push(...(await call<{ data: (string | null)[] }>('POST', '/choice-matches', { body })).data);
  }
  return found;
}

/** The latest choices that are not sent yet; without a choice, to be forgotten. */
const unsent = new Map<string, string | undefined>();
let isSending = false;

/** One after the other: of two choices for a key, the later one stays. */
async function remember(key: string, choice: string | undefined): Promise<void> {
  unsent.set(key, choice);
  if (isSending) return;
  isSending = true;
  try {
    for (const [key, choice] of unsent) {
      unsent.delete(key);
      await call('PUT', '/remembered-choices', { body: { key, ...(choice !== undefined && { choice }) } });
    }
  } catch (error) {
    unsent.clear();
    tellFailure(error);
  } finally {
    isSending = false;
  }
}

function keyOfWord(type: string, { column, name }: NamedCell): string {
  return `word ${type} ${nameKey(column.path, name)}`;
}

/** For each word the value of the choice, "empty", or null. */
export function rememberedWords(type: string, words: readonly NamedCell[]): Promise<(string | null)[]> {
  return find(words.map((word) => keyOfWord(type, word)));
}

/** Without a value, forgets it. */
export function rememberWord(type: string, word: NamedCell, value: string | undefined): void {
  void remember(keyOfWord(type, word), value);
}

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
  const key = `file ${JSON.stringify(folded)}`;
  return folded.some(Boolean) && key.length <= maxKeyLength ? key : undefined;
}

export async function rememberedFile(
  definitions: readonly Definition[],
  titles: readonly string[],
): Promise<FileChoices | undefined> {
  const key = keyOfTitles(titles);
  const [choice] = key === undefined ? [] : await find([key]);
  const stored: StoredChoices | undefined = choice ? JSON.parse(choice) : undefined;
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
  void remember(key, stored && JSON.stringify(stored));
}
