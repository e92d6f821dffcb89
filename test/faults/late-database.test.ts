// A start before its database is there: it waits, says so, and serves once the database takes writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { until } from '../helpers/waiting.ts';
import {
  assertRefused,
  beginStamm,
  connectionTo,
  createCustomer,
  databaseUrl,
  makePreparedDataDir,
  runStamm,
  startUntil,
  withClient,
} from './helpers/process.ts';

const patient = { DATABASE_WAIT_SECONDS: '600', LOG_LEVEL: 'warn' };

test('a start waits for a database that starts later, and says so', async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const env = { ...patient, DATABASE_URL: databaseUrl(connectionTo(dataDir)) };
  const { ready, output } = beginStamm(env);
  await until('it says so', () => /Waiting up to 600 s for the database at localhost/.test(output.stdout));
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  try {
    const service = await ready;
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.equal((await service.stop()).code, 0);
  } finally {
    await postgres.close();
  }
});

test('a start waits for a database that takes no writes yet', async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  try {
    const alter = (change: string) =>
      withClient({ ...postgres.connection, database: 'postgres' }, (client) =>
        client.query(`ALTER DATABASE stamm ${change}`),
      );
    await alter('SET default_transaction_read_only = on');
    const env = { ...patient, DATABASE_URL: databaseUrl(connectionTo(dataDir)) };
    const { ready, output } = beginStamm(env);
    await until('it says so', () => output.stdout.includes('it is read-only'));
    await alter('RESET default_transaction_read_only');
    const service = await ready;
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.equal((await service.stop()).code, 0);
  } finally {
    await postgres.close();
  }
});

test('a stop ends the wait', async () => {
  const { dataDir } = await makePreparedDataDir();
  const env = { ...patient, DATABASE_URL: databaseUrl(connectionTo(dataDir)) };
  const { code, stderr } = await startUntil((_pid, { stdout }) => stdout.includes('Waiting up to'), env);
  assert.deepEqual([code, stderr], [0, '']);
});

test('a wrong password ends the start without a wait', async () => {
  const { dataDir } = await makePreparedDataDir();
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  try {
    const DATABASE_URL = databaseUrl({ ...connectionTo(dataDir), password: 'wrong' });
    assertRefused(await runStamm(['serve'], { ...patient, DATABASE_URL }), /password authentication failed/);
  } finally {
    await postgres.close();
  }
});

test('a database that does not come in time ends the start with a sentence', async () => {
  const { dataDir } = await makePreparedDataDir();
  const env = { DATABASE_URL: databaseUrl(connectionTo(dataDir)), DATABASE_WAIT_SECONDS: '1' };
  assertRefused(await runStamm(['serve'], env), /The database at localhost\/stamm cannot be used/);
});
