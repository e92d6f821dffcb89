// Parts die, hang or are cut off under load. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { findFreePort } from '../free-port.ts';
import { withoutRedis } from '../programs.ts';
import { createTestDatabase } from '../service.ts';
import { startWatch, until } from '../waiting.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import type { Load } from './load.ts';
import {
  assertAllCreated,
  assertAnswered,
  createdSince,
  type Deployment,
  longestAnswerMs,
  tryFault,
} from './matrix.ts';
import {
  cleanUpLater,
  connectionTo,
  createTenant,
  databaseUrl,
  type Environment,
  findServers,
  makePreparedDataDir,
  postmasterOf,
  type StammProcess,
  startStamm,
  withClient,
} from './process.ts';
import { childrenOf, signalProcesses, workersOf } from './process-list.ts';
import { startRedis, unprivileged } from './programs.ts';

const generous = { RATE_LIMIT_PER_MINUTE: '1000000000' };

/** The deadline of requests as where nobody sets anything. */
const promised = { REQUEST_DEADLINE_MS: '' };

interface OneMachine extends Deployment {
  dataDir: string;
  service: StammProcess;
  /** Starts the service again, at the same address. */
  restart(): Promise<void>;
}

/** The service with the PostgreSQL that it brings. */
async function deployOneMachine(settings: Environment = {}): Promise<OneMachine> {
  const { dataDir, ...tenant } = await makePreparedDataDir();
  const env = { DATA_DIR: dataDir, PORT: String(await findFreePort()), ...generous, ...settings };
  const service = await startStamm(env);
  const deployed: OneMachine = {
    ...tenant,
    dataDir,
    service,
    origin: service.origin,
    connection: connectionTo(dataDir),
    async restart() {
      deployed.service = await startStamm(env);
    },
    async close() {
      assert.equal((await deployed.service.stop()).code, 0);
      assert.deepEqual(findServers(dataDir), []);
    },
  };
  return deployed;
}

const noticed = (load: Load) =>
  until('a request notices', () => load.attempts.some(({ status }) => status === 500));

tryFault({
  name: 'worker killed',
  deploy: () => deployOneMachine({ WORKERS: '3' }),
  async strike({ service }) {
    const workers = workersOf(service);
    assert.equal(workers.length, 3);
    process.kill(workers[0]!, 'SIGKILL');
    await until('a new worker', () => workersOf(service).some((pid) => !workers.includes(pid)));
    await until('the message', () =>
      /Worker \d+ ended \(SIGKILL\) and is replaced\./.test(service.output.stdout),
    );
  },
  check(attempts) {
    const answered = attempts.filter(({ status }) => status !== undefined && status !== 409);
    assertAllCreated(answered);
  },
});

tryFault({
  name: 'service killed',
  deploy: () => deployOneMachine(),
  async strike({ service, restart }) {
    await service.kill();
    await restart();
  },
});

tryFault({
  name: 'service and PostgreSQL killed',
  deploy: () => deployOneMachine(),
  async strike({ dataDir, service, restart }) {
    process.kill(postmasterOf(dataDir), 'SIGKILL');
    await service.kill();
    await restart();
  },
});

tryFault({
  name: 'PostgreSQL killed',
  deploy: () => deployOneMachine(promised),
  async strike({ dataDir }, load) {
    process.kill(postmasterOf(dataDir), 'SIGKILL');
    await noticed(load);
  },
  check: assertAnswered,
});

// PostgreSQL ends all connections then, because it cannot trust its shared memory any more.
tryFault({
  name: 'connection of PostgreSQL killed',
  deploy: () => deployOneMachine(promised),
  async strike({ connection }, load) {
    const { rows } = await withClient(connection, (client) =>
      client.query(`SELECT pid FROM pg_stat_activity WHERE datname = 'stamm' AND application_name = ''
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()`),
    );
    process.kill(rows[0].pid, 'SIGKILL');
    await noticed(load);
  },
  check: assertAnswered,
});

