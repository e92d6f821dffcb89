// Objects that others name by their id. Ids that are asked for together are fetched together.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from './client.ts';
import { type Definition, type Entity, useDefinitions } from './definitions.ts';

interface Waiting {
  id: string;
  resolve: (entity: Entity | null) => void;
  reject: (error: unknown) => void;
}

const waiting = new Map<string, Waiting[]>();
const maxIds = 100;

/** null where nothing has this id. */
function fetchNamed(collection: string, id: string): Promise<Entity | null> {
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
      const { data } = await call<{ data: Entity[] }>('GET', `/named/${collection}?ids=${ids.join(',')}`);
      const found = new Map(data.map((entity) => [entity.id, entity]));
      for (const { id, resolve } of part) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const { reject } of part) reject(error);
    }
  }
}

export interface Named {
  definition: Definition;
  entity: Entity;
}

/** What an id names, in whichever of the resources it is; null if in none. */
export function useNamed(resources: readonly string[], id: string | undefined) {
  const definitions = useDefinitions().filter(({ name }) => resources.includes(name));
  const client = useQueryClient();
  return useQuery({
    queryKey: ['named', resources, id],
    enabled: id !== undefined && id !== '',
    staleTime: 60_000,
    queryFn: async (): Promise<Named | null> => {
      for (const definition of definitions) {
        const known = client.getQueryData<Entity>(['record', definition.collection, id]);
        const entity = known ?? (await fetchNamed(definition.collection, id!));
        if (entity) return { definition, entity };
      }
      return null;
    },
  });
}
