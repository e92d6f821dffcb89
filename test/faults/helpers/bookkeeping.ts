// Compares everything that was answered during a fault with everything that is stored after it.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '../../helpers/waiting.ts';
import type { Attempt } from './load.ts';
import { cleanUpLater, withClient } from './process.ts';

export interface Balance {
  /** Requests that were answered with 201. */
  confirmed: number;
  /** Requests of which nobody knows: without an answer, or with `outcome_unknown`, and not repeated successfully. */
  unclear: number;
  /** Answered with 201, and not stored under that id. */
  lost: number;
  /** Rows beyond the first of a request. */
  doubled: number;
  /** Rows that nobody sent, or whose request was refused. */
  invented: number;
  /** Missing positions of the journal, and customers that are not in it exactly once. */
  gaps: number;
  /** Entries that a reader of the feed got in another order, twice, or not at all. */
  disorder: number;
  /** The longest time between two answers with 201. */
  silenceMs: number;
}

interface Row {
  id: string;
  marker: string;
}

interface Entry {
  cursor: string;
  id: string;
}

export async function balance(
  connection: pg.ClientConfig,
  tenantId: string,
  attempts: readonly Attempt[],
  feed: readonly Entry[],
): Promise<Balance> {
  const stored = await withClient(connection, async (client) => ({
    rows: await readAll<Row>(
      client,
      'SELECT id, comment AS marker FROM customer WHERE tenant_id = $1',
      tenantId,
    ),
    journal: await readAll<Entry>(
      client,
      'SELECT position::text AS cursor, resource_id AS id FROM journal WHERE tenant_id = $1 ORDER BY position',
      tenantId,
    ),
  }));
  return compare(attempts, feed, stored);
}

export function compare(
  attempts: readonly Attempt[],
  feed: readonly Entry[],
  { rows, journal }: { rows: readonly Row[]; journal: readonly Entry[] },
): Balance {
  const stored = Map.groupBy(rows, ({ marker }) => marker);
  const sent = Map.groupBy(attempts, ({ marker }) => marker);
  const confirmed = attempts.filter(({ status }) => status === 201);
  const isStored = ({ marker, id }: Attempt) => stored.get(marker)?.some((row) => row.id === id);
  return {
    confirmed: confirmed.length,
    unclear: [...sent.values()].filter(isUnclear).length,
    lost: confirmed.filter((attempt) => !isStored(attempt)).length,
    doubled: rows.length - stored.size,
    invented: [...stored.keys()].filter((marker) => !mayBeStored(sent.get(marker) ?? [])).length,
    gaps: countGaps(rows, journal),
    disorder: countDifferences(feed, journal),
    silenceMs: longestSilence(confirmed),
  };
}

async function readAll<Result extends pg.QueryResultRow>(client: pg.Client, sql: string, tenantId: string) {
  return (await client.query<Result>(sql, [tenantId])).rows;
}

/** Nobody had it: HAProxy answers 503 where it has no node. Of its 502 and 504 nobody knows whether a node had the request. */
const isUnsent = ({ status, failure }: Attempt) => status === 503 || failure === 'ECONNREFUSED';

const isRefused = (attempt: Attempt) =>
  isUnsent(attempt) || (attempt.code !== undefined && attempt.code !== 'outcome_unknown');

const mayBeStored = (attempts: readonly Attempt[]) => attempts.some((attempt) => !isRefused(attempt));

const isUnclear = (attempts: readonly Attempt[]) =>
  mayBeStored(attempts) && !attempts.some(({ status }) => status === 201);

function countGaps(rows: readonly Row[], journal: readonly Entry[]): number {
  const missing = journal.filter(({ cursor }, index) => Number(cursor) !== index + 1).length;
  const entries = Map.groupBy(journal, ({ id }) => id);
  return (
    missing +
    rows.filter(({ id }) => entries.get(id)?.length !== 1).length +
    Math.abs(entries.size - rows.length)
  );
}

function countDifferences(feed: readonly Entry[], journal: readonly Entry[]): number {
  const length = Math.max(feed.length, journal.length);
  return Array.from({ length }).filter(
    (_, index) => feed[index]?.cursor !== journal[index]?.cursor || feed[index]?.id !== journal[index]?.id,
  ).length;
}

function longestSilence(confirmed: readonly Attempt[]): number {
  const times = confirmed.map(({ answeredAt }) => answeredAt).sort((one, other) => one - other);
  return Math.max(0, ...times.slice(1).map((time, index) => time - times[index]!));
}

export function assertBalanced({ lost, doubled, invented, gaps, disorder }: Balance): void {
  assert.deepEqual(
    { lost, doubled, invented, gaps, disorder },
    { lost: 0, doubled: 0, invented: 0, gaps: 0, disorder: 0 },
  );
}

/** Reads the feed as an ERP does, while things break: page after page, from cursor to cursor. */
export function followFeed(origin: string, key: string) {
  const entries: Entry[] = [];
  let after = '0';
  let isStopping = false;

  /** Undefined where the service is away. */
  async function readPage(): Promise<{ hasMore: boolean } | undefined> {
    const url = `${origin}/api/v1/changes?limit=1000&after=${after}`;
    const answer = await fetch(url, { headers: { ApiKey: key } }).catch(() => undefined);
    if (!answer || answer.status >= 500) {
      await answer?.body?.cancel();
      return undefined;
    }
    const text = await answer.text().catch(() => undefined);
    if (text === undefined) return undefined;
    assert.equal(answer.status, 200, text);
    const page: { data: Entry[]; nextCursor: string; hasMore: boolean } = JSON.parse(text);
    entries.push(...page.data.map(({ cursor, id }) => ({ cursor, id })));
    after = page.nextCursor;
    return page;
  }

  async function follow(): Promise<void> {
    while (!isStopping) {
      await readPage();
      await sleep(100);
    }
  }

  const following = follow();
  // Looked at only when it is stopped.
  following.catch(() => {});
  cleanUpLater(async () => {
    isStopping = true;
    await following.catch(() => {});
  });
  return {
    /** Reads to the end, after the last creation. */
    async stop(): Promise<Entry[]> {
      isStopping = true;
      await following;
      await until('the end of the feed', async () => (await readPage())?.hasMore === false);
      return entries;
    },
  };
}
