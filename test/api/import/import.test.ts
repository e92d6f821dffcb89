import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { resources } from '../../../server/resources/index.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';
import { type ImportTarget, openImport, refusedImport, sendImport } from './import-client.ts';

const { app, owner, tenant, post, createTenant, createCustomer } = await startService();
const port = await listen(app);
const target: ImportTarget = { port, key: tenant.key };

const customerLine = (externalId: string, more: object = {}) => ({
  type: 'customer',
  data: { ...validCustomer, externalId, ...more },
});
const siteLine = (customerExternalId: string, more: object = {}) => {
  const { customerId: _customerId, ...site } = validSite('');
  return { type: 'site', data: { ...site, customerExternalId, ...more } };
};

const read = async (path: string, key = tenant.key) =>
  (await app.inject({ url: `/api/v1${path}`, headers: { apikey: key } })).json();

test('each line is answered in its order, with the same errors as a single request', async () => {
  const { results, summary } = await sendImport(target, [
    { type: 'customer', data: validCustomer },
    { type: 'customer', data: { address: { ...validAddress, zipCode: 20095 }, adress: 1 } },
    '',
    { type: 'customer', data: validCustomer, note: 'x' },
  ]);
  const single = await app.inject({
    method: 'POST',
    url: '/api/v1/customer',
    headers: { apikey: tenant.key, 'content-type': 'application/json' },
    payload: { address: { ...validAddress, zipCode: 20095 }, adress: 1 },
  });
  const [created, faulty, third] = results;
  assert.deepEqual([created.line, created.status], [1, 201]);
  assert.equal((await read(`/customers/${created.id}`)).companyName, validCustomer.companyName);
  assert.deepEqual([faulty.line, faulty.status, faulty.code], [2, 400, 'validation_failed']);
  assert.deepEqual(faulty.errors, single.json().errors);
  assert.deepEqual(faulty.ignoredFields, ['adress']);
  assert.deepEqual([third.line, third.status, third.ignoredFields], [4, 201, ['note']]);
  assert.deepEqual(summary, {
    lines: 3,
    created: 2,
    replaced: 0,
    unchanged: 0,
    deleted: 0,
    failed: 1,
    notStored: 0,
  });
});

test('rows that are written together are in the journal in the order of ids', async () => {
  const { key } = await createTenant();
  const lines = Array.from({ length: 20 }, (_, index) => customerLine(`together ${index}`));
  const { results } = await sendImport({ port, key }, lines);
  const { data } = await read('/changes', key);
  assert.deepEqual(
    data.map((change: { id: string }) => change.id),
    results.map(({ id }) => id).toSorted(),
  );
});

test('a result is answered before the next line is sent', async () => {
  const opened = openImport(target);
  for (const line of [1, 2, 3]) {
    opened.send({ type: 'customer', data: validCustomer });
    const { line: answered, status } = await opened.next();
    assert.deepEqual([answered, status], [line, 201]);
  }
  opened.end();
  const [last, ...more] = await opened.rest();
  assert.equal(last.summary.created, 3);
  assert.deepEqual(more, []);
});

test('the order of lines holds over any number of them, though many are written together', async () => {
  const { key } = await createTenant();
  // More than two transactions hold; each line of a kind comes in another one.
  const filling = (count: number) =>
    Array.from({ length: count }, () => ({ type: 'customer', data: validCustomer }));
  const { results, summary } = await sendImport({ port, key }, [
    customerLine('same', { comment: 'first' }),
    customerLine('holder', { customerNumber: 'K-1' }),
    ...filling(700),
    customerLine('same', { comment: 'second' }),
    customerLine('late', { customerNumber: 'K-1' }),
    siteLine('holder'),
    ...filling(700),
    customerLine('same', { comment: 'third' }),
  ]);
  const statusAt = (line: number) => results.find((result) => result.line === line).status;
  assert.deepEqual(
    results.map(({ line }) => line),
    Array.from({ length: 1406 }, (_, index) => index + 1),
  );
  assert.deepEqual([1, 703, 1406].map(statusAt), [201, 200, 200]);
  assert.deepEqual([2, 704, 705].map(statusAt), [201, 409, 201]);
  assert.equal(summary.failed, 1);
  const { data } = await read('/customers?externalId=same', key);
  assert.deepEqual([data[0].comment, data[0].version], ['third', 3]);
});

