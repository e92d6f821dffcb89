// All planner settings. PostgreSQL plans for the average tenant, and for the table sizes it last collected. A plan must
// also suit the largest tenant, and a table that an import has just filled. So connections prefer an index to a sequential
// scan, and a statement that is planned once for any values reads an index in its order and stops early. Where a
// sequential scan is the only way, its high cost would make PostgreSQL compile the statement (jit) for longer than it runs.

/** For each connection. */
export const planWithIndexes = 'SET enable_seqscan = off; SET jit = off';

/** For a transaction whose statement reads no more rows than it returns. */
export const planOnce =
  'SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off';
