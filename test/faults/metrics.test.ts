// What an operator reads at METRICS_PORT: all workers in one answer, also while parts of the service are gone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { findFreePort } from '../helpers/free-port.ts';
import { promtool, withoutRedis } from '../helpers/programs.ts';
import { startRedis, stopRedis } from '../helpers/redis.ts';
import { until } from '../helpers/waiting.ts';
import {
  assertRefused,
  checkout,
  connectionTo,
  createCustomer,
  makePreparedDataDir,
  postmasterOf,
  runStamm,
  type StammProcess,
  startStamm,
  withClient,
} from './helpers/process.ts';
import { workersOf } from './helpers/process-list.ts';

type Series = Map<string, number>;

async function readMetrics({ output }: StammProcess): Promise<{ text: string; series: Series }> {
  const url = /Metrics +(http:\S+)/.exec(output.stderr)![1]!;
  const answer = await fetch(url);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return {
    text,
    series: new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), numberIn(line)])),
  };
}

function numberIn(line: string): number {
  const value = line.slice(line.lastIndexOf(' ') + 1);
  return value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
}

/** Sums the series of one name whose labels contain all of these. */
function total(series: Series, name: string, ...labels: string[]): number {
  return [...series]
    .filter(([key]) => key === name || key.startsWith(`${name}{`))
    .filter(([key]) => labels.every((label) => key.includes(label)))
    .reduce((sum, [, value]) => sum + value, 0);
}

const created = ['route="/api/v1/customer"', 'method="POST"', 'status="201"'];
const countOfRequests = 'stamm_request_duration_seconds_count';

test('one answer adds up what all workers did, names no tenant, and forgets nothing when a worker dies', async () => {
  const { dataDir, tenantId, key } = await makePreparedDataDir();
  const backups = path.join(dataDir, 'elsewhere');
  const env = { DATA_DIR: dataDir, WORKERS: '2', METRICS_PORT: '0', BACKUP_DIR: backups };
  const service = await startStamm(env);
  const creations = 40;
  for (let sent = 0; sent < creations; sent += 1)
    assert.equal((await createCustomer(service.origin, key)).status, 201);
  assert.equal((await createCustomer(service.origin, 'stamm_wrong')).status, 401);
  assert.equal((await fetch(`${service.origin}/a/path/of/its/own`)).status, 404);
  const importing = await fetch(`${service.origin}/api/v1/import`, {
    method: 'POST',
    headers: { ApiKey: key, 'Content-Type': 'application/x-ndjson' },
    body: '{"type":"customer","data":{}}\n'.repeat(7),
  });
  assert.equal(importing.status, 200);
  await importing.text();

  // A request is counted once its answer is sent, and that may be after the client has read it. A worker or a PostgreSQL
  // that is too busy to answer is shown as it was before.
  let text = '';
  let series: Series = new Map();
  await until('the first backup, the end of the import, and answers of everything', async () => {
    ({ text, series } = await readMetrics(service));
    const areThere = series.get('stamm_workers') === 2 && series.get('stamm_postgres_up') === 1;
    const isImported = total(series, countOfRequests, 'route="/api/v1/import"') === 1;
    const areCounted = total(series, countOfRequests, ...created) >= creations;
    return areThere && isImported && areCounted && Number.isFinite(series.get('stamm_backup_age_seconds'));
  });
  assert.equal(total(series, countOfRequests, ...created), creations);
  assert.equal(total(series, 'stamm_batch_items_sum', 'kind="creation"'), creations);
  assert.equal(total(series, 'stamm_refusals_total', 'code="key_malformed"'), 1);
  assert.equal(total(series, countOfRequests, 'route="unknown"', 'status="404"'), 1);
  assert.equal(series.get('stamm_import_lines_total'), 7);
  assert.equal(series.get('stamm_imports_running'), 0);
  assert.equal(series.get('stamm_journal_entries'), creations);
  assert.equal(series.get('stamm_webhook_queue'), 0);
  assert.equal(series.get('stamm_postgres_up'), 1);
  assert.equal(series.get('stamm_workers'), 2);
  assert.ok(series.get('stamm_memory_bytes{kind="resident"}')! > 100_000_000);
  assert.ok(!text.includes(tenantId));
  assert.ok(!text.includes('/a/path/of'));

  const [first] = workersOf(service);
  process.kill(first!, 'SIGKILL');
  await until('the worker is replaced', () => {
    const workers = workersOf(service);
    return workers.length === 2 && !workers.includes(first!);
  });
  let afterKill: Series = new Map();
  await until('both answer', async () => {
    afterKill = (await readMetrics(service)).series;
    return afterKill.get('stamm_workers') === 2;
  });
  assert.equal(total(afterKill, countOfRequests, ...created), creations);
  assert.equal((await service.stop()).code, 0);
});

test('each metric of the dashboard, the guide and the alerts exists', { skip: withoutRedis }, async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const port = await findFreePort();
  const redis = await startRedis(port, dataDir);
  after(() => stopRedis(redis));
  const more = { REDIS_URL: `redis://127.0.0.1:${port}`, BACKUP_DIR: path.join(dataDir, 'backups') };
  const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '1', METRICS_PORT: '0', ...more });
  let text = '';
  let series: Series = new Map();
  // A Redis that takes longer than a quarter of a second is away until the next request.
  await until('Redis counts, and the node is ready', async () => {
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    ({ text, series } = await readMetrics(service));
    return series.get('stamm_redis_up') === 1 && series.get('stamm_ready') === 1;
  });
  const known = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) => namesOf(name!, type!)),
  );
  const files = ['docs/grafana.json', 'docs/monitoring.md', 'packaging/alerts.yml'].map((file) =>
    readFile(path.join(checkout, file), 'utf8'),
  );
  const named = new Set((await Promise.all(files)).join('\n').match(/\bstamm_\w+/g));
  assert.ok(named.size > 15);
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
  );
  assert.ok(series.get('stamm_disk_free_bytes{folder="data"}')! > 0);
  if (promtool) {
    const { status, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
  await stopRedis(redis);
  await until('Redis is down', async () => (await readMetrics(service)).series.get('stamm_redis_up') === 0);
  // While PostgreSQL stands still, metrics are what the operator needs.
  const postgres = postmasterOf(dataDir);
  await withClient(connectionTo(dataDir), async (client) => {
    process.kill(postgres, 'SIGSTOP');
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
  });
  try {
    await until(
      'PostgreSQL is down',
      async () => (await readMetrics(service)).series.get('stamm_postgres_up') === 0,
    );
  } finally {
    process.kill(postgres, 'SIGCONT');
  }
  await until(
    'PostgreSQL is back',
    async () => (await readMetrics(service)).series.get('stamm_postgres_up') === 1,
  );
  await service.stop();
});

function namesOf(name: string, type: string): string[] {
  return type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

test('a metrics port that is taken is named, and nothing is left behind', async () => {
  const { dataDir } = await makePreparedDataDir();
  const other = createServer().listen(await findFreePort(), '127.0.0.1');
  after(() => other.close());
  await until('the other program listens', () => other.listening);
  const { port } = other.address() as AddressInfo;
  // The next port is the one of the service itself.
  const env = { DATA_DIR: dataDir, METRICS_PORT: String(port), PORT: String(port + 1) };
  const ended = await runStamm(['serve'], env);
  assertRefused(
    ended,
    new RegExp(
      `^Port ${port} on 127\\.0\\.0\\.1 is taken by another program\\..* METRICS_PORT=${port + 2} npm start$`,
      'm',
    ),
  );
});
