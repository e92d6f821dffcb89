// Messages between the process that owns the port and its workers.
import type { Worker } from 'node:cluster';
import type pg from 'pg';
import type { Config } from '../../config.ts';
import type { Account } from '../../database/embedded/programs.ts';
import type { Measurements } from '../metrics/process-metrics.ts';

/** Orders to a worker: to start, end or measure, or the count that it asked for. */
export type Order =
  | { kind: 'start'; config: Config; connection: pg.ClientConfig; account: Account; sendsWebhooks: boolean }
  | { kind: 'drain' }
  | { kind: 'stop' }
  | { kind: 'measure' }
  | { kind: 'retire'; timeoutMs: number }
  | { kind: 'counted'; id: number; requests: number; windowEndsInMs: number };

/** A worker reports that it listens or cannot, its metrics, or an address that failed to authenticate. */
export type Report =
  | { kind: 'listening'; port: number }
  | { kind: 'failed'; message: string; code: string | undefined }
  | { kind: 'measured'; measurements: Measurements }
  | { kind: 'failure'; id: number; address: string; addition: 0 | 1 };

export function tell(worker: Worker, order: Order): void {
  if (worker.isConnected()) worker.send(order);
}
