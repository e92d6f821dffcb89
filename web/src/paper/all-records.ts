// Whole lists for paper, which has no pages to load later.
import { queryOptions } from '@tanstack/react-query';
import { call, queryString } from '../api/client.ts';
import type { Entity } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';

/** More fill a ream of paper. */
const maxRecords = 2000;

export function allQuery(collection: string, parameters: Record<string, string | undefined>) {
  return queryOptions({
    queryKey: ['all', collection, parameters],
    queryFn: async ({ signal }) => {
      const records: Entity[] = [];
      let cursor: string | undefined;
      let isTruncated = false;
      do {
        const query = queryString({ ...parameters, limit: 500, cursor });
        const page = await call<Page<Entity>>('GET', `/${collection}${query}`, { signal });
        records.push(...page.data);
        cursor = page.nextCursor ?? undefined;
        isTruncated = page.truncated ?? false;
      } while (cursor && records.length < maxRecords);
      return { records, hasMore: isTruncated || cursor !== undefined };
    },
  });
}
