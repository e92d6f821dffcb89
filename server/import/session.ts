// The connection of an import and its transactions. Journal entries are collected in temporary twins of the journal's
// tables, which the statements find first, and are moved as the last thing before the commit: the lock that keeps the
// journal in order is held for a moment, however long the transaction is, and never before a lock on a row.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { cut } from '../database/client.ts';
import { beginFor, type Database, demandCommit } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError } from '../errors.ts';
import { type ImportLimits, lanesOfAnImport } from './limits.ts';
import type { Line } from './lines.ts';
import { buildQueue, type Place } from './queue.ts';
import { takeLines } from './taken-lines.ts';

interface Lanes {
  /** How many writes may run at the same time. */
  lanes: number;
  /** Runs `work` so that it is stored as a whole or, if it throws, not at all. */
  write<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result>;
  /** Stores everything, where it is one transaction. */
  commit(): Promise<void>;
  /** Forgets what is not stored yet. */
  close(): Promise<void>;
}

export interface ImportSession extends Lanes {
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
  /** Whether everything is stored together at the commit, or each write by itself. */
  isOneTransaction: boolean;
  /** Aborted when nobody waits for the session any more. */
  signal?: AbortSignal;
}

export type OpenSession = (options: SessionOptions) => Promise<ImportSession>;

/** So many writes of all imports of a process run at the same time, so that single requests are not the last in a long line. */
const mostWrites = 2;

export function buildSessions(database: Database, limits: ImportLimits): OpenSession {
  const enterQueue = buildQueue(limits);
  const inTurn = buildTurns(mostWrites);
  /** Keys of imports that run or wait here. */
  const keys = new Set<string>();

  return async function open(options) {
    const { tenantId, idempotencyKey, signal } = options;
    const key = idempotencyKey === undefined ? undefined : `${tenantId} ${idempotencyKey}`;
    if (key !== undefined && keys.has(key)) throw new ApiError('request_in_progress');
    if (key !== undefined) keys.add(key);
    const deadline = performance.now() + limits.waitMs;
    let place: Place | undefined;
    function leave() {
      if (key !== undefined) keys.delete(key);
      place?.leave();
    }
    try {
      place = await enterQueue(tenantId, signal);
      const displaced = new AbortController();
      place.giveWay = () => displaced.abort(new ApiError('too_many_imports'));
      const abandoned = AbortSignal.any([displaced.signal, ...(signal ? [signal] : [])]);
      const lock = (client: pg.Client) => lockImport(client, { tenantId, key, deadline, signal: abandoned });
      const lanes = await openLanes(database, options, inTurn, lock);
      if (abandoned.aborted) {
        await lanes.close();
        throw abandoned.reason;
      }
      return supervise(lanes, options, limits, place, leave);
    } catch (error) {
      leave();
      throw toApiFailure(error);
    }
  };
}

