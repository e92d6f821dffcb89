// A service that is asked to end says so to proxies first, serves meanwhile, and then ends in order.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type pg from 'pg';
import { openImport } from '../api/import/import-client.ts';
import { validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import {
  connectionTo,
  makePreparedDataDir,
  onlyStartBlock,
  type StammProcess,
  startStamm,
  withClient,
} from './helpers/process.ts';

/** Longer than any test: nothing here depends on how long it is. */
const endless = '3600';

const customerLine = { type: 'customer', data: validCustomer };

async function startDraining(settings: Record<string, string>) {
  const { dataDir, key } = await makePreparedDataDir();
  const service = await startStamm({ DATA_DIR: dataDir, ...settings });
  return { dataDir, key, service, port: Number(new URL(service.origin).port) };
}

async function isDraining({ origin }: StammProcess): Promise<boolean> {
  const response = await fetch(`${origin}/readyz`);
  const { code } = (await response.json()) as { code?: string };
  return response.status === 500 && code === 'shutting_down';
}

/** Connections fall to the workers in turn, and one after the other learns of the signal. */
async function untilDraining(service: StammProcess): Promise<void> {
  await until('all workers drain', async () => {
    const found = await Promise.all(Array.from({ length: 8 }, () => isDraining(service)));
    return found.every(Boolean);
  });
}

async function create(port: number, key: string, agent: Agent) {
  const body = JSON.stringify(validCustomer);
  const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; connection?: string }>();
  const headers = {
    ApiKey: key,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  request({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/customer', headers, agent })
    .on('response', async (response) => {
      await json(response);
      resolve({ status: response.statusCode, connection: response.headers.connection });
    })
    .on('error', reject)
    .end(body);
  return promise;
}

/** Signals until nobody listens any more: what comes right after the first signal counts as its echo. */
async function insist(service: StammProcess, signal: 'SIGTERM' | 'SIGINT') {
  await until('the port is closed', async () => {
    service.signal(signal);
    return fetch(`${service.origin}/livez`).then(
      () => false,
      () => true,
    );
  });
  return service.waitForEnd();
}

for (const workers of ['1', '2']) {
  test(`after SIGTERM ${workers} worker(s) are not ready, serve on, and close their connections`, async () => {
    const { key, service, port } = await startDraining({ WORKERS: workers, DRAIN_SECONDS: endless });
    const keptAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    assert.deepEqual(await create(port, key, keptAlive), { status: 201, connection: 'keep-alive' });
    process.kill(service.pid, 'SIGTERM');
    await untilDraining(service);
    assert.deepEqual(await create(port, key, keptAlive), { status: 201, connection: 'close' });
    const fresh = new Agent({ keepAlive: true });
    assert.deepEqual(await create(port, key, fresh), { status: 201, connection: 'close' });
    assert.equal((await fetch(`${service.origin}/livez`)).status, 200);
    // It would go on for an hour.
    const { code, stderr } = await insist(service, 'SIGTERM');
    assert.equal(code, 0);
    assert.match(stderr, onlyStartBlock);
    keptAlive.destroy();
    fresh.destroy();
  });
}

test('a second signal ends an import that waits for its client', async () => {
  const { key, service, port } = await startDraining({ DRAIN_SECONDS: endless });
  const opened = openImport({ port, key });
  opened.send(customerLine);
  assert.equal((await opened.next()).status, 201);
  process.kill(service.pid, 'SIGTERM');
  await untilDraining(service);
  opened.send(customerLine);
  assert.equal((await opened.next()).status, 201, 'it goes on while the service drains');
  assert.equal((await insist(service, 'SIGINT')).code, 0);
  opened.request.destroy();
});

/** Whether an import of all or nothing has written a part, and keeps its transaction open. */
async function isPartWritten(connection: pg.ClientConfig): Promise<boolean> {
  const { rowCount } = await withClient(connection, (client) =>
    client.query(
      `SELECT FROM pg_stat_activity WHERE state = 'idle in transaction' AND query = 'RELEASE SAVEPOINT part'`,
    ),
  );
  return rowCount === 1;
}

for (const mode of ['each', 'all-or-nothing']) {
  test(`an import (${mode}) that is under way at the end says how far it came`, async () => {
    const { dataDir, key, service, port } = await startDraining({ DRAIN_SECONDS: '1' });
    const opened = openImport({ port, key, query: `?mode=${mode}` });
    opened.send(customerLine);
    if (mode === 'each') assert.equal((await opened.next()).status, 201);
    else await until('the line is written', () => isPartWritten(connectionTo(dataDir)));
    const ended = service.stop();
    const { summary } = (await opened.rest()).at(-1);
    const expected = mode === 'each' ? { created: 1, notStored: 0 } : { created: 0 };
    assert.deepEqual({ ...summary, ...expected, code: 'import_stopped' }, summary);
    opened.request.destroy();
    assert.equal((await ended).code, 0);
  });
}

test('Ctrl-C ends the service without a drain', async () => {
  const { service } = await startDraining({ DRAIN_SECONDS: endless });
  assert.equal((await service.interruptGroup()).code, 0);
});
