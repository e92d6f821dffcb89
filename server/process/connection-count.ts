// How many connections the processes of the service share, and what PostgreSQL has to have room for.
import type { Config } from '../config.ts';
import { connectionsOfAnImport, importPlaces } from '../features/import/session/limits.ts';

type Counts = Pick<Config, 'DATABASE_CONNECTIONS' | 'WORKERS'>;

/** Fewer, and writes would wait for the look-ups of keys. */
const fewestConnections = 4;

export function connectionsOfWorker({ DATABASE_CONNECTIONS, WORKERS }: Counts): number {
  return Math.max(fewestConnections, Math.floor(DATABASE_CONNECTIONS / WORKERS));
}

/** Connections for health checks and for the planner's statistics. */
const connectionsBeside = 2;

/** Connections for commands, upkeep, and the process that starts the workers. */
const spareConnections = 20;

export function connectionsInAll(counts: Counts): number {
  const importConnections = importPlaces(counts.WORKERS) * connectionsOfAnImport;
  // While workers are replaced there is one more.
  const processes = counts.WORKERS === 1 ? 1 : counts.WORKERS + 1;
  return processes * (connectionsOfWorker(counts) + importConnections + connectionsBeside) + spareConnections;
}
