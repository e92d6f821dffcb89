// Several processes on one port behave like one, and one that dies takes nothing with it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { until } from '../helpers/waiting.ts';
import { startLoad } from './helpers/load.ts';
import {
  assertOnlyStartBlock,
  connectionTo,
  findServers,
  makePreparedDataDir,
  onlyStartBlock,
  type Prepared,
  type StammProcess,
  startStamm,
  startUntil,
  withClient,
} from './helpers/process.ts';
import { listWorkers, workersOf } from './helpers/process-list.ts';

async function startWorkers(count: number, more = {}): Promise<Prepared & { service: StammProcess }> {
  const prepared = await makePreparedDataDir();
  const limits = { RATE_LIMIT_PER_MINUTE: '1000000000', ...more };
  const service = await startStamm({ DATA_DIR: prepared.dataDir, WORKERS: String(count), ...limits });
  return { ...prepared, service };
}

test('SIGHUP replaces all workers in turn under load, and no request fails', async () => {
  const { key, service } = await startWorkers(2, { LOG_LEVEL: 'info' });
  const before = workersOf(service);
  const loads = [startLoad(service.origin, key, 4), startLoad(service.origin, key, 2, 0, 'close')];
  const answered = () => loads.map(({ attempts }) => attempts.length);
  await until('load', () => answered().every((count) => count > 50));
  process.kill(service.pid, 'SIGHUP');
  await until('all are replaced', () => service.output.stdout.includes('All workers are replaced.'));
  const after = workersOf(service);
  assert.equal(after.length, 2);
  assert.deepEqual(
    after.filter((pid) => before.includes(pid)),
    [],
  );
  const counts = answered();
  await until('more load', () => answered().every((count, index) => count > counts[index]! + 50));
  const attempts = (await Promise.all(loads.map((load) => load.stop()))).flat();
  assert.deepEqual(
    attempts.filter(({ status }) => status !== 201),
    [],
  );
  assert.equal((await service.stop()).code, 0);
});

const countListening = ({ output }: StammProcess) => output.stdout.split('"Server listening').length - 1;

/** Stops a new worker before it listens. Answers with undefined if it was quicker. */
async function stopNewWorker(service: StammProcess, known: readonly number[]): Promise<number | undefined> {
  const listening = countListening(service);
  process.kill(service.pid, 'SIGHUP');
  let added: number | undefined;
  await until('a new worker', () => {
    added = workersOf(service).find((pid) => !known.includes(pid));
    return added !== undefined;
  });
  process.kill(added!, 'SIGSTOP');
  // All workers write to one pipe: what the stopped one wrote comes before the line of this request. One of several
  // connections falls to a worker that is not stopped.
  const mark = `/${randomUUID()}`;
  for (let count = 0; count <= known.length; count++) void fetch(service.origin + mark).catch(() => {});
  await until('the line of a request', () => service.output.stdout.includes(mark));
  if (countListening(service) === listening) return added;
  process.kill(added!, 'SIGCONT');
  return undefined;
}

test('a stop does not wait for a worker that is still loading', async () => {
  const { service } = await startWorkers(2, { LOG_LEVEL: 'info' });
  let loading: number | undefined;
  await until('a worker that loads', async () => {
    const replaced = service.output.stdout.split('All workers are replaced.').length;
    loading = await stopNewWorker(service, workersOf(service));
    if (loading !== undefined) return true;
    await until(
      'the round ends',
      () => service.output.stdout.split('All workers are replaced.').length > replaced,
    );
    return false;
  });
  // It would not end by itself.
  const { code, stderr } = await service.stop();
  assert.equal(code, 0);
  assert.match(stderr, onlyStartBlock);
});

test('SIGHUP leaves a single process as it is, and says why', async () => {
  const { service } = await startWorkers(1, { LOG_LEVEL: 'warn' });
  process.kill(service.pid, 'SIGHUP');
  await until('it says so', () => service.output.stdout.includes('needs WORKERS above 1'));
  assert.equal((await fetch(`${service.origin}/livez`)).status, 200);
  assert.equal((await service.stop()).code, 0);
});

test('workers end with the process that started them, even if that is killed', async () => {
  const { service } = await startWorkers(2);
  const workers = workersOf(service);
  assert.equal(workers.length, 2);
  await service.kill();
  await until('its workers have ended', () => !listWorkers().some(({ pid }) => workers.includes(pid)));
});

test('a start whose workers die before they listen fails, and leaves nothing behind', async () => {
  const { dataDir } = await makePreparedDataDir();
  const owned = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  let workers: number[] = [];
  const { code, stdout, stderr } = await withClient(owned.connection, async (client) => {
    // The start waits for this lock before its workers listen, however quick they are.
    await client.query('BEGIN; LOCK TABLE schema_migration IN ACCESS EXCLUSIVE MODE');
    return startUntil(
      (pid) => {
        workers = workersOf({ pid });
        return workers.length === 2;
      },
      { DATA_DIR: dataDir, WORKERS: '2' },
      () => {
        process.kill(workers[0]!, 'SIGKILL');
        return client.query('ROLLBACK');
      },
    );
  });
  await owned.close();
  assert.equal(code, 1);
  assert.match(stderr, /A worker ended at its start: SIGKILL\./);
  assert.doesNotMatch(stdout + stderr, /Stamm is running/);
  assert.ok(!listWorkers().some(({ pid }) => workers.includes(pid)));
  assert.deepEqual(findServers(dataDir), []);
});

test('Ctrl-C while workers are loading is a stop like any other', async () => {
  const { dataDir } = await makePreparedDataDir();
  const { code, stderr } = await startUntil(
    (pid) => workersOf({ pid }).length === 2,
    { DATA_DIR: dataDir, WORKERS: '2' },
    (pid) => process.kill(-pid, 'SIGINT'),
  );
  assert.equal(code, 0, stderr);
  assertOnlyStartBlock(stderr);
  assert.deepEqual(findServers(dataDir), []);
});

test('all workers can be killed together: the next ones answer where they did', async () => {
  const { service } = await startWorkers(2);
  const workers = workersOf(service);
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await until('new workers', () => workersOf(service).filter((pid) => !workers.includes(pid)).length === 2);
  const isReady = () =>
    fetch(`${service.origin}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('ready', isReady);
  assert.equal((await service.stop()).code, 0);
});

describe('two workers', () => {
  let started: Awaited<ReturnType<typeof startWorkers>>;

  before(async () => {
    started = await startWorkers(2, { DATABASE_CONNECTIONS: '300', FAILED_AUTH_LIMIT_PER_MINUTE: '6' });
  });

  after(async () => assert.equal((await started.service.stop()).code, 0));

  test('find room in PostgreSQL for all connections that they may open', async () => {
    const { rows } = await withClient(connectionTo(started.dataDir), (client) =>
      client.query('SHOW max_connections'),
    );
    // Two workers with two imports of two connections each, and one connection for an administrator.
    assert.ok(Number(rows[0].max_connections) > 300 + 2 * 2 * 2, rows[0].max_connections);
  });

  test('count failed authentications of an address together', async () => {
    const { hostname, port } = new URL(started.service.origin);
    const statuses: number[] = [];
    // Connections fall to the workers in turn.
    for (let count = 0; count < 8; count++) {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.end(
        'GET /api/v1/sites HTTP/1.1\r\nHost: stamm.test\r\nApiKey: wrong\r\nConnection: close\r\n\r\n',
      );
      statuses.push(Number((await text(socket)).slice(9, 12)));
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 429, 429]);
  });
});
