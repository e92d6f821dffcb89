// Databases for tests, on one server or on all nodes of a Citus cluster.
import pg from 'pg';

interface Servers {
  connection: pg.ClientConfig;
  workers: readonly pg.ClientConfig[];
}

/** The workers that the cluster's coordinator knows in the database of its address. */
export async function findWorkers(coordinator: pg.ClientConfig): Promise<pg.ClientConfig[]> {
  const rows = await runOn(
    coordinator,
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeport`,
  );
  return rows.map(({ host, port }) => ({ ...coordinator, host, port }));
}

/** On a cluster a copy has the nodes and shards of its template. A new database is joined to the workers. */
export async function createDatabase(
  { connection, workers }: Servers,
  name: string,
  from: string,
): Promise<void> {
  const encoding = from === 'template0' ? ` ENCODING 'UTF8'` : '';
  for (const node of [...workers, connection]) {
    await runOn(node, `CREATE DATABASE ${name} TEMPLATE ${from}${encoding}`);
  }
  if (workers.length === 0 || from !== 'template0') return;
  const nodes = [...workers, connection].map((node) => ({ ...node, database: name }));
  for (const node of nodes) await runOn(node, 'CREATE EXTENSION citus');
  const coordinator = nodes.at(-1)!;
  await runOn(coordinator, `SELECT citus_set_coordinator_host('${connection.host}', ${connection.port})`);
  for (const { host, port } of workers) await runOn(coordinator, `SELECT citus_add_node('${host}', ${port})`);
}

/** Citus keeps a connection to each of its databases, and PostgreSQL copies none that somebody uses. */
export async function freeTemplate({ connection, workers }: Servers, name: string): Promise<void> {
  for (const node of [...workers, connection]) {
    await runOn(node, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await runOn(
      node,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
  }
}

export async function dropDatabase({ connection, workers }: Servers, name: string): Promise<void> {
  for (const node of [connection, ...workers]) {
    // Citus would come back to it at once.
    if (workers.length > 0)
      await runOn(node, `UPDATE pg_database SET datallowconn = false WHERE datname = '${name}'`);
    await runOn(node, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

/** Where the rows of a table are: in itself, or in shards on the workers. With a tenant, where its rows are. */
export async function findTableParts(
  owner: pg.Client,
  table: string,
  tenantId?: string,
): Promise<{ node: pg.ClientConfig; names: string[] }[]> {
  const { connection, workers }: Servers = JSON.parse(process.env.STAMM_TEST_POSTGRES!);
  const { database } = owner;
  const here = [{ node: { ...connection, database }, names: [table] }];
  if (workers.length === 0) return here;
  const { rows } = await owner.query<{ port: number; names: string[] }>(
    `SELECT nodeport AS port, array_agg(shard_name(logicalrelid, shardid)) AS names
     FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
     WHERE logicalrelid = $1::regclass
       AND ($2::uuid IS NULL OR shardid = get_shard_id_for_distribution_column($1::regclass, $2::uuid))
     GROUP BY nodeport`,
    [table, tenantId],
  );
  // The coordinator keeps some tables to itself.
  if (rows.length === 0) return here;
  return rows.map(({ port, names }) => ({
    node: { ...workers.find((worker) => worker.port === port)!, database },
    names,
  }));
}

/** Asks the server of `owner`, and on a cluster its workers too. */
export async function askAllNodes(
  owner: pg.Client,
  sql: string,
): Promise<{ node: pg.ClientConfig; row: pg.QueryResultRow }[]> {
  const { connection, workers }: Servers = JSON.parse(process.env.STAMM_TEST_POSTGRES!);
  const { database } = owner;
  const found = (await owner.query(sql)).rows.map((row) => ({ node: { ...connection, database }, row }));
  for (const worker of workers) {
    const node = { ...worker, database };
    found.push(...(await runOn(node, sql)).map((row) => ({ node, row })));
  }
  return found as { node: pg.ClientConfig; row: pg.QueryResultRow }[];
}

export async function runOn(node: pg.ClientConfig, sql: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client(node);
  // A server that ends fails the query.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** For a test whose own SQL a cluster refuses; the end of `npm run test:scale` names it and the reason. */
export function skipOnCluster(reason: string): string | false {
  return process.env.CITUS_URL ? `On a Citus cluster: ${reason}` : false;
}

export const noConstraintNames = 'Citus does not name the constraint in its errors';
export const noNames = 'the test counts statements by name or text, and those for workers have neither';
export const noTriggers = 'the test needs a trigger, and distributed tables have none';
