// A node whose database has become a standby is not ready, says so, and serves again after the promotion.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { withoutPostgres15 } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';
import { runPostgresProgram, startDebianPostgres, startPostgres } from './helpers/debian-postgres.ts';
import {
  assertRefused,
  createCustomer,
  createTenant,
  databaseUrl,
  runStamm,
  startStamm,
  untilUnavailable,
  withClient,
} from './helpers/process.ts';

test('on a standby a node is not ready and the doctor names it; after its promotion the node serves', {
  skip: withoutPostgres15,
}, async () => {
  const { folder, connection, stop } = await startDebianPostgres();
  const env = { DATABASE_URL: databaseUrl(connection) };
  const node = await startStamm(env);
  const { key } = await withClient(connection, createTenant);
  assert.equal((await createCustomer(node.origin, key)).status, 201);

  const copy = path.join(folder, 'standby');
  const from = ['-h', folder, '-U', 'admin', '--checkpoint=fast'];
  runPostgresProgram('pg_basebackup', folder, ['-D', copy, ...from, '-R', '--no-sync']);
  await stop();
  // Under the address of the primary, as a virtual address or a proxy leads to it.
  await startPostgres(folder, copy);

  await untilUnavailable(node.origin, key);
  const { code, stdout } = await runStamm(['doctor'], env);
  assert.equal(code, 1);
  assert.match(stdout, /^✗ writes +the server is a standby .*DATABASE_URL/m);
  assertRefused(await runStamm(['serve'], env), /cannot be used: it is a standby/);

  await withClient(connection, (client) => client.query('SELECT pg_promote()'));
  await until('ready', async () => (await fetch(`${node.origin}/readyz`)).status === 200);
  assert.equal((await createCustomer(node.origin, key)).status, 201);
  assert.equal((await node.stop()).code, 0);
});
