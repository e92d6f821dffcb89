// Changes a resource inside a transaction that the caller opens and commits.
import type pg from 'pg';
import { ApiError, validationError } from '../../errors.ts';
import { type Author, authorColumns } from '../../http/conventions.ts';
import {
  type Column,
  type Definition,
  dependantsOf,
  ownersOf,
  sqlType,
  uniqueColumnsOf,
} from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { buildDelete } from './bin.ts';
import { type Dependant, lockDependants } from './dependants.ts';
import { findCurrentIds } from './former-names.ts';
import { buildLinks } from './links.ts';
import { buildReferenceLookUp } from './reference-look-up.ts';
import { representation } from './representation.ts';
import { buildInsert, buildReadInserted, buildUpdate } from './statements.ts';
import { findHolders } from './value-look-up.ts';

export interface NewRow extends Row {
  tenant_id: string;
  id: string;
}

/** A row of the table as it is answered. */
export interface Stored {
  id: string;
  version: number;
  json: string;
  /** Whether the name that found it belonged to an object that was merged into this one. */
  isFormerName?: boolean;
}

/** The new state of an object, and the fields that differ. */
export interface Update {
  row: NewRow;
  current: Stored;
  changes: Record<string, unknown>;
}

export interface Deleted {
  resource: string;
  ids: readonly string[];
}

export interface Deletion {
  id: string;
  isCascade: boolean;
}

/** Written, or the reason why not. */
export type Outcome = 'written' | ApiError;

/** The result of an insertion: the row is written, or another object holds its external id. */
export interface Inserted {
  id: string;
  external_id_holder: string | null;
}

const uniqueViolation = '23505';
const foreignKeyViolation = '23503';
const deadlock = '40P01';
const serializationFailure = '40001';

/** Two writers crossed each other, and nothing was written. */
export class RaceError extends Error {
  readonly code = serializationFailure;
}

export type Writes = ReturnType<typeof buildWrites>;

