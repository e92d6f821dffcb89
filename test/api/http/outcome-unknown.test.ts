// A failure says whether a write may be stored. The connection to PostgreSQL really breaks at the commit.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Cut, openDatabaseProxy } from '../../helpers/database-proxy.ts';
import { endLocked, untilLocked } from '../../helpers/locks.ts';
import { listen } from '../../helpers/raw-client.ts';
import { createTestDatabase, startService, validCustomer } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const database = await createTestDatabase();
const proxy = await openDatabaseProxy(database);
after(() => proxy.close());
const service = await startService({ connection: proxy.connection });
const { owner, tenant, post, patch, put, get, createCustomer } = service;
const target = { port: await listen(service.app), key: tenant.key };
const cuts: Cut[] = ['before the commit', 'after the commit'];

/** Each marker names the customers of one test. */
async function countOf(marker: string): Promise<number> {
  const { rows } = await owner.query(
    'SELECT count(*)::integer AS count FROM customer WHERE company_name = $1',
    [marker],
  );
  return rows[0].count;
}

function assertUnknown(response: Awaited<ReturnType<typeof post>>): void {
  assert.equal(response.statusCode, 500, response.body);
  assert.equal(response.json().code, 'outcome_unknown');
  assert.match(response.json().message, /Idempotency-Key/);
  assert.equal(response.headers['retry-after'], '1');
}

for (const [index, cut] of cuts.entries()) {
  test(`a creation whose connection breaks ${cut} is repeated with its key, and there is one row`, async () => {
    const companyName = `Repeated ${index}`;
    const customer = { ...validCustomer, companyName };
    const headers = { 'idempotency-key': `key-${index}` };
    proxy.cutNext(cut, companyName);
    assertUnknown(await post('/customer', customer, { headers }));
    assert.equal(await countOf(companyName), index);
    const again = await post('/customer', customer, { headers });
    assert.equal(again.statusCode, 201, again.body);
    assert.equal(again.headers['idempotency-replayed'], index === 1 ? 'true' : undefined);
    assert.equal(await countOf(companyName), 1);
  });

  test(`a creation without a key whose connection breaks ${cut} is not taken for stored or lost`, async () => {
    const companyName = `Keyless ${index}`;
    proxy.cutNext(cut, companyName);
    assertUnknown(await post('/customer', { ...validCustomer, companyName }));
    assert.equal(await countOf(companyName), index);
  });

  test(`lines of an import whose connection breaks ${cut} may be stored, and repeating them stores them once`, async () => {
    for (const mode of ['each', 'all-or-nothing']) {
      const companyName = `Imported ${mode} ${index}`;
      const lines = [1, 2].map(() => ({ type: 'customer', data: { ...validCustomer, companyName } }));
      const asked = { ...target, query: `?mode=${mode}`, headers: { 'Idempotency-Key': companyName } };
      proxy.cutNext(cut, companyName);
      const { results, summary } = await sendImport(asked, lines);
      assert.deepEqual(
        results.map(({ status, code }) => [status, code]),
        [
          [500, 'outcome_unknown'],
          [500, 'outcome_unknown'],
        ],
      );
      assert.equal(summary.failed, 2);
      const again = await sendImport(asked, lines);
      assert.equal(again.summary.failed, 0, JSON.stringify(again));
      assert.equal(await countOf(companyName), 2);
    }
  });
}

test('a change, a replacement and a deletion whose commit is lost say that they may be stored', async () => {
  const changed = await createCustomer();
  // What is read first names the object by its id, and nothing else.
  proxy.cutNext('after the commit', 'lost answer');
  assertUnknown(await patch(`/customers/${changed}`, { comment: 'lost answer' }));
  assert.equal((await get(`/customers/${changed}`)).json().comment, 'lost answer');
  // Each of an object that no call has named yet. The record of such a call would hold its id, and be cut off instead.
  const replaced = await createCustomer({ externalId: 'REPLACED' });
  proxy.cutNext('after the commit', replaced);
  assertUnknown(
    await put('/customers/by-external-id/REPLACED', { ...validCustomer, companyName: 'Replaced' }),
  );
  assert.equal((await get(`/customers/${replaced}`)).json().companyName, 'Replaced');
  const deleted = await createCustomer();
  proxy.cutNext('after the commit', deleted);
  assertUnknown(await service.delete(`/customers/${deleted}`));
  assert.equal((await service.delete(`/customers/${deleted}`)).statusCode, 404);
});

test('a read whose commit is lost is a database that was away', async () => {
  const id = await createCustomer();
  const before = proxy.cuts();
  proxy.cutNext('after the commit', id);
  const response = await get(`/customers/${id}`);
  assert.equal(proxy.cuts(), before + 1);
  assert.deepEqual([response.statusCode, response.json().code], [500, 'database_unavailable']);
  assert.equal(response.headers['retry-after'], '1');
});

test('the office reads it in German', async () => {
  proxy.cutNext('after the commit', 'Deutsch GmbH');
  const response = await post(
    '/customer',
    { ...validCustomer, companyName: 'Deutsch GmbH' },
    { headers: { 'accept-language': 'de' } },
  );
  assert.equal(
    response.json().message,
    'Vielleicht schon gespeichert. Bitte mit demselben Idempotency-Key wiederholen.',
  );
});

test('a creation that PostgreSQL ends before its commit is certainly not stored', async () => {
  const holder = await holdJournal();
  const creating = post('/customer', { ...validCustomer, companyName: 'Ended' });
  await untilLocked(owner);
  await endLocked(owner);
  const response = await creating;
  assert.deepEqual([response.statusCode, response.json().code], [500, 'database_unavailable']);
  await holder.release();
  assert.equal(await countOf('Ended'), 0);
});

async function holdJournal() {
  await owner.query('BEGIN');
  await owner.query('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [tenant.tenantId]);
  return { release: () => owner.query('ROLLBACK') };
}
