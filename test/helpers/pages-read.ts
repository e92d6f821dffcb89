import type { Database } from '../../server/database/database.ts';

/** Counts the pages of products that exports read. The service takes connections for other work meanwhile. */
export function countProductPages(database: Database): () => number {
  let pages = 0;
  const { queryInTenants } = database;
  database.queryInTenants = (tenantIds, query, options) => {
    if (/\bFROM product\b/.test(query.text)) pages++;
    return queryInTenants(tenantIds, query, options);
  };
  return () => pages;
}
