// Applies migrations/NNNN-title.sql in order; forward only. docs/migrations.md has the rules.
import path from 'node:path';
import type pg from 'pg';
import { distributeTables, isDistributed } from '../citus/distribution.ts';
import { asDatabaseOwner } from '../connection.ts';
import { serviceRole } from '../connections.ts';
import { type Migration, MigrationError, numberOf, readMigrations } from './migration-files.ts';
import { inShortTransaction, type Migrator, type Say, takeTurn, watchBlockers } from './migration-locks.ts';

const ownFolder = path.resolve(import.meta.dirname, '../../../migrations');

/** In every history from before the baseline of today, which replaced files 0001 to 0099. */
const filesBeforeBaseline = new Set(['0001-tenants-and-keys.sql', '0020-kept-references.sql']);

const beforeBaseline =
  'This database was made by a version of Stamm from before the first release. Nothing was changed. ' +
  'Export its data over the API of that version, then start this one with a new DATA_DIR or an empty database.';

/** The migrations that this database still lacks. Throws if its history is not this program's. */
export async function readPendingMigrations(client: pg.ClientBase): Promise<Migration[]> {
  return pendingMigrations(client, ownFolder);
}

export async function findPendingMigrations(client: pg.ClientBase): Promise<string[]> {
  return (await readPendingMigrations(client)).map((migration) => migration.name);
}

function isBeforeBaseline(applied: readonly AppliedMigration[]): boolean {
  return applied.some(({ name }) => filesBeforeBaseline.has(name));
}

export interface AppliedMigration extends Pick<Migration, 'name' | 'checksum'> {
  oldest_node?: string | null;
}

/** None in a database that nobody has migrated yet. */
export async function appliedMigrations(client: pg.ClientBase): Promise<AppliedMigration[]> {
  const { rows: exists } = await client.query(
    `SELECT to_regclass('schema_migration') IS NOT NULL AS is_there`,
  );
  if (!exists[0].is_there) return [];
  // As JSON, because the oldest databases lack the column of the oldest node. They are refused in a sentence.
  const { rows } = await client.query<AppliedMigration>(
    `SELECT name, checksum, to_jsonb(schema_migration) ->> 'oldest_node' AS oldest_node
     FROM schema_migration ORDER BY name`,
  );
  return rows;
}

/** Compares these with the ones of this program: `unknown` is missing here, or has another content. */
export async function compareMigrations(
  applied: readonly AppliedMigration[],
): Promise<{ unknown: string | undefined; isBeforeBaseline: boolean; isOlder: boolean }> {
  const own = await readMigrations(ownFolder);
  const known = new Map(own.map(({ name, checksum }) => [name, checksum]));
  const unknown = applied.find(({ name, checksum }) => known.get(name) !== checksum)?.name;
  return { unknown, isBeforeBaseline: isBeforeBaseline(applied), isOlder: applied.length < own.length };
}

async function pendingMigrations(client: pg.ClientBase, folder: string): Promise<Migration[]> {
  const migrations = await readMigrations(folder);
  const rows = await appliedMigrations(client);
  if (isBeforeBaseline(rows)) throw new MigrationError(beforeBaseline);
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const ownNumber = numberOf(migrations.at(-1)!.name);
  for (const { name, checksum, oldest_node } of rows) {
    const migration = known.get(name);
    if (!migration) {
      if (oldest_node && oldest_node <= ownNumber) continue;
      throw new MigrationError(
        `The database was migrated by a newer Stamm (${name}). Start that version or a newer one.`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new MigrationError(
        `The migration ${name} was changed after it had been applied. Restore the file.`,
      );
    }
    known.delete(name);
  }
  return [...known.values()];
}

interface MigrateOptions {
  folder?: string;
  say?: Say;
  /** Cuts the connection; PostgreSQL takes the migration under way back. */
  signal?: AbortSignal | undefined;
  /** Stops where an older Stamm stood. */
  only?: ReadonlySet<string>;
}

/** Brings the database up to date and answers with the names of what was applied. Safe to call from many processes. */
export async function migrate(
  connection: pg.ClientConfig,
  {
    folder = ownFolder,
    say = (sentence) => process.stderr.write(`${sentence}\n`),
    only,
    signal,
  }: MigrateOptions = {},
): Promise<string[]> {
  const bringUpToDate = async (client: pg.Client) => {
    // An up-to-date database needs no right to change it. So the service can run under a lesser login.
    const isCurrent = (await pendingMigrations(client, folder)).length === 0;
    if (isCurrent && (await isDistributed(client))) return [];
    const migrator: Migrator = { client, connection, say };
    // Limits that the login or the server sets are meant for requests.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await takeTurn(migrator);
    await ensureServiceRole(client);
    await ensureMigrationTable(client);
    const pending = (await pendingMigrations(client, folder)).filter(({ name }) => only?.has(name) ?? true);
    for (const migration of pending) await apply(migrator, migration);
    // An older schema cannot be distributed.
    const distributed = only ? [] : await distributeTables(client);
    if (distributed.length > 0) say(`Distributed over the workers by tenant: ${distributed.join(', ')}.`);
    return pending.map((migration) => migration.name);
  };
  return asDatabaseOwner(connection, bringUpToDate, signal);
}

async function apply(migrator: Migrator, migration: Migration): Promise<void> {
  const { client } = migrator;
  const { name, sql, checksum, oldestNode, indexStatements } = migration;
  if (indexStatements) await changeIndexes(migrator, migration);
  await inShortTransaction(migrator, name, async () => {
    if (!indexStatements) await client.query(sql);
    await client.query('INSERT INTO schema_migration (name, checksum, oldest_node) VALUES ($1, $2, $3)', [
      name,
      checksum,
      oldestNode,
    ]);
  });
}

/** Waits for whole transactions of others, and stops nobody meanwhile. What an interrupted build left is built anew. */
async function changeIndexes(migrator: Migrator, { name, indexStatements }: Migration): Promise<void> {
  const { client, say } = migrator;
  const watch = watchBlockers(migrator, (blockers) => say(`${name} waits for ${blockers}.`));
  try {
    for (const { sql, builds } of indexStatements!) {
      const state = builds && (await findIndex(client, builds));
      if (state === 'valid') continue;
      if (state === 'invalid') await client.query(`DROP INDEX CONCURRENTLY ${builds}`);
      await client.query(sql);
    }
  } finally {
    await watch.stop();
  }
}

async function findIndex(client: pg.ClientBase, name: string): Promise<'valid' | 'invalid' | undefined> {
  const { rows } = await client.query<{ indisvalid: boolean }>(
    'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  if (!rows[0]) return undefined;
  return rows[0].indisvalid ? 'valid' : 'invalid';
}

async function ensureMigrationTable(client: pg.ClientBase): Promise<void> {
  await client.query(`
    CREATE TABLE IF NOT EXISTS schema_migration (
      name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), oldest_node text);
    GRANT SELECT ON schema_migration TO ${serviceRole}`);
}

/** Roles belong to the whole server: another database of it may have made ours already. */
async function ensureServiceRole(client: pg.ClientBase): Promise<void> {
  await client.query(`
    DO $$
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${serviceRole}') THEN
        BEGIN
          CREATE ROLE ${serviceRole} NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
          NULL;
        END;
      END IF;
      -- Before version 16 a member may always take the role; since then it is a right of its own.
      IF NOT pg_has_role(current_user, '${serviceRole}',
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT ${serviceRole} TO %I', current_user);
      END IF;
    END $$;
    GRANT USAGE ON SCHEMA public TO ${serviceRole}`);
}
