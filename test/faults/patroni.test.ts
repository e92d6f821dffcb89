// Two nodes on a Patroni cluster: failovers, switchovers and restarts lose, double and invent nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from './helpers/load.ts';
import { assertAllCreated, createdSince, type Deployment, type Fault, tryFault } from './helpers/matrix.ts';
import { absence, type Cluster, leaderTtlSeconds, processesOf, startCluster } from './helpers/patroni.ts';
import { createTenant, withClient } from './helpers/process.ts';
import { signalProcesses } from './helpers/process-list.ts';

interface Clustered extends Deployment {
  cluster: Cluster;
}

let cluster: Promise<Cluster> | undefined;

/** One cluster for all faults, and a tenant for each round. */
async function deploy(): Promise<Clustered> {
  cluster ??= startCluster();
  const { origin, connection, healthy } = await cluster;
  await healthy();
  const tenant = await withClient(connection, createTenant);
  return { ...tenant, origin, connection, cluster: await cluster, close: async () => {} };
}

function tryOnCluster(fault: Omit<Fault<Clustered>, 'deploy' | 'skip'>): void {
  async function strike(deployed: Clustered, load: Load, random: () => number): Promise<void> {
    await deployed.cluster.healthy();
    await fault.strike(deployed, load, random);
  }
  tryFault({ ...fault, name: `Patroni: ${fault.name}`, skip: absence, deploy, strike });
}

tryOnCluster({
  name: 'leader killed',
  async strike({ cluster }) {
    const leader = await cluster.leader();
    await cluster.killMember(leader);
    await cluster.newLeader(leader);
    await cluster.restartMember(leader);
    await cluster.healthy();
  },
});

tryOnCluster({
  name: 'PostgreSQL of the leader killed',
  async strike({ cluster }) {
    const { patroni, ...leader } = await cluster.leader();
    signalProcesses(processesOf({ ...leader, patroni }).filter((pid) => pid !== patroni.pid));
    await cluster.healthy();
  },
});

tryOnCluster({
  name: 'leader stopped and continued',
  async strike({ cluster }) {
    const leader = await cluster.leader();
    const pids = processesOf(leader);
    signalProcesses(pids, 'SIGSTOP');
    try {
      await cluster.newLeader(leader);
      // In the middle of its loop it would take the lead back, which a watchdog prevents: docs/decisions/0078-a-paused-leader.md.
      await leader.patroni.kill();
    } finally {
      signalProcesses(pids, 'SIGCONT');
    }
    await cluster.restartMember(leader);
    await cluster.healthy();
  },
});

tryOnCluster({
  name: 'switchover',
  async strike({ cluster }) {
    const leader = await cluster.leader();
    await cluster.switchOver(leader);
    await cluster.newLeader(leader);
    await cluster.healthy();
  },
});

tryOnCluster({
  name: 'etcd away',
  async strike({ cluster }, load) {
    await cluster.killEtcd();
    // Longer than a leader may lead without it, unless it reaches all the others.
    await sleep((leaderTtlSeconds + 5) * 1000);
    await createdSince(load, performance.now());
    await cluster.restartEtcd();
    await cluster.healthy();
  },
});

tryOnCluster({
  name: 'node killed',
  async strike({ cluster }, load) {
    await cluster.nodes[0]!.kill();
    await createdSince(load, performance.now());
    await cluster.restartNode(0);
  },
});

tryOnCluster({
  name: 'nodes restarted in turn',
  async strike({ cluster }, load) {
    for (const [index, node] of cluster.nodes.entries()) {
      await node.stop();
      await createdSince(load, performance.now());
      await cluster.restartNode(index);
      await createdSince(load, performance.now());
    }
  },
  check: assertAllCreated,
});
