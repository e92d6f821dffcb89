// Several processes on one database: what one of them answers holds for all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiKey, deleteApiKey } from '../../server/access/api-keys.ts';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { migrate } from '../../server/database/migrations/migrations.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { type Attempt, type Load, startLoad } from './helpers/load.ts';
import {
  createCustomer,
  createTenant,
  databaseUrl,
  makeDataDir,
  runStamm,
  type StammProcess,
  startStamm,
  withClient,
} from './helpers/process.ts';

const sendersPerNode = 8;
const rounds = 10;

/** How many requests each node answers before and after a key ends. */
const enough = 40;

async function startTwoNodes() {
  const connection = await createTestDatabase();
  const env = {
    DATABASE_URL: databaseUrl(connection),
    RATE_LIMIT_PER_MINUTE: '1000000000',
    FAILED_AUTH_LIMIT_PER_MINUTE: '1000000000',
  };
  const nodes = await Promise.all([startStamm(env), startStamm(env)]);
  return { connection, env, nodes };
}

function startLoads(nodes: readonly StammProcess[], key: string): Load[] {
  return nodes.map(({ origin }) => startLoad(origin, key, sendersPerNode));
}

/** Waits until each node has answered enough requests that were sent after a moment. */
async function answered(loads: readonly Load[], since: number): Promise<void> {
  await until('answers of each node', () =>
    loads.every(({ attempts }) => attempts.filter(({ sentAt }) => sentAt > since).length >= enough),
  );
}

async function stopLoads(loads: readonly Load[]): Promise<Attempt[]> {
  return (await Promise.all(loads.map((load) => load.stop()))).flat();
}

/** What became of requests, each outcome once. */
function outcomesOf(attempts: readonly Attempt[]): string[] {
  const outcomes = attempts.map(({ status, code, failure }) => `${status ?? failure} ${code ?? ''}`.trim());
  return [...new Set(outcomes)].sort();
}

/** Ends a key under load. Reports the requests sent before the end was asked for, and after it was confirmed. */
async function endUnderLoad<Result>(nodes: readonly StammProcess[], key: string, end: () => Promise<Result>) {
  const loads = startLoads(nodes, key);
  await answered(loads, 0);
  const askedAt = performance.now();
  const result = await end();
  const confirmedAt = performance.now();
  await answered(loads, confirmedAt);
  const attempts = await stopLoads(loads);
  return {
    result,
    before: outcomesOf(attempts.filter(({ answeredAt }) => answeredAt < askedAt)),
    after: outcomesOf(attempts.filter(({ sentAt }) => sentAt > confirmedAt)),
  };
}

test('a key that is replaced or deleted under load ends immediately on every node', async () => {
  const { connection, env, nodes } = await startTwoNodes();
  await withClient(connection, async (owner) => {
    const { tenantId, key: firstKey } = await createTenant(owner);
    let key = firstKey;
    for (let round = 0; round < rounds; round++) {
      const { result, before, after } = await endUnderLoad(nodes, key, () => createApiKey(owner, tenantId));
      assert.deepEqual(before, ['201']);
      assert.deepEqual(after, ['401 key_replaced']);
      key = result!;
    }
    const byCommand = await endUnderLoad(nodes, key, () =>
      runStamm(['key', 'create', '--tenant', tenantId, '--json'], env),
    );
    assert.deepEqual(byCommand.after, ['401 key_replaced']);
    key = JSON.parse(byCommand.result.stdout).key;
    const deleted = await endUnderLoad(nodes, key, () => deleteApiKey(owner, tenantId));
    assert.deepEqual(deleted.before, ['201']);
    assert.deepEqual(deleted.after, ['401 key_deleted']);
  });
  for (const node of nodes) assert.equal((await node.stop()).code, 0);
});

test('a new key is good for every request from its first moment, on every node', async () => {
  const { connection, nodes } = await startTwoNodes();
  await withClient(connection, async (owner) => {
    const { tenantId, key } = await createTenant(owner);
    const oldLoads = startLoads(nodes, key);
    for (let round = 0; round < rounds; round++) {
      const loads = startLoads(nodes, (await createApiKey(owner, tenantId))!);
      await answered(loads, 0);
      assert.deepEqual(outcomesOf(await stopLoads(loads)), ['201']);
    }
    const refused = outcomesOf(await stopLoads(oldLoads));
    assert.deepEqual(
      refused.filter((outcome) => outcome !== '201'),
      ['401 key_replaced'],
    );
  });
  for (const node of nodes) assert.equal((await node.stop()).code, 0);
});

test('processes that start together on empty databases of one server migrate them once', async () => {
  const postgres = await openEmbeddedPostgres({ dataDir: await makeDataDir(), purpose: 'command' });
  try {
    await withClient(postgres.connection, async (superuser) => {
      await superuser.query(`CREATE ROLE lessee LOGIN CREATEROLE PASSWORD 'secret'`);
      for (const name of ['one', 'two']) await superuser.query(`CREATE DATABASE ${name} OWNER lessee`);
    });
    const connections = ['one', 'two'].map((database) => ({
      ...postgres.connection,
      user: 'lessee',
      password: 'secret',
      database,
    }));
    const starting = connections.flatMap((connection) =>
      [1, 2].map(() => startStamm({ DATABASE_URL: databaseUrl(connection) })),
    );
    await Promise.all(Array.from({ length: 50 }, (_, index) => migrate(connections[index % 2]!)));
    const services = await Promise.all(starting);
    const keys = await Promise.all(
      connections.map((connection) =>
        withClient(connection, async (owner) => (await createTenant(owner)).key),
      ),
    );
    for (const [index, service] of services.entries()) {
      assert.equal((await createCustomer(service.origin, keys[Math.floor(index / 2)]!)).status, 201);
      assert.equal((await service.stop()).code, 0);
    }
  } finally {
    await postgres.close();
  }
});
