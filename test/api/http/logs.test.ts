import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeApiKey } from '../../../server/access/api-keys.ts';
import { noConstraintNames, skipOnCluster } from '../../helpers/cluster.ts';
import { exchange, listen, postBytes } from '../../helpers/raw-client.ts';
import { startService, validCustomer } from '../../helpers/service.ts';

const { app, owner, post, tenant, logLines, createTenant } = await startService();
const port = await listen(app);

/** Runs the work and answers with the lines that it logged, which are all JSON. */
async function linesOf(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const start = logLines.length;
  await work();
  return logLines.slice(start).map((line) => JSON.parse(line));
}

test('a request leaves one line with its id, tenant, status, path and time', async () => {
  let requestId: unknown;
  const lines = await linesOf(async () => {
    const response = await post('/customer', validCustomer, { headers: { 'user-agent': 'ERP/1.0' } });
    requestId = response.headers['x-request-id'];
  });
  assert.equal(lines.length, 1);
  const { time, durationMs, pid: _pid, hostname: _hostname, ...line } = lines[0]!;
  assert.deepEqual(line, {
    level: 30,
    requestId,
    tenantId: tenant.tenantId,
    method: 'POST',
    path: '/api/v1/customer',
    status: 201,
    address: '127.0.0.1',
    userAgent: 'ERP/1.0',
    msg: 'request',
  });
  assert.ok(Number(durationMs) > 0 && time);
});

test('one in so many successful requests leaves a line, and every other request does', async () => {
  const { app: sampled, get, logLines: lines } = await startService({ LOG_ONE_IN: 5 });
  for (let count = 0; count < 20; count++) await get('/customers');
  for (let count = 0; count < 3; count++) await get('/nothing');
  await sampled.close();
  const statuses = lines.map((line) => JSON.parse(line).status).filter((status) => status !== undefined);
  assert.deepEqual(
    Map.groupBy(statuses, (status) => status),
    new Map([
      [200, Array(4).fill(200)],
      [403, Array(3).fill(403)],
    ]),
  );
});

test('a refused body leaves its errors by field and code', async () => {
  const lines = await linesOf(() => post('/customer', { companyName: '', address: {}, typo: 1 }));
  assert.equal(lines.length, 1);
  const { status, code, errors, ignoredFields } = lines[0]!;
  assert.deepEqual([status, code, ignoredFields], [400, 'validation_failed', ['typo']]);
  assert.ok((errors as string[]).includes('companyName: blank'));
  assert.ok((errors as string[]).includes('address.city: required'));
});

test('a request without a live key leaves no tenant', async () => {
  const lines = await linesOf(() => post('/customer', {}, { headers: { apikey: makeApiKey() } }));
  assert.equal(lines.length, 1);
  assert.deepEqual([lines[0]!.status, lines[0]!.code, lines[0]!.tenantId], [401, 'key_unknown', undefined]);
});

