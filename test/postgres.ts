// Before all tests: one PostgreSQL of the kind that the service brings, with a migrated database to copy from.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../server/database/embedded/postgres.ts';
import { migrate } from '../server/database/migrations.ts';
import { openServiceLogin } from '../server/database/service-login.ts';

export const templateDatabase = 'stamm_template';

let dataDir: string;
let postgres: EmbeddedPostgres;

export async function globalSetup(): Promise<void> {
  dataDir = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  const client = new pg.Client(postgres.connection);
  await client.connect();
  // These databases live for a minute. What must survive a crash is tested on servers with the usual durability.
  await client.query('ALTER SYSTEM SET fsync = off');
  await client.query('SELECT pg_reload_conf()');
  await client.query(`CREATE DATABASE ${templateDatabase}`);
  await client.end();
  const template = { ...postgres.connection, database: templateDatabase };
  await migrate(template);
  // Copies have the same login, which is there from now on: files that start together need not make it.
  await openServiceLogin(template);
  process.env.STAMM_TEST_POSTGRES = JSON.stringify(postgres.connection);
}

export async function globalTeardown(): Promise<void> {
  await postgres.close();
  await rm(dataDir, { recursive: true });
}
