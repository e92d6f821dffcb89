// The connections of an import and their transactions. Journal entries are collected in temporary twins of the journal's
// tables, which statements find first. They move just before the commit. So the journal's lock is held for a moment only,
// and never before a lock on a row.
import pg from 'pg';
import type { Database } from '../../../database/database.ts';
import { planStatementsOnce } from '../../../database/planner.ts';
import type { Written } from '../../../database/statistics.ts';
import { cut } from '../../../database/timeouts.ts';
import { commit as commitTransaction } from '../../../database/transactions.ts';
import { maxCollectedLinks } from '../../../engine/write/links.ts';
import type { Statement } from '../../../engine/write/statement-parts.ts';
import type { Author } from '../../../http/conventions.ts';
import { expected } from '../../../telemetry/expected.ts';
import { connectionsOfAnImport } from './limits.ts';

interface ConnectionOptions {
  tenantId: string;
  /** Whether everything is stored together at the commit, or each write by itself. */
  isOneTransaction: boolean;
  /** Run once the journal's head is locked. */
  links: readonly Statement[];
  /** The stored lines belong to it, and are undone with it. */
  run: ImportRun;
}

export interface ImportRun {
  id: string;
  author: Author;
}

/** Tells what it has written. The next statement is planned for it. */
type Work<Result> = (client: pg.ClientBase, noteWritten: (rows: Written) => Promise<void>) => Promise<Result>;

