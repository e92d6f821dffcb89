// Finds what rows change in stored objects, with the values before and after.
import { useQuery } from '@tanstack/react-query';
import type { RowChoices } from '../../../../core/table/compared-rows.ts';
import type { CsvRow } from '../../../../core/table/csv/csv-file.ts';
import { type LinePlan, toLine } from '../../../../core/table/import-lines.ts';
import { call, queryString } from '../../api/client.ts';
import { type Definition, type Entity, valueAt } from '../../api/definitions.ts';
import type { CheckedRows } from '../use-run.ts';

const maxIds = 100;

interface Change {
  path: string;
  before: unknown;
}

/** The changes of a row: by the place of the column, and for values that no column brings. */
export interface RowChanges {
  cells: ReadonlyMap<number, readonly Change[]>;
  others: readonly (Change & { after: unknown })[];
}

interface Compared {
  definition: Definition;
  plan: LinePlan | undefined;
  rows: readonly CsvRow[];
  results: CheckedRows;
  choices: RowChoices;
}

/** Changes by the number of the row, for rows whose object is stored. */
export function useChanges({ definition, plan, rows, results, choices }: Compared) {
  const ids = rows.flatMap(({ number }) => results.get(number)?.id ?? []);
  const stored = useQuery({
    queryKey: ['import stored', definition.collection, ids],
    queryFn: async ({ signal }) => {
      const found = new Map<string, Entity>();
      for (let start = 0; start < ids.length; start += maxIds) {
        const id = ids.slice(start, start + maxIds).join(',');
        const path = `/${definition.collection}${queryString({ id, limit: maxIds })}`;
        const { data } = await call<{ data: Entity[] }>('GET', path, { signal });
        for (const entity of data) found.set(entity.id, entity);
      }
      return found;
    },
    enabled: ids.length > 0,
    gcTime: 0,
  });
  const changes = new Map<number, RowChanges>();
  for (const { number, cells } of rows) {
    const entity = stored.data?.get(results.get(number)?.id ?? '');
    if (!entity || !plan) continue;
    const { data } = JSON.parse(toLine(plan, cells, choices.get(number)));
    changes.set(number, compare(plan, data, entity));
  }
  return changes;
}

function compare(
  { columns, fixed = {} }: LinePlan,
  data: Record<string, unknown>,
  entity: Entity,
): RowChanges {
  const others = Object.keys(fixed)
    .filter((path) => !isSame(valueAt(data, path), valueAt(entity, path)))
    .map((path) => ({ path, before: valueAt(entity, path), after: valueAt(data, path) }));
  const cells = new Map(
    columns.flatMap((column, index) => {
      if (!column || column.path === 'id' || column.path === 'version') return [];
      const { path, namedPath = path, parts, adds } = column;
      const paths = parts?.paths ?? [adds?.path ?? namedPath];
      const changed = paths
        .filter((one) => !isSame(valueAt(data, one), valueAt(entity, one)))
        .map((one) => ({ path: one, before: valueAt(entity, one) }));
      return changed.length > 0 ? [[index, changed] as const] : [];
    }),
  );
  return { cells, others };
}

/** A line leaves out what stays. An exact number is compared by its digits. */
function isSame(sent: unknown, stored: unknown): boolean {
  if (sent === undefined) return true;
  return plain(sent) === plain(stored);
}

function plain(value: unknown): string {
  return value === null || value === undefined || value === '' ? '' : (JSON.stringify(value) ?? '');
}
