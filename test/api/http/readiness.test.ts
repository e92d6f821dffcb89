// /readyz tells whether a request could write, and is no way to overload anything.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, validCustomer } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { app, database, owner, post } = service;

async function probes(): Promise<number[]> {
  const { rows } = await owner.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%write_probe%'
       AND pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => pid);
}

async function readiness(): Promise<[number, string | undefined]> {
  const response = await app.inject('/readyz');
  return [response.statusCode, response.json().code];
}

async function untilReadiness(status: number): Promise<void> {
  await until(`/readyz is ${status}`, async () => (await readiness())[0] === status);
}

test('a full pool does not make a node unready', async () => {
  const clients = await Promise.all(Array.from({ length: 10 }, () => database.pool.connect()));
  assert.deepEqual(await readiness(), [200, undefined]);
  for (const client of clients) client.release();
});

test('any number of callers share one connection', async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => app.inject('/readyz')));
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
  assert.equal((await probes()).length, 1);
});

test('a probe whose connection is ended connects again', async () => {
  await untilReadiness(200);
  const [before] = await probes();
  await owner.query('SELECT pg_terminate_backend($1::integer)', [before]);
  await until('another connection', async () => {
    await readiness();
    const [now] = await probes();
    return now !== undefined && now !== before;
  });
  await untilReadiness(200);
});

test('a read-only database is unavailable, not an internal error, and writes go on when it is over', async () => {
  const { rows } = await owner.query('SELECT current_database() AS name');
  const name = rows[0].name;
  await owner.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  // New sessions have the setting, as they have it on a server that has become a standby.
  const endAll = () =>
    owner.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  await endAll();
  await untilReadiness(500);
  assert.deepEqual(await readiness(), [500, 'database_unavailable']);
  await until('a request meets it', async () => {
    const response = await post('/customer', validCustomer);
    assert.equal(response.json().code, 'database_unavailable', response.body);
    assert.equal(response.headers['retry-after'], '1');
    return service.logLines.some((line) => line.includes('"code":"25006"'));
  });
  await owner.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  // Without a restart: the connections that were refused have not been used again.
  await until(
    'a customer is created',
    async () => (await post('/customer', validCustomer)).statusCode === 201,
  );
  await untilReadiness(200);
});

test('without the right to temporary tables, which imports need, a node is ready for everything else', async () => {
  const revoked = await startService();
  await revoked.owner.query(
    `DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$`,
  );
  assert.equal((await revoked.app.inject('/readyz')).statusCode, 200);
});
