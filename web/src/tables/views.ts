import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';

export interface SavedView {
  id: string;
  resource: string;
  name: string;
  /** The query string of the page. */
  search: string;
  columns: string[];
  isShared: boolean;
}

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => call<{ data: SavedView[] }>('GET', '/views', { signal }),
});
