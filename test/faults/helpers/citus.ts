// A Citus cluster of a coordinator without shards and two workers, and two nodes of Stamm behind HAProxy.
import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { findFreePort } from '../../helpers/free-port.ts';
import { haproxy, postgres15 } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { initializePostgres, makeServerDir } from './debian-postgres.ts';
import { generous, promised } from './deployments.ts';
import { startHAProxy } from './haproxy.ts';
import { databaseUrl, type StammProcess, startStamm, withClient } from './process.ts';
import { childrenOf, signalProcesses } from './process-list.ts';
import { type Program, startProgram } from './programs.ts';

const missing = Object.entries({
  'Citus for PostgreSQL 15':
    existsSync('/usr/share/postgresql/15/extension/citus.control') && postgres15 !== undefined,
  haproxy: haproxy !== undefined,
});

/** Why there can be no cluster on this machine. */
export const absence =
  missing.some(([, isThere]) => !isThere) &&
  `not installed: ${missing.flatMap(([name, isThere]) => (isThere ? [] : [name])).join(', ')}`;

const serverSettings = [
  `shared_preload_libraries = 'citus'`,
  `listen_addresses = '127.0.0.1'`,
  'max_connections = 300',
  'max_prepared_transactions = 100',
  'citus.shard_count = 4',
];

export interface Server {
  port: number;
  program: Program;
  restart(): Promise<void>;
}

export type CitusCluster = Awaited<ReturnType<typeof startCitusCluster>>;

const connectionOf = ({ port }: Server): pg.ClientConfig => ({
  host: '127.0.0.1',
  port,
  user: 'admin',
  password: '',
  database: 'stamm',
});

/** The server and all processes that it has made. */
export function processesOf({ program }: Server): number[] {
  return program.hasEnded() ? [] : [program.pid, ...childrenOf(program.pid)];
}

export async function killServer(server: Server): Promise<void> {
  signalProcesses(processesOf(server));
  await until('the server has ended', () => server.program.hasEnded());
}

export async function startCitusCluster() {
  const coordinator = await startServer();
  const workers = [await startServer(), await startServer()];
  const connection = connectionOf(coordinator);
  await withClient(connection, async (client) => {
    await client.query(`SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
    for (const { port } of workers) await client.query(`SELECT citus_add_node('127.0.0.1', ${port})`);
  });

  const nodePorts = [await findFreePort(), await findFreePort()];
  const startNode = (index: number) =>
    startStamm({
      ...generous,
      ...promised,
      DATABASE_URL: databaseUrl(connection),
      PORT: String(nodePorts[index]),
      DRAIN_SECONDS: '',
    });
  const nodes: StammProcess[] = [await startNode(0), await startNode(1)];
  const { origin, untilNode } = await startHAProxy(nodePorts);
  for (const port of nodePorts) await untilNode(port, 'UP');

  return {
    origin,
    connection,
    coordinator,
    workers,
    nodes,
    async restartNode(index: number) {
      nodes[index] = await startNode(index);
      await untilNode(nodePorts[index]!, 'UP');
    },
    /** The worker with the rows of a tenant, and the other. */
    async workersFor(tenantId: string): Promise<[Server, Server]> {
      const port = await withClient(connection, async (client) => {
        const { rows } = await client.query<{ port: number }>(
          `SELECT nodeport AS port FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
           WHERE shardid = get_shard_id_for_distribution_column('journal_head', $1::uuid)`,
          [tenantId],
        );
        return rows[0]!.port;
      });
      const [first, second] = workers as [Server, Server];
      return first.port === port ? [first, second] : [second, first];
    },
    /** Moves all shards of a tenant from its worker to the other. */
    async moveShards(tenantId: string, from: Server, to: Server): Promise<void> {
      await withClient(connection, (client) =>
        client.query(
          `SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('journal_head', $1::uuid),
             '127.0.0.1', $2, '127.0.0.1', $3, shard_transfer_mode => 'block_writes')`,
          [tenantId, from.port, to.port],
        ),
      );
    },
  };
}

async function startServer(): Promise<Server> {
  const folder = await makeServerDir();
  const data = path.join(folder, 'data');
  initializePostgres(folder, data);
  const port = await findFreePort();
  const settings = [...serverSettings, `port = ${port}`, `unix_socket_directories = '${folder}'`];
  await appendFile(path.join(data, 'postgresql.conf'), `${settings.join('\n')}\n`);
  const start = () => startProgram(folder, [`${postgres15}/postgres`, '-D', data], [port]);
  const server: Server = {
    port,
    program: await start(),
    async restart() {
      server.program = await start();
      await answering(server, 'stamm');
    },
  };
  await answering(server, 'postgres');
  const asOperator = { ...connectionOf(server), database: 'postgres' };
  await withClient(asOperator, (client) => client.query('CREATE DATABASE stamm'));
  await withClient(connectionOf(server), (client) => client.query('CREATE EXTENSION citus'));
  return server;
}

/** A port is open before a server that was killed has recovered. */
async function answering(server: Server, database: string): Promise<void> {
  await until('PostgreSQL answers', () =>
    withClient({ ...connectionOf(server), database }, (client) => client.query('SELECT 1')).then(
      () => true,
      () => false,
    ),
  );
}