test('a body that is no import is refused as everywhere', async () => {
  const line = JSON.stringify(customerLine('REFUSED'));
  const json = await refusedImport({ ...target, headers: { 'content-type': 'application/json' } }, line);
  assert.deepEqual([json.status, json.body.code], [413, 'content_type']);
  const german = { 'content-type': 'text/csv', 'accept-language': 'de' };
  const csv = await refusedImport({ ...target, headers: german }, line);
  assert.match(csv.body.message, /application\/x-ndjson/);
  assert.match(csv.body.message, /^Bitte/);
  const stranger = await refusedImport({ ...target, key: 'stamm_x' }, line);
  assert.deepEqual([stranger.status, stranger.body.code], [401, 'key_malformed']);
  for (const query of ['?mode=some', '?mode=each&mode=each', '?dryRun=1', '?modes=each']) {
    const { status, body } = await refusedImport({ ...target, query }, line);
    assert.deepEqual([status, body.code], [400, 'validation_failed'], query);
  }
  const blank = await refusedImport({ ...target, headers: { 'idempotency-key': ' ' } }, line);
  assert.equal(blank.status, 400);
  const byGet = await app.inject({ url: '/api/v1/import', headers: { apikey: tenant.key } });
  assert.equal(byGet.statusCode, 403);
  assert.deepEqual((await read('/customers?externalId=REFUSED')).data, []);
});

test('an import counts as one request of its tenant', async () => {
  const limited = await startService({ RATE_LIMIT_PER_MINUTE: 1 });
  const limitedTarget = { port: await listen(limited.app), key: limited.tenant.key };
  const { summary } = await sendImport(limitedTarget, [customerLine('A'), customerLine('B')]);
  assert.equal(summary.created, 2);
  const { status, headers } = await refusedImport(limitedTarget);
  assert.equal(status, 429);
  assert.ok(Number(headers['retry-after']) > 0);
});

test('a malformed line is a 400 of its own, in the language of the client', async () => {
  const types = resources.map(({ name }) => name);
  const { results, summary } = await sendImport({ ...target, headers: { 'accept-language': 'de-DE' } }, [
    customerLine('BEFORE'),
    '{"type":"customer",',
    '[]',
    { data: {} },
    { type: 'tree', data: {} },
    { type: 'customer' },
    { type: 'customer', data: [] },
    '{"type":"customer","data":{"companyName":"\\u0000","address":{"__proto__":{}}}}',
    customerLine('AFTER'),
  ]);
  const fieldErrors = results.map(({ errors = [] }) =>
    errors.map(({ field, code }: { field: string; code: string }) => `${field}:${code}`),
  );
  assert.deepEqual(fieldErrors, [
    [],
    [':invalid_json'],
    [':type'],
    ['type:required'],
    ['type:invalid_choice'],
    ['data:required'],
    [':type'],
    [
      'companyName:invalid_text',
      'address.__proto__:forbidden_name',
      ...['streetName', 'houseNumber', 'zipCode', 'city'].map((name) => `address.${name}:required`),
    ],
    [],
  ]);
  assert.equal(results[1].errors[0].message, 'Zeile 2 muss ein JSON-Objekt sein.');
  assert.deepEqual(results[4].errors[0].params, { choices: types });
  assert.deepEqual([summary.created, summary.failed], [2, 7]);

  const opened = openImport(target);
  opened.request.end(Buffer.from('{"type":"customer","data":{"companyName":"M\xfcller"}}\n', 'latin1'));
  assert.equal((await opened.next()).errors[0].code, 'invalid_text');
});

test('a byte order mark, CRLF and a last line without a line break do no harm', async () => {
  const opened = openImport(target);
  const line = JSON.stringify({ type: 'customer', data: validCustomer });
  opened.request.end(`\ufeff${line}\r\n \t\r\n${line}`);
  const answers = await opened.rest();
  assert.deepEqual(
    answers.slice(0, -1).map(({ line, status }) => [line, status]),
    [
      [1, 201],
      [3, 201],
    ],
  );
});

