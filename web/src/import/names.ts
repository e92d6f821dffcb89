// The objects that a file calls by name or number.
import { useQuery } from '@tanstack/react-query';
import type { ImportColumn } from '../../../core/columns.ts';
import { type ChosenColumns, type KnownNames, nameKey } from '../../../core/import-lines.ts';
import { call } from '../api/client.ts';
import type { OpenedFile } from './reader.ts';

const maxNames = 200;

interface Match {
  name: string;
  ids: string[];
}

/** Undefined until all names have been looked up. */
export function useNames(opened: OpenedFile, type: string, columns: ChosenColumns) {
  const named = columns.filter((column) => column?.namedPath !== undefined) as ImportColumn[];
  const paths = columns.map((column, index) => (column?.namedPath ? `${index} ${column.path}` : ''));
  return useQuery({
    queryKey: ['import names', opened.name, opened.table.sheet, opened.size, type, paths],
    queryFn: async (): Promise<KnownNames> => {
      const known = new Map<string, string[]>();
      if (named.length === 0) return known;
      const names = await opened.reader.names(columns);
      for (const { path, field } of named) {
        const wanted = names.get(path) ?? [];
        for (const resource of field.reference?.resources ?? []) {
          for (let start = 0; start < wanted.length; start += maxNames) {
            const body = { resource, names: wanted.slice(start, start + maxNames) };
            const { data } = await call<{ data: Match[] }>('POST', '/name-matches', { body });
            for (const { name, ids } of data) {
              const key = nameKey(path, name);
              known.set(key, [...new Set([...(known.get(key) ?? []), ...ids])]);
            }
          }
        }
      }
      return known;
    },
    // The worker that reads the file goes with the page.
    gcTime: 0,
    retry: false,
  });
}
