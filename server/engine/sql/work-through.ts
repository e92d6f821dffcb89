// Tables that name rows that upkeep still has to write, a few per transaction.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';

export interface Place {
  resource: string;
  /** Rows with greater ids are still to be written. */
  after_id: string;
}

/** Writes some rows behind the place. Returns the last id, or undefined at the end. */
type Step = (client: pg.ClientBase, tenantId: string, place: Place) => Promise<string | undefined>;

const maxTurns = 20;

export async function workThrough(
  database: Database,
  table: 'missing_words' | 'former_spelling',
  step: Step,
): Promise<void> {
  const { rows } = await database.pool.query<{ id: string }>(`SELECT tenants_with_${table}() AS id`);
  for (const { id: tenantId } of rows) {
    // The rest of a large tenant waits for the next time, to let the others have their turn.
    for (let turns = 0; turns < maxTurns && (await takeStep(database, tenantId, table, step)); turns++);
  }
}

/** Whether there may be more. */
async function takeStep(database: Database, tenantId: string, table: string, step: Step): Promise<boolean> {
  return database.inTenants([tenantId], async (client) => {
    const { rows: places } = await client.query<Place>(
      `SELECT resource, after_id FROM ${table} WHERE tenant_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED`,
      [tenantId],
    );
    const [place] = places;
    if (!place) return false;
    const last = await step(client, tenantId, place);
    const key = [tenantId, place.resource];
    if (last === undefined)
      await client.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND resource = $2`, key);
    else
      await client.query(`UPDATE ${table} SET after_id = $3 WHERE tenant_id = $1 AND resource = $2`, [
        ...key,
        last,
      ]);
    return true;
  });
}
