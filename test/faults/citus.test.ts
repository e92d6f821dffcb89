// Two nodes on a Citus cluster: workers, coordinator and nodes that end or hang lose, double and invent nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../helpers/waiting.ts';
import {
  absence,
  type CitusCluster,
  killServer,
  processesOf,
  type Server,
  startCitusCluster,
} from './helpers/citus.ts';
import type { Load } from './helpers/load.ts';
import {
  assertAllCreated,
  assertAnswered,
  createdSince,
  type Deployment,
  type Fault,
  tryFault,
} from './helpers/matrix.ts';
import { createTenant, withClient } from './helpers/process.ts';
import { signalProcesses } from './helpers/process-list.ts';

interface Clustered extends Deployment {
  cluster: CitusCluster;
}

let cluster: Promise<CitusCluster> | undefined;

/** One cluster for all faults, and a tenant for each round. */
async function deploy(): Promise<Clustered> {
  cluster ??= startCitusCluster();
  const { origin, connection } = await cluster;
  const tenant = await withClient(connection, createTenant);
  return { ...tenant, origin, connection, cluster: await cluster, close: async () => {} };
}

const tryOnCluster = (fault: Omit<Fault<Clustered>, 'deploy' | 'skip'>) =>
  tryFault({ ...fault, name: `Citus: ${fault.name}`, skip: absence, deploy });

const noticed = (load: Load) =>
  until('a request notices', () => load.attempts.some(({ status }) => status !== 201));

/** Stopped for some seconds, so that requests under way run out of time. */
async function hang(server: Server, load: Load, random: () => number): Promise<void> {
  const pids = processesOf(server);
  signalProcesses(pids, 'SIGSTOP');
  try {
    await noticed(load);
    await sleep(3000 * random());
  } finally {
    signalProcesses(pids, 'SIGCONT');
  }
}

tryOnCluster({
  name: 'worker killed',
  async strike({ cluster, tenantId }, load) {
    const [worker] = await cluster.workersFor(tenantId);
    await killServer(worker);
    await noticed(load);
    await worker.restart();
  },
});

tryOnCluster({
  name: 'worker of other tenants killed',
  async strike({ cluster, tenantId }, load) {
    const [, other] = await cluster.workersFor(tenantId);
    await killServer(other);
    await createdSince(load, performance.now());
    await other.restart();
  },
  check: assertAllCreated,
});

tryOnCluster({
  name: 'worker stopped and continued',
  async strike({ cluster, tenantId }, load, random) {
    const [worker] = await cluster.workersFor(tenantId);
    await hang(worker, load, random);
  },
});

tryOnCluster({
  name: 'coordinator killed',
  async strike({ cluster: { coordinator } }, load) {
    await killServer(coordinator);
    await noticed(load);
    await coordinator.restart();
  },
});

tryOnCluster({
  name: 'coordinator stopped and continued',
  strike: ({ cluster: { coordinator } }, load, random) => hang(coordinator, load, random),
});

tryOnCluster({
  name: 'shards moved',
  async strike({ cluster, tenantId }, load) {
    const [from, to] = await cluster.workersFor(tenantId);
    await cluster.moveShards(tenantId, from, to);
    await createdSince(load, performance.now());
  },
  // Writers wait while a shard is copied, and some longer than their deadline.
  check: assertAnswered,
});

tryOnCluster({
  name: 'node killed',
  async strike({ cluster }, load) {
    await cluster.nodes[0]!.kill();
    await createdSince(load, performance.now());
    await cluster.restartNode(0);
  },
});