test('a line that is too long is refused without being kept, and the rest goes on', async () => {
  const small = await startService({ BODY_LIMIT_BYTES: 1024 });
  const opened = openImport({ port: await listen(small.app), key: small.tenant.key });
  opened.send(customerLine('BEFORE'));
  const piece = 'x'.repeat(60_000);
  opened.request.write('{"type":"customer","data":{"companyName":"');
  for (let count = 0; count < 50; count++) opened.request.write(piece);
  opened.send('"}}');
  const exact = JSON.stringify(customerLine('AFTER', { address: { ...validAddress, city: '' } }));
  opened.send(exact.replace('"city":""', `"city":"${'y'.repeat(1024 - exact.length)}"`));
  opened.send(customerLine('LAST', { address: { ...validAddress, city: 'z'.repeat(1024) } }));
  opened.end();
  const answers = await opened.rest();
  assert.deepEqual(
    answers.slice(0, -1).map(({ line, status, code }) => [line, status, code]),
    [
      [1, 201, undefined],
      [2, 415, 'line_too_long'],
      [3, 201, undefined],
      [4, 415, 'line_too_long'],
    ],
  );
});

test('a known externalId is replaced, and a second version made only by a difference', async () => {
  const line = customerLine('UPSERT', { comment: 'first', customerNumber: 'K-1' });
  const { results: first } = await sendImport(target, [line]);
  const { id } = first[0];
  const { results, summary } = await sendImport(target, [
    line,
    customerLine('UPSERT', { customerNumber: 'K-1' }),
    customerLine('UPSERT', { customerNumber: 'K-1', comment: 'third' }),
    customerLine('OTHER', { customerNumber: 'K-1' }),
  ]);
  assert.deepEqual(
    results.slice(0, 3).map(({ status, id }) => [status, id]),
    [
      [200, id],
      [200, id],
      [200, id],
    ],
  );
  const { status, code, field, id: holder } = results[3];
  assert.deepEqual([status, code, field, holder], [409, 'conflict', 'customerNumber', id]);
  assert.deepEqual([summary.replaced, summary.unchanged, summary.failed], [2, 1, 1]);
  const stored = await read(`/customers/${id}`);
  assert.deepEqual([stored.version, stored.comment], [3, 'third']);

  const { rows } = await owner.query(
    'SELECT action, version, actor, changes FROM journal WHERE resource_id = $1 ORDER BY position',
    [id],
  );
  assert.deepEqual(
    rows.map(({ action, version }) => [action, version]),
    [
      ['CREATED', 1],
      ['CHANGED', 2],
      ['CHANGED', 3],
    ],
  );
  assert.deepEqual(rows[1].changes, { comment: { from: 'first' } });
  assert.equal(rows[1].actor, `key …${tenant.key.slice(-4)}`);
});

test('lines may name each other in any order, near and far', async () => {
  const filling = Array.from({ length: 1200 }, (_, index) => ({
    type: 'employee',
    data: { firstName: 'Jonas', lastName: `Harms ${index}` },
  }));
  const plant = { type: 'plant', data: { siteExternalId: 'FAR-SITE', botanicalName: 'Monstera deliciosa' } };
  const { results, summary } = await sendImport(target, [
    plant,
    siteLine('NEAR', { externalId: 'NEAR-SITE' }),
    customerLine('NEAR'),
    siteLine('FAR', { externalId: 'FAR-SITE' }),
    siteLine('NOWHERE'),
    siteLine('NOWHERE', { name: '' }),
    ...filling,
    customerLine('FAR'),
  ]);
  assert.deepEqual(
    results.slice(0, 2).map(({ line }) => line),
    [2, 3],
    'neighbours need not wait',
  );
  assert.deepEqual(
    results.slice(-4).map(({ line, status }) => [line, status]),
    [
      [4, 201],
      [5, 400],
      [6, 400],
      [1, 201],
    ],
    'who waited comes last, owners first',
  );
  const faultsOf = (line: number) =>
    results
      .find((result) => result.line === line)
      .errors.map(({ field, code }: { field: string; code: string }) => `${field}:${code}`);
  assert.deepEqual(faultsOf(5), ['customerExternalId:reference_not_found']);
  assert.deepEqual(faultsOf(6), ['name:blank', 'customerExternalId:reference_not_found']);
  assert.deepEqual([summary.created, summary.failed, summary.lines], [1205, 2, 1207]);
  const [site] = (await read('/sites?externalId=FAR-SITE')).data;
  assert.equal((await read(`/plants?siteId=${site.id}`)).data.length, 1);
});

test('only so much can wait for its owner', async () => {
  // 32 MB of lines that are almost as long as a line may be.
  const address = { ...validAddress, streetName: 'x'.repeat(100_000) };
  const strays = Array.from({ length: 400 }, () => siteLine('NOT-YET', { address }));
  const { results, summary } = await sendImport({ ...target, query: '?dryRun=true' }, [
    ...strays,
    ...Array.from({ length: 500 }, () => ({ type: 'customer', data: {} })),
    customerLine('NOT-YET'),
  ]);
  const refused = results.filter(({ status, line }) => status === 400 && line <= 400);
  assert.ok(refused.length > 50 && refused.length < 90, `${refused.length} were refused`);
  assert.equal(refused.at(-1).line, 400);
  assert.equal(summary.created, 401 - refused.length);
});

