// The test business at the command line: each command is a process of its own, without a running service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, databaseUrl, runStamm, withClient } from '../faults/helpers/process.ts';
import { startService, validCustomer, validSite } from '../helpers/service.ts';

test('an operator creates, fills, resets and removes the test business of a business', async () => {
  const service = await startService();
  const { tenantId } = service.tenant;
  const env = { DATABASE_URL: databaseUrl(service.connection) };
  const run = async (verb: string, ...words: string[]) => {
    const ended = await runStamm(['test-business', verb, '--business', tenantId, ...words, '--json'], env);
    assert.equal(ended.code, 0, ended.stderr);
    return JSON.parse(ended.stdout);
  };
  const count = async (key: string) => {
    const response = await service.get('/sites?count=true', { headers: { apikey: key } });
    return response.json().total ?? response.json().code;
  };
  const customerId = await service.createCustomer({ externalId: 'K-1' });
  await service.post('/customer/site', validSite(customerId));

  const { testBusinessId, key, ...figures } = await run('create');
  assert.match(key, /^stamm_test_[0-9A-Za-z]{36}$/);
  assert.deepEqual(figures, { copied: 2, skipped: 0 });
  assert.equal(await count(key), 1);

  await service.post('/customer/site', validSite(customerId));
  assert.deepEqual(await run('fill'), { copied: 3, skipped: 0 });
  await service.post('/customer', validCustomer, { headers: { apikey: key } });
  assert.deepEqual(await run('reset', '--empty'), { copied: 0, skipped: 0 });
  assert.equal(await count(key), 0);
  assert.deepEqual(await run('reset'), { copied: 3, skipped: 0 });

  const second = await run('key');
  assert.equal(await count(key), 'key_replaced');
  assert.equal(await count(second.key), 2);

  const list = await runStamm(['tenant', 'list'], env);
  assert.match(list.stdout, new RegExp(`${testBusinessId}  test business of ${tenantId}  \\(key …`));
  const words = ['test-business', 'create', '--business'];
  assertRefused(await runStamm([...words, tenantId], env), /There is a test business already/);
  assertRefused(await runStamm([...words, testBusinessId], env), /is a test business itself/);
  assertRefused(await runStamm([...words, 'x'], env), /"x" is not the id of a business/);

  assert.deepEqual(await run('remove'), { removed: true });
  assert.equal(await count(second.key), 'key_unknown');
  const gone = await runStamm(['test-business', 'fill', '--business', tenantId], env);
  assertRefused(gone, /has no test business\. Create one: .*test-business create --business/);
  const { rows } = await withClient(service.connection, (owner) =>
    owner.query(`SELECT event FROM audit_entry WHERE tenant_id = $1 ORDER BY at, id`, [tenantId]),
  );
  assert.deepEqual(
    rows.map(({ event }) => event).filter((event) => /TEST_/.test(event)),
    [
      'TEST_BUSINESS_CREATED',
      'TEST_BUSINESS_FILLED',
      'TEST_BUSINESS_RESET',
      'TEST_BUSINESS_RESET',
      'TEST_BUSINESS_REMOVED',
    ],
  );
});
