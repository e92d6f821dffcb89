import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const other = await startService({ connection: service.connection });

async function countCustomers(companyName: string): Promise<number> {
  const { rows } = await service.owner.query(
    'SELECT count(*)::integer AS count FROM customer WHERE company_name = $1',
    [companyName],
  );
  return rows[0].count;
}

function create(companyName: string, key: string, node = service) {
  return node.post(
    '/customer',
    { ...validCustomer, companyName },
    {
      headers: { 'idempotency-key': key, apikey: service.tenant.key },
    },
  );
}

test('the same key and body get the first answer again and make one row', async () => {
  const first = await create('Once', 'once');
  const second = await create('Once', 'once', other);
  assert.equal(first.statusCode, 201);
  assert.equal(second.statusCode, 201);
  assert.equal(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(await countCustomers('Once'), 1);
});

test('fifty parallel requests with one key over two processes make one row and give one id', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => create('Fifty', 'fifty', index % 2 === 0 ? service : other)),
  );
  const created = answers.filter((answer) => answer.statusCode === 201);
  assert.ok(created.length >= 1);
  assert.equal(new Set(created.map((answer) => answer.json().id)).size, 1);
  for (const answer of answers.filter((answer) => answer.statusCode !== 201)) {
    assert.equal(answer.statusCode, 409);
    assert.equal(answer.json().code, 'request_in_progress');
  }
  assert.equal(await countCustomers('Fifty'), 1);
  assert.equal((await create('Fifty', 'fifty')).json().id, created[0]!.json().id);
});

test('the same key with another body, or on another path, is 422', async () => {
  await create('One body', 'body');
  const response = await create('Another body', 'body');
  assert.equal(response.statusCode, 422);
  assert.equal(response.json().code, 'idempotency_key_reused');
  const elsewhere = await service.post(
    '/employee',
    { firstName: 'a', lastName: 'b' },
    {
      headers: { 'idempotency-key': 'body' },
    },
  );
  assert.equal(elsewhere.statusCode, 422);
  assert.equal(await countCustomers('Another body'), 0);
});

test('a refused creation leaves its key free', async () => {
  const site = validSite('0198c0de-0000-7000-8000-000000000001');
  const headers = { 'idempotency-key': 'refused' };
  assert.equal((await service.post('/customer/site', site, { headers })).statusCode, 400);
  assert.equal((await service.post('/customer', {}, { headers })).statusCode, 400);
  assert.equal((await service.post('/customer', validCustomer, { headers })).statusCode, 201);
});

test('a key is free again after a day', async () => {
  const first = await create('Yesterday', 'day');
  await service.owner.query(
    `UPDATE idempotent_request SET created_at = now() - interval '25 hours' WHERE key = encode(sha256('day'), 'hex')`,
  );
  const second = await create('Yesterday', 'day');
  assert.notEqual(second.json().id, first.json().id);
  await service.owner.query(
    `UPDATE idempotent_request SET created_at = now() - interval '25 hours' WHERE key = encode(sha256('day'), 'hex')`,
  );
  await service.database.pool.query('SELECT forget_old_requests()');
  const { rowCount } = await service.owner.query(
    `SELECT FROM idempotent_request WHERE key = encode(sha256('day'), 'hex')`,
  );
  assert.equal(rowCount, 0);
});

test('tenants may use the same key', async () => {
  const tenant = await service.createTenant();
  const headers = { 'idempotency-key': 'shared' };
  const mine = await service.post('/customer', validCustomer, { headers });
  const theirs = await service.post('/customer', validCustomer, {
    headers: { ...headers, apikey: tenant.key },
  });
  assert.equal(theirs.statusCode, 201);
  assert.notEqual(theirs.json().id, mine.json().id);
});

test('an empty key, or one of more than 255 characters, is refused', async () => {
  for (const [key, code] of [
    [' ', 'blank'],
    ['x'.repeat(256), 'too_long'],
  ] as const) {
    const response = await service.post('/customer', validCustomer, { headers: { 'idempotency-key': key } });
    assert.equal(response.statusCode, 400);
    assert.equal(response.json().errors[0].code, code);
  }
});

test('a change is made once per key, also after others have changed the object, and by every name', async () => {
  const id = await service.createCustomer({ externalId: 'K-1' });
  const byName = '/customers/by-external-id/K-1';
  const writes = [
    ['PATCH', `/customers/${id}`, { companyName: 'By id' }],
    ['PATCH', byName, { companyName: 'By own id' }],
    ['PUT', byName, { ...validCustomer, companyName: 'Replaced' }],
  ] as const;
  for (const [place, [method, path, body]] of writes.entries()) {
    const { version } = (await service.get(`/customers/${id}`)).json();
    const headers = { 'idempotency-key': `change ${place}`, 'if-match': `"${version}"` };
    const send = (sent: object, node = service) =>
      node.send(method, path, sent, { headers: { ...headers, apikey: service.tenant.key } });
    const first = await send(body);
    assert.equal(first.statusCode, 200, first.body);
    const second = await send(body, other);
    assert.equal(second.statusCode, 200, second.body);
    assert.equal(second.body, first.body);
    assert.equal(second.headers.etag, first.headers.etag);
    assert.equal(second.headers['stamm-changed'], 'true');
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.equal((await send({ ...body, comment: 'other' })).json().code, 'idempotency_key_reused');

    await service.patch(`/customers/${id}`, { companyName: 'By somebody else' });
    const late = await send(body);
    assert.equal(late.statusCode, 200, late.body);
    const now = (await service.get(`/customers/${id}`)).json();
    assert.equal(now.companyName, 'By somebody else');
    assert.equal(late.json().version, now.version);
  }
});

test('the key of a change is not that of another object, and stays free after a rejected one', async () => {
  const [one, two] = [await service.createCustomer(), await service.createCustomer()];
  const patch = (id: string, body: object) =>
    service.patch(`/customers/${id}`, body, { headers: { 'idempotency-key': 'change of one' } });
  assert.equal((await patch(one, { companyName: '' })).statusCode, 400);
  assert.equal((await patch(one, { companyName: 'Free' })).statusCode, 200);
  assert.equal((await patch(two, { companyName: 'Free' })).statusCode, 422);
  await service.delete(`/customers/${one}`);
  assert.equal((await patch(one, { companyName: 'Free' })).statusCode, 404);
});
