// A Patroni cluster of three with synchronous replication, etcd, and HAProxy in front of leader and two nodes of Stamm.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { findFreePort } from '../../helpers/free-port.ts';
import { findProgram, haproxy, newestPostgres, redis } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { shippedSettings } from './haproxy.ts';
import { cleanUpLater, databaseUrl, type StammProcess, startStamm, withClient } from './process.ts';
import { childrenOf, signalProcesses } from './process-list.ts';
import { type Program, startProgram, startRedis, unprivileged } from './programs.ts';

const programs = {
  patroni: findProgram('patroni'),
  'etcd-server': findProgram('etcd'),
  haproxy,
  'redis-server': redis,
  postgresql: newestPostgres,
};

const missing = Object.entries(programs).filter(([, place]) => place === undefined);

/** Why there can be no cluster on this machine. */
export const absence =
  missing.length > 0 && `not installed: ${missing.map(([debianPackage]) => debianPackage).join(', ')}`;

/** The shortest that Patroni takes; a leader that is gone is replaced after it. */
export const leaderTtlSeconds = 20;

/** What docs/scaling.md asks for. Without `strict` a leader that is left alone confirms what only it has. */
const clusterSettings = {
  ttl: leaderTtlSeconds,
  loop_wait: 2,
  retry_timeout: 5,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  failsafe_mode: true,
  postgresql: { use_pg_rewind: true, use_slots: true, parameters: { max_connections: 100, jit: 'off' } },
};

const password = randomUUID();

interface Member {
  name: string;
  folder: string;
  restPort: number;
  postgresPort: number;
  patroni: Program;
}

interface MemberState {
  name: string;
  role: string;
  state: string;
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export async function startCluster() {
  const root = await makeOwnFolder(await mkdtemp(path.join(tmpdir(), 'stamm-test-')));
  cleanUpLater(() => rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const makeFolder = (name: string) => makeOwnFolder(path.join(root, name));

  const etcdPort = await findFreePort();
  const etcdCommand = await buildEtcdCommand(etcdPort);
  const etcdFolder = await makeFolder('etcd');
  let etcd = await startProgram(etcdFolder, etcdCommand, [etcdPort]);

  const members: Member[] = [];
  for (const name of ['pg1', 'pg2', 'pg3']) {
    const ports = { restPort: await findFreePort(), postgresPort: await findFreePort() };
    const folder = await makeFolder(name);
    await writeFile(path.join(folder, 'patroni.yml'), patroniSettings({ name, folder, ...ports }, etcdPort));
    members.push({ name, folder, ...ports, patroni: await startMember(folder, ports.restPort) });
    cleanUpLater(async () => signalProcesses(processesOf(members.find((member) => member.name === name)!)));
  }

  async function readStates(): Promise<MemberState[]> {
    for (const { restPort } of members) {
      const url = `http://127.0.0.1:${restPort}/cluster`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
      const states = (await answer?.json().catch(() => undefined)) as { members?: MemberState[] } | undefined;
      if (states?.members) return states.members;
    }
    return [];
  }

  /** The member whose own answer is that it leads. */
  async function findLeader(): Promise<Member | undefined> {
    for (const member of members) {
      const url = `http://127.0.0.1:${member.restPort}/primary`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.status === 200) return member;
    }
    return undefined;
  }

  const isHealthy = async () => {
    const states = await readStates();
    const count = (role: string) => states.filter((member) => member.role === role).length;
    const areRunning = states.every(({ state }) => state === 'running' || state === 'streaming');
    return states.length === 3 && areRunning && count('leader') === 1 && count('sync_standby') === 1;
  };
  const healthy = () => until('a leader, a synchronous standby and a third', isHealthy);
  await healthy();

  const redisPort = await findFreePort();
  await startRedis(await makeFolder('redis'), redisPort);
  const ports = { postgres: await findFreePort(), stamm: await findFreePort() };
  const nodePorts = [await findFreePort(), await findFreePort()];
  const haproxyFolder = await makeFolder('haproxy');
  const settings = await shippedSettings({
    postgres: {
      port: ports.postgres,
      servers: members.map(
        ({ name, postgresPort, restPort }) => `${name} 127.0.0.1:${postgresPort} check port ${restPort}`,
      ),
    },
    stamm: {
      port: ports.stamm,
      servers: nodePorts.map((port, index) => `node${index + 1} 127.0.0.1:${port} check`),
    },
  });
  await writeFile(path.join(haproxyFolder, 'haproxy.cfg'), settings);
  await startProgram(haproxyFolder, [programs.haproxy!, '-db', '-f', 'haproxy.cfg'], Object.values(ports));

  const connection = await createDatabase(ports.postgres, (await findLeader())!.postgresPort);
  const startNode = (index: number) =>
    startStamm({
      DATABASE_URL: databaseUrl(connection),
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      PORT: String(nodePorts[index]),
      RATE_LIMIT_PER_MINUTE: '1000000000',
      // A slow machine may need longer than the default, and the drain is the default.
      REQUEST_DEADLINE_MS: '10000',
      DRAIN_SECONDS: '',
    });
  const nodes: StammProcess[] = [await startNode(0), await startNode(1)];
  const origin = `http://127.0.0.1:${ports.stamm}`;

  return {
    origin,
    connection,
    healthy,
    nodes,
    async restartNode(index: number) {
      nodes[index] = await startNode(index);
    },
    async leader(): Promise<Member> {
      let leader: Member | undefined;
      await until('a leader', async () => {
        leader = await findLeader();
        return leader !== undefined;
      });
      return leader!;
    },
    newLeader: (old: Member) =>
      until('a new leader', async () => {
        const leader = await findLeader();
        return leader !== undefined && leader !== old;
      }),
    async killMember(member: Member) {
      signalProcesses(processesOf(member));
      await until('the member has ended', () => member.patroni.hasEnded());
    },
    async restartMember(member: Member) {
      member.patroni = await startMember(member.folder, member.restPort);
    },
    async switchOver(leader: Member) {
      const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: leader.name }),
      });
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    },
    killEtcd: () => etcd.kill(),
    async restartEtcd() {
      etcd = await startProgram(etcdFolder, etcdCommand, [etcdPort]);
    },
  };
}

