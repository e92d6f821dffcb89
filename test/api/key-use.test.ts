import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiKey } from '../../server/auth/api-keys.ts';
import { buildAuthenticate } from '../../server/auth/authentication.ts';
import { KeyUse } from '../../server/auth/key-use.ts';
import { startService } from '../service.ts';

const { owner, database, createTenant } = await startService();

test('the last use of a key is kept to the minute, and whoever still sends an ended one is named', async () => {
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