test('bytes that are no request leave a line under the id of their answer too', async () => {
  for (const bytes of ['garbage\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'QXZJ'.repeat(9000)}\r\n\r\n`]) {
    let requestId: unknown;
    const lines = await linesOf(async () => {
      const { answers } = await exchange(port, bytes);
      requestId = answers[0]!.headers['x-request-id'];
    });
    assert.deepEqual(
      lines.map((line) => line.requestId),
      [requestId],
    );
    assert.ok(!JSON.stringify(lines).includes('QXZJ'));
  }
});

test('no line holds a key, a cookie, a query or anything of a body, with any answer', async () => {
  const other = await createTenant();
  const secret = 'Geheim-QXZJ';
  const headers = { cookie: `session=${secret}`, authorization: `Bearer ${secret}`, 'x-other': secret };
  const body = { ...validCustomer, companyName: secret, comment: secret, typo: secret };
  const start = logLines.length;
  const statuses: number[] = [];
  const send = async (payload: unknown, more: Record<string, string> = {}, path = '/customer') => {
    const response = await post(`${path}?ApiKey=${secret}&q=${secret}`, payload, {
      headers: { ...headers, ...more },
    });
    statuses.push(response.statusCode);
  };
  await send(body);
  await send({ ...body, companyName: secret.repeat(20), status: secret, email: secret, address: secret });
  await send(`{"companyName":"${secret}`);
  await send(body, { apikey: `${secret}-key` });
  await send(body, { apikey: other.key.slice(0, -1) });
  await send(body, {}, '/nothing');
  await send(body, { 'content-type': 'text/plain' });
  await send(secret.repeat(20_000));
  // A fault that only the database finds, and whose report quotes the row.
  await owner.query(
    'ALTER TABLE customer ADD CONSTRAINT quote_row CHECK (company_name::integer > 0) NOT VALID',
  );
  await send(body);
  await owner.query('ALTER TABLE customer DROP CONSTRAINT quote_row');
  assert.deepEqual(statuses, [201, 400, 400, 401, 401, 403, 413, 415, 500]);
  await exchange(port, postBytes(`/api/v1/customer?${secret}`, JSON.stringify(body), { ApiKey: other.key }));

  const lines = logLines.slice(start);
  assert.equal(lines.length, 10, 'one line each');
  for (const line of lines) {
    assert.ok(!line.includes('QXZJ'), line);
    for (const { key } of [tenant, other]) assert.ok(!line.includes(key.slice(0, 20)), line);
  }
});

test('a defect of the service leaves its cause', { skip: skipOnCluster(noConstraintNames) }, async () => {
  await owner.query(`ALTER TABLE customer ADD CONSTRAINT broken_again CHECK (false) NOT VALID`);
  const lines = await linesOf(() => post('/customer', validCustomer));
  await owner.query('ALTER TABLE customer DROP CONSTRAINT broken_again');
  assert.equal(lines.length, 1);
  assert.deepEqual([lines[0]!.level, lines[0]!.status, lines[0]!.msg], [50, 500, 'request failed']);
  assert.match(JSON.stringify(lines[0]!.err), /broken_again/);
});

test('a key is masked wherever in a path, a user agent or a name it stands, whole or nearly', async () => {
  const { key } = await createTenant();
  const [secret, encoded, cut] = [key.slice(8, 30), key.replace('_', '%5F'), key.slice(0, -3)];
  const lines = await linesOf(async () => {
    for (const part of [key, encoded, cut, `x${key}y`])
      await app.inject({
        url: `/api/v1/customers/${part}`,
        headers: { apikey: tenant.key, 'user-agent': `curl ApiKey:${part}` },
      });
    await app.inject({ url: `/app/sites/${key}`, headers: { 'user-agent': `${'x'.repeat(990)}${key}` } });
    await post('/customer', { [key]: 1, openingHours: [], address: { [`a ${key}`]: 1 } });
    await post('/customer', `{"${key}":"\\ud800"}`);
  });
  assert.equal(lines.length, 7);
  const text = JSON.stringify(lines);
  assert.ok(!text.includes(secret), text);
  assert.deepEqual(
    [lines[0]!.path, lines[0]!.userAgent],
    ['/api/v1/customers/stamm_…', 'curl ApiKey:stamm_…'],
  );
});

test('a line stays short, however many and however long the names are that a client invents', async () => {
  const names = Array.from({ length: 5000 }, (_, index) => [`name ${index}`, 1]);
  const [many] = await linesOf(() => post('/customer', { ...validCustomer, ...Object.fromEntries(names) }));
  const { ignoredFields } = many as { ignoredFields: string[] };
  assert.equal(ignoredFields.length, 51);
  assert.deepEqual([ignoredFields[49], ignoredFields[50]], ['name 49', '… and 4950 more']);
  const start = logLines.length;
  await post(`/${'p'.repeat(10_000)}`, {}, { headers: { 'user-agent': 'a'.repeat(10_000) } });
  await post('/customer', { ...validCustomer, ['n'.repeat(90_000)]: 1 });
  await post('/customer', `{"${'n'.repeat(90_000)}":"\\ud800"}`);
  for (const line of logLines.slice(start)) assert.ok(line.length < 3000, `${line.length} characters`);
});
