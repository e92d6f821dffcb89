// Creations that arrive together are written together: one statement and one commit for all of them, before any answer.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import {
  DeadlineError,
  isDatabaseAway,
  isLockTimeout,
  OutcomeUnknownError,
  toApiError,
} from '../../database/errors.ts';
import { buildTenantBatches, runApart } from '../../database/tenant-batches.ts';
import { ApiError } from '../../errors.ts';
import { authorColumns } from '../../http/conventions.ts';
import type { Definition } from '../definition/definition.ts';
import { type Creation, claimKeys, releaseKeys } from './idempotency.ts';
import { isRace, retryRaces } from './races.ts';
import type { Writes } from './row-store.ts';
import type { Inserted, NewRow, Outcome, Stored } from './rows.ts';

export interface CreationBatches {
  /** Resolves when the row is durable, with its id or that of the request that this one repeats. */
  create(creation: Creation, deadline: number): Promise<Created>;
}

interface Created {
  id: string;
  isReplay: boolean;
  /** For a creation that wants it. */
  object?: Stored | undefined;
}

type CreationOutcome = Created | ApiError;

export const maxRowsPerStatement = 500;
export const longestSharedWaitMs = 50;

export function buildCreationBatches(
  database: Database,
  { table }: Definition,
  writes: Writes,
): CreationBatches {
  const queue = buildTenantBatches<Creation, CreationOutcome>(database, {
    kind: 'creation',
    run: write,
    tenantOf,
    maxItems: maxRowsPerStatement,
    paceMs: 8,
  });

  async function write(
    creations: readonly Creation[],
  ): Promise<(CreationOutcome | Promise<CreationOutcome>)[]> {
    const outcomes = await writeTogether(creations).catch((error) => writeApart(creations, error));
    void database.noteWritten({ [table]: creations.length });
    return outcomes;
  }

  /** A failed transaction wrote nothing. The error of one row must not become that of its neighbours. */
  async function writeApart(
    creations: readonly Creation[],
    error: unknown,
  ): Promise<(CreationOutcome | Promise<CreationOutcome>)[]> {
    if (isLockTimeout(error)) return runApart(creations, write, tenantOf);
    if (isDatabaseAway(error) || (creations.length === 1 && !isRace(error))) throw error;
    return writeEach(creations);
  }

  /** Writes of one tenant run one after the other. In parallel they would hold every connection and wait for its journal. */
  async function writeEach(creations: readonly Creation[]): Promise<CreationOutcome[]> {
    const outcomes = new Map<Creation, CreationOutcome>();
    const tenants = Map.groupBy(creations, tenantOf).values();
    const writeInTurn = async (own: readonly Creation[]) => {
      for (const creation of own) {
        const written = retryRaces(() => writeTogether([creation])).then(([outcome]) => outcome!);
        outcomes.set(creation, await written.catch(toApiError));
      }
    };
    await Promise.all([...tenants].map(writeInTurn));
    return creations.map((creation) => outcomes.get(creation)!);
  }

  async function writeTogether(
    creations: readonly Creation[],
  ): Promise<(CreationOutcome | Promise<CreationOutcome>)[]> {
    const tenantIds = [...new Set(creations.map(tenantOf))];
    // A tenant whose journal is locked, for example by a large import, must not delay the others.
    const options = { lockTimeoutMs: tenantIds.length > 1 ? longestSharedWaitMs : undefined };
    if (creations.some(({ claim }) => claim)) {
      return database.inTenants(tenantIds, (client) => createClaimed(client, writes, creations), options);
    }
    const rows = creations.map(toSentRow);
    const query = { ...writes.insert, values: [JSON.stringify(rows)] };
    const answered = readAnswered(writes, creations);
    const result = await database.queryInTenants<Inserted>(tenantIds, query, {
      ...options,
      isBatch: true,
      followedBy: [...writes.linksAfter(rows, () => true), ...answered],
    });
    const known = writes.readInserted(result.rows);
    const objects = answered.length > 0 ? result.following.at(-1)!.rows : [];
    const objectOf = new Map(objects.map((object: Stored) => [object.id, object]));
    const outcomeOf = ({ row: { id } }: Creation) => toCreationOutcome(known.get(id)!, id, objectOf.get(id));
    const refused = creations.filter(({ row }) => !known.has(row.id));
    if (refused.length === 0) return creations.map(outcomeOf);
    const explained = explainRejected(database, writes, tenantIds, refused);
    if (known.size === 0) return explained;
    // Stored rows are answered immediately, also if explaining the rejected ones fails.
    const outcomes = explained.catch((error) =>
      isDatabaseAway(error) ? refused.map(() => toApiError(error)) : writeEach(refused),
    );
    const placeOf = new Map(refused.map((creation, place) => [creation, place]));
    return creations.map((creation) => {
      const place = placeOf.get(creation);
      if (place === undefined) return outcomeOf(creation);
      return outcomes.then((all) => all[place]!);
    });
  }

  return {
    async create(creation, deadline) {
      const outcome = await queue.add(creation, deadline).catch((error) => {
        const mayBeStored = error instanceof DeadlineError && error.wasSent;
        throw mayBeStored ? new OutcomeUnknownError(error) : error;
      });
      if (outcome instanceof ApiError) throw outcome;
      return outcome;
    },
  };
}