/** Ends the session when it has to end, whether or not its client reads on. */
function supervise(
  lanes: Lanes,
  { isOneTransaction }: SessionOptions,
  { idleMs, transactionMs }: ImportLimits,
  place: Place,
  leave: () => void,
): ImportSession {
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
    closing ??= lanes.close().finally(leave);
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
    lanes: lanes.lanes,
    write: (work) => track(() => lanes.write(work)),
    commit: () => track(() => lanes.commit()),
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
        },
      }),
  };
}

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Lets so many work at the same time; others wait in the order in which they came. */
function buildTurns(most: number): InTurn {
  let free = most;
  const waiting: (() => void)[] = [];
  return async function inTurn(work) {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/**
 * What is one transaction has one connection, and waits for no turn: others may wait for what it has locked. Otherwise
 * each write takes a connection that is free.
 */
async function openLanes(
  database: Database,
  options: SessionOptions,
  inTurn: InTurn,
  lock: (client: pg.Client) => Promise<void>,
): Promise<Lanes> {
  const first = await openLane(database, options, lock);
  if (options.isOneTransaction) return { ...first, lanes: 1 };
  const second = await openLane(database, options).catch(async (error) => {
    await first.close();
    throw error;
  });
  const free = [first, second];
  return {
    lanes: lanesOfAnImport,
    async write(work) {
      const lane = free.pop();
      if (!lane) throw new Error('More writes at once than there are lanes.');
      return inTurn(() => lane.write(work)).finally(() => free.push(lane));
    },
    commit: () => Promise.reject(new Error('Each write has been stored by itself.')),
    close: async () => {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

async function openLane(
  database: Database,
  { tenantId, isOneTransaction }: SessionOptions,
  lock?: (client: pg.Client) => Promise<void>,
): Promise<Omit<Lanes, 'lanes'>> {
  const client = await database.connect();
  const begin = `${beginFor([tenantId])}; UPDATE pg_temp.journal_head SET last_position = 0`;
  let hasBegun = false;
  let writes = 0;

  async function begunOnce(): Promise<void> {
    if (!hasBegun) await client.query(begin);
    hasBegun = true;
  }

  /** After the first, second, fourth, eighth … write the planner is told how tables have grown. */
  async function run<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
    const result = await work(client);
    writes++;
    if (Number.isInteger(Math.log2(writes))) await client.query('SELECT refresh_statistics()');
    return result;
  }

  async function writeInPart<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
    await begunOnce();
    await client.query('SAVEPOINT part');
    try {
      const result = await run(work);
      await client.query('RELEASE SAVEPOINT part');
      return result;
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT part');
      throw error;
    }
  }

  async function writeAlone<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
    try {
      await client.query(begin);
      const result = await run(work);
      await commit();
      return result;
    } catch (error) {
      // If this fails too, the connection is broken and the next use of it says so.
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  async function commit(): Promise<void> {
    await client.query({ ...moveJournal, values: [tenantId] });
    demandCommit(await client.query('COMMIT'));
  }

  let running = 0;
  async function busy<Result>(work: () => Promise<Result>): Promise<Result> {
    running++;
    return work().finally(() => running--);
  }

  let closing: Promise<void> | undefined;
  async function end(): Promise<void> {
    // A statement that nobody waits for any more does not delay the end; PostgreSQL rolls it back.
    if (running > 0) cut(client);
    // Otherwise the locks are free before anybody learns that the import has ended.
    else await client.query('ROLLBACK; SELECT pg_advisory_unlock_all()').catch(() => {});
    await client.end().catch(() => {});
  }

  try {
    await client.query(endsByItself);
    await lock?.(client);
    await client.query(`${twins}; INSERT INTO pg_temp.journal_head VALUES (${pg.escapeLiteral(tenantId)})`);
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return {
    write: (work) => busy(() => (isOneTransaction ? writeInPart(work) : writeAlone(work))),
    commit: () =>
      busy(async () => {
        await begunOnce();
        await commit();
      }),
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/**
 * PostgreSQL frees locks and rows within minutes if this process hangs or its machine is lost, and within a second if the
 * connection is cut during a statement. On some systems it cannot notice the latter, and refuses the setting.
 */
const endsByItself = `
  DO $$ BEGIN SET client_connection_check_interval = '1s'; EXCEPTION WHEN OTHERS THEN NULL; END $$;
  SET idle_session_timeout = '10min'; SET idle_in_transaction_session_timeout = '10min';
  SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3`;

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

/** The head stays, because emptying a table with an index would have each write planned anew. */
const twins = `
  CREATE TEMPORARY TABLE journal_head (LIKE public.journal_head INCLUDING DEFAULTS INCLUDING INDEXES);
  CREATE TEMPORARY TABLE journal (LIKE public.journal INCLUDING DEFAULTS) ON COMMIT DELETE ROWS`;

const entryColumns =
  'at, resource, resource_id, external_id, action, version, actor, actor_id, request_id, changes';

const moveJournal = {
  name: 'move journal',
  text: `
    WITH counted AS (SELECT count(*) AS entries FROM pg_temp.journal),
    moved AS (
      UPDATE public.journal_head SET last_position = last_position + entries FROM counted
      WHERE tenant_id = $1 AND entries > 0
      RETURNING last_position - entries AS last_position
    )
    INSERT INTO public.journal (tenant_id, position, ${entryColumns})
    SELECT $1, moved.last_position + collected.position, ${entryColumns}
    FROM pg_temp.journal AS collected CROSS JOIN moved`,
};
