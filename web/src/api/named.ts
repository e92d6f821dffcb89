// Objects that others name by their id. Ids that are asked for together are fetched together.
import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from './client.ts';
import { type Definition, type Entity, labelOf, useDefinitions } from './definitions.ts';

/** The object that an id names, now or until it was deleted. */
interface Found {
  entity: Entity;
  isDeleted: boolean;
}

interface Waiting {
  id: string;
  resolve: (found: Found | null) => void;
  reject: (error: unknown) => void;
}

const waiting = new Map<string, Waiting[]>();
const maxIds = 100;

/** null where nothing has this id. */
function fetchNamed(collection: string, id: string): Promise<Found | null> {
  return new Promise((resolve, reject) => {
    const queue = waiting.get(collection);
    if (queue) {
      queue.push({ id, resolve, reject });
      return;
    }
    waiting.set(collection, [{ id, resolve, reject }]);
    setTimeout(() => flush(collection), 5);
  });
}

async function flush(collection: string): Promise<void> {
  const queue = waiting.get(collection) ?? [];
  waiting.delete(collection);
  for (let start = 0; start < queue.length; start += maxIds) {
    const part = queue.slice(start, start + maxIds);
    const ids = [...new Set(part.map(({ id }) => id))];
    try {
      const { data, deleted, former } = await call<{
        data: Entity[];
        deleted: Entity[];
        /** Ids that were merged, with the ids of the objects that answer for them. */
        former: Record<string, string>;
      }>('GET', `/named/${collection}?ids=${ids.join(',')}`);
      const found = new Map<string, Found>([
        ...deleted.map((entity) => [entity.id, { entity, isDeleted: true }] as const),
        ...data.map((entity) => [entity.id, { entity, isDeleted: false }] as const),
      ]);
      for (const { id, resolve } of part) resolve(found.get(former[id] ?? id) ?? null);
    } catch (error) {
      for (const { reject } of part) reject(error);
    }
  }
}

export interface Named extends Found {
  definition: Definition;
}

/** The owner of an object, such as the customer of a site. */
export function useOwner(definition: Definition, entity: Entity | undefined) {
  const owner = definition.fields.find(({ reference }) => reference?.isOwner);
  const id = owner && entity?.[owner.name];
  return useNamed(owner?.reference?.resources ?? [], typeof id === 'string' ? id : undefined).data;
}

/** The object of an id, in any of the resources; null if in none. Deleted objects only where asked for. */
export function useNamed(resources: readonly string[], id: string | undefined, includesDeleted = false) {
  return useQuery({
    ...useNamedQuery(resources)(id),
    select: (named) => (named?.isDeleted && !includesDeleted ? null : named),
  });
}

/** Reads a name for a notice, which may come before the page shows the name. A failure stops nothing. */
export function useReadName(resources: readonly string[]) {
  const namedQuery = useNamedQuery(resources);
  const client = useQueryClient();
  return async (id: string): Promise<string | undefined> => {
    const named = await client.fetchQuery(namedQuery(id)).catch(() => undefined);
    return named ? labelOf(named.definition, named.entity) : undefined;
  };
}

/** Whether some of these names are still on their way. */
export function useIsNaming(resources: readonly string[], ids: readonly string[]): boolean {
  const namedQuery = useNamedQuery(resources);
  return useQueries({
    queries: [...new Set(ids)].map(namedQuery),
    combine: (readings) => readings.some(({ isLoading }) => isLoading),
  });
}

function useNamedQuery(resources: readonly string[]) {
  const definitions = useDefinitions().filter(({ name }) => resources.includes(name));
  const client = useQueryClient();
  return (id: string | undefined) =>
    queryOptions({
      queryKey: ['named', resources, id],
      enabled: id !== undefined && id !== '',
      staleTime: 60_000,
      queryFn: async (): Promise<Named | null> => {
        for (const definition of definitions) {
          const known = client.getQueryState<Entity>(['record', definition.collection, id]);
          if (known?.data && known.status === 'success' && !known.isInvalidated)
            return { definition, entity: known.data, isDeleted: false };
          const found = await fetchNamed(definition.collection, id!);
          if (found) return { definition, ...found };
        }
        return null;
      },
    });
}
