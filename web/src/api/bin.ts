// The bin: what was deleted, and can be restored.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../client/src/api-types.ts';
import { call, queryString } from './client.ts';
import type { Definition, Entity } from './definitions.ts';
import type { Page } from './records.ts';

type Schemas = components['schemas'];

export type DeletedObject = Omit<Schemas['DeletedObject'], 'data'> & { data: Entity };
export type Restoration = Schemas['Restoration'];

export function binQuery(filters: { resource?: string; q?: string }) {
  return infiniteQueryOptions({
    queryKey: ['deleted', filters],
    queryFn: ({ pageParam, signal }) =>
      call<Page<DeletedObject>>('GET', `/deleted${queryString({ ...filters, cursor: pageParam })}`, {
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** null where the bin does not have it. */
export function deletedObjectQuery({ name }: Definition, id: string) {
  return queryOptions({
    queryKey: ['deleted', name, id],
    queryFn: async ({ signal }) => {
      const page = await call<Page<DeletedObject>>('GET', `/deleted${queryString({ resource: name, id })}`, {
        signal,
      });
      return page.data[0] ?? null;
    },
    retry: false,
  });
}

export function restore({ collection }: Definition, id: string): Promise<Restoration> {
  return call<Restoration>('POST', `/${collection}/${id}/restore`);
}
