// Writes a backup from one snapshot, while the service runs.
import { access } from 'node:fs/promises';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { readTenantGroups } from '../../access/tenants.ts';
import { findShards } from '../../database/citus/shards.ts';
import { cut } from '../../database/timeouts.ts';
import { seeTenants } from '../../database/transactions.ts';
import { UsageError } from '../../errors.ts';
import { expected } from '../../telemetry/expected.ts';
import { version } from '../../version.ts';
import { type Section, type Totals, writeBackup } from './file.ts';
import { readTables, type Table } from './tables.ts';

export interface BackupOptions {
  path: string;
  passphrase: string | undefined;
  /** The one business to back up, or all. */
  tenantId?: string | undefined;
  /** Ends it before it takes more of its disk. */
  mostBytes?: number;
  onRows?: (totals: Totals) => void;
}

/**
 * For Citus, where each connection to a worker has a snapshot of its own. All rows of a tenant are on one worker, and those
 * of the coordinator are older: it is asked first. PostgreSQL ignores it.
 */
const oneSnapshotPerWorker = 'SET LOCAL citus.max_adaptive_executor_pool_size = 1';

/** `client` belongs to the owner of the database and runs nothing else meanwhile. */
export async function makeBackup(client: pg.ClientBase, options: BackupOptions): Promise<Totals> {
  const { path, tenantId = null } = options;
  await access(path).then(
    () => {
      throw new UsageError(`${path} exists already.`);
    },
    () => {},
  );
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    await client.query(oneSnapshotPerWorker);
    const { rows: migrations } = await client.query(
      'SELECT name, checksum FROM schema_migration ORDER BY name',
    );
    const { rows: server } = await client.query(
      `SELECT current_setting('server_version') AS postgres, now() AS "createdAt"`,
    );
    const header = { stamm: version, ...server[0], tenantId, migrations };
    const groups = await groupTenants(client, tenantId);
    return await writeBackup(options, header, readSections(client, groups));
  } finally {
    await client.query('ROLLBACK').catch(expected);
  }
}

/** Undefined stands for every row there is. */
type TenantGroup = readonly string[] | undefined;

async function groupTenants(client: pg.ClientBase, tenantId: string | null): Promise<TenantGroup[]> {
  if (tenantId !== null) {
    const { rowCount } = await client.query('SELECT FROM tenant WHERE tenant_id = $1', [tenantId]);
    if (rowCount === 0) {
      throw new UsageError(`There is no tenant ${tenantId}. "tenant list" shows all of them.`);
    }
    return [[tenantId]];
  }
  // A tenant that comes meanwhile has rows on a worker, and none on the coordinator yet.
  if (await findShards(client)) return readTenantGroups(client);
  const { rows: login } = await client.query(
    'SELECT rolsuper OR rolbypassrls AS "seesAll" FROM pg_roles WHERE rolname = current_user',
  );
  return login[0].seesAll ? [undefined] : readTenantGroups(client);
}

async function* readSections(client: pg.ClientBase, groups: readonly TenantGroup[]): AsyncGenerator<Section> {
  for (const table of await readTables(client)) {
    for (const group of groups) {
      if (group) await client.query(seeTenants(group));
      const { name, columns } = table;
      const rows = client.query(copyTo(copyStatement(table, group)));
      try {
        yield { table: name, columns, rows };
      } finally {
        // Rows that nobody reads any more, as where the disk is full, would keep the connection busy for ever.
        if (!rows.readableEnded) cut(client);
      }
    }
  }
}

function copyStatement({ name, columns }: Table, group: TenantGroup): string {
  const list = columns.map(pg.escapeIdentifier).join(', ');
  const tenants = group?.map(pg.escapeLiteral).join(', ');
  const condition = tenants === undefined ? '' : ` WHERE tenant_id IN (${tenants})`;
  return `COPY (SELECT ${list} FROM ${pg.escapeIdentifier(name)}${condition}) TO STDOUT`;
}
