import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const { get, post, put, patch, delete: remove, createCustomer, createTenant } = service;

test('an external id of any characters is found again in paths, filters and references', async () => {
  for (const externalId of ['🌱'.repeat(100), 'a/b c', ' x ', '50%', 'ä\u0308', '"\\', '+&=?#']) {
    const address = `/customers/by-external-id/${encodeURIComponent(externalId)}`;
    const created = await put(address, validCustomer);
    assert.equal(created.statusCode, 201, created.body);
    const { data } = (await get(`/customers?externalId=${encodeURIComponent(externalId)}`)).json();
    assert.deepEqual([data.length, data[0]?.externalId], [1, externalId]);
    const { customerId: _customerId, ...site } = validSite('');
    const owned = await post('/customer/site', { ...site, customerExternalId: externalId });
    assert.equal(owned.statusCode, 201, owned.body);
  }
});

test('an external id in a path that cannot be stored or is too long is refused as such', async () => {
  const codes = async (name: string) => {
    const response = await put(`/customers/by-external-id/${name}`, validCustomer);
    return response.json().errors?.map(({ code }: { code: string }) => code) ?? response.statusCode;
  };
  assert.deepEqual(await codes('a%00b'), ['invalid_text']);
  assert.deepEqual(await codes('x'.repeat(3000)), ['too_long']);
  assert.equal(await codes('100%'), 403, 'a path that cannot be decoded is none');
  assert.equal((await get('/customers/%ff')).statusCode, 403);
  assert.equal((await service.app.inject({ url: `/api/v1/customers/${'x'.repeat(3000)}` })).statusCode, 401);
});

test('a forged cursor is refused, and a cursor keeps what follows a second question mark', async () => {
  const forged = Buffer.from(JSON.stringify(['updatedAt', '2026-99-99T99:99:99Z', randomUUID()])).toString(
    'base64url',
  );
  assert.equal((await get(`/customers?sort=updatedAt&cursor=${forged}`)).statusCode, 400);
  const headers = { apikey: (await createTenant()).key };
  const address = { ...validCustomer.address, city: 'Q?x' };
  for (let count = 0; count < 2; count++) await createCustomer({ address }, { headers });
  const first = await get('/customers?limit=1&city=Q?x', { headers });
  assert.match(String(first.headers.link), /city=Q%3Fx&cursor=/);
});

test('lists come back as they were written: no number is spelt out, and the order of names is kept', async () => {
  const customerId = await createCustomer();
  const openingHours = '[{"z":1e-2000,"a":1e300,"m":[-0.0,1.50,12345678901234567890]}]';
  const body = JSON.stringify({ ...validSite(customerId), openingHours: 'LIST' }).replace(
    '"LIST"',
    openingHours,
  );
  const created = await post('/customer/site', body);
  const { body: read } = await get(`/sites/${created.json().id}`);
  const found = /"openingHours":(\[.*?\]\}\])/.exec(read)![1];
  assert.equal(found, '[{"z":1e-2000,"a":1e300,"m":[0,1.5,12345678901234567890]}]');
});

test('a list of fifty thousand wrong items gets one error: too long', async () => {
  const customerId = await createCustomer();
  const body = { ...validSite(customerId), openingHours: Array(45_000).fill(1) };
  const response = await post('/customer/site', body);
  assert.deepEqual(
    response.json().errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [['openingHours', 'too_many_items']],
  );
});

test('limits hold for the exact number, and not only for the double nearest to it', async () => {
  const product = '{"name":"x","kind":"PLANT","vatRate":100.00000000000000000001}';
  assert.equal((await post('/product', product)).json().errors[0].code, 'too_large');
  const container = '{"name":"x","cultureSystem":"SOIL","volumeInLitres":0.09999999999999999999}';
  assert.equal((await post('/customer/site/container', container)).json().errors[0].code, 'too_small');
  assert.equal(
    (await post('/product', product.replace('.00000000000000000001', '.0000000000000000000'))).statusCode,
    201,
  );
});

test('a number of more than 1,400 characters is rejected by its field, at any depth', async () => {
  const customerId = await createCustomer();
  const long = `0.1${'0'.repeat(1397)}1`;
  const siteWith = (members: string) => JSON.stringify(validSite(customerId)).replace('{', `{${members},`);
  const fault = (field: string) => ({ field, code: 'too_long', params: { max: 1400 } });
  for (const [members, field] of [
    [`"callOutFee":${long}`, 'callOutFee'],
    [`"appointmentPreparationTimeInMinutes":${long}`, 'appointmentPreparationTimeInMinutes'],
    [`"unknown":[{"x":${long}}]`, 'unknown.0.x'],
    [`"openingHours":[{"x":-${long}}]`, 'openingHours.0.x'],
  ] as const) {
    const response = await post('/customer/site', siteWith(members));
    assert.equal(response.statusCode, 400, response.body);
    const errors = response
      .json()
      .errors.map(({ field, code, params }: FieldError) => ({ field, code, params }));
    assert.deepEqual(errors, [fault(field)]);
  }
  const stored = await post('/customer/site', siteWith(`"openingHours":[{"x":${long.replace('00', '0')}}]`));
  assert.equal(stored.statusCode, 201, stored.body);
  const read = await get(`/sites/${stored.json().id}`);
  assert.match(read.body, /"x": ?0\.10{1396}1\b/);
  const patched = await patch(`/sites/${stored.json().id}`, {}, { payload: `{"callOutFee":${long}}` });
  assert.equal(patched.statusCode, 400, patched.body);
});

