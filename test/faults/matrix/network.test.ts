// The network of a node splits or loses packets under load. Nothing is lost, doubled or invented, and the journal has no gaps.
//
// All of it is in a namespace of its own: a browser of another test breaks its requests off when this machine gets an
// interface.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutPostgres15 } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { initializePostgres, makeServerDir, startPostgres } from '../helpers/debian-postgres.ts';
import { generous, promised } from '../helpers/deployments.ts';
import { assertAnswered, type Deployment, tryFault } from '../helpers/matrix.ts';
import { type Network, openNetwork, withoutNetwork } from '../helpers/network.ts';
import {
  cleanUpLater,
  createTenant,
  databaseUrl,
  serveCommand,
  startStamm,
  withClient,
} from '../helpers/process.ts';

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

function tryFaults(): void {
  tryFault({
    name: 'network to PostgreSQL cut',
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
    deploy,
    async strike({ network, origin }, _load, random) {
      network.lose(1, Number(new URL(origin).port));
      await secondsBetween(1, 5, random);
      network.heal();
    },
  });

  tryFault({
    name: 'packets lost',
    deploy,
    async strike({ network }, _load, random) {
      network.lose(0.02 + 0.18 * random());
      await secondsBetween(2, 6, random);
      network.heal();
    },
  });
}

if (process.env.STAMM_TEST_NETWORK) tryFaults();
else
  test('network to PostgreSQL cut, network to clients cut, packets lost', { skip }, async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const words = ['-n', process.execPath, import.meta.filename];
    const child = spawn('unshare', words, {
      env: { ...env, STAMM_TEST_NETWORK: 'own' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanUpLater(async () => child.kill());
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    assert.equal(code, 0, output);
  });
