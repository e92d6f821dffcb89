// The place, the locks and the deadline of an import, from the queue to its end.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Config } from '../../../config.ts';
import type { Database } from '../../../database/database.ts';
import { toApiError } from '../../../database/errors.ts';
import type { Definition } from '../../../engine/definition/definition.ts';
import { buildCollectedLinks } from '../../../engine/write/links.ts';
import { ApiError } from '../../../errors.ts';
import { topics } from '../../../telemetry/topics.ts';
import type { Line } from '../lines.ts';
import { buildTurns, type ImportConnections, type ImportRun, openConnections } from './import-connections.ts';
import { defaultImportLimits, type ImportLimits } from './limits.ts';
import { buildQueue, type Place } from './queue.ts';
import { takeLines } from './taken-lines.ts';

export interface ImportSession extends ImportConnections {
  /** Whether its client may have left unnoticed before it began. */
  hasWaited: boolean;
  /** Aborted when the import has to end before its input does. Its reason is the error that says why. */
  signal: AbortSignal;
  /** Lets writes finish that have begun, and closes the session. */
  stop(reason: Error): void;
  /** The lines of the input, until the import has to end. */
  take(input: AsyncIterable<Line[]>): AsyncIterable<Line[]>;
}

export interface SessionOptions {
  tenantId: string;
  idempotencyKey: string | undefined;
  isOneTransaction: boolean;
  run: ImportRun;
  /** Aborted when nobody waits for the session any more. */
  signal?: AbortSignal;
}

export type OpenSession = (options: SessionOptions) => Promise<ImportSession>;

/** Concurrent writes of all imports of a process. More would delay single requests. */
const mostWrites = 2;

export type ImportConfig = Pick<Config, 'IMPORT_TRANSACTION_MAX_MINUTES'> & {
  /** What tests and the number of workers change. */
  importLimits?: Partial<ImportLimits>;
};

export interface Imports {
  open: OpenSession;
  /** Ends all of them in order before the process ends: work under way is stored and answered. */
  stop(): void;
}

export function buildImports(
  database: Database,
  config: ImportConfig,
  resources: readonly Definition[],
): Imports {
  const links = buildCollectedLinks(resources);
  const limits: ImportLimits = {
    ...defaultImportLimits,
    transactionMs: config.IMPORT_TRANSACTION_MAX_MINUTES * 60_000,
    ...config.importLimits,
  };
  const enterQueue = buildQueue(limits);
  const inTurn = buildTurns(mostWrites);
  /** Keys of imports that run or wait here. */
  const keys = new Set<string>();
  const running = new Set<ImportSession>();
  const stopping = new AbortController();

  async function open(options: SessionOptions): Promise<ImportSession> {
    const { tenantId, idempotencyKey } = options;
    const signal = AbortSignal.any([stopping.signal, ...(options.signal ? [options.signal] : [])]);
    const key = idempotencyKey === undefined ? undefined : `${tenantId} ${idempotencyKey}`;
    if (key !== undefined && keys.has(key)) throw new ApiError('request_in_progress');
    if (key !== undefined) keys.add(key);
    const askedAt = performance.now();
    const deadline = askedAt + limits.waitMs;
    let place: Place | undefined;
    function leave() {
      if (key !== undefined) keys.delete(key);
      place?.leave();
    }
    try {
      place = await enterQueue(tenantId, signal);
      const displaced = new AbortController();
      place.giveWay = () => displaced.abort(new ApiError('too_many_imports'));
      const abandoned = AbortSignal.any([displaced.signal, signal]);
      const lock = (client: pg.Client) => lockImport(client, { tenantId, key, deadline, signal: abandoned });
      const connections = await openConnections(database, { ...options, links }, inTurn, lock);
      if (abandoned.aborted) {
        await connections.close();
        throw abandoned.reason;
      }
      const supervised = supervise(connections, options, limits, place, () => {
        running.delete(session);
        topics.runningImports.publish({ change: -1 });
        leave();
      });
      const hasWaited = performance.now() - askedAt >= limits.askClientAfterMs;
      const session = Object.assign(supervised, { hasWaited });
      running.add(session);
      topics.runningImports.publish({ change: 1 });
      return session;
    } catch (error) {
      leave();
      throw toApiError(error);
    }
  }

  return {
    open,
    stop() {
      stopping.abort(new ApiError('too_many_imports'));
      for (const session of running) session.stop(new ApiError('import_stopped'));
    },
  };
}

/** Ends the session when it has to end, whether or not its client reads on. */
function supervise(
  connections: ImportConnections,
  { isOneTransaction }: SessionOptions,
  { idleMs, transactionMs }: ImportLimits,
  place: Place,
  leave: () => void,
): Omit<ImportSession, 'hasWaited'> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function track<Result>(work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    const result = work();
    underWay.add(result);
    return result.finally(() => underWay.delete(result));
  }

  function close(): Promise<void> {
    clearTimeout(expiry);
    closing ??= connections.close().finally(leave);
    return closing;
  }

  function stop(reason: Error): void {
    if (signal.aborted) return;
    stopping.abort(reason);
    void Promise.allSettled(underWay).then(close);
  }

  const expiry = isOneTransaction
    ? setTimeout(() => stop(new ApiError('import_expired')), transactionMs)
    : undefined;
  place.giveWay = () => stop(new ApiError('import_too_slow'));
  return {
    connections: connections.connections,
    write: (work) => track(() => connections.write(work)),
    commit: () => track(() => connections.commit()),
    close,
    signal,
    stop,
    take: (input) =>
      takeLines(input, {
        signal,
        idleMs,
        onIdle: () => stop(new ApiError('import_idle')),
        onLines: (count) => {
          place.lines += count;
          topics.importLines.publish({ lines: count });
        },
      }),
  };
}

const lockRetryMs = 250;

interface ImportLock {
  tenantId: string;
  key: string | undefined;
  deadline: number;
  signal: AbortSignal;
}

/**
 * Locks of the session, so they hold over all processes. A second import with the same key is refused; another one of
 * the tenant waits until the deadline.
 */
async function lockImport(client: pg.Client, { tenantId, key, deadline, signal }: ImportLock): Promise<void> {
  if (key !== undefined && !(await tryLock(client, key, 7882003))) throw new ApiError('request_in_progress');
  while (!(await tryLock(client, tenantId, 7882004))) {
    if (signal.aborted || performance.now() > deadline) throw new ApiError('too_many_imports');
    await sleep(lockRetryMs);
  }
}

async function tryLock(client: pg.Client, name: string, seed: number): Promise<boolean> {
  const { rows } = await client.query<{ is_free: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, $2)) AS is_free',
    [name, seed],
  );
  return rows[0]!.is_free;
}