test('all or nothing: nothing is stored before the end, and everything at it', async () => {
  const opened = openImport({ ...target, query: '?mode=all-or-nothing' });
  opened.send(customerLine('ALL-1'));
  opened.send(siteLine('ALL-1', { externalId: 'ALL-SITE' }));
  const isStored = async () => (await read('/customers?externalId=ALL-1')).data.length === 1;
  const isWaiting = async () => {
    const { rowCount } = await owner.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction' AND query = 'RELEASE SAVEPOINT part'`,
    );
    return rowCount === 1;
  };
  while (!(await isWaiting())) await nextTurn();
  // If the open transaction held the journal, this would wait for its two seconds and fail.
  await createCustomer();
  assert.equal(await isStored(), false);
  opened.end();
  const answers = await opened.rest();
  assert.deepEqual(
    answers.slice(0, -1).map(({ line, status }) => [line, status]),
    [
      [1, 201],
      [2, 201],
    ],
  );
  assert.ok(await isStored());
  assert.equal((await read(`/sites/${answers[1].id}`)).externalId, 'ALL-SITE');
});

test('all or nothing: with one error nothing is stored, and only errors are listed', async () => {
  const journalLength = async () =>
    (await owner.query('SELECT count(*)::integer AS entries FROM journal')).rows[0].entries;
  const before = await journalLength();
  const { results, summary } = await sendImport({ ...target, query: '?mode=all-or-nothing' }, [
    customerLine('NONE-1'),
    { type: 'customer', data: {} },
    siteLine('NONE-1'),
    siteLine('NONE-2'),
  ]);
  assert.deepEqual(
    results.map(({ line, status, code }) => [line, status, code]),
    [
      [2, 400, 'validation_failed'],
      [4, 400, 'validation_failed'],
    ],
  );
  assert.deepEqual(summary, {
    lines: 4,
    created: 0,
    replaced: 0,
    unchanged: 0,
    deleted: 0,
    failed: 2,
    notStored: 2,
  });
  assert.deepEqual((await read('/customers?externalId=NONE-1')).data, []);
  assert.equal(await journalLength(), before);
});

test('a dry run answers alike and stores nothing, in both modes', async () => {
  const known = await createCustomer({ externalId: 'KNOWN' });
  const filling = Array.from({ length: 600 }, () => ({ type: 'customer', data: validCustomer }));
  for (const mode of ['each', 'all-or-nothing']) {
    const { results, summary } = await sendImport({ ...target, query: `?mode=${mode}&dryRun=true` }, [
      customerLine('DRY'),
      customerLine('KNOWN', { comment: 'new' }),
      ...filling,
      siteLine('DRY', { externalId: 'DRY-SITE' }),
    ]);
    const withoutAttention = ({ attention: _attention, ...result }: Record<string, unknown>) => result;
    const notes = { dryRun: true, ignoredFields: [] };
    assert.deepEqual(withoutAttention(results[0]), {
      ...{ line: 1, status: 201, type: 'customer', externalId: 'DRY' },
      ...notes,
    });
    assert.deepEqual(withoutAttention(results[1]), {
      ...{ line: 2, status: 200, type: 'customer', externalId: 'KNOWN', id: known },
      ...notes,
    });
    assert.deepEqual(withoutAttention(results.at(-1)), {
      ...{ line: 603, status: 201, type: 'site', externalId: 'DRY-SITE' },
      ...notes,
    });
    const counts = {
      lines: 603,
      created: 602,
      replaced: 1,
      unchanged: 0,
      deleted: 0,
      failed: 0,
      notStored: 0,
    };
    assert.deepEqual(summary, { ...counts, dryRun: true });
    assert.deepEqual((await read('/customers?externalId=DRY')).data, []);
    assert.equal((await read(`/customers/${known}`)).version, 1);
  }
});

