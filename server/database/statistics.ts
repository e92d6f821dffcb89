// Keeps the planner's statistics close to tables that grow (decision 87). After the 1st, 2nd, 4th, 8th … written row of
// a table PostgreSQL is asked to analyse what has grown, and plans the statements on it again.
import type pg from 'pg';
import { expected } from '../telemetry/expected.ts';
import { topics } from '../telemetry/topics.ts';
import { cut, type TimedQuery } from './timeouts.ts';

/** Rows by the name of their table. */
export type Written = Readonly<Record<string, number>>;

export interface Statistics {
  /** Refreshes what has grown enough, beside the caller. With a client, in its transaction: the caller waits. */
  noteWritten(written: Written, client?: pg.ClientBase): Promise<void>;
  close(): void;
}

/** From so many rows on, PostgreSQL is asked each time that as many have been written. */
const longestStep = 8192;

/** Reading the sample of a large table from a slow disk can take minutes. */
const longestRefreshMs = 600_000;

export function keepStatistics(connect: () => Promise<pg.Client>): Statistics {
  const rowsOf = new Map<string, number>();
  let isDue = false;
  let isRefreshing = false;
  let isClosed = false;
  let client: pg.Client | undefined;

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
    if (isRefreshing) return;
    isRefreshing = true;
    while (isDue && !isClosed) {
      isDue = false;
      await refreshAlone().catch((error) => {
        if (!isClosed) topics.backgroundError.publish({ work: 'statistics', error });
      });
    }
    isRefreshing = false;
  }

  async function refreshAlone(): Promise<void> {
    client = await connect();
    client.on('notice', reportRefusal);
    try {
      if (isClosed) return;
      await client.query(`SET statement_timeout = ${longestRefreshMs}`);
      await refresh(client, longestRefreshMs);
    } finally {
      await client.end().catch(expected);
    }
  }

  return {
    async noteWritten(written, ownClient) {
      if (!count(written)) return;
      if (ownClient) return refresh(ownClient);
      isDue = true;
      void refreshDue();
    },
    close() {
      isClosed = true;
      if (isRefreshing && client) cut(client);
    },
  };
}

function stepOf(rows: number): number {
  return Math.floor(rows < longestStep ? Math.log2(rows) : Math.log2(longestStep) - 1 + rows / longestStep);
}

async function refresh(client: pg.ClientBase, timeoutMs?: number): Promise<void> {
  await client.query({ text: 'SELECT refresh_statistics()', query_timeout: timeoutMs } as TimedQuery);
}

const warning = '01000';

/** ANALYZE only warns about a table that the owner of the function may not analyse. */
function reportRefusal({ code, message }: { code?: string | undefined; message?: string | undefined }): void {
  if (code === warning) topics.backgroundError.publish({ work: 'statistics', error: new Error(message) });
}
