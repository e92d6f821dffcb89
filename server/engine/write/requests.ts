// Intents of requests that arrive together are read, decided and written together. One that was overtaken gets a transaction
// of its own, which waits and explains.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import {
  DeadlineError,
  isDatabaseAway,
  isOverloaded,
  OutcomeUnknownError,
  toReadError,
} from '../../database/errors.ts';
import { buildTenantBatches, runApart } from '../../database/tenant-batches.ts';
import type { QueryOptions } from '../../database/tenant-queries.ts';
import { ApiError } from '../../errors.ts';
import { expected } from '../../telemetry/expected.ts';
import type { Intent, Outcome, Written } from './intent.ts';
import { retryRaces } from './races.ts';
import { needsNoLook, type Send } from './reading.ts';
import type { Writing } from './resource.ts';
import { decideObjects, tryObjects, tryUnread, writeObjects } from './write.ts';

export interface RequestWrites {
  /** Resolves when the object is durable; rejects with the error that refuses it. */
  write(intent: Intent, deadline: number): Promise<Written>;
  /** Writes in a transaction of its own. A deletion needs one: it locks what belongs to its object. */
  writeAlone(intent: Intent, options: { deadline: number; isDryRun: boolean }): Promise<Written>;
}

const maxIntents = 500;
/** One tenant whose journal somebody else holds, such as a large import, must not hold up the others. */
const longestSharedWaitMs = 50;
/** A transaction that is given up before its request's deadline has stored nothing. At the deadline nobody would know. */
const givenUpBeforeMs = 50;

type Run = (asked: readonly Asked[]) => Promise<(Outcome | Promise<Outcome>)[]>;
type Attempt = (
  tenantIds: readonly string[],
  intents: readonly Intent[],
  deadline: number,
) => Promise<Map<Intent, Outcome>>;

export function buildRequestWrites(database: Database, writing: Writing): RequestWrites {
  const runAlone: Run = async (asked) => runApart(asked, writeInTurn, tenantOf);
  const runLooked = buildRun(tryLooked, runAlone);
  const batches = {
    // Return stored creations without waiting for the reasons why others were not written.
    unread: openBatches('creation', buildRun(tryUnlooked, runLooked)),
    looked: openBatches('write', runLooked),
    claimed: openBatches('write with key', buildRun(tryClaimed, runAlone)),
  };

  function openBatches(kind: string, run: Run) {
    const isRead = (outcome: Outcome | Error) => outcome instanceof Error || outcome.what === 'unchanged';
    const options = { kind, run, tenantOf, maxItems: maxIntents, paceMs: 8, isRead };
    return buildTenantBatches<Asked, Outcome>(database, options);
  }

  /** `attempt` returns no outcome for intents that it could not write. `writeLost` writes those. */
  function buildRun(attempt: Attempt, writeLost: Run): Run {
    return async function run(asked: readonly Asked[]): ReturnType<Run> {
      const tenantIds = [...new Set(asked.map(tenantOf))];
      try {
        const outcomes = await attempt(
          tenantIds,
          asked.map(({ intent }) => intent),
          Math.max(...asked.map(({ deadline }) => deadline)),
        );
        await noteWritten(outcomes);
        const lost = asked.filter(({ intent }) => !outcomes.has(intent));
        if (lost.length === 0) return asked.map(({ intent }) => outcomes.get(intent)!);
        const later = writeLost(lost);
        const places = new Map(lost.map((one, place) => [one, place]));
        return asked.map(
          (one) => outcomes.get(one.intent) ?? later.then((written) => written[places.get(one)!]!),
        );
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // Nobody else is to blame, and a second try would end in doubt at the deadline.
        if (asked.length === 1 && isOverloaded(error)) throw error;
        // The transaction wrote nothing, and one of them is to blame.
        return runApart(asked, tenantIds.length === 1 ? writeInTurn : run, tenantOf);
      }
    };
  }

  const waitOf = (tenantIds: readonly string[]) => ({
    lockTimeoutMs: tenantIds.length > 1 ? longestSharedWaitMs : undefined,
  });

  function tryUnlooked(tenantIds: readonly string[], intents: readonly Intent[], deadline: number) {
    const options = { ...waitOf(tenantIds), deadline };
    return tryUnread(sendTogether(database, tenantIds, options), writing, intents);
  }

  function tryLooked(tenantIds: readonly string[], intents: readonly Intent[], deadline: number) {
    const read = sendTogether(database, tenantIds, { isPlannedOnce: true, deadline });
    const write = sendTogether(database, tenantIds, { ...waitOf(tenantIds), deadline });
    const readOnly: Send = (statements) =>
      read(statements).catch((error) => {
        throw isDatabaseAway(error) ? toReadError(error) : error;
      });
    return tryObjects({ read: readOnly, write }, writing, intents);
  }

  function tryClaimed(tenantIds: readonly string[], intents: readonly Intent[]) {
    const work = (client: pg.ClientBase) => writeObjects(client, writing, intents);
    return database.inTenants(tenantIds, work, waitOf(tenantIds));
  }

  /** Writes intents of one tenant in turn: in parallel, each would hold a connection and wait for the journal. */
  async function writeInTurn(asked: readonly Asked[]): Promise<Promise<Outcome>[]> {
    let last: Promise<unknown> = Promise.resolve();
    return asked.map((one) => {
      const options = { deadline: one.deadline - givenUpBeforeMs, isDryRun: false };
      const outcome = last.then(() => writeAlone(one.intent, options));
      last = outcome.catch(expected);
      return outcome;
    });
  }

  async function writeAlone(
    intent: Intent,
    options: { deadline: number; isDryRun: boolean },
  ): Promise<Outcome> {
    const write = options.isDryRun ? decideObjects : writeObjects;
    const work = (client: pg.ClientBase) => write(client, writing, [intent]);
    const outcomes = await retryRaces(() => database.inTenants([intent.tenantId], work, options));
    if (!options.isDryRun) await noteWritten(outcomes);
    return outcomes.get(intent)!;
  }

  async function noteWritten(outcomes: ReadonlyMap<Intent, Outcome>): Promise<void> {
    const rows: Record<string, number> = {};
    for (const [{ resource }, outcome] of outcomes) {
      if (outcome instanceof ApiError || ['unchanged', 'repeated'].includes(outcome.what)) continue;
      rows[resource.definition.table] = (rows[resource.definition.table] ?? 0) + 1;
    }
    await database.noteWritten(rows);
  }

  return {
    async write(intent, deadline) {
      const kind = intent.claim ? 'claimed' : needsNoLook(intent) ? 'unread' : 'looked';
      const outcome = await batches[kind].add({ intent, deadline }, deadline).catch((error) => {
        const mayBeStored = error instanceof DeadlineError && error.wasSent;
        throw mayBeStored ? new OutcomeUnknownError(error) : error;
      });
      return demandWritten(outcome);
    },
    writeAlone: async (intent, options) => demandWritten(await writeAlone(intent, options)),
  };
}

function demandWritten(outcome: Outcome): Written {
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

interface Asked {
  intent: Intent;
  deadline: number;
}

function tenantOf({ intent }: Asked): string {
  return intent.tenantId;
}

/** Sends all statements in one transaction and round trip. */
function sendTogether(
  database: Database,
  tenantIds: readonly string[],
  options: Omit<QueryOptions, 'followedBy' | 'isBatch'>,
): Send {
  return async ([first, ...followedBy]) => {
    if (!first) return [];
    const result = await database.queryInTenants(tenantIds, first, { ...options, followedBy, isBatch: true });
    return [result, ...result.following];
  };
}
