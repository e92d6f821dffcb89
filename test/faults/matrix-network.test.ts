// The network of a node splits or loses packets under load. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutPostgres15 } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';
import { initializePostgres, makeServerDir, startPostgres } from './helpers/debian-postgres.ts';
import { generous, promised } from './helpers/deployments.ts';
import { assertAnswered, type Deployment, tryFault } from './helpers/matrix.ts';
import { type Network, openNetwork, withoutNetwork } from './helpers/network.ts';
import { createTenant, databaseUrl, serveCommand, startStamm, withClient } from './helpers/process.ts';

const skip = withoutNetwork || withoutPostgres15;

interface Networked extends Deployment {
  network: Network;
}

async function deploy(): Promise<Networked> {
  const network = openNetwork();
  const folder = await makeServerDir();
  const data = path.join(folder, 'data');
  initializePostgres(folder, data);
  await appendFile(path.join(data, 'pg_hba.conf'), `host all all ${network.there}/32 trust\n`);
  const { connection, stop } = await startPostgres(folder, data, {}, network.here);
  const env = {
    ...generous,
    ...promised,
    HOST: network.there,
    DATABASE_URL: databaseUrl({ ...connection, host: network.here }),
  };
  const service = await startStamm(env, [...network.prefix, ...serveCommand]);
  const tenant = await withClient(connection, createTenant);
  async function close(): Promise<void> {
    assert.equal((await service.stop()).code, 0);
    await stop();
  }
  return { ...tenant, origin: service.origin, connection, network, close };
}

const secondsBetween = (least: number, most: number, random: () => number) =>
  sleep(1000 * (least + (most - least) * random()));

tryFault({
  name: 'network to PostgreSQL cut',
  skip,
  deploy,
  async strike({ network }, load, random) {
    network.lose(1, 5432);
    await until('a request notices', () => load.attempts.some(({ status }) => status === 500));
    await secondsBetween(0, 5, random);
    network.heal();
  },
  check: assertAnswered,
});

tryFault({
  name: 'network to clients cut',
  skip,
  deploy,
  async strike({ network, origin }, _load, random) {
    network.lose(1, Number(new URL(origin).port));
    await secondsBetween(1, 5, random);
    network.heal();
  },
});

tryFault({
  name: 'packets lost',
  skip,
  deploy,
  async strike({ network }, _load, random) {
    network.lose(0.02 + 0.18 * random());
    await secondsBetween(2, 6, random);
    network.heal();
  },
});
