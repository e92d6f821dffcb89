// Webhooks at the command line: each command is a process of its own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startReceiver, verify } from '../api/webhooks/webhook-receiver.ts';
import { assertRefused, databaseUrl, runStamm } from '../faults/helpers/process.ts';
import { startService } from '../helpers/service.ts';

const service = await startService();
const receiver = await startReceiver();
after(() => receiver.close());
const tenant = ['--tenant', service.tenant.tenantId];
const env = { DATABASE_URL: databaseUrl(service.connection), WEBHOOK_ALLOW_PRIVATE: 'true' };
const create = (...words: string[]) => runStamm(['webhook', 'create', ...tenant, ...words], env);

test('an operator chooses what an address receives, and the list shows it', async () => {
  const wanted = ['--resources', 'site, customer', '--actions', 'CREATED,DELETED', '--exclude-origin', 'erp'];
  const made = await create('--url', receiver.url, ...wanted, '--json');
  assert.equal(made.code, 0, made.stderr);
  const { id, secret } = JSON.parse(made.stdout);
  const listed = JSON.parse((await runStamm(['webhook', 'list', ...tenant, '--json'], env)).stdout);
  const [{ url, resources, actions, excludeOrigin }] = listed.webhooks;
  assert.deepEqual(
    { url, resources, actions, excludeOrigin },
    {
      url: receiver.url,
      resources: ['site', 'customer'],
      actions: ['CREATED', 'DELETED'],
      excludeOrigin: 'erp',
    },
  );
  const { stdout } = await runStamm(['webhook', 'list', ...tenant], env);
  assert.match(stdout, / {2}site,customer {2}CREATED,DELETED {2}without erp {2}active {2}0 waiting/);

  const sent = await runStamm(['webhook', 'test', ...tenant, '--id', id], env);
  assert.equal(sent.code, 0, sent.stdout + sent.stderr);
  verify(receiver.received[0]!, secret);
  assert.equal((await runStamm(['webhook', 'delete', ...tenant, '--id', id], env)).code, 0);
  assert.match((await runStamm(['webhook', 'list', ...tenant], env)).stdout, /has no webhooks/);
});

test('a choice that does not exist is rejected with those that do', async () => {
  const url = ['--url', receiver.url];
  assertRefused(await create(...url, '--resources', 'sites'), /"sites" is no type\. There are: customer, /);
  assertRefused(
    await create(...url, '--actions', 'deleted'),
    /"deleted" is no action\. There are: CREATED, /,
  );
  assertRefused(await create(...url, '--exclude-origin', 'Büro'), /--exclude-origin: /);
  assertRefused(await create(...url, '--exclude-origin', ' '), /--exclude-origin: /);
  assertRefused(await create('--url', 'ftp://erp.example/'), /--url: /);
  const guarded = { ...env, WEBHOOK_ALLOW_PRIVATE: 'false' };
  const words = ['webhook', 'create', ...tenant, ...url];
  assertRefused(await runStamm(words, guarded), /--url: .*WEBHOOK_ALLOW_PRIVATE/);
});