tryFault({
  name: 'PostgreSQL stopped and continued',
  deploy: () => deployOneMachine(promised),
  async strike({ dataDir, origin }, load) {
    const resume = hang(dataDir);
    const hungAt = performance.now();
    const afterwards = () => load.attempts.filter(({ sentAt }) => sentAt > hungAt);
    assert.equal((await fetch(`${origin}/livez`)).status, 200);
    // First with a connection that the hanging server had, and later with none left.
    const readiness: Awaited<ReturnType<typeof timeReadiness>>[] = [];
    await until('an answer to each sender', async () => {
      readiness.push(await timeReadiness(origin));
      return afterwards().length >= 16;
    });
    const meanwhile = afterwards();
    resume();
    assert.ok(meanwhile.every((attempt) => attempt.status === 500));
    // A finding from before is repeated for a second.
    const foundAway = readiness.slice(readiness.findIndex(({ status }) => status === 500));
    for (const { status, tookMs } of foundAway) {
      assert.equal(status, 500);
      assert.ok(tookMs < longestAnswerMs, `/readyz took ${Math.round(tookMs)} ms`);
    }
  },
  check: assertAnswered,
});

async function timeReadiness(origin: string): Promise<{ status: number; tookMs: number }> {
  const watch = startWatch();
  const { status } = await fetch(`${origin}/readyz`);
  return { status, tookMs: watch() };
}

/** Stops the postmaster, which makes no new process from then on, and then all that it has made. */
function hang(dataDir: string): () => void {
  const postmaster = postmasterOf(dataDir);
  const pids = [postmaster];
  const resume = () => signalProcesses(pids.splice(0), 'SIGCONT');
  cleanUpLater(async () => resume());
  process.kill(postmaster, 'SIGSTOP');
  pids.push(...childrenOf(postmaster));
  signalProcesses(pids, 'SIGSTOP');
  return resume;
}

/** A node on a database elsewhere. */
async function deployNode(makeEnvironment: (connection: pg.ClientConfig) => Promise<Environment>) {
  const connection = await createTestDatabase();
  const tenant = await withClient(connection, createTenant);
  const service = await startStamm({ ...generous, ...(await makeEnvironment(connection)) });
  const close = async () => assert.equal((await service.stop()).code, 0);
  return { ...tenant, origin: service.origin, connection, close };
}

/** Connections that are cut in one round, one after the other. */
const cuts = 20;

for (const moment of ['before', 'after'] as const) {
  tryFault({
    name: `connection cut ${moment} a commit`,
    async deploy() {
      let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
      const node = await deployNode(async (connection) => {
        proxy = await startCuttingProxy(connection);
        const { user, password, database } = connection;
        const url = databaseUrl({ host: '127.0.0.1', port: proxy.port, user, password, database });
        return { ...promised, DATABASE_URL: url };
      });
      return { ...node, proxy: proxy! };
    },
    async strike({ proxy }) {
      proxy.cut(cuts, moment);
      await until('all cuts', proxy.hasCut);
    },
    check(attempts) {
      assertAnswered(attempts);
      assert.ok(attempts.some(({ code }) => code === 'outcome_unknown'));
    },
  });
}

tryFault({
  name: 'Redis killed',
  skip: withoutRedis,
  async deploy() {
    const port = await findFreePort();
    const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
    if (unprivileged) await chown(folder, unprivileged.uid, unprivileged.gid);
    cleanUpLater(() => rm(folder, { recursive: true, force: true }));
    const redis = await startRedis(folder, port);
    const node = await deployNode(async (connection) => ({
      DATABASE_URL: databaseUrl(connection),
      REDIS_URL: `redis://127.0.0.1:${port}`,
    }));
    return { ...node, redis, startAgain: () => startRedis(folder, port) };
  },
  async strike({ redis, startAgain }, load) {
    await redis.kill();
    await createdSince(load, performance.now());
    await startAgain();
  },
  check: assertAllCreated,
});
