// The test business of a business: made, filled, emptied and removed. What takes longer than a request is only noted here;
// work.ts does it.
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { endApiKey, type NewKey, replaceApiKey } from '../../access/api-keys.ts';
import { createTenant } from '../../access/tenants.ts';
import { findRealBusiness } from '../../access/test-businesses.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';

/** The name of the tenant; people read that of the real business. */
const tenantName = 'Test';

export type Goal = 'FILLED' | 'EMPTY' | 'REMOVED';
export type Stage = 'EMPTYING' | 'FILLING';

export interface TestBusiness {
  id: string;
  goal: Goal;
  /** Null while there is nothing to do. */
  stage: Stage | null;
  copied: number;
  skipped: number;
  /** Objects of the real business; null until they are counted. */
  total: number | null;
  startedAt: Date;
  endedAt: Date | null;
}

type Creator = { id?: string; name: string };

/**
 * Makes the test business, begins to fill it, and answers with its key. An attempt that was interrupted half-way is
 * completed. Each tenant has a transaction of its own: they may be on different machines.
 */
export async function createTestBusiness(
  database: Database,
  realTenantId: string,
  createdBy: Creator,
): Promise<{ id: string; key: string }> {
  const id = await database.inTenants([realTenantId], (client) => reserveId(client, realTenantId));
  const key = await database.inTenants([id], async (client) => {
    const known = await client.query('SELECT FROM test_business WHERE tenant_id = $1', [id]);
    if (known.rowCount !== 0) throw new ApiError('test_business_exists');
    await createTenant(client, tenantName, id).catch((error) => {
      throw error.code === uniqueViolation ? new ApiError('test_business_exists') : error;
    });
    await client.query(
      `INSERT INTO test_business (tenant_id, real_tenant_id, goal, stage) VALUES ($1, $2, 'FILLED', 'FILLING')`,
      [id, realTenantId],
    );
    return (await replaceApiKey(client, id, createdBy))!.key;
  });
  return { id, key };
}

const uniqueViolation = '23505';

async function reserveId(client: pg.ClientBase, realTenantId: string): Promise<string> {
  if (await findRealBusiness(client, realTenantId)) throw new ApiError('real_business_only');
  const { rows } = await client.query<{ id: string }>(
    `UPDATE tenant SET test_tenant_id = coalesce(test_tenant_id, $2) WHERE tenant_id = $1
     RETURNING test_tenant_id AS id`,
    [realTenantId, randomUUIDv7()],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0].id;
}

/** Undefined where there is none. */
export async function findTestBusiness(
  database: Database,
  realTenantId: string,
): Promise<TestBusiness | undefined> {
  const { rows } = await database.queryInTenants<{ id: string | null }>([realTenantId], {
    text: 'SELECT test_tenant_id AS id FROM tenant WHERE tenant_id = $1',
    values: [realTenantId],
  });
  const id = rows[0]?.id;
  return id ? readTestBusiness(database, id) : undefined;
}

export async function readTestBusiness(database: Database, id: string): Promise<TestBusiness | undefined> {
  const { rows } = await database.queryInTenants<TestBusiness>([id], {
    text: `SELECT tenant_id AS id, goal, stage, copied, skipped, total, started_at AS "startedAt", ended_at AS "endedAt"
      FROM test_business WHERE tenant_id = $1`,
    values: [id],
  });
  return rows[0];
}

export async function demandTestBusiness(database: Database, realTenantId: string): Promise<TestBusiness> {
  const found = await findTestBusiness(database, realTenantId);
  if (!found || found.goal === 'REMOVED') throw new ApiError('not_found');
  return found;
}

/**
 * Begins work towards a goal. `FILLED` copies what is missing or differs; with `isReset` everything goes first. The
 * same work that is already under way goes on, and so does an emptying: half of it would be neither empty nor filled.
 */
export async function pursue(
  database: Database,
  id: string,
  goal: Goal,
  { isReset = goal !== 'FILLED' }: { isReset?: boolean } = {},
): Promise<void> {
  const stage: Stage = isReset ? 'EMPTYING' : 'FILLING';
  const next = `CASE WHEN stage = 'EMPTYING' THEN stage ELSE $3 END`;
  await database.inTenants([id], async (client) => {
    await client.query(
      `UPDATE test_business SET goal = $2, stage = ${next}, resource = NULL, after_id = NULL, copied = 0, skipped = 0, total = NULL,
         started_at = now(), ended_at = NULL
       WHERE tenant_id = $1 AND goal <> 'REMOVED' AND (goal, stage) IS DISTINCT FROM ($2, ${next})`,
      [id, goal, stage],
    );
    if (goal === 'REMOVED') await endApiKey(client, id, 'DELETED');
  });
}

export async function replaceTestKey(database: Database, id: string, createdBy: Creator): Promise<NewKey> {
  const made = await database.inTenants([id], (client) => replaceApiKey(client, id, createdBy));
  if (!made) throw new ApiError('not_found');
  return made;
}
