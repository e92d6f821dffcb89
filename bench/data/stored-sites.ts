// Sites to read: a thousand for each tenant, and requests that read them one by one and in pages.

import type { Request } from '../load/requests.ts';
import { settle } from '../postgres.ts';
import type { Prepared } from '../service.ts';
import { siteColumns, tenantCount } from './tenants.ts';

export const siteCount = 20_000;
export const pageSize = 50;

export async function storeSites({
  database,
  tenants,
}: Prepared): Promise<{ sites: Request[]; pages: Request[] }> {
  const columns = siteColumns('number');
  const { rows } = await database.owner.query<{ id: string }>(
    `INSERT INTO site (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM generate_series(0, $1::bigint - 1) AS number RETURNING id`,
    [siteCount],
  );
  await database.owner.query('VACUUM ANALYZE site');
  await settle(database);
  return {
    sites: rows.map(({ id }, number) => ({
      method: 'GET',
      path: `/api/v1/sites/${id}`,
      key: tenants.keys[number % tenantCount]!,
    })),
    pages: tenants.keys.map((key) => ({ method: 'GET', path: `/api/v1/sites?limit=${pageSize}`, key })),
  };
}
