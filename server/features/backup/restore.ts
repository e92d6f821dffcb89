// Loads a backup: a whole one into an empty database, or one business beside others. The file is read to its end before
// anything is written, and everything is written in one transaction.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { recordCommand } from '../../access/audit-log.ts';
import { reachTenants } from '../../access/tenants.ts';
import { findShards } from '../../database/citus/shards.ts';
import { asDatabaseOwner } from '../../database/connection.ts';
import { appliedMigrations, compareMigrations, migrate } from '../../database/migrations/migrations.ts';
import { commit, seeTenants } from '../../database/transactions.ts';
import { writeMissingWords } from '../../engine/write/search-words.ts';
import { UsageError } from '../../errors.ts';
import { resources } from '../../resources/index.ts';
import { expected } from '../../telemetry/expected.ts';
import { type Header, readBackup, readHeader, type Section, type Totals } from './file.ts';
import { accessTables, readTables, rowsOfNobody, type Table } from './tables.ts';

export interface RestoreOptions {
  path: string;
  passphrase: string | undefined;
  /** The one business to restore from the file, or all. */
  tenantId?: string | undefined;
  /** Leaves the API key and people out. */
  withoutAccess?: boolean;
  /** Whether the audit record of each business says so. A move to another PostgreSQL brings nothing back. */
  isRecorded?: boolean;
  /** Ends it. Nothing is restored then, or everything. */
  signal?: AbortSignal | undefined;
}

/** Makes Citus use one connection: what one of several changed, another could not see. PostgreSQL ignores it. */
const oneConnectionPerWorker = `SET LOCAL citus.multi_shard_modify_mode = 'sequential'`;

export interface Verified extends Totals {
  header: Header;
}

/** Reads the whole file and compares it with its checksum. */
export async function verifyBackup(
  path: string,
  passphrase: string | undefined,
  signal?: AbortSignal,
): Promise<Verified> {
  const header = await readHeader(path);
  return { header, ...(await readBackup(path, passphrase, async () => {}, signal)) };
}

type Wanted = Pick<RestoreOptions, 'path' | 'passphrase' | 'tenantId' | 'signal'>;

/** Everything that can be refused before a database is opened, or made for it. */
export async function checkRestorable({ path, passphrase, tenantId, signal }: Wanted): Promise<Header> {
  const tenants = new Set<string>();
  const header = await readHeader(path);
  const noteTenants = async ({ table, columns, rows }: Section) => {
    if (table !== 'tenant') return;
    const place = columns.indexOf('tenant_id');
    for await (const line of createInterface(Readable.from(rows))) tenants.add(line.split('\t')[place]!);
  };
  await readBackup(path, passphrase, noteTenants, signal);
  const { stamm, migrations, tenantId: only } = header;
  const { unknown, isBeforeBaseline, isOlder } = await compareMigrations(migrations);
  if (isBeforeBaseline) {
    throw new UsageError(
      `${path} was made before the first release (Stamm ${stamm}). Restore it with that version and export its data over the API.`,
    );
  }
  if (unknown !== undefined) {
    throw new UsageError(
      `${path} was made by Stamm ${stamm}, whose database is newer (${unknown}). Use that version or a newer one.`,
    );
  }
  if (tenantId !== undefined && only !== null && only !== tenantId)
    throw new UsageError(`${path} holds the tenant ${only} only.`);
  if (tenantId !== undefined && !tenants.has(tenantId))
    throw new UsageError(`${path} holds no tenant ${tenantId}.`);
  if (isOlder && (tenantId !== undefined || only !== null)) {
    throw new UsageError(
      `The backup is of an older Stamm (${stamm}). Restore it whole into a new database, and back the tenant up from there.`,
    );
  }
  return header;
}

/** `checked` is what checkRestorable returned, where the caller had to know it first. */
export async function restoreBackup(
  connection: pg.ClientConfig,
  options: RestoreOptions,
  checked?: Header,
): Promise<Totals> {
  const header = checked ?? (await checkRestorable(options));
  if (options.tenantId !== undefined || header.tenantId !== null) {
    return restoreTenant(connection, options, header);
  }
  return restoreAll(connection, options, header);
}