function tenantOf({ row }: { row: NewRow }): string {
  return row.tenant_id;
}

async function explainRejected(
  database: Database,
  writes: Writes,
  tenantIds: readonly string[],
  refused: readonly Creation[],
): Promise<CreationOutcome[]> {
  const rows = refused.map(({ row }) => row);
  const outcomes = await database.inTenants(
    tenantIds,
    (client) => writes.explainOutcomes(client, rows, new Map()),
    // No commit can get lost here: these rows are not stored.
    { isDryRun: true },
  );
  return outcomes.map((outcome, index) => toCreationOutcome(outcome, rows[index]!.id));
}

/** Creations of which some carry an Idempotency-Key: the key is taken in the transaction that writes the row. */
export async function createClaimed(
  client: pg.ClientBase,
  writes: Writes,
  creations: readonly Creation[],
): Promise<CreationOutcome[]> {
  const replies = await claimKeys(client, creations);
  const open = creations.filter((creation) => !replies.has(creation));
  const outcomes = await writes.insertRows(client, open.map(toSentRow));
  const objectOf = new Map<string, Stored>();
  for (const statement of readAnswered(writes, open)) {
    for (const object of (await client.query<Stored>(statement)).rows) objectOf.set(object.id, object);
  }
  const refused: Creation[] = [];
  open.forEach((creation, index) => {
    const outcome = outcomes[index]!;
    if (outcome !== 'written' && creation.claim) refused.push(creation);
    const { id } = creation.row;
    replies.set(creation, toCreationOutcome(outcome, id, objectOf.get(id)));
  });
  // A client may correct a rejected body and send it again under the same key.
  await releaseKeys(client, refused);
  return creations.map((creation) => replies.get(creation)!);
}

export function toSentRow({ row, author }: Creation) {
  return { ...row, ...authorColumns(author) };
}

/** The statement that reads the new objects that are answered, if any is. */
function readAnswered({ readInsertedObjects }: Writes, creations: readonly Creation[]): pg.QueryConfig[] {
  const sought = creations
    .filter(({ wantsObject }) => wantsObject)
    .map(({ row: { tenant_id, id } }) => ({ tenant_id, id }));
  return sought.length > 0 ? [{ ...readInsertedObjects, values: [JSON.stringify(sought)] }] : [];
}

function toCreationOutcome(outcome: Outcome, id: string, object?: Stored): CreationOutcome {
  return outcome === 'written' ? { id, isReplay: false, object } : outcome;
}
