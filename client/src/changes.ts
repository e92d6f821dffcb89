// The change feed: what happened so far, or everything that still happens.
import type { components } from './api-types.ts';
import { type Call, type CallOptions, type Http, pause } from './http.ts';
import type { QueryOf } from './lists.ts';

export type Change = components['schemas']['Change'];
export type ChangePage = components['schemas']['ChangePage'];
export type ChangeQuery = QueryOf<'listChanges'> & {
  /** Adds only these fields of each object as it is now. */
  fields?: readonly string[];
};

/** Store of a follower's position. */
export interface CursorStore {
  load(): string | undefined | Promise<string | undefined>;
  save(cursor: string): void | Promise<void>;
}

export interface FollowOptions extends ChangeQuery, CallOptions {
  cursor: CursorStore;
  /** Start while no position is kept: `'now'` leaves out earlier changes. Defaults to the beginning. */
  after?: string;
  /** Seconds to wait when nothing has happened, 5 by default. */
  pollSeconds?: number;
}

export interface Changes {
  page(query?: ChangeQuery, options?: CallOptions): Promise<ChangePage>;
  /** Everything that has happened so far. */
  list(query?: ChangeQuery, options?: CallOptions): AsyncGenerator<Change, void, undefined>;
  /**
   * Everything that has happened and still happens, until `signal` ends it. While the service is away, it tries again at
   * least every 30 seconds. A change counts as handled when the loop asks for the next one. After a crash it may come
   * again, but none is left out.
   */
  follow(options: FollowOptions): AsyncGenerator<Change, void, undefined>;
}

export function openChanges(http: Http): Changes {
  const page = (query?: ChangeQuery, { signal }: CallOptions = {}, more: Partial<Call> = {}) =>
    http.read<ChangePage>({ method: 'GET', path: '/changes', query, signal, ...more });

  return {
    page: (query, options) => page(query, options),
    async *list(query, options) {
      for (let after = query?.after; ; ) {
        const found = await page({ ...query, ...(after !== undefined && { after }) }, options);
        yield* found.data;
        if (!found.hasMore) return;
        after = found.nextCursor;
      }
    },
    async *follow({ cursor, pollSeconds = 5, signal, after, ...query }) {
      let saved = await cursor.load();
      let handled = saved;
      const save = async () => {
        if (handled === undefined || handled === saved) return;
        await cursor.save(handled);
        saved = handled;
      };
      try {
        while (!signal?.aborted) {
          const place = handled ?? after;
          const asked = { ...query, ...(place !== undefined && { after: place }) };
          const found = await page(asked, { signal }, { retries: Infinity });
          for (const change of found.data) {
            yield change;
            handled = change.cursor;
          }
          handled = found.nextCursor;
          await save();
          if (!found.hasMore) await pause(pollSeconds * 1000, signal);
        }
      } catch (error) {
        if (!signal?.aborted) throw error;
      } finally {
        // Acknowledge also when the caller leaves the loop: handled changes do not come again.
        await save();
      }
    },
  };
}
