// Connections are cut under load, to PostgreSQL or to Redis. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../../helpers/free-port.ts';
import { withoutRedis } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { startCuttingProxy } from '../helpers/cutting-proxy.ts';
import { deployNode, promised } from '../helpers/deployments.ts';
import { assertAllCreated, assertAnswered, createdSince, tryFault } from '../helpers/matrix.ts';
import { cleanUpLater, databaseUrl } from '../helpers/process.ts';
import { startRedis, unprivileged } from '../helpers/programs.ts';

/** Connections that are cut in one round, one after the other. */
const cuts = 20;

async function deployBehindProxy() {
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  const node = await deployNode(async (connection) => {
    proxy = await startCuttingProxy(connection);
    const { user, password, database } = connection;
    const url = databaseUrl({ host: '127.0.0.1', port: proxy.port, user, password, database });
    return { ...promised, DATABASE_URL: url };
  });
  return { ...node, proxy: proxy! };
}

for (const moment of ['before', 'after'] as const) {
  tryFault({
    name: `connection cut ${moment} a commit`,
    deploy: deployBehindProxy,
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
  async strike(deployed, load) {
    await deployed.redis.kill();
    await createdSince(load, performance.now());
    deployed.redis = await deployed.startAgain();
  },
  check: assertAllCreated,
});
