import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { findShards } from '../database/citus/shards.ts';

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

/** Works through all tenants as their owner. On a cluster each has a client of its own, which reaches its worker. */
export async function reachTenants(
  client: pg.ClientBase,
  work: (client: pg.ClientBase, tenantIds: readonly string[]) => Promise<void>,
): Promise<void> {
  const shards = await findShards(client);
  for (const group of await readTenantGroups(client)) {
    if (shards) for (const tenantId of group) await work(shards.reach(client, [tenantId]), [tenantId]);
    else await work(client, group);
  }
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
