// Citus: distributes the tables of a migrated database over the workers, by tenant. (Decision 53.)
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { serviceRole } from '../connections.ts';
import { workerSettings } from '../planner.ts';

/** Read before a tenant is known, or written together with such tables. So are all with a foreign key to them. */
const coordinatorTables = ['tenant', 'request_window', 'audit_entry', 'checklist'];

const clusterFile = path.join(import.meta.dirname, 'cluster.sql');

/** Isolated tables that belong on the workers; a table comes after those it refers to. */
const ownedTables = `
  WITH RECURSIVE local (oid) AS (
    SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY ($1)
    UNION SELECT conrelid FROM pg_constraint JOIN local ON confrelid = local.oid WHERE contype = 'f'
  ), owned (oid) AS (
    SELECT polrelid FROM pg_policy WHERE polname = 'own_tenant' AND polrelid NOT IN (SELECT oid FROM local)
  ), ranked (oid, rank) AS (
    SELECT oid, 0 FROM owned
    UNION SELECT conrelid, rank + 1 FROM ranked JOIN pg_constraint ON confrelid = ranked.oid
    WHERE contype = 'f' AND conrelid <> confrelid
  )
  SELECT relname AS name FROM ranked JOIN pg_class USING (oid)
  GROUP BY oid, relname ORDER BY relname <> 'journal_head', max(rank), relname`;

export async function hasCitus(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
  return rowCount === 1;
}

/** Tables that are on the workers, or would be if the database were a cluster. */
export async function findWorkerTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(ownedTables, [coordinatorTables]);
  return rows.map(({ name }) => name);
}

export async function findUndistributed(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT relname AS name FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid',
  );
  const distributed = new Set(rows.map(({ name }) => name));
  return (await findWorkerTables(client)).filter((name) => !distributed.has(name));
}

/** Whether nothing is left to distribute; always on a single PostgreSQL. */
export async function isDistributed(client: pg.ClientBase): Promise<boolean> {
  return !(await hasCitus(client)) || (await findUndistributed(client)).length === 0;
}

/**
 * Distributes the remaining tables, and answers with their names. Migrations may replace functions, so the cluster's
 * own come after them each time.
 */
export async function distributeTables(client: pg.ClientBase): Promise<string[]> {
  if (!(await hasCitus(client))) return [];
  const tables = await findUndistributed(client);
  for (const table of tables) await distribute(client, table);
  // The rows have copies on the workers now.
  for (const table of tables)
    await client.query(`SELECT truncate_local_data_after_distributing_table('${table}')`);
  await prepareWorkers(client);
  return tables;
}

/** Names in plain words why a distributed database cannot work. */
export async function findClusterErrors(client: pg.ClientBase): Promise<string[]> {
  const { rows: roles } = await client.query<{ may_log_in: boolean; settings: string[] | null }>(
    `SELECT rolcanlogin AS may_log_in, setconfig AS settings FROM pg_roles
     LEFT JOIN pg_db_role_setting AS setting ON setting.setrole = pg_roles.oid AND setting.setdatabase = 0
     WHERE rolname = '${serviceRole}'`,
  );
  const { may_log_in: mayLogIn, settings } = roles[0]!;
  const known = new Set((settings ?? []).map((setting) => setting.split('=')[0]!.toLowerCase()));
  const lacking = workerSettings.filter((setting) => !known.has(setting.split(' ')[0]!));
  const { rows: nodes } = await client.query<{ node: string; answers: boolean }>(
    `SELECT nodename || ':' || nodeport AS node, citus_check_connection_to_node(nodename, nodeport) AS answers
     FROM pg_dist_node WHERE shouldhaveshards`,
  );
  return [
    ...(mayLogIn ? [] : [`Citus cannot connect as ${serviceRole}: ALTER ROLE ${serviceRole} LOGIN`]),
    ...lacking.map((setting) => `a setting is missing: ALTER ROLE ${serviceRole} SET ${setting}`),
    ...nodes.filter(({ answers }) => !answers).map(({ node }) => `the worker ${node} does not answer`),
  ];
}

async function distribute(client: pg.ClientBase, table: string): Promise<void> {
  const colocation = table === 'journal_head' ? 'none' : 'journal_head';
  const statements = [
    'BEGIN',
    // Citus takes no sub-select in a policy. A transaction on a worker has one tenant.
    `ALTER POLICY own_tenant ON ${table}
       USING (CASE WHEN tenant_id = nullif(current_setting('stamm.tenants', true), '')::uuid THEN true ELSE false END)`,
    // An owner who is no superuser could not copy existing rows otherwise.
    `ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`,
    `SELECT create_distributed_table('${table}', 'tenant_id', colocate_with => '${colocation}')`,
    `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
    'COMMIT',
  ];
  try {
    // One by one: Citus passes the text of a query on as a whole.
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** Citus connects to workers as the role that asks. */
async function prepareWorkers(client: pg.ClientBase): Promise<void> {
  await client.query(`ALTER ROLE ${serviceRole} LOGIN`);
  for (const setting of workerSettings) await client.query(`ALTER ROLE ${serviceRole} SET ${setting}`);
  await client.query(await readFile(clusterFile, 'utf8'));
  for (const name of ['run_on_shard(uuid,text)', 'count_on_shard(uuid,text)']) {
    await client.query(
      `SELECT create_distributed_function($1::regprocedure, 'tenant', colocate_with => 'journal_head', force_delegation => true)`,
      [name],
    );
  }
  const { rows } = await client.query<{ name: string }>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' AND prorettype <> 'trigger'::regtype
       AND proname NOT IN ('run_on_shard', 'count_on_shard')
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')`,
  );
  for (const { name } of rows)
    await client.query('SELECT create_distributed_function($1::regprocedure)', [name]);
}