/** `all` are the resources that may belong to this one, or refer to it. */
export function buildWrites(definition: Definition, all: readonly Definition[]) {
  const dependants = dependantsOf(definition, all);
  const { link, linksAfter } = buildLinks(definition, all);
  const insert = buildInsert(definition);
  const readInsertedObjects = buildReadInserted(definition);
  const update = buildUpdate(definition);
  const { resolveReferences, resolveReferencesOfAll, findOwnerErrors, namesTwice } =
    buildReferenceLookUp(definition);
  const uniqueColumns = uniqueColumnsOf(definition);
  const selection = `SELECT id, version, ${representation(definition, definition.table)} AS json FROM ${definition.table}`;

  /** Writes all rows in one statement. A rejected row does not affect the others. */
  async function insertRows(
    client: pg.ClientBase,
    rows: readonly (NewRow & { actor: string })[],
  ): Promise<Outcome[]> {
    const result = await client.query<Inserted>({ ...insert, values: [JSON.stringify(rows)] });
    await link(client, rows);
    return explainOutcomes(client, rows, readInserted(result.rows));
  }

  /** Outcomes by row id. A row without one still needs an explanation. */
  function readInserted(inserted: readonly Inserted[]): Map<string, Outcome> {
    return new Map(
      inserted.map(({ id, external_id_holder: holder }) => [
        id,
        holder === null ? 'written' : conflictAt(uniqueColumns[0]!, holder),
      ]),
    );
  }

  /** Explains all rows without an outcome together, in as many statements as one row takes. */
  async function explainOutcomes(
    client: pg.ClientBase,
    rows: readonly NewRow[],
    known: ReadonlyMap<string, Outcome>,
  ): Promise<Outcome[]> {
    const refused = rows.filter((row) => !known.has(row.id));
    if (refused.length === 0) return rows.map((row) => known.get(row.id)!);
    const reasons = new Map<NewRow, ApiError>();
    const ownerErrors = await findOwnerErrors(client, refused);
    refused.forEach((row, index) => {
      const fieldErrors = ownerErrors[index]!;
      if (fieldErrors.length > 0) reasons.set(row, validationError(fieldErrors));
    });
    const rest = refused.filter((row) => !reasons.has(row));
    const conflicts = await findConflicts(
      client,
      rest.map((row) => ({ row, columns: uniqueColumns })),
    );
    return rows.map((row) => {
      const reason = known.get(row.id) ?? reasons.get(row) ?? conflicts.get(row);
      // The cause has gone, or arrived, since the row was refused.
      if (!reason) throw new RaceError('The row was not written, and nothing explains why.');
      return reason;
    });
  }

  /** Finds the holders of unique values: one statement per column, without rows that have an explanation. */
  async function findConflicts(
    client: pg.ClientBase,
    sought: readonly { row: NewRow; columns: readonly Column[] }[],
  ): Promise<Map<NewRow, ApiError>> {
    const conflicts = new Map<NewRow, ApiError>();
    for (const column of uniqueColumns) {
      const { name } = column;
      const rows = sought
        .filter(
          ({ row, columns }) => columns.includes(column) && row[name] !== undefined && !conflicts.has(row),
        )
        .map(({ row }) => row);
      const place = { resource: definition.name, column: name, type: sqlType(column) };
      for (const [row, id] of await findHolders(client, place, rows, name)) {
        if (id !== row.id) conflicts.set(row, conflictAt(column, id));
      }
    }
    return conflicts;
  }

  async function find(
    client: pg.ClientBase,
    tenantId: string,
    key: { id: string } | { externalId: string },
    lock: '' | 'FOR UPDATE' | 'FOR NO KEY UPDATE' = '',
  ): Promise<Stored | undefined> {
    const [column, value] =
      'id' in key ? (['id', key.id.toLowerCase()] as const) : (['external_id', key.externalId] as const);
    const { rows } = await client.query<Stored>({
      name: `find ${definition.name} by ${column} ${lock}`,
      text: `${selection} WHERE tenant_id = $1 AND ${column} = $2 ${lock}`,
      values: [tenantId, value],
    });
    if (rows[0]) return rows[0];
    const current = await findCurrentIds(client, tenantId, definition.name, column, [value]);
    if (current.size === 0) return undefined;
    const { rows: found } = await client.query<Stored>(
      `${selection} WHERE tenant_id = $1 AND id = $2 ${lock}`,
      [tenantId, current.get(value)],
    );
    return found[0] && { ...found[0], isFormerName: true };
  }

  /** Locks the objects with these names, in one order to avoid deadlocks. */
  async function findAll(
    client: pg.ClientBase,
    tenantId: string,
    column: 'id' | 'external_id',
    names: readonly string[],
  ): Promise<Map<string, Stored>> {
    if (names.length === 0) return new Map();
    // An unnamed statement gets a plan for the current size of the table.
    const { rows } = await client.query<Stored & { name: string }>(
      `SELECT ${column} AS name, id, version, ${representation(definition, definition.table)} AS json
       FROM ${definition.table} WHERE tenant_id = $1 AND ${column} = ANY ($2) ORDER BY id FOR UPDATE`,
      [tenantId, names],
    );
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** The same, former names included. */
  async function findAllCurrent(
    client: pg.ClientBase,
    tenantId: string,
    column: 'id' | 'external_id',
    names: readonly string[],
  ): Promise<Map<string, Stored>> {
    const found = await findAll(client, tenantId, column, names);
    const missing = names.filter((name) => !found.has(name));
    const current = await findCurrentIds(client, tenantId, definition.name, column, missing);
    if (current.size === 0) return found;
    const objects = await findAll(client, tenantId, 'id', [...new Set(current.values())]);
    for (const [name, id] of current) {
      const object = objects.get(id);
      if (object) found.set(name, { ...object, isFormerName: true });
    }
    return found;
  }

  /** Updates locked objects. The rows hold the ids of their owners, and no other object holds their unique values. */
  async function updateRows(
    client: pg.ClientBase,
    updates: readonly Update[],
    author: Author,
  ): Promise<Stored[]> {
    const sent = updates.map((update) => toSentUpdate(update, author));
    const { rows } = await client.query<Stored>({ ...update, values: [JSON.stringify(sent)] });
    await link(client, sent, ({ changes }) => Object.hasOwn(changes as object, 'externalId'));
    return rows;
  }

  /** Runs before an update: a failed statement would end the transaction and hide the holder of the value. */
  function findUpdateConflicts(
    client: pg.ClientBase,
    updates: readonly Update[],
  ): Promise<Map<NewRow, ApiError>> {
    return findConflicts(
      client,
      updates.map(({ row, changes }) => ({
        row,
        columns: uniqueColumns.filter(({ path }) => Object.hasOwn(changes, path[0]!)),
      })),
    );
  }

  /** Moves a locked object to the bin, with everything that belongs to it if it is a cascade. Answers what was deleted. */
  async function deleteRow(
    client: pg.ClientBase,
    tenantId: string,
    id: string,
    author: Author,
    isCascade = false,
  ): Promise<Deleted[]> {
    const outcome = (await deleteRows(client, tenantId, [{ id, isCascade }], author)).get(id)!;
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  }

  /** The same for many objects, in as many statements as one takes. Answers by their ids. */
  async function deleteRows(
    client: pg.ClientBase,
    tenantId: string,
    deletions: readonly Deletion[],
    author: Author,
  ): Promise<Map<string, Deleted[] | ApiError>> {
    const cascades = idsOf(deletions.filter(({ isCascade }) => isCascade));
    const below =
      cascades.length > 0 ? await lockDependants(client, tenantId, definition, cascades, all) : [];
    // Half as many may suit one statement.
    if (!below && deletions.length > 1) throw new RaceError('Too many dependants.');
    const single = below ? idsOf(deletions.filter(({ isCascade }) => !isCascade)) : idsOf(deletions);
    const dependants = await findDependants(client, tenantId, single);
    const roots = idsOf(deletions).filter((id) => !dependants.has(id));
    const gone = [...(below ?? []), { definition, objects: roots.map((id) => ({ id, rootId: id })) }];
    for (const { definition: kind, objects } of gone) await remove(client, kind, tenantId, objects, author);
    const deleted = new Map<string, Deleted[]>(roots.map((id) => [id, []]));
    for (const { definition: kind, objects } of gone) {
      for (const [rootId, own] of Map.groupBy(objects, (object) => object.rootId))
        deleted.get(rootId)!.push({ resource: kind.name, ids: idsOf(own) });
    }
    return new Map<string, Deleted[] | ApiError>([...deleted, ...dependants]);
  }

  /** The refusals of objects that others belong to: one statement per kind and way to belong. */
  async function findDependants(
    client: pg.ClientBase,
    tenantId: string,
    ids: readonly string[],
  ): Promise<Map<string, ApiError>> {
    const found = new Map<string, { resource: string; count: number; ids: string[] }[]>();
    const places = dependants.flatMap((dependant) =>
      ownersOf(dependant)
        .filter((owner) => owner.resource === definition.name)
        .map(({ column }) => ({ dependant, column })),
    );
    for (const { dependant, column } of ids.length > 0 ? places : []) {
      const { rows } = await client.query<{ owner_id: string; count: number; ids: string[] }>(
        `SELECT ${column.name} AS owner_id, count(*)::integer AS count, (array_agg(id ORDER BY id))[1:10] AS ids
         FROM ${dependant.table} WHERE tenant_id = $1 AND ${column.name} = ANY ($2) GROUP BY ${column.name}`,
        [tenantId, ids],
      );
      for (const { owner_id: ownerId, ...counted } of rows)
        found.getOrInsertComputed(ownerId, () => []).push({ resource: dependant.name, ...counted });
    }
    return new Map(
      [...found].map(([id, own]) => [id, new ApiError('has_dependants', { details: { dependants: own } })]),
    );
  }

  return {
    insert,
    readInsertedObjects,
    insertRows,
    readInserted,
    linksAfter,
    explainOutcomes,
    resolveReferences,
    resolveReferencesOfAll,
    namesTwice,
    find,
    findAll,
    findAllCurrent,
    updateRows,
    findUpdateConflicts,
    deleteRow,
    deleteRows,
  };
}

/** As the statements take it. */
export function toSentUpdate({ row, current, changes }: Update, author: Author) {
  return { ...row, version: current.version + 1, ...authorColumns(author), changes };
}

/** Whether an object with the same external id stands in the way. */
export function isExternalIdTaken(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'conflict' && error.details.field === 'externalId';
}

async function remove(
  client: pg.ClientBase,
  definition: Definition,
  tenantId: string,
  objects: readonly Dependant[],
  author: Author,
): Promise<void> {
  if (objects.length === 0) return;
  const named = objects.map(({ id, rootId }) => ({
    tenant_id: tenantId,
    id,
    root_id: rootId,
    ...authorColumns(author),
  }));
  await client.query({ ...buildDelete(definition), values: [JSON.stringify(named)] });
}

function idsOf(objects: readonly { id: string }[]): string[] {
  return objects.map(({ id }) => id);
}

function conflictAt(column: Column, id: string): ApiError {
  return new ApiError('conflict', { details: { field: column.path.join('.'), id } });
}

/** Errors of a race between a read and the write. The loser can retry. */
export function isRace(error: unknown): boolean {
  const { code } = error as { code?: string };
  return [uniqueViolation, foreignKeyViolation, deadlock, serializationFailure].includes(code ?? '');
}

const maxAttempts = 4;

/** Tries again after a race: the next look sees what the other did. */
export async function retryRaces<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRace(error) || count === maxAttempts) throw error;
    }
  }
}
