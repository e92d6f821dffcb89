// Applies migrations/NNNN-title.sql in order, each in a transaction of its own; forward only.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { asDatabaseOwner } from './connection.ts';
import { serviceRole } from './database.ts';

const folder = path.resolve(import.meta.dirname, '../../migrations');

/** Any number that nothing else locks: one process migrates, the others wait for it. */
const migrationLock = 7_882_001;

/** In every history from before the baseline, which replaced files 0001 to 0019. */
const firstBeforeBaseline = '0001-tenants-and-keys.sql';

const beforeBaseline =
  'This database was made by a version of Stamm from before the first release. Nothing was changed. ' +
  'Export its data over the API of that version, then start this one with a new DATA_DIR or an empty database.';

export class MigrationError extends Error {}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(path.join(folder, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** The names of the migrations that this database still lacks. Throws if its history is not this program's. */
export async function findPendingMigrations(client: pg.ClientBase): Promise<string[]> {
  return (await pendingMigrations(client)).map((migration) => migration.name);
}

async function pendingMigrations(client: pg.ClientBase): Promise<Migration[]> {
  const migrations = await readMigrations();
  const { rows: exists } = await client.query(
    `SELECT to_regclass('schema_migration') IS NOT NULL AS is_there`,
  );
  if (!exists[0].is_there) return migrations;
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migration ORDER BY name',
  );
  if (rows.some(({ name }) => name === firstBeforeBaseline)) throw new MigrationError(beforeBaseline);
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum } of rows) {
    const migration = known.get(name);
    if (!migration) {
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

/** Brings the database up to date and answers with the names of what was applied. Safe to call from many processes. */
export async function migrate(connection: pg.ClientConfig): Promise<string[]> {
  return asDatabaseOwner(connection, async (client) => {
    // What is up to date needs no right to change anything, so that the service can run under a lesser login.
    if ((await pendingMigrations(client)).length === 0) return [];
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    await ensureServiceRole(client);
    await client.query(`
      CREATE TABLE IF NOT EXISTS schema_migration (
        name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
      GRANT SELECT ON schema_migration TO ${serviceRole}`);
    const pending = await pendingMigrations(client);
    for (const { name, sql, checksum } of pending) {
      await client.query('BEGIN');
      await client.query(sql);
      await client.query('INSERT INTO schema_migration (name, checksum) VALUES ($1, $2)', [name, checksum]);
      await client.query('COMMIT');
    }
    return pending.map((migration) => migration.name);
  });
}

/** Roles belong to the whole server, so that another database of it may have made ours already. */
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
