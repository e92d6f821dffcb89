// How a migration waits without blocking others: everybody who comes after it waits for the same lock.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expected } from '../../telemetry/expected.ts';
import { serviceRole } from '../connections.ts';
import { isLockTimeout } from '../errors.ts';
import { MigrationError } from './migration-files.ts';

/** Well below the deadline of a request, which may have to wait as long. */
export const lockTimeoutMs = { first: 100, most: 500 };
const pauseMs = { first: 200, most: 10_000 };
const patienceMs = 600_000;

/** Any number that nothing else locks: one process migrates, the others wait for it. */
const migrationLock = 7_882_001;

export type Say = (sentence: string) => void;

export interface Migrator {
  client: pg.Client;
  connection: pg.ClientConfig;
  say: Say;
}

/**
 * Polls, because a statement that waits in PostgreSQL holds a snapshot. The other process's concurrent index build
 * would wait for that.
 */
export async function takeTurn({ client, say }: Migrator): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [migrationLock]);
    if (rows[0].taken) return;
    if (attempt === 0) say('Another process migrates the database. Waiting for it.');
    await sleep(Math.min(50 * 2 ** attempt, 500));
  }
}

/** Runs `work` in a transaction that gives up a lock after a moment, and tries again later. */
export async function inShortTransaction(
  migrator: Migrator,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const { client, say } = migrator;
  const giveUpAt = performance.now() + patienceMs;
  for (let attempt = 0; ; attempt++) {
    const timeoutMs = Math.min(lockTimeoutMs.first * 2 ** attempt, lockTimeoutMs.most);
    // Hardly any migration has to try twice, so the first attempt does without a second connection.
    const watch = attempt === 0 ? undefined : watchBlockers(migrator, () => {});
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = ${timeoutMs}`);
      await work();
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK').catch(expected);
      if (!isLockTimeout(error) && !isDeadlock(error)) throw error;
      const blockers = (await watch?.stop()) ?? 'another transaction';
      if (performance.now() > giveUpAt) throw new MigrationError(givenUp(name, blockers));
      const waitMs = Math.min(pauseMs.first * 2 ** attempt, pauseMs.most);
      if (watch) say(`${name} waits for ${blockers}. Next attempt in ${waitMs / 1000} s.`);
      await sleep(waitMs);
    } finally {
      await watch?.stop();
    }
  }
}

function givenUp(name: string, blockers: string): string {
  const minutes = patienceMs / 60_000;
  return `${name} got no lock for ${minutes} minutes because of ${blockers}. Nothing was changed. End that, then start again.`;
}

function isDeadlock(error: unknown): boolean {
  return (error as { code?: string }).code === '40P01';
}

export interface BlockerWatch {
  /** Resolves with a description of the last transactions that were waited for. */
  stop(): Promise<string | undefined>;
}

/** Looks on another connection whom the migration waits for, and reports each change. */
export function watchBlockers({ client, connection }: Migrator, report: Say): BlockerWatch {
  let isStopped = false;
  let found: string | undefined;
  const { processID } = client as pg.Client & { processID: number };
  async function watch(): Promise<void> {
    const watcher = new pg.Client(connection);
    watcher.on('error', () => {});
    try {
      await watcher.connect();
      for (; !isStopped; await sleep(50)) {
        const blockers = await describeBlockers(watcher, processID);
        if (blockers !== undefined && blockers !== found) report(blockers);
        found = blockers ?? found;
      }
    } catch {
      // The migration goes on without a description.
    } finally {
      await watcher.end().catch(expected);
    }
  }
  const watching = watch();
  return {
    async stop() {
      isStopped = true;
      await watching;
      return found;
    },
  };
}

/**
 * Leaves out requests, which are over soon, and the text of queries, which may hold personal data. PostgreSQL shows the
 * state and the start of other roles' transactions only to members of pg_read_all_stats.
 */
async function describeBlockers(watcher: pg.Client, pid: number): Promise<string | undefined> {
  const { rows } = await watcher.query<{ blocker: string }>(
    `SELECT concat('process ', pid, ' (', concat_ws(', ', usename, nullif(application_name, ''), state,
       to_char(xact_start AT TIME ZONE 'UTC', '"since "HH24:MI:SS" UTC"')), ')') AS blocker
     FROM pg_stat_activity
     WHERE pid = ANY (pg_blocking_pids($1)) AND coalesce(xact_start < now() - interval '300 ms', NOT EXISTS (
       SELECT FROM pg_auth_members WHERE member = usesysid AND roleid = '${serviceRole}'::regrole))
     ORDER BY xact_start`,
    [pid],
  );
  return rows.length > 0 ? rows.map(({ blocker }) => blocker).join(' and ') : undefined;
}
