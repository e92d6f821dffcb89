// Intents of requests that arrive together are read, decided and written together. One that was overtaken gets a transaction
// of its own, which waits and explains.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { DeadlineError, isDatabaseAway, OutcomeUnknownError, toReadError } from '../../database/errors.ts';
import { buildTenantBatches, runApart } from '../../database/tenant-batches.ts';
import { ApiError } from '../../errors.ts';
import { retryRaces } from '../sql/races.ts';
import type { Intent, Outcome } from './intent.ts';
import type { Send } from './reading.ts';
import type { Writing } from './resource.ts';
import { tryObjects, writeObjects } from './write.ts';

type Written = Exclude<Outcome, ApiError>;

export interface RequestWrites {
  /** Resolves when the object is durable; rejects with the error that refuses it. */
  write(intent: Intent, deadline: number): Promise<Written>;
}

const maxIntents = 500;
/** One tenant whose journal somebody else holds, such as a large import, must not hold up the others. */
const longestSharedWaitMs = 50;

export function buildRequestWrites(database: Database, writing: Writing): RequestWrites {
  const batches = buildTenantBatches<Asked, Outcome>(database, {
    kind: 'write',
    run: write,
    tenantOf,
    maxItems: maxIntents,
    paceMs: 8,
  });

  async function write(asked: readonly Asked[]): Promise<(Outcome | Promise<Outcome>)[]> {
    const tenantIds = [...new Set(asked.map(tenantOf))];
    const lockTimeoutMs = tenantIds.length > 1 ? longestSharedWaitMs : undefined;
    let isWriting = false;
    const send = {
      read: sendTogether(database, tenantIds, { isPlannedOnce: true, isBatch: true }),
      write: (statements: readonly pg.QueryConfig[]) => {
        isWriting = true;
        return sendTogether(database, tenantIds, { lockTimeoutMs, isBatch: true })(statements);
      },
    };
    try {
      const outcomes = await tryObjects(
        send,
        writing,
        asked.map(({ intent }) => intent),
      );
      noteWritten(outcomes);
      return asked.map((one) => outcomes.get(one.intent) ?? writeAlone(one));
    } catch (error) {
      if (isDatabaseAway(error)) throw isWriting ? error : toReadError(error);
      // The transaction wrote nothing, and one of them is to blame.
      return tenantIds.length === 1 ? asked.map(writeAlone) : runApart(asked, write, tenantOf);
    }
  }

  async function writeAlone({ intent, deadline }: Asked): Promise<Outcome> {
    const work = (client: pg.ClientBase) => writeObjects(client, writing, [intent]);
    const outcomes = await retryRaces(() => database.inTenants([intent.tenantId], work, { deadline }));
    noteWritten(outcomes);
    return outcomes.get(intent)!;
  }

  function noteWritten(outcomes: ReadonlyMap<Intent, Outcome>): void {
    const rows: Record<string, number> = {};
    for (const [{ resource }, outcome] of outcomes) {
      if (outcome instanceof ApiError || outcome.what === 'unchanged') continue;
      rows[resource.definition.table] = (rows[resource.definition.table] ?? 0) + 1;
    }
    void database.noteWritten(rows);
  }

  return {
    async write(intent, deadline) {
      const outcome = await batches.add({ intent, deadline }, deadline).catch((error) => {
        const mayBeStored = error instanceof DeadlineError && error.wasSent;
        throw mayBeStored ? new OutcomeUnknownError(error) : error;
      });
      if (outcome instanceof ApiError) throw outcome;
      return outcome;
    },
  };
}

interface Asked {
  intent: Intent;
  deadline: number;
}

function tenantOf({ intent }: Asked): string {
  return intent.tenantId;
}

/** In one transaction and round trip. */
function sendTogether(
  database: Database,
  tenantIds: readonly string[],
  options: { lockTimeoutMs?: number | undefined; isPlannedOnce?: boolean; isBatch: boolean },
): Send {
  return async ([first, ...followedBy]) => {
    if (!first) return [];
    const result = await database.queryInTenants(tenantIds, first, { ...options, followedBy });
    return [result, ...result.following];
  };
}