async function restoreAll(
  connection: pg.ClientConfig,
  options: RestoreOptions,
  header: Header,
): Promise<Totals> {
  const { signal } = options;
  const asOwner = <Result>(work: (client: pg.Client) => Promise<Result>) =>
    asDatabaseOwner(connection, work, signal);
  const names = header.migrations.map(({ name }) => name);
  await asOwner(async (client) => {
    const applied = await appliedMigrations(client);
    const later = applied.find(({ name }) => !names.includes(name));
    if (later) {
      throw new UsageError(
        `The database is newer than the backup (${later.name}). Restore into a new database or DATA_DIR.`,
      );
    }
  });
  await migrate(connection, { only: new Set(names), signal });
  const totals = await asOwner((client) =>
    inTransaction(client, async () => {
      await client.query(oneConnectionPerWorker);
      await client.query('LOCK TABLE tenant IN ACCESS EXCLUSIVE MODE');
      const { rowCount } = await client.query('SELECT FROM tenant LIMIT 1');
      if (rowCount !== 0) {
        throw new UsageError('The database holds data. Restore into a new database or DATA_DIR.');
      }
      const tables = await readTables(client);
      const forced = tables.filter(({ isForced }) => isForced).map(({ name }) => pg.escapeIdentifier(name));
      for (const name of forced) await client.query(`ALTER TABLE ${name} NO FORCE ROW LEVEL SECURITY`);
      const loaded = await load(client, options, header, tables, (table, section) =>
        options.withoutAccess && table.name in rowsOfNobody
          ? copyRowsOfNobody(client, table, section)
          : copyRows(client, table.name, section),
      );
      await promiseWords(client);
      if (options.isRecorded)
        for (const tenantId of await listTenants(client)) await recordRestore(client, header, tenantId);
      for (const name of forced) await client.query(`ALTER TABLE ${name} FORCE ROW LEVEL SECURITY`);
      return loaded;
    }),
  );
  await migrate(connection, { signal });
  await asOwner(async (client) => {
    await reachTenants(client, (reached, tenants) =>
      inTransaction(client, async () => {
        await client.query(seeTenants(tenants));
        await writeMissingWords(reached, resources, tenants);
        await reached.query('DELETE FROM missing_words WHERE tenant_id = ANY ($1)', [tenants]);
      }),
    );
    await client.query('ANALYZE');
  });
  return totals;
}

/** Words need the newest schema. If the restore ends before it has it, the service writes them. */
async function promiseWords(client: pg.ClientBase): Promise<void> {
  const tables = resources.map(({ table }) => table);
  await client.query('ALTER TABLE missing_words NO FORCE ROW LEVEL SECURITY');
  for (const tenantId of await listTenants(client))
    await client.query('INSERT INTO missing_words (tenant_id, resource) SELECT $1, unnest($2::text[])', [
      tenantId,
      tables,
    ]);
  await client.query('ALTER TABLE missing_words FORCE ROW LEVEL SECURITY');
}

async function recordRestore(
  client: pg.ClientBase,
  { createdAt, stamm }: Header,
  tenantId: string,
): Promise<void> {
  await recordCommand(client, tenantId, { event: 'BUSINESS_RESTORED', details: { createdAt, stamm } });
}

async function listTenants(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ tenant_id: string }>('SELECT tenant_id FROM tenant');
  return rows.map((row) => row.tenant_id);
}

