// Keeps the planner's statistics close to tables that grow (decision 87). After the 1st, 2nd, 4th, 8th … written row of
// a table PostgreSQL is asked to analyse what has grown, and plans the statements on it again.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { expected } from '../telemetry/expected.ts';
import { topics } from '../telemetry/topics.ts';
import { cut, type TimedQuery } from './timeouts.ts';

/** Rows by the name of their table. */
export type Written = Readonly<Record<string, number>>;

export interface Statistics {
  /**
   * Refreshes what has grown enough, beside the caller. With a client, in its transaction: the caller waits. It also waits
   * for the statistics of the first rows, where PostgreSQL cannot expect anything of a new table.
   */
  noteWritten(written: Written, client?: pg.ClientBase): Promise<void>;
  close(): void;
}

/** From so many rows on, PostgreSQL is asked each time that as many have been written. */
const longestStep = 8192;

/** Writes of later rows do not wait. */
const firstRows = 64;

/** Longest time that slow statistics delay an answer. */
const longestWaitMs = 1_000;

/** Reading the sample of a large table from a slow disk can take minutes. */
const longestRefreshMs = 600_000;

export function keepStatistics(connect: () => Promise<pg.Client>): Statistics {
  const rowsOf = new Map<string, number>();
  let mayExpect = false;
  let isDue = false;
  let refreshing: Promise<void> | undefined;
  let isClosed = false;
  let client: pg.Client | undefined;

  const isFilling = (written: Written) =>
    Object.keys(written).some((table) => (rowsOf.get(table) ?? 0) < firstRows);

  /** Counts the rows. Returns whether a table has reached its next step. */
  function count(written: Written): boolean {
    let hasGrown = false;
    for (const [table, rows] of Object.entries(written)) {
      const before = rowsOf.get(table) ?? 0;
      rowsOf.set(table, before + rows);
      hasGrown ||= stepOf(before + rows) > stepOf(before);
    }
    return hasGrown;
  }

  /** One at a time. What is due by its end comes next. */
  async function refreshDue(): Promise<void> {
    while (isDue && !isClosed) {
      isDue = false;
      await refreshAlone().catch((error) => {
        if (!isClosed) topics.backgroundError.publish({ work: 'statistics', error });
      });
    }
    refreshing = undefined;
  }

  async function refreshAlone(): Promise<void> {
    client = await connect();
    client.on('notice', reportRefusal);
    try {
      if (isClosed) return;
      await client.query(`SET statement_timeout = ${longestRefreshMs}`);
      mayExpect = await refresh(client, longestRefreshMs);
    } finally {
      await client.end().catch(expected);
    }
  }

  return {
    async noteWritten(written, ownClient) {
      const mayWait = !mayExpect && isFilling(written);
      const hasGrown = count(written);
      if (ownClient) {
        if (hasGrown) await refresh(ownClient);
        return;
      }
      isDue ||= hasGrown;
      if (isDue) refreshing ??= refreshDue();
      if (refreshing && mayWait)
        await Promise.race([refreshing, sleep(longestWaitMs, undefined, { ref: false })]);
    },
    close() {
      isClosed = true;
      if (refreshing && client) cut(client);
    },
  };
}

function stepOf(rows: number): number {
  return Math.floor(rows < longestStep ? Math.log2(rows) : Math.log2(longestStep) - 1 + rows / longestStep);
}

/** Returns whether PostgreSQL can expect something of a table without rows. */
async function refresh(client: pg.ClientBase, timeoutMs?: number): Promise<boolean> {
  const { rows } = await client.query<{ mayExpect: boolean }>({
    text: `SELECT refresh_statistics(), current_setting('server_version_num')::integer >= 180000 AS "mayExpect"`,
    query_timeout: timeoutMs,
  } as TimedQuery);
  return rows[0]!.mayExpect;
}

const warning = '01000';

/** ANALYZE only warns about a table that the owner of the function may not analyse. */
function reportRefusal({ code, message }: { code?: string | undefined; message?: string | undefined }): void {
  if (code === warning) topics.backgroundError.publish({ work: 'statistics', error: new Error(message) });
}
