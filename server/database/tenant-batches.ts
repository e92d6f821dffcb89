// Batches of many tenants. A single PostgreSQL takes all of their rows in one transaction. On a cluster each tenant's
// items are a transaction on the tenant's worker, all of them in parallel.
import { Batcher, type BatcherOptions } from './batcher.ts';
import type { Database } from './database.ts';

export function buildTenantBatches<Item, Result>(
  database: Database,
  options: Omit<BatcherOptions<Item, Result>, 'hasAnsweredSince'>,
): Batcher<Item, Result> {
  const { run, tenantOf } = options;
  return new Batcher({
    ...options,
    hasAnsweredSince: database.hasAnsweredSince,
    run: async (items) => (database.isDistributed ? runApart(items, run, tenantOf) : run(items)),
  });
}

/** Each item's result as a promise: a tenant that waits holds up nobody else. */
export function runApart<Item, Result>(
  items: readonly Item[],
  run: BatcherOptions<Item, Result>['run'],
  tenantOf: (item: Item) => string,
): Promise<Result>[] {
  const places = new Map<Item, number>();
  const results = new Map<string, ReturnType<typeof run>>();
  for (const [tenant, own] of Map.groupBy(items, tenantOf)) {
    for (const [place, item] of own.entries()) places.set(item, place);
    results.set(tenant, run(own));
  }
  return items.map(async (item) => {
    const result = await (await results.get(tenantOf(item))!)[places.get(item)!];
    if (result instanceof Error) throw result;
    return result as Result;
  });
}
