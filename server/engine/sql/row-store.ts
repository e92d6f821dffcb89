// Changes a resource inside a transaction that the caller opens and commits.
import type pg from 'pg';
import { type ApiError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import { type Definition, uniqueColumnsOf } from '../definition/definition.ts';
import { conflictAt, findConflicts } from './conflicts.ts';
import { buildDeletion } from './deletion.ts';
import { buildLinks, type Links } from './links.ts';
import { buildObjectLookUp } from './object-look-up.ts';
import { RaceError } from './races.ts';
import { buildReferenceLookUp } from './reference-look-up.ts';
import { type Inserted, type NewRow, type Outcome, type Stored, toSentUpdate, type Update } from './rows.ts';
import { buildInsert, buildReadInserted, buildUpdate } from './statements.ts';

export type Writes = ReturnType<typeof buildWrites>;

/** `all` are the resources that may belong to this one, or refer to it. */
export function buildWrites(definition: Definition, all: readonly Definition[]) {
  const links = buildLinks(definition, all);
  const { findOwnerErrors, ...references } = buildReferenceLookUp(definition);
  return {
    ...references,
    ...buildObjectLookUp(definition),
    ...buildInsertion(definition, links, findOwnerErrors),
    ...buildUpdates(definition, links),
    ...buildDeletion(definition, all),
    linksAfter: links.linksAfter,
  };
}

type FindOwnerErrors = ReturnType<typeof buildReferenceLookUp>['findOwnerErrors'];

function buildInsertion(definition: Definition, { link }: Links, findOwnerErrors: FindOwnerErrors) {
  const insert = buildInsert(definition);
  const uniqueColumns = uniqueColumnsOf(definition);

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
      definition,
      rest.map((row) => ({ row })),
    );
    return rows.map((row) => {
      const reason = known.get(row.id) ?? reasons.get(row) ?? conflicts.get(row);
      // The cause has gone, or arrived, since the row was refused.
      if (!reason) throw new RaceError('The row was not written, and nothing explains why.');
      return reason;
    });
  }

  return {
    insert,
    readInsertedObjects: buildReadInserted(definition),
    insertRows,
    readInserted,
    explainOutcomes,
  };
}

function buildUpdates(definition: Definition, { link }: Links) {
  const update = buildUpdate(definition);

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
    return findConflicts(client, definition, updates);
  }

  return { updateRows, findUpdateConflicts };
}
