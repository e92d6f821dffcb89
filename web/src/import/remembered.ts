// Sends choices of an import to the service, and asks for those of earlier imports.
import {
  type FileChoices,
  keyOfTitles,
  keyOfWord,
  restoreChoices,
  storeChoices,
} from '../../../core/table/remembered-choices.ts';
import type { NamedCell } from '../../../core/table/table-import.ts';
import { call } from '../api/client.ts';
import type { Definition } from '../api/definitions.ts';
import { tellFailure } from '../frame/notices.tsx';

const maxKeys = 200;

/** Returns the choice of the business for each key, in the order of the keys. */
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

/** Sends choices one after the other: the latest choice for a key stays. */
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

/** Returns for each word the value of the choice, "empty", or null. */
export function rememberedWords(type: string, words: readonly NamedCell[]): Promise<(string | null)[]> {
  return find(words.map((word) => keyOfWord(type, word)));
}

/** Remembers the value of a word, or forgets it if there is none. */
export function rememberWord(type: string, word: NamedCell, value: string | undefined): void {
  void remember(keyOfWord(type, word), value);
}

export async function rememberedFile(
  definitions: readonly Definition[],
  titles: readonly string[],
): Promise<FileChoices | undefined> {
  const key = keyOfTitles(titles);
  const [choice] = key === undefined ? [] : await find([key]);
  return restoreChoices(definitions, titles, choice);
}

/** Remembers the choices for these titles, or forgets them if there are none. */
export function rememberFile(titles: readonly string[], choices: FileChoices | undefined): void {
  const key = keyOfTitles(titles);
  if (key !== undefined) void remember(key, choices && storeChoices(titles, choices));
}
