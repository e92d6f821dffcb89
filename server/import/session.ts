// The connection of an import and its transactions. Journal entries are collected in temporary twins of the journal's
// tables, which the statements find first, and are moved as the last thing before the commit: the lock that keeps the
// journal in order is held for a moment, however long the transaction is, and never before a lock on a row.
import pg from 'pg';
import { beginFor, type Database, demandCommit } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError } from '../errors.ts';

export interface ImportSession {
  /** How many writes may run at the same time. */
  lanes: number;
  /** Runs `work` so that it is stored as a whole or, if it throws, not at all. */
  write<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result>;
  /** Stores everything, where it is one transaction. */
  commit(): Promise<void>;
  /** Forgets what is not stored yet. */
  close(): Promise<void>;
}

export interface SessionOptions {
  tenantId: string;
  idempotencyKey: string | undefined;
  /** Whether everything is stored together at the commit, or each write by itself. */
  isOneTransaction: boolean;
}

export type OpenSession = (options: SessionOptions) => Promise<ImportSession>;

/** Each import has connections beside the pool, so that there must not be many of them in one process. */
const maxSessions = 2;

/** Two writes at a time keep two cores busy; more would take them from everybody else. */
const lanesOfAnImport = 2;

/** So many writes of all imports of a process run at the same time, so that single requests are not the last in a long line. */
const mostWrites = 2;

/** What the imports of one process have open at most. */
export const mostImportConnections = maxSessions * lanesOfAnImport;

export function buildSessions(database: Database): OpenSession {
  let sessions = 0;
  const inTurn = buildTurns(mostWrites);
  return async function open(options) {
    if (sessions >= maxSessions) throw new ApiError('too_many_imports');
    sessions++;
    let isOpen = true;
    const leave = () => {
      if (isOpen) sessions--;
      isOpen = false;
    };
    try {
      const session = await openLanes(database, options, inTurn);
      return { ...session, close: () => session.close().finally(leave) };
    } catch (error) {
      leave();
      throw toApiFailure(error);
    }
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
): Promise<ImportSession> {
  const first = await openLane(database, options);
  if (options.isOneTransaction) return { ...first, lanes: 1 };
  const second = await openLane(database, { ...options, idempotencyKey: undefined }).catch(async (error) => {
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

async function openLane(database: Database, options: SessionOptions): Promise<Omit<ImportSession, 'lanes'>> {
  const { tenantId, idempotencyKey, isOneTransaction } = options;
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

  let closing: Promise<void> | undefined;
  async function end(): Promise<void> {
    // The lock of the key is free before anybody is told that the import has ended.
    if (idempotencyKey !== undefined) await client.query('SELECT pg_advisory_unlock_all()').catch(() => {});
    await client.end().catch(() => {});
  }

  try {
    if (idempotencyKey !== undefined) await lockKey(client, `${tenantId} ${idempotencyKey}`);
    await client.query(`${twins}; INSERT INTO pg_temp.journal_head VALUES (${pg.escapeLiteral(tenantId)})`);
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return {
    write: isOneTransaction ? writeInPart : writeAlone,
    commit: async () => {
      await begunOnce();
      await commit();
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/** Two imports with the same key never run side by side. */
async function lockKey(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query<{ is_free: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 7882003)) AS is_free',
    [name],
  );
  if (!rows[0]!.is_free) throw new ApiError('request_in_progress');
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
