// How much room imports have, and for how long.

export interface ImportLimits {
  /** Imports that run in one process at the same time. At least two, or one tenant could keep all others out. */
  places: number;
  /** Imports of one tenant that wait in one process. */
  waitingPerTenant: number;
  /** How long an import waits for its place. */
  waitMs: number;
  /** From this wait on, the client is asked whether it is still there before the import begins. */
  askClientAfterMs: number;
  /** How long the service waits for the next complete line. */
  idleMs: number;
  /** How long a transaction stays open: vacuum cleans up nothing that is newer, for any tenant. */
  transactionMs: number;
  /** From this age on, an import with fewer than ten lines per second gives way to another tenant's. */
  slowAfterMs: number;
  /** From this age on, any import gives way, once the other one has waited for half of its time. */
  longAfterMs: number;
}

export const defaultImportLimits: ImportLimits = {
  places: 4,
  waitingPerTenant: 2,
  waitMs: 30_000,
  askClientAfterMs: 1000,
  idleMs: 30_000,
  transactionMs: 60 * 60_000,
  slowAfterMs: 10_000,
  longAfterMs: 10 * 60_000,
};

/** Two writes at a time keep two cores busy; more would take them from everybody else. */
export const connectionsOfAnImport = 2;

/** Each import has connections beside the pool and up to 40 MB of lines. So all workers share a few places. */
export function importPlaces(workers: number): number {
  return Math.max(2, Math.ceil(defaultImportLimits.places / workers));
}
