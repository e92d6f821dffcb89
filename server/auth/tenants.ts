import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';

/** Makes a tenant, with an empty journal, and answers with its id. */
export async function createTenant(
  client: pg.ClientBase,
  name: string,
  tenantId: string = randomUUIDv7(),
): Promise<string> {
  await client.query(
    `WITH made AS (INSERT INTO tenant (tenant_id, name) VALUES ($1, $2) RETURNING tenant_id)
     INSERT INTO journal_head (tenant_id) SELECT tenant_id FROM made`,
    [tenantId, name],
  );
  return tenantId;
}
