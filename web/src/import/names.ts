// The objects that a file calls by name or number, and what a person assigned to names by hand.
import { useQuery } from '@tanstack/react-query';
import type { ImportColumn } from '../../../core/columns.ts';
import { type ChosenColumns, type KnownNames, nameKey } from '../../../core/import-lines.ts';
import { call } from '../api/client.ts';
import type { OpenedFile } from './reader.ts';

const maxNames = 200;

interface Match {
  name: string;
  ids: string[];
  rememberedId?: string;
}

/** A name of the file, and what it may mean. */
export interface FoundName {
  column: ImportColumn;
  name: string;
  /** How many rows have it. */
  rows: number;
  ids: readonly string[];
  rememberedId: string | undefined;
}

/** What a person chose for a name: an object, nothing, or to leave its rows out. */
export type NameChoice = { id: string } | 'assign' | 'empty' | 'skip';

/** By the keys of the names. */
export type NameChoices = ReadonlyMap<string, NameChoice>;

export function keyOf({ column, name }: FoundName): string {
  return nameKey(column.path, name);
}

/** Undefined until all names have been looked up. */
export function useNames(opened: OpenedFile, type: string, columns: ChosenColumns) {
  const named = columns.filter((column) => column?.namedPath !== undefined) as ImportColumn[];
  const paths = columns.map((column, index) => (column?.namedPath ? `${index} ${column.path}` : ''));
  return useQuery({
    queryKey: ['import names', opened.name, opened.table.sheet, opened.size, type, paths],
    queryFn: async (): Promise<FoundName[]> => {
      if (named.length === 0) return [];
      const names = await opened.reader.names(columns);
      const found: FoundName[] = [];
      for (const column of named) found.push(...(await findNames(column, names.get(column.path))));
      return found;
    },
    // The worker that reads the file goes with the page.
    gcTime: 0,
    retry: false,
    // A new customer changes what a name means, but not while somebody assigns names.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function findNames(
  column: ImportColumn,
  names: ReadonlyMap<string, number> = new Map(),
): Promise<FoundName[]> {
  const wanted = [...names.keys()];
  const found = new Map<string, Omit<Match, 'name'>>();
  for (const resource of column.field.reference?.resources ?? []) {
    for (let start = 0; start < wanted.length; start += maxNames) {
      const body = { resource, names: wanted.slice(start, start + maxNames) };
      const { data } = await call<{ data: Match[] }>('POST', '/name-matches', { body });
      for (const { name, ids, rememberedId } of data) {
        const known = found.get(name);
        found.set(name, {
          ids: [...new Set([...(known?.ids ?? []), ...ids])],
          rememberedId: known?.rememberedId ?? rememberedId,
        });
      }
    }
  }
  return [...names].map(([name, rows]) => {
    const { ids = [], rememberedId } = found.get(name) ?? {};
    return { column, name, rows, ids, rememberedId };
  });
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Names that nothing answers to, or several do. A column of ids decides between objects of the same name. */
export function unclearNames(names: readonly FoundName[], columns: ChosenColumns): FoundName[] {
  const hasIds = ({ column }: FoundName) => columns.some((other) => other?.path === column.namedPath);
  return names
    .filter((found) => found.ids.length !== 1 && !uuid.test(found.name))
    .filter((found) => found.ids.length === 0 || !hasIds(found))
    .sort((one, other) => other.rows - one.rows);
}

export function knownNames(names: readonly FoundName[], choices: NameChoices): KnownNames {
  return new Map(
    names.map((found): [string, readonly string[] | 'empty' | 'skip'] => {
      const choice = choices.get(keyOf(found));
      if (choice === 'empty' || choice === 'skip') return [keyOf(found), choice];
      const id = typeof choice === 'object' ? choice.id : choice === undefined && found.rememberedId;
      return [keyOf(found), found.ids.length === 1 || !id ? found.ids : [id]];
    }),
  );
}

/** Remembers an assignment for the next import; without an id, forgets it. */
export async function rememberName({ column, name }: FoundName, id: string | undefined): Promise<void> {
  const resources = column.field.reference?.resources ?? [];
  for (const resource of resources) {
    const body = { resource, name, ...(id !== undefined && { id }) };
    try {
      await call('PUT', '/remembered-names', { body });
      if (id !== undefined) return;
    } catch (error) {
      // Of a reference to two kinds, the object is of the other one.
      if (id === undefined || resource === resources.at(-1)) throw error;
    }
  }
}
