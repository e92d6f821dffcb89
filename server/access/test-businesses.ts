// The link between a business and its test business, which is a tenant like any other. (Decision 93.)
import type pg from 'pg';
import type { Database } from '../database/database.ts';

/** The business that a tenant is the test business of. The client sees the tenant. */
export async function findRealBusiness(client: pg.ClientBase, tenantId: string): Promise<string | undefined> {
  const { rows } = await client.query<{ real_tenant_id: string }>(
    'SELECT real_tenant_id FROM test_business WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.real_tenant_id;
}

export async function isTestBusiness(database: Database, tenantId: string): Promise<boolean> {
  const { rowCount } = await database.queryInTenants([tenantId], {
    text: 'SELECT FROM test_business WHERE tenant_id = $1',
    values: [tenantId],
  });
  return rowCount === 1;
}
