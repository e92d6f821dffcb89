// Work that no request waits for reports its failures, and one that fails does not keep others from running.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { test } from 'node:test';
import type { FastifyBaseLogger } from 'fastify';
import { readConfig } from '../../../server/config.ts';
import { report, watchFailures } from '../../../server/database/background.ts';
import { openNodeMetrics } from '../../../server/process/metrics/node-metrics.ts';
import { openProcessMetrics } from '../../../server/process/metrics/process-metrics.ts';
import { cleanUp } from '../../../server/process/upkeep.ts';
import { topics } from '../../../server/telemetry/topics.ts';
import { databaseUrl, runStamm } from '../../faults/helpers/process.ts';
import { startService, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { owner, database, connection } = service;
const config = readConfig({});

async function examine(): Promise<string> {
  const { stdout } = await runStamm(['doctor'], { DATABASE_URL: databaseUrl(connection) });
  return stdout;
}

test('a step of the upkeep that fails is logged, counted and shown by doctor, and the others run', async () => {
  const logged: { work: string }[] = [];
  const log = { warn: (entry: { work: string }) => void logged.push(entry) } as unknown as FastifyBaseLogger;
  const stopWatching = watchFailures(database, log);
  const metrics = await openProcessMetrics(config, database);
  const id = await service.createCustomer();
  await service.delete(`/customers/${id}`);
  await owner.query(`UPDATE deleted_object SET deleted_at = now() - interval '1 year'`);
  await owner.query('ALTER FUNCTION forget_audit_entries RENAME TO forget_nothing');
  await cleanUp(config, database);
  await owner.query('ALTER FUNCTION forget_nothing RENAME TO forget_audit_entries');

  assert.deepEqual(
    logged.map(({ work }) => work),
    ['audit'],
  );
  const counted = (await metrics.read()).find(({ name }) => name === 'stamm_background_errors_total');
  assert.deepEqual(
    counted?.values.map(({ labels, value }) => [labels.work, value]),
    [['audit', 1]],
  );
  assert.equal((await owner.query('SELECT FROM deleted_object')).rowCount, 0, 'the next step has run');
  await until(
    'the failure is stored',
    async () => (await owner.query('SELECT FROM background_work')).rowCount === 1,
  );
  const before = await examine();
  assert.match(
    before,
    /^! background +audit failed 0 minutes ago: function forget_audit_entries.* does not exist/m,
  );
  assert.match(before, /^✓ upkeep +none yet/m);

  await cleanUp(config, database);
  assert.match(await examine(), /^✓ upkeep +all steps last succeeded 0 minutes ago/m);
  const node = await openNodeMetrics(config, connection, async () => true);
  assert.match(await node.read({ processes: [], ended: [] }), /^stamm_upkeep_age_seconds \d+(\.\d+)?$/m);
  await node.close();
  await owner.query(`UPDATE background_work SET succeeded_at = now() - interval '5 hours'`);
  assert.match(await examine(), /^! upkeep +all steps last succeeded 5 hours ago/m);
  stopWatching();
  metrics.close();
});

test('a database that is away is no failure of background work', async () => {
  const logged: unknown[] = [];
  const log = { warn: (entry: unknown) => void logged.push(entry) } as unknown as FastifyBaseLogger;
  const stopWatching = watchFailures(database, log);
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  assert.equal(await report('upkeep', () => Promise.reject(away)), false);
  assert.deepEqual(logged, []);
  assert.equal(await report('upkeep', () => Promise.reject(new Error('a real one'))), false);
  assert.equal(logged.length, 1);
  stopWatching();
});

test('no failure of the server is swallowed without a name', async () => {
  const bare = /\.catch\(\(\) => (?:\{\}|undefined|null|false)\)|catch(?: \(\w+\))? \{\s*\}/;
  let files = 0;
  for await (const path of glob('server/**/*.ts')) {
    if (path.endsWith('.test.ts')) continue;
    files++;
    const lines = readFileSync(path, 'utf8').split('\n');
    const found = lines.findIndex((line) => bare.test(line));
    assert.equal(
      found,
      -1,
      `${path}:${found + 1} uses report(), or expected where a failure changes nothing`,
    );
  }
  assert.ok(files > 200);
});

test('statistics that cannot be refreshed are reported, and no writer notices', async () => {
  const failures: { work: string }[] = [];
  const stop = topics.backgroundError.subscribe((failure) => void failures.push(failure));
  const fresh = await startService();
  await fresh.owner.query('ALTER FUNCTION refresh_statistics RENAME TO refresh_nothing');
  await fresh.createCustomer();
  await until('the failure is reported', () => failures.length > 0);
  assert.deepEqual(new Set(failures.map(({ work }) => work)), new Set(['statistics']));
  await fresh.owner.query('ALTER FUNCTION refresh_nothing RENAME TO refresh_statistics');
  failures.length = 0;
  for (let count = 0; count < 3; count++) await fresh.createCustomer();
  await fresh.close();
  stop();
  assert.deepEqual(failures, []);
});

test('a record that fails is counted by the kind of work', async () => {
  const metrics = await openProcessMetrics(config, database);
  const customerId = await service.createCustomer();
  const attendingIntervals = [{ frequency: 'DAILY' }];
  const site = await service.post('/customer/site', { ...validSite(customerId), attendingIntervals });
  await owner.query(`UPDATE site SET time_zone = 'Moon/Crater' WHERE id = $1`, [site.json().id]);
  assert.equal((await service.get('/visits?from=2026-11-20&until=2026-11-20')).statusCode, 200);
  const counted = (await metrics.read()).find(({ name }) => name === 'stamm_record_errors_total');
  assert.deepEqual(
    counted?.values.map(({ labels, value }) => [labels.work, value]),
    [['visits', 1]],
  );
  metrics.close();
});