async function makeOwnFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  if (unprivileged) await chown(folder, unprivileged.uid, unprivileged.gid);
  await chmod(folder, 0o755);
  return folder;
}

async function buildEtcdCommand(port: number): Promise<string[]> {
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${await findFreePort()}`;
  const settings = {
    name: 'etcd1',
    'data-dir': 'data',
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `etcd1=${peer}`,
  };
  return [programs['etcd-server']!, ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)];
}

function startMember(folder: string, restPort: number): Promise<Program> {
  return startProgram(folder, [programs.patroni!, 'patroni.yml'], [restPort]);
}

/** JSON is YAML too. */
function patroniSettings(member: Omit<Member, 'patroni'>, etcdPort: number): string {
  const { name, folder, restPort, postgresPort } = member;
  const hosts = ['all', 'replication'].map((what) => `host ${what} all 127.0.0.1/32 scram-sha-256`);
  return JSON.stringify({
    scope: 'stamm',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: clusterSettings,
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${postgresPort}`,
      connect_address: `127.0.0.1:${postgresPort}`,
      data_dir: path.join(folder, 'data'),
      bin_dir: programs.postgresql,
      pg_hba: ['local all all trust', ...hosts],
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      parameters: { unix_socket_directories: folder },
    },
  });
}

/** What an operator does once: a login and a database of its own. */
async function createDatabase(proxyPort: number, leaderPort: number): Promise<pg.ClientConfig> {
  const server = { host: '127.0.0.1', password };
  await withClient(
    { ...server, port: leaderPort, user: 'postgres', database: 'postgres' },
    async (client) => {
      await client.query(`CREATE ROLE stamm LOGIN CREATEROLE PASSWORD '${password}'`);
      await client.query('CREATE DATABASE stamm OWNER stamm');
    },
  );
  const connection = { ...server, port: proxyPort, user: 'stamm', database: 'stamm' };
  // HAProxy takes every server for a leader until it has checked it, and gives connections out in turn.
  await until('HAProxy knows the leader', async () => {
    const turns = Array.from({ length: 3 }, () => isWritable(connection));
    return (await Promise.all(turns)).every(Boolean);
  });
  return connection;
}

async function isWritable(connection: pg.ClientConfig): Promise<boolean> {
  try {
    const { rows } = await withClient(connection, (client) =>
      client.query('SELECT NOT pg_is_in_recovery() AS leads'),
    );
    return rows[0].leads;
  } catch {
    return false;
  }
}

/** Patroni, PostgreSQL, and all processes that PostgreSQL has made; those that exist. */
export function processesOf({ folder, patroni }: Member): number[] {
  const postmaster = Number.parseInt(readIfThere(path.join(folder, 'data/postmaster.pid')), 10);
  const own = patroni.hasEnded() ? [] : [patroni.pid];
  // Another process may have the number by now.
  if (!postmaster || !readIfThere(`/proc/${postmaster}/cmdline`).includes(folder)) return own;
  return [...own, postmaster, ...childrenOf(postmaster)];
}

/** Empty for a file that is gone by the time it is read. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