export interface ImportConnections {
  /** How many writes may run at the same time. */
  connections: number;
  /** Runs `work`, which is stored as a whole or, if it throws, not at all. */
  write<Result>(work: Work<Result>): Promise<Result>;
  /** Stores everything, where it is one transaction. */
  commit(): Promise<void>;
  /** Forgets everything that is not stored yet. */
  close(): Promise<void>;
}

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Lets so many work at the same time; others wait in the order in which they came. */
export function buildTurns(most: number): InTurn {
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
 * One transaction has one connection and waits for no turn: others may wait for its locks. Otherwise each write takes a
 * connection that is free.
 */
export async function openConnections(
  database: Database,
  options: ConnectionOptions,
  inTurn: InTurn,
  lock: (client: pg.Client) => Promise<void>,
): Promise<ImportConnections> {
  const first = await open(database, options, lock);
  if (options.isOneTransaction) return { ...first, connections: 1 };
  const second = await open(database, options).catch(async (error) => {
    await first.close();
    throw error;
  });
  const free = [first, second];
  return {
    connections: connectionsOfAnImport,
    async write(work) {
      const connection = free.pop();
      if (!connection) throw new Error('More writes at a time than connections.');
      return inTurn(() => connection.write(work)).finally(() => free.push(connection));
    },
    commit: () => Promise.reject(new Error('Each write has been stored by itself.')),
    close: async () => {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

async function open(
  database: Database,
  options: ConnectionOptions,
  lock?: (client: pg.Client) => Promise<void>,
): Promise<Omit<ImportConnections, 'connections'>> {
  const { tenantId, isOneTransaction } = options;
  const client = await database.connect();
  const reached = database.reach(client, tenantId, {
    names: ['journal', 'journal_head'],
    make: twins,
    empty: `INSERT INTO pg_temp.journal_head VALUES (${pg.escapeLiteral(tenantId)})
      ON CONFLICT (tenant_id) DO UPDATE SET last_position = 0`,
  });
  let hasBegun = false;

  async function begunOnce(): Promise<void> {
    if (!hasBegun) await begin();
    hasBegun = true;
  }

  async function begin(): Promise<void> {
    await reached.begin().catch(async (error) => {
      await client.query('ROLLBACK').catch(expected);
      throw error;
    });
  }

  const run = <Result>(work: Work<Result>) =>
    work(reached.client, (rows) => database.noteWritten(rows, client));

  async function writeInPart<Result>(work: Work<Result>): Promise<Result> {
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

  async function writeAlone<Result>(work: Work<Result>): Promise<Result> {
    try {
      await begin();
      const result = await run(work);
      await commit();
      return result;
    } catch (error) {
      // If this fails too, the connection is broken and the next use of it says so.
      await client.query('ROLLBACK').catch(expected);
      throw error;
    }
  }

  async function commit(): Promise<void> {
    await storeJournal(reached.client, options);
    await commitTransaction(client);
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
    else await client.query('ROLLBACK; SELECT pg_advisory_unlock_all()').catch(expected);
    await client.end().catch(expected);
  }

  try {
    await client.query(database.isDistributed ? endsByItself : `${endsByItself}; ${planStatementsOnce}`);
    await lock?.(client);
    await client.query(twins);
  } catch (error) {
    await client.end().catch(expected);
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

/** Moves what the transaction has collected to the journal, and links what others have committed meanwhile. */
async function storeJournal(
  client: pg.ClientBase,
  { tenantId, links, run: { id, author } }: ConnectionOptions,
): Promise<void> {
  const { rows } = await client.query<{ entries: string }>({ ...moveJournal, values: [tenantId, 0] });
  const entries = rows[0]?.entries;
  if (entries === undefined) return;
  // The head is locked now: everything that others have committed can be seen, and linked.
  for (const link of links) await client.query({ ...link, values: [tenantId, maxCollectedLinks] });
  await client.query({ ...moveJournal, values: [tenantId, entries] });
  await client.query({ ...noteChunk, values: [tenantId, id, author.actor, author.actorId ?? null] });
}

/**
 * PostgreSQL frees locks and rows within minutes if this process hangs, and within a second if the connection is cut.
 * On some systems it cannot notice the latter, and refuses the setting.
 */
const endsByItself = `
  DO $$ BEGIN SET client_connection_check_interval = '1s'; EXCEPTION WHEN OTHERS THEN NULL; END $$;
  SET idle_session_timeout = '10min'; SET idle_in_transaction_session_timeout = '10min';
  SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3`;

/** The head stays, because emptying a table with an index would have each write planned anew. */
const twins = `
  CREATE TEMPORARY TABLE IF NOT EXISTS journal_head (LIKE public.journal_head INCLUDING DEFAULTS INCLUDING INDEXES);
  CREATE TEMPORARY TABLE IF NOT EXISTS journal (LIKE public.journal INCLUDING DEFAULTS) ON COMMIT DELETE ROWS`;

const entryColumns =
  'at, resource, resource_id, external_id, action, version, actor, actor_id, request_id, origin, changes';

/** Moves the entries behind position $2 of the twin. */
const moveJournal = {
  name: 'move journal',
  text: `
    WITH counted AS (SELECT count(*) AS entries FROM pg_temp.journal WHERE position > $2),
    moved AS (
      UPDATE public.journal_head SET last_position = last_position + entries FROM counted
      WHERE tenant_id = $1 AND entries > 0
      RETURNING last_position - entries AS last_position, entries
    ), written AS (
      INSERT INTO public.journal (tenant_id, position, ${entryColumns})
      SELECT $1, moved.last_position + collected.position - $2, ${entryColumns}
      FROM pg_temp.journal AS collected CROSS JOIN moved WHERE collected.position > $2
    )
    SELECT entries FROM moved`,
};

/** Notes the entries of this transaction as part of the import. The head is locked, so they are the last ones. */
const noteChunk = {
  name: 'note import chunk',
  text: `
    WITH counted AS (
      SELECT count(*) AS entries, count(*) FILTER (WHERE action = 'CREATED') AS created,
        count(*) FILTER (WHERE action = 'CHANGED') AS changed, count(*) FILTER (WHERE action = 'DELETED') AS deleted
      FROM pg_temp.journal
    ), run AS (
      INSERT INTO import_run AS known (tenant_id, id, actor, actor_id, created, changed, deleted)
      SELECT $1, $2::uuid, $3::text, $4::uuid, created, changed, deleted FROM counted
      ON CONFLICT (tenant_id, id) DO UPDATE SET written_at = excluded.written_at, created = known.created + excluded.created,
        changed = known.changed + excluded.changed, deleted = known.deleted + excluded.deleted
    )
    INSERT INTO import_chunk (tenant_id, import_id, first_position, last_position, open_until)
    SELECT $1, $2::uuid, head.last_position - entries + 1, head.last_position, head.last_position
    FROM counted CROSS JOIN public.journal_head AS head WHERE head.tenant_id = $1`,
};
