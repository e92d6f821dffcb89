// Upserts that arrive together are compared together, and what differs is written together. An unchanged object is
// answered without a write. Nothing is locked before it is written. An upsert that was overtaken or rejected gets its
// own transaction, which waits and explains.
import type { Database } from '../../database/database.ts';
import { DeadlineError, isDatabaseAway, OutcomeUnknownError, toReadError } from '../../database/errors.ts';
import { buildTenantBatches, runApart } from '../../database/tenant-batches.ts';
import { ApiError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import { type Definition, looseReferencesOf, ownersOf } from '../definition/definition.ts';
import type { Checked } from '../definition/validation.ts';
import { buildIsDeleted } from './bin-look-up.ts';
import { isExternalIdTaken } from './conflicts.ts';
import { type CreationBatches, longestSharedWaitMs, maxRowsPerStatement } from './creation-batches.ts';
import type { Replacement } from './replacement.ts';
import type { Writes } from './row-store.ts';
import { type NewRow, type Stored, toSentUpdate, type Update } from './rows.ts';
import { resolvedId } from './statements.ts';
import { buildComparison, buildGuardedUpdate } from './upsert-statements.ts';

export interface Upsert {
  /** The fields to compare. A merge has only its own external id and what it refers to. */
  row: NewRow;
  /** The row of a new object; undefined if the body is incomplete. */
  creation: NewRow | undefined;
  /** What a stored object becomes. */
  become(current: Stored): Checked;
  isMerge: boolean;
  /** Whether it creates an object whose external id is in the bin. */
  mayRevive: boolean;
  author: Author;
  /** Throws where the request may not write over this version, or over nothing. */
  demand(current: { version: number } | undefined): void;
}

export interface Upserted {
  id: string;
  version: number;
  isNew: boolean;
  isChanged: boolean;
  /** The object as it is answered, for a merge. */
  json: string | undefined;
}

export interface UpsertBatches {
  /** Resolves when the object is durable; with undefined if the upsert needs a transaction of its own. */
  upsert(upsert: Upsert, deadline: number): Promise<Upserted | undefined>;
}

interface Found extends Stored {
  place: number;
  is_same: boolean;
  [resolvedId: string]: unknown;
}

interface AuthoredUpdate extends Update {
  author: Author;
  isMerge: boolean;
}

type Written = Pick<Upserted, 'json'> | undefined;

export function buildUpsertBatches(
  database: Database,
  definition: Definition,
  creations: CreationBatches,
  { linksAfter }: Writes,
  { findChanges }: Replacement,
): UpsertBatches {
  const compare = buildCompare(database, definition);
  const isDeleted = buildIsDeleted(database, definition);
  const update = buildGuardedUpdates(database, definition, linksAfter);
  const putResolvedIds = buildResolution(definition);

  async function create(
    { author, isMerge }: Upsert,
    row: NewRow,
    deadline: number,
  ): Promise<Upserted | undefined> {
    try {
      const { id, object } = await creations.create({ row, author, wantsObject: isMerge }, deadline);
      return { id, version: object?.version ?? 1, isNew: true, isChanged: true, json: object?.json };
    } catch (error) {
      // Somebody else has just created the object: then it is there to be replaced.
      if (isExternalIdTaken(error)) return undefined;
      throw error;
    }
  }

  /** The transaction of its own looks for a former external id before it refuses. */
  async function createUnlessDemanded(upsert: Upsert, deadline: number): Promise<Upserted | undefined> {
    try {
      upsert.demand(undefined);
    } catch {
      return undefined;
    }
    return upsert.creation && create(upsert, upsert.creation, deadline);
  }

  async function change(upsert: Upsert, current: Found, deadline: number): Promise<Upserted | undefined> {
    const { author, isMerge } = upsert;
    const after = upsert.become(current);
    const row: NewRow = { ...after.row, tenant_id: upsert.row.tenant_id, id: current.id };
    if (!putResolvedIds(row, current) || after.fieldErrors.length > 0) return undefined;
    const changes = findChanges(current, after, row);
    if (Object.keys(changes).length === 0) return unchanged(current);
    const written = await update({ row, current, changes, author, isMerge }, deadline);
    return (
      written && { ...written, id: current.id, version: current.version + 1, isNew: false, isChanged: true }
    );
  }

  return {
    async upsert(upsert, deadline) {
      const found = await compare(upsert, deadline).catch((error) => {
        throw error instanceof ApiError ? error : toReadError(error);
      });
      if (!found) {
        const sought = { tenantId: upsert.row.tenant_id, externalId: upsert.row.external_id as string };
        // A transaction of its own names the object in the bin.
        if (!upsert.mayRevive && (await isDeleted(sought, deadline))) return undefined;
        return createUnlessDemanded(upsert, deadline);
      }
      upsert.demand(found);
      return found.is_same ? unchanged(found) : change(upsert, found, deadline);
    },
  };
}

/** The object that an upsert names, and whether it differs; undefined for an unknown external id. */
function buildCompare(database: Database, definition: Definition) {
  const comparison = buildComparison(definition);
  const finds = buildTenantBatches<Upsert, Found | undefined>(database, {
    kind: 'upsert comparison',
    run: find,
    tenantOf,
    maxItems: maxRowsPerStatement,
    paceMs: 0,
  });

  async function find(upserts: readonly Upsert[]): Promise<(Found | undefined)[]> {
    const sent = upserts.map(({ row, isMerge }, place) => ({ ...row, place, is_merge: isMerge }));
    const query = { ...comparison, values: [JSON.stringify(sent)] };
    const options = { isPlannedOnce: true, isBatch: true };
    const { rows } = await database.queryInTenants<Found>(tenantsOf(upserts), query, options);
    const found: (Found | undefined)[] = upserts.map(() => undefined);
    for (const row of rows) found[row.place] = row;
    return found;
  }

  return (upsert: Upsert, deadline: number) => finds.add(upsert, deadline);
}

/** Undefined for an update that was overtaken or rejected. */
function buildGuardedUpdates(database: Database, definition: Definition, linksAfter: Writes['linksAfter']) {
  const guardedUpdate = buildGuardedUpdate(definition);
  const updates = buildTenantBatches<AuthoredUpdate, Written>(database, {
    kind: 'update',
    run: write,
    tenantOf,
    maxItems: maxRowsPerStatement,
    paceMs: 8,
  });

  /** Undefined for each that is not written. */
  async function write(some: readonly AuthoredUpdate[]): Promise<(Written | Promise<Written>)[]> {
    const tenantIds = tenantsOf(some);
    // In one order everywhere, to avoid deadlocks. Of two updates of one object, the statement takes one.
    const sent = new Map(some.toSorted(byId).map((update) => [update.row.id, update]));
    const rows = [...sent.values()].map(toSent);
    const query = { ...guardedUpdate, values: [JSON.stringify(rows)] };
    // One tenant whose journal somebody else holds, such as a large import, must not hold up the others.
    const lockTimeoutMs = tenantIds.length > 1 ? longestSharedWaitMs : undefined;
    try {
      const result = await database.queryInTenants<{ id: string; json: string | null }>(tenantIds, query, {
        lockTimeoutMs,
        isBatch: true,
        // An upsert keeps its external id, and brings nothing that others wait for.
        followedBy: linksAfter(rows, () => false),
      });
      void database.noteWritten({ [definition.table]: result.rows.length });
      const written = new Map(result.rows.map(({ id, json }) => [id, { json: json ?? undefined }]));
      return some.map((update) =>
        sent.get(update.row.id) === update ? written.get(update.row.id) : undefined,
      );
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      // The transaction wrote nothing, and one of them is to blame.
      if (tenantIds.length === 1) return some.map(() => undefined);
      return runApart(some, write, tenantOf);
    }
  }

  return (update: AuthoredUpdate, deadline: number): Promise<Written> =>
    updates.add(update, deadline).catch((error) => {
      const mayBeStored = error instanceof DeadlineError && error.wasSent;
      throw mayBeStored ? new OutcomeUnknownError(error) : error;
    });
}

function buildResolution(definition: Definition) {
  const owners = ownersOf(definition);
  const looseReferences = looseReferencesOf(definition);

  /** Puts the ids of what the row names into it. False where an owner is missing. */
  return function putResolvedIds(row: NewRow, found: Found): boolean {
    for (const owner of owners) {
      const id = found[resolvedId(owner)];
      if (row[owner.externalColumn] !== undefined && !id) return false;
      if (id) row[owner.column.name] = id;
    }
    for (const reference of looseReferences) {
      const id = found[resolvedId(reference)];
      if (!id) continue;
      row[reference.column.name] = id;
      delete row[reference.externalColumn];
    }
    return true;
  };
}

function unchanged({ id, version, json }: Stored): Upserted {
  return { id, version, json, isNew: false, isChanged: false };
}

function tenantOf({ row }: { row: NewRow }): string {
  return row.tenant_id;
}

function tenantsOf(items: readonly { row: NewRow }[]): string[] {
  return [...new Set(items.map(tenantOf))];
}

function byId(one: Update, other: Update): number {
  return one.row.id < other.row.id ? -1 : 1;
}

function toSent(update: AuthoredUpdate) {
  return { ...toSentUpdate(update, update.author), is_merge: update.isMerge };
}
