// The objects that a file calls by name or number, and what a person assigned to names by hand.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FileFacts, guessKey } from '../../../core/table/cell-guesses.ts';
import { findChoiceWord } from '../../../core/table/choice-words.ts';
import type { ImportColumn } from '../../../core/table/columns.ts';
import {
  type ChosenColumns,
  isDecidedBy,
  type KnownNames,
  nameKey,
} from '../../../core/table/import-lines.ts';
import type { NamedCell } from '../../../core/table/table-import.ts';
import { call } from '../api/client.ts';
import type { OpenedFile } from './reader.ts';
import { rememberedWords } from './remembered.ts';

const maxNames = 200;

interface Match {
  ids: string[];
  rememberedId?: string;
}

/** A name or word of the file, and what it may mean. */
export interface FoundName extends NamedCell {
  /** Objects of the name, or the choice that the word most likely means. */
  ids: readonly string[];
  rememberedId: string | undefined;
}

export interface FoundNames {
  names: FoundName[];
  facts: FileFacts;
}

/** Whether it stands for a choice, or for yes or no. */
export function isWord({ column }: NamedCell): boolean {
  return column.namedPath === undefined;
}

/** A person's choice for a name: an object, nothing, or to leave its rows out. */
export type NameChoice = { id: string } | 'assign' | 'empty' | 'skip';

/** Choices by the keys of the names. */
export type NameChoices = ReadonlyMap<string, NameChoice>;

export interface NameRowProps {
  found: FoundName;
  choice: NameChoice | undefined;
  onChoice: (choice: NameChoice) => void;
}

export function keyOf({ column, name, owner }: NamedCell): string {
  return nameKey(column.path, name, owner);
}

/** Undefined until all names have been looked up. */
export function useNames(opened: OpenedFile, type: string, columns: ChosenColumns, edition: number) {
  const paths = columns.map((column) => column?.path ?? '');
  return useQuery({
    queryKey: ['import names', opened.name, opened.table.sheet, opened.size, type, paths, edition],
    queryFn: async (): Promise<FoundNames> => {
      const { names, facts } = await opened.reader.inspect(columns);
      const found = await findMeanings(type, names.filter(isWord));
      const named = Map.groupBy(
        names.filter((name) => !isWord(name)),
        ({ column }) => column.path,
      );
      for (const some of named.values()) found.push(...(await findObjects(some[0]!.column, some)));
      return { names: found, facts };
    },
    placeholderData: keepPreviousData,
    // The worker that reads the file goes with the page.
    gcTime: 0,
    retry: false,
    // A new customer changes what a name means, but not while somebody assigns names.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function findMeanings(type: string, words: readonly NamedCell[]): Promise<FoundName[]> {
  const remembered = await rememberedWords(type, words);
  return words.map((word, place) => {
    const { field } = word.column;
    const values = field.choices?.map(({ value }) => value);
    const guess = findChoiceWord(field.name, values, word.name);
    return { ...word, ids: guess === undefined ? [] : [guess], rememberedId: remembered[place] ?? undefined };
  });
}

async function findObjects(column: ImportColumn, names: readonly NamedCell[]): Promise<FoundName[]> {
  const found = new Map<string, Match>();
  for (const resource of column.field.reference?.resources ?? []) {
    for (let start = 0; start < names.length; start += maxNames) {
      const some = names.slice(start, start + maxNames);
      const body = {
        resource,
        names: some.map(({ name }) => name),
        owners: some.map(({ owner = '' }) => owner),
      };
      const { data } = await call<{ data: Match[] }>('POST', '/name-matches', { body });
      data.forEach(({ ids, rememberedId }, place) => {
        const key = keyOf(some[place]!);
        const known = found.get(key);
        found.set(key, {
          ids: [...new Set([...(known?.ids ?? []), ...ids])],
          rememberedId: known?.rememberedId ?? rememberedId,
        });
      });
    }
  }
  return names.map((name) => {
    const { ids = [], rememberedId } = found.get(keyOf(name)) ?? {};
    return { ...name, ids, rememberedId };
  });
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Names that nothing answers to, or several do, and all words. A column of ids decides between objects of the same name. */
export function unclearNames(
  names: readonly FoundName[],
  columns: ChosenColumns,
  refused: ReadonlySet<string>,
): FoundName[] {
  const idsOf = new Map(names.map((found) => [keyOf(found), found.ids]));
  const isDecided = ({ column, ids, besides }: FoundName) =>
    !refused.has(guessKey('otherName', column.path)) &&
    besides?.every((key) => isDecidedBy(ids, idsOf.get(key) ?? []));
  const hasIds = ({ column }: FoundName) => columns.some((other) => other?.path === column.namedPath);
  return (
    names
      .filter((found) => found.rows > 0 && (isWord(found) || !isDecided(found)))
      .filter((found) => isWord(found) || (found.ids.length !== 1 && !uuid.test(found.name)))
      .filter((found) => found.ids.length === 0 || !hasIds(found))
      // Names without a meaning come first.
      .sort((one, other) => Number(isMeant(one)) - Number(isMeant(other)) || other.rows - one.rows)
  );
}

function isMeant(found: FoundName): boolean {
  return found.rememberedId !== undefined || (isWord(found) && found.ids.length === 1);
}

export function knownNames(names: readonly FoundName[], choices: NameChoices): KnownNames {
  return new Map(
    names.flatMap((found): [string, readonly string[] | 'empty' | 'skip'][] => {
      const choice = choices.get(keyOf(found)) ?? (isWord(found) ? toChoice(found.rememberedId) : undefined);
      if (choice === 'empty' || choice === 'skip') return [[keyOf(found), choice]];
      if (isWord(found)) return typeof choice === 'object' ? [[keyOf(found), [choice.id]]] : [];
      const id = typeof choice === 'object' ? choice.id : choice === undefined && found.rememberedId;
      return [[keyOf(found), found.ids.length === 1 || !id ? found.ids : [id]]];
    }),
  );
}

function toChoice(value: string | undefined): NameChoice | undefined {
  return value === undefined || value === 'empty' ? value : { id: value };
}

/** Remembers an assignment for the next import; without an id, forgets it. */
export async function rememberName(
  { column, name, owner }: FoundName,
  id: string | undefined,
): Promise<void> {
  const resources = column.field.reference?.resources ?? [];
  for (const resource of resources) {
    const body = { resource, name, owner, ...(id !== undefined && { id }) };
    try {
      await call('PUT', '/remembered-names', { body });
      if (id !== undefined) return;
    } catch (error) {
      // A reference to two kinds can mean an object of the other kind.
      if (id === undefined || resource === resources.at(-1)) throw error;
    }
  }
}
