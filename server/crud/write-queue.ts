// Rows that arrive together are written together: one statement and one commit for all of them, before any answer.
import type pg from 'pg';
import { Batch, DeadlineError } from '../database/batch.ts';
import { type Database, databaseUnavailable, isDatabaseAway } from '../database/database.ts';
import { ApiError, type Fault, validationError } from '../errors.ts';
import { columnsOf, type Definition } from './definition.ts';
import { buildFindHolder, buildInsert, buildOwnerExists, ownersOf } from './statements.ts';
import type { Row } from './validation.ts';

export interface NewRow extends Row {
  tenant_id: string;
  id: string;
}

export interface WriteQueue {
  /** Resolves when the row is durable; throws the ApiError that says why it was not written. */
  create(row: NewRow, deadline: number): Promise<void>;
  /** Faults of the row's owners, for a body that is refused anyway and should hear of everything at once. */
  findOwnerFaults(row: NewRow): Promise<Fault[]>;
}

type Outcome = 'written' | ApiError;

const maxRowsPerStatement = 500;

export function buildWriteQueue(database: Database, definition: Definition): WriteQueue {
  const insert = buildInsert(definition);
  const owners = ownersOf(definition);
  const uniqueColumns = columnsOf(definition.fields).filter(({ path }) =>
    definition.uniqueFields.includes(path.join('.')),
  );

  const queue = new Batch<NewRow, Outcome>({
    run: writeRows,
    maxItems: maxRowsPerStatement,
    maxConcurrent: 2,
  });

  async function writeRows(rows: readonly NewRow[]): Promise<Outcome[]> {
    try {
      return await insertRows(rows);
    } catch (error) {
      // A statement that failed wrote nothing. What was wrong with one row must not be blamed on its neighbours.
      if (rows.length === 1 || isDatabaseAway(error)) throw error;
      return Promise.all(rows.map((row) => insertRows([row]).then(([outcome]) => outcome!, toApiFailure)));
    }
  }

  async function insertRows(rows: readonly NewRow[]): Promise<Outcome[]> {
    const tenantIds = [...new Set(rows.map((row) => row.tenant_id))];
    return database.inTenants(tenantIds, async (client) => {
      const result = await client.query<{ id: string }>({ ...insert, values: [JSON.stringify(rows)] });
      const written = new Set(result.rows.map((row) => row.id));
      const outcomes: Outcome[] = [];
      for (const row of rows)
        outcomes.push(written.has(row.id) ? 'written' : await explainRefusal(client, row));
      return outcomes;
    });
  }

  async function explainRefusal(client: pg.ClientBase, row: NewRow): Promise<ApiError> {
    const faults = await ownerFaults(client, row);
    if (faults.length > 0) return validationError(faults);
    for (const column of uniqueColumns) {
      if (row[column.name] === undefined) continue;
      const values = [row.tenant_id, row[column.name]];
      const { rows } = await client.query<{ id: string }>(buildFindHolder(definition, column), values);
      if (rows[0]) {
        return new ApiError('conflict', { details: { field: column.path.join('.'), id: rows[0].id } });
      }
    }
    throw new Error(`the row ${row.id} was not written, and nothing explains why`);
  }

  async function ownerFaults(client: pg.ClientBase, row: NewRow): Promise<Fault[]> {
    const faults: Fault[] = [];
    for (const { column, table } of owners) {
      const { rowCount } = await client.query(buildOwnerExists(table), [row.tenant_id, row[column.name]]);
      if (rowCount === 0) {
        const params = { resource: column.field.reference!.resource };
        faults.push({ path: column.path, code: 'reference_not_found', params });
      }
    }
    return faults;
  }

  return {
    async create(row, deadline) {
      const outcome = await queue.add(row, deadline).catch((error) => {
        throw toApiFailure(error);
      });
      if (outcome !== 'written') throw outcome;
    },
    findOwnerFaults: (row) => database.inTenants([row.tenant_id], (client) => ownerFaults(client, row)),
  };
}

function toApiFailure(error: unknown): ApiError {
  if (error instanceof DeadlineError || isDatabaseAway(error)) return databaseUnavailable(error);
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
}
