import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiKey } from '../../../server/access/api-keys.ts';
import { buildAuthenticate } from '../../../server/access/authentication.ts';
import { forgetEndedKeyUse, KeyUse } from '../../../server/access/key-use.ts';
import { startService } from '../../helpers/service.ts';

const { owner, database, createTenant } = await startService();

test('the last use of a key is kept to the minute, and clients that send an ended one are named', async () => {
  const { tenantId, key: replacedKey } = await createTenant();
  const key = await createApiKey(owner, tenantId);
  const keyUse = new KeyUse(database);
  const authenticate = buildAuthenticate(database, keyUse, undefined);
  const deadline = performance.now() + 60_000;
  const request = { address: '192.0.2.7', userAgent: 'ERP/1.0', deadline };
  for (let count = 0; count < 3; count++) {
    await authenticate({ ...request, key });
    await assert.rejects(authenticate({ ...request, key: replacedKey }), { code: 'key_replaced' });
  }
  await assert.rejects(authenticate({ ...request, key: replacedKey, userAgent: 'x'.repeat(1000) }));
  await assert.rejects(authenticate({ ...request, key: replacedKey, userAgent: `ERP ${replacedKey}` }));

  const readLive = async () =>
    (
      await owner.query('SELECT last_used_at FROM api_key WHERE tenant_id = $1 AND ended_at IS NULL', [
        tenantId,
      ])
    ).rows;
  assert.deepEqual(await readLive(), [{ last_used_at: null }], 'no request waits for this to be written');
  await keyUse.close();
  const [{ last_used_at: lastUsedAt }] = (await readLive()) as [{ last_used_at: Date }];
  assert.ok(Date.now() - lastUsedAt.getTime() < 120_000);
  assert.equal(lastUsedAt.getTime() % 60_000, 0);

  const { rows } = await owner.query(
    'SELECT address, user_agent, requests::integer FROM ended_key_use WHERE tenant_id = $1 ORDER BY user_agent',
    [tenantId],
  );
  assert.deepEqual(rows, [
    { address: '192.0.2.7', user_agent: 'ERP stamm_…', requests: 1 },
    { address: '192.0.2.7', user_agent: 'ERP/1.0', requests: 3 },
    { address: '192.0.2.7', user_agent: 'x'.repeat(200), requests: 1 },
  ]);
});

async function createEndedKey(): Promise<{ tenantId: string; key: string }> {
  const { tenantId, key } = await createTenant();
  await createApiKey(owner, tenantId);
  return { tenantId, key };
}

async function readUses(tenantId: string): Promise<{ address: string; agent: string; requests: number }[]> {
  const { rows } = await owner.query(
    `SELECT address, user_agent AS agent, requests::integer FROM ended_key_use WHERE tenant_id = $1
     ORDER BY requests DESC, address, user_agent`,
    [tenantId],
  );
  return rows;
}

/** Sends an ended key once with each of these user agents. */
async function sendEnded(keyUse: KeyUse, key: string, agents: readonly string[], address = '192.0.2.7') {
  const authenticate = buildAuthenticate(database, keyUse, undefined);
  const deadline = performance.now() + 60_000;
  await Promise.all(
    agents.map((userAgent) =>
      assert.rejects(authenticate({ key, address, userAgent, deadline }), { code: 'key_replaced' }),
    ),
  );
}

const agents = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}/${index}`);

test('an ended key has at most 100 rows: 99 senders by name, and every other request is still counted', async () => {
  const { tenantId, key } = await createEndedKey();
  const keyUse = new KeyUse(database);
  await sendEnded(keyUse, key, agents('Finder', 300));
  await keyUse.flush();
  const first = await readUses(tenantId);
  assert.equal(first.length, 100);
  assert.deepEqual(first[0], { address: '', agent: 'others', requests: 201 });
  await sendEnded(keyUse, key, ['Finder/0', 'ERP/2.0']);
  await keyUse.close();
  const second = await readUses(tenantId);
  assert.equal(second.length, 100);
  assert.deepEqual(second.slice(0, 2), [
    { address: '', agent: 'others', requests: 202 },
    { address: '192.0.2.7', agent: 'Finder/0', requests: 2 },
  ]);
});

test('processes that write at the same moment stay within the rows of a key, and lose no request', async () => {
  const { tenantId, key } = await createEndedKey();
  const other = await createEndedKey();
  const processes = Array.from({ length: 6 }, () => new KeyUse(database));
  for (const [index, keyUse] of processes.entries()) {
    await sendEnded(keyUse, key, agents(`Node${index}`, 40));
    await sendEnded(keyUse, other.key, [`Node/${index}`]);
  }
  await Promise.all(processes.map((keyUse) => keyUse.close()));
  const uses = await readUses(tenantId);
  assert.equal(uses.length, 100);
  assert.equal(
    uses.reduce((sum, { requests }) => sum + requests, 0),
    6 * 40,
  );
  assert.equal((await readUses(other.tenantId)).length, 6, 'another key is not concerned');
});

test('a sender of an ended key is forgotten when it has not come back for as long as is set', async () => {
  const { tenantId, key } = await createEndedKey();
  const keyUse = new KeyUse(database);
  await sendEnded(keyUse, key, ['Old/1', 'New/1']);
  await keyUse.close();
  await owner.query(
    `UPDATE ended_key_use SET last_used_at = now() - interval '31 days' WHERE tenant_id = $1 AND user_agent = 'Old/1'`,
    [tenantId],
  );
  await forgetEndedKeyUse(database, 32);
  assert.equal((await readUses(tenantId)).length, 2);
  await forgetEndedKeyUse(database, 30);
  assert.deepEqual(await readUses(tenantId), [{ address: '192.0.2.7', agent: 'New/1', requests: 1 }]);
});
