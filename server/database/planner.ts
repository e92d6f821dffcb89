// All planner settings. PostgreSQL plans for the average tenant, and for the table sizes it last collected. A plan must
// also suit the largest tenant, and a table that an import has just filled. So connections prefer an index to a
// sequential scan. A statement planned once reads an index in its order and stops early. A sequential scan that is the
// only way costs much. PostgreSQL would compile its statement (jit) for longer than it runs.

const settings = ['enable_seqscan = off', 'jit = off'];

/** Planner settings of each connection. */
export const planWithIndexes = settings.map((setting) => `SET ${setting}`).join('; ');

/** Planner settings of the role that Citus connects to workers as. */
export const workerSettings = [
  ...settings,
  `datestyle = 'ISO'`,
  `timezone = 'UTC'`,
  'extra_float_digits = 1',
];

/**
 * Planner settings of a connection that repeats its statements: each is planned once, until statistics change. Not on a
 * cluster, where Citus sends a statement to a worker only if it knows its values when it plans.
 */
export const planStatementsOnce = 'SET plan_cache_mode = force_generic_plan';

/** Planner settings of a transaction whose statement reads no more rows than it returns. */
export const readInOrder = ['SET LOCAL enable_bitmapscan = off', 'SET LOCAL enable_sort = off'];

/** The same for one that is planned once for any values. A statement for a worker of a cluster is not. */
export const planOnce = ['SET LOCAL plan_cache_mode = force_generic_plan', ...readInOrder];