/** Others work in the same tables meanwhile, so row-level security stays, below which PostgreSQL allows no COPY. */
async function restoreTenant(
  connection: pg.ClientConfig,
  options: RestoreOptions,
  header: Header,
): Promise<Totals> {
  const tenantId = options.tenantId ?? header.tenantId!;
  await migrate(connection, { signal: options.signal });
  const restore = (client: pg.Client) =>
    inTransaction(client, async () => {
      await client.query(seeTenants([tenantId]));
      const { rowCount } = await client.query('SELECT FROM tenant WHERE tenant_id = $1', [tenantId]);
      if (rowCount !== 0) throw new UsageError(`The tenant ${tenantId} exists already.`);
      const tables = await readTables(client);
      const shards = await findShards(client);
      const reached = shards ? shards.reach(client, [tenantId]) : client;
      const totals = await load(client, options, header, tables, (table, section) =>
        insertRows(client, reached, table, section, {
          tenantId,
          condition: (options.withoutAccess && rowsOfNobody[table.name]) || 'true',
        }),
      );
      await writeMissingWords(reached, resources, [tenantId]);
      if (options.isRecorded) await recordRestore(client, header, tenantId);
      return totals;
    });
  return asDatabaseOwner(connection, restore, options.signal);
}

async function load(
  client: pg.ClientBase,
  { path, passphrase, withoutAccess = false }: RestoreOptions,
  header: Header,
  tables: readonly Table[],
  write: (table: Table, section: Section) => Promise<number>,
): Promise<Totals> {
  const byName = new Map(tables.map((table) => [table.name, table]));
  let rows = 0;
  const { bytes } = await readBackup(path, passphrase, async (section) => {
    if (withoutAccess && accessTables.has(section.table)) return;
    const table = byName.get(section.table);
    if (!table || section.columns.some((column) => !table.columns.includes(column))) {
      throw new UsageError(`${path} holds a table or column that Stamm ${header.stamm} does not have.`);
    }
    rows += await write(table, section);
  });
  await client.query('SET CONSTRAINTS ALL IMMEDIATE');
  return { rows, bytes };
}

async function copyRows(client: pg.ClientBase, target: string, section: Section): Promise<number> {
  const columns = section.columns.map(pg.escapeIdentifier).join(', ');
  const copy = client.query(copyFrom(`COPY ${pg.escapeIdentifier(target)} (${columns}) FROM STDIN`));
  await pipeline(section.rows, copy);
  return copy.rowCount;
}

/** Into a temporary table, from which only some rows are taken. Answers with their columns. */
async function copyToRestored(client: pg.ClientBase, name: string, section: Section): Promise<string> {
  const columns = section.columns.map(pg.escapeIdentifier).join(', ');
  await client.query(`CREATE TEMPORARY TABLE restored AS SELECT ${columns} FROM public.${name} WITH NO DATA`);
  await copyRows(client, 'restored', section);
  return columns;
}

async function copyRowsOfNobody(client: pg.ClientBase, { name }: Table, section: Section): Promise<number> {
  const columns = await copyToRestored(client, name, section);
  const { rowCount } = await client.query(
    `INSERT INTO public.${name} (${columns}) SELECT ${columns} FROM restored WHERE ${rowsOfNobody[name]}`,
  );
  await client.query('DROP TABLE restored');
  return rowCount ?? 0;
}

/** A row is at most as large as a body and a few texts. */
const rowsAtATime = 100;

/** Rows go through JSON, because a worker of a cluster has no temporary table of the coordinator. */
async function insertRows(
  client: pg.ClientBase,
  reached: pg.ClientBase,
  { name }: Table,
  section: Section,
  { tenantId, condition }: { tenantId: string; condition: string },
): Promise<number> {
  const columns = await copyToRestored(client, name, section);
  await client.query(
    `DECLARE restored_rows CURSOR FOR SELECT row_to_json(restored)::text AS row FROM restored
     WHERE tenant_id = ${pg.escapeLiteral(tenantId)} AND ${condition}`,
  );
  let count = 0;
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`FETCH ${rowsAtATime} FROM restored_rows`);
    if (rows.length === 0) break;
    await reached.query(
      `INSERT INTO public.${name} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::public.${name}, $1)`,
      [`[${rows.map(({ row }) => row).join(',')}]`],
    );
    count += rows.length;
  }
  await client.query('CLOSE restored_rows; DROP TABLE restored');
  return count;
}

async function inTransaction<Result>(client: pg.ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await commit(client);
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(expected);
    throw error;
  }
}
