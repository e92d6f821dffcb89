import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';

/** Row-level security compares each row with all tenants of the transaction, so these are few. */
const tenantsAtATime = 100;

/** All tenants, some at a time, for an owner who works through them. */
export async function readTenantGroups(client: pg.ClientBase): Promise<string[][]> {
  const { rows } = await client.query<{ tenant_id: string }>(
    'SELECT tenant_id FROM tenant ORDER BY tenant_id',
  );
  const ids = rows.map((row) => row.tenant_id);
  const count = Math.ceil(ids.length / tenantsAtATime);
  return Array.from({ length: count }, (_, group) =>
    ids.slice(group * tenantsAtATime, (group + 1) * tenantsAtATime),
  );
}

/** Makes a tenant, with an empty journal, and answers with its id. */
export async function createTenant(
  client: pg.ClientBase,
  name: string,
  tenantId: string = randomUUIDv7(),
): Promise<string> {
  await client.query('INSERT INTO tenant (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
  await client.query('INSERT INTO journal_head (tenant_id) VALUES ($1)', [tenantId]);
  return tenantId;
}