test('a line of a dry run names what would need attention, as the dry run of a single object does', async () => {
  const data = {
    ...validSite(await createCustomer()),
    contractExternalId: 'NO-SUCH-CONTRACT',
    colour: 'red',
  };
  const single = await post('/customer/site?dryRun=true', data);
  const { results } = await sendImport({ ...target, query: '?dryRun=true' }, [
    { type: 'site', data },
    { type: 'site', data: { ...data, name: '' } },
    { type: 'site', action: 'delete', data: { externalId: 'NO-SUCH-SITE' } },
  ]);
  const fields = (entries: { field: string; code: string }[]) =>
    entries.map(({ field, code }) => `${field} ${code}`);
  const [sound, ...rejected] = results;
  assert.deepEqual(fields(sound.attention), fields(single.json().attention));
  assert.ok(fields(sound.attention).includes('contractExternalId pending_reference'));
  assert.deepEqual([sound.dryRun, sound.ignoredFields], [true, ['colour']]);
  for (const { status, attention } of rejected) assert.ok(status >= 400 && attention === undefined);
});

for (const mode of ['each', 'all-or-nothing']) {
  test(`the same lines under the same Idempotency-Key are stored once (${mode})`, async () => {
    const retried = { ...target, query: `?mode=${mode}`, headers: { 'idempotency-key': `file-1-${mode}` } };
    const known = `KEYED-${mode}`;
    const lines = [{ type: 'customer', data: validCustomer }, customerLine(known), siteLine(known)];
    const { results: first } = await sendImport(retried, lines);
    assert.deepEqual(
      first.map(({ status }) => status),
      [201, 201, 201],
    );
    // What somebody changed since is not changed back.
    await app.inject({
      method: 'PATCH',
      url: `/api/v1/customers/${first[1].id}`,
      headers: { apikey: tenant.key, 'content-type': 'application/json' },
      payload: { comment: 'by hand' },
    });
    const { results: second, summary } = await sendImport(retried, lines);
    assert.deepEqual(
      second,
      first.map((result) => ({ ...result, status: 200, replayed: true })),
    );
    assert.deepEqual([summary.created, summary.unchanged], [0, 3]);
    assert.equal((await read(`/customers/${first[1].id}`)).comment, 'by hand');
  });
}

test('a line that was refused can be corrected under the same key, and another line cannot take its place', async () => {
  const keyed = { ...target, headers: { 'idempotency-key': 'file-2' } };
  const good = { type: 'customer', data: validCustomer };
  const { results: first } = await sendImport(keyed, [good, siteLine('MISSING')]);
  assert.deepEqual(
    first.map(({ status }) => status),
    [201, 400],
  );
  const { results: second } = await sendImport(keyed, [customerLine('MISSING'), good]);
  assert.deepEqual(
    second.map(({ status, code }) => [status, code]),
    [
      [422, 'idempotency_key_reused'],
      [201, undefined],
    ],
  );
});

test('two imports with the same key do not run side by side', async () => {
  const keyed = { ...target, headers: { 'idempotency-key': 'file-3' } };
  const opened = openImport(keyed);
  opened.send(customerLine('SIDE'));
  assert.equal((await opened.next()).status, 201);
  const { status, body } = await refusedImport(keyed, JSON.stringify(customerLine('SIDE')));
  assert.deepEqual([status, body.code], [409, 'request_in_progress']);
  opened.end();
  await opened.rest();
  const { results } = await sendImport(keyed, [customerLine('SIDE')]);
  assert.equal(results[0].replayed, true);
});

test('tenants share neither external ids nor owners nor keys', async () => {
  const stranger = await createTenant('Blatt & Co.');
  const strange = { port, key: stranger.key, headers: { 'idempotency-key': 'shared' } };
  const own = { ...target, headers: { 'idempotency-key': 'shared' } };
  const { results: ours } = await sendImport(own, [customerLine('SHARED')]);
  const { results: theirs } = await sendImport(strange, [
    customerLine('SHARED'),
    siteLine('ALL-1'),
    { type: 'site', data: validSite(ours[0].id) },
    { type: 'site', data: validSite('0198c0de-0000-7000-8000-000000000001') },
  ]);
  assert.deepEqual(
    theirs.map(({ line, status }) => [line, status]),
    [
      [1, 201],
      [3, 400],
      [4, 400],
      [2, 400],
    ],
  );
  assert.notEqual(theirs[0].id, ours[0].id);
  assert.deepEqual({ ...theirs[1], line: 4 }, theirs[2], 'a stranger looks like nobody');
  const { rows } = await owner.query('SELECT tenant_id, position FROM journal WHERE tenant_id = $1', [
    stranger.tenantId,
  ]);
  assert.deepEqual(rows, [{ tenant_id: stranger.tenantId, position: '1' }]);
});
