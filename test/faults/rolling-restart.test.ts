// Nodes behind a real HAProxy are restarted in turn under load, and no request fails.
// ROLLING_RESTARTS=20 makes as many restarts; npm run test:all makes a few.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFreePort } from '../helpers/free-port.ts';
import { withoutHAProxy } from '../helpers/programs.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { startHAProxy } from './helpers/haproxy.ts';
import { idsOf, type Load, startLoad } from './helpers/load.ts';
import { createTenant, databaseUrl, onlyStartBlock, startStamm, withClient } from './helpers/process.ts';

const restarts = Number(process.env.ROLLING_RESTARTS ?? 2);
/** How many requests each kind of client sends between two restarts. */
const enough = 50;

async function answered(loads: readonly Load[]): Promise<void> {
  const before = loads.map(({ attempts }) => attempts.length);
  await until('answers to each kind of client', () =>
    loads.every(({ attempts }, index) => attempts.length >= before[index]! + enough),
  );
}

test(`${restarts} restarts of two nodes in turn fail no request, on kept and on new connections`, {
  skip: withoutHAProxy,
}, async () => {
  const connection = await createTestDatabase();
  const { key } = await withClient(connection, createTenant);
  const ports = [await findFreePort(), await findFreePort()];
  const env = {
    DATABASE_URL: databaseUrl(connection),
    RATE_LIMIT_PER_MINUTE: '1000000000',
    // As where nobody sets anything.
    DRAIN_SECONDS: '',
  };
  const startNode = (port: number) => startStamm({ ...env, PORT: String(port) });
  const nodes = await Promise.all(ports.map(startNode));
  const proxy = await startHAProxy(ports);
  for (const port of ports) await proxy.untilNode(port, 'UP');
  const loads = [startLoad(proxy.origin, key, 4), startLoad(proxy.origin, key, 2, 0, 'close')];
  for (let restart = 0; restart < restarts; restart++) {
    await answered(loads);
    const place = restart % 2;
    const { code, stderr } = await nodes[place]!.stop();
    assert.equal(code, 0);
    assert.match(stderr, onlyStartBlock);
    await proxy.untilNode(ports[place]!, 'DOWN');
    nodes[place] = await startNode(ports[place]!);
    await proxy.untilNode(ports[place]!, 'UP');
  }
  await answered(loads);
  const attempts = (await Promise.all(loads.map((load) => load.stop()))).flat();
  assert.deepEqual(
    attempts.filter(({ status }) => status !== 201),
    [],
  );
  const { rows } = await withClient(connection, (client) =>
    client.query('SELECT id FROM customer ORDER BY id'),
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    idsOf(attempts).sort(),
    'each 201 is one row, and there is no other',
  );
  for (const node of nodes) assert.equal((await node.stop()).code, 0);
});