test('errors below a long name do not make the answer many times as long as the body', async () => {
  const body = `{"${'x'.repeat(10_000)}":[${'"\\ud800",'.repeat(200)}1]}`;
  const response = await post('/customer', body);
  assert.equal(response.statusCode, 400);
  assert.ok(response.body.length < 10 * body.length, `${response.body.length} bytes`);
});

interface FieldError {
  field: string;
  code: string;
  params: object;
}

test('only zones that PostgreSQL knows too are time zones', async () => {
  const customerId = await createCustomer();
  for (const timeZone of ['SST', 'EST5EDT', '+01:00', 'US/Pacific-New', 'Europe/Nowhere', '']) {
    const response = await post('/customer/site', { ...validSite(customerId), timeZone });
    assert.equal(response.json().errors?.[0].code, 'invalid_time_zone', timeZone);
  }
  for (const timeZone of ['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia', 'Etc/GMT+3']) {
    assert.equal(
      (await post('/customer/site', { ...validSite(customerId), timeZone })).statusCode,
      201,
      timeZone,
    );
  }
});

test('a deletion may name a content type, and a body may begin with a byte order mark', async () => {
  const id = await createCustomer();
  const headers = { 'content-type': 'application/json' };
  assert.equal((await remove(`/customers/${id}`, { headers })).statusCode, 204);
  assert.equal((await post('/customer', `\uFEFF${JSON.stringify(validCustomer)}`)).statusCode, 201);
});

test('a misspelt dryRun stores no row', async () => {
  for (const name of ['dryrun', 'dry_run', 'DryRun', 'dry-run']) {
    const response = await post(`/product?${name}=true`, { name: 'x', kind: 'PLANT' });
    assert.equal(response.json().errors?.[0].code, 'unknown_parameter', name);
  }
});

test('a dry run answers like the real one and stores nothing', async () => {
  const id = await createCustomer({ externalId: 'dry' });
  const headers = { 'idempotency-key': 'dry' };
  await post('/customer', validCustomer, { headers });
  const reused = await post('/customer?dryRun=true', { ...validCustomer, phone: '1' }, { headers });
  assert.equal(reused.statusCode, 422);
  assert.equal(
    (await post('/customer?dryRun=true', { ...validCustomer, externalId: 'dry' })).statusCode,
    409,
  );
  const upsert = await put('/customers/by-external-id/new?dryRun=true', { ...validCustomer, misspelt: 1 });
  assert.deepEqual([upsert.statusCode, upsert.json().ignoredFields], [200, ['misspelt']]);
  const changed = await patch(`/customers/${id}?dryRun=true`, { comment: 'x' });
  assert.deepEqual([changed.json().comment, changed.headers.etag], ['x', undefined]);
  const { dryRun, attention, ignoredFields } = changed.json();
  assert.deepEqual([dryRun, Array.isArray(attention), ignoredFields], [true, true, []]);
  assert.equal((await remove(`/customers/${id}?dryRun=true`)).statusCode, 200);
  const stored = (await get(`/customers/${id}`)).json();
  assert.deepEqual([stored.version, stored.comment], [1, undefined]);
  assert.equal((await get('/customers?externalId=new')).json().data.length, 0);
});

test('conditions compare versions strongly, and If-None-Match: * never replaces', async () => {
  const id = await createCustomer({ externalId: 'condition' });
  const change = { comment: 'x' };
  assert.equal(
    (await patch(`/customers/${id}`, change, { headers: { 'if-match': 'W/"1"' } })).statusCode,
    412,
  );
  assert.equal(
    (await patch(`/customers/${id}`, change, { headers: { 'if-match': '"7", "1"' } })).statusCode,
    200,
  );
  assert.equal((await get(`/customers/${id}`, { headers: { 'if-none-match': 'W/"2"' } })).statusCode, 304);
  const headers = { 'if-none-match': '*' };
  const address = '/customers/by-external-id/condition';
  assert.equal((await put(address, validCustomer, { headers })).statusCode, 412);
  assert.equal((await put(`${address}-new`, validCustomer, { headers })).statusCode, 201);
});

test('a reader that is ahead of the journal gets an error', async () => {
  const { nextCursor } = (await get('/changes?limit=1000')).json();
  assert.equal((await get(`/changes?after=${nextCursor}`)).statusCode, 200);
  assert.equal(
    (await get(`/changes?after=${Number(nextCursor) + 1}`)).json().errors[0].code,
    'invalid_cursor',
  );
});
