// The client against the real service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStamm, StammError, type StammResponse } from '../../client/src/index.ts';
import { listen } from '../helpers/raw-client.ts';
import { startService, validAddress, validCustomer, validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { openUnreliableProxy } from './unreliable-proxy.ts';

const service = await startService();
const baseUrl = `http://127.0.0.1:${await listen(service.app)}`;
const proxy = await openUnreliableProxy(Number(new URL(baseUrl).port));

async function openClient(more: object = {}) {
  const { key: apiKey } = await service.createTenant();
  return createStamm({ baseUrl, apiKey, ...more });
}

test('an object is created, read, changed, replaced and deleted', async () => {
  const stamm = await openClient();
  const { id } = await stamm.customers.create({ ...validCustomer, externalId: 'K-1', comment: 'x' });
  const customer = await stamm.customers.get(id);
  assert.deepEqual([customer.companyName, customer.version], [validCustomer.companyName, 1]);
  const merged = await stamm.customers.merge(id, { comment: null, phone: '+49 40 1' });
  assert.deepEqual([merged.comment, merged.phone, merged.version], [undefined, '+49 40 1', 2]);
  const replaced = await stamm.customers.replace('K-1', { ...validCustomer, companyName: 'Neu GmbH' });
  assert.equal(replaced.id, id);
  assert.equal((await stamm.customers.get(id)).phone, undefined);
  await stamm.customers.delete(id);
  await assert.rejects(stamm.customers.get(id), { status: 404, code: 'not_found' });
});

test('the base address may end in /api/v1', async () => {
  const stamm = await openClient({ baseUrl: `${baseUrl}/api/v1/` });
  assert.equal((await stamm.employees.page()).data.length, 0);
});

test('a list of a search with too many matches fails instead of ending early', async () => {
  const { tenantId, key: apiKey } = await service.createTenant();
  const stamm = createStamm({ baseUrl, apiKey });
  const { id } = await stamm.customers.create(validCustomer);
  await service.owner.query(
    `INSERT INTO search_word (tenant_id, resource, word, id)
     SELECT $1, 'customer:detail', 'zz' || number, $2 FROM generate_series(1, 100001) AS number`,
    [tenantId, id],
  );
  const page = await stamm.customers.page({ q: 'zz', count: true });
  assert.deepEqual([page.total, page.truncated], [null, true]);
  await assert.rejects(Array.fromAsync(stamm.customers.list({ q: 'zz' })), { code: 'too_many_matches' });
});

test('an error carries status, code, every invalid field and the request id', async () => {
  const stamm = await openClient({ language: 'de' });
  const body = { companyName: '', address: { ...validAddress, zipCode: '' } };
  const error = await stamm.customers.create(body).catch((error) => error);
  assert.ok(error instanceof StammError);
  assert.deepEqual([error.status, error.code], [400, 'validation_failed']);
  assert.deepEqual(
    error.errors.map(({ field }) => field),
    ['companyName', 'address.zipCode'],
  );
  assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
  assert.match(error.message, /^400 validation_failed: Ungültige Daten/);
});

test('a conflict names the object that holds the value', async () => {
  const stamm = await openClient();
  const { id } = await stamm.customers.create({ ...validCustomer, externalId: 'K-1' });
  const error = await stamm.customers.create({ ...validCustomer, externalId: 'K-1' }).catch((error) => error);
  assert.deepEqual([error.status, error.code, error.details.id], [409, 'conflict', id]);
});

test('an answer that is not from Stamm is an error with its status', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl, maxRetries: 0 });
  proxy.failures.push({ status: 502, body: '<h1>Bad Gateway</h1>' });
  await assert.rejects(stamm.sites.page(), { status: 502, code: 'unexpected_answer' });
});

test('an answer that is cut is asked for again, and one of another service is an error', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl, maxRetries: 1 });
  const cut = { 'content-length': '1000', connection: 'close' };
  proxy.failures.push({ status: 200, headers: cut, body: '{"data":[' });
  assert.deepEqual((await stamm.employees.page()).data, []);
  proxy.failures.push({ status: 200, body: '<h1>Sign in</h1>' });
  await assert.rejects(stamm.employees.page(), { status: 200, code: 'unexpected_answer' });
  proxy.failures.push({ status: 200, body: '<h1>Sign in</h1>\n' });
  await assert.rejects(stamm.import([]).finish(), { status: 200, code: 'unexpected_answer' });
});

test('the program sees ignored fields, whether a write changed anything, and calls that will end', async () => {
  const seen: StammResponse[] = [];
  const onResponse = (response: StammResponse) => void seen.push(response);
  const stamm = await openClient({ baseUrl: proxy.baseUrl, onResponse });
  const body = { ...validCustomer, ['größe, m²' as 'comment']: 'x' };
  await stamm.customers.replace('K-1', body);
  await stamm.customers.replace('K-1', body);
  assert.deepEqual(
    seen.map(({ method, path, status, isChanged }) => `${method} ${path} ${status} ${isChanged}`),
    ['PUT /customers/by-external-id/K-1 201 true', 'PUT /customers/by-external-id/K-1 200 false'],
  );
  assert.deepEqual(seen[0]!.ignoredFields, ['größe, m²']);
  assert.match(seen[0]!.requestId ?? '', /^[0-9a-f-]{36}$/);
  const ending = { deprecation: '@1798761600', sunset: 'Sat, 01 Jan 2028 00:00:00 GMT' };
  proxy.failures.push({ status: 200, headers: ending, body: '{"data":[],"nextCursor":null}' });
  await stamm.sites.page();
  const { isChanged, ignoredFields, deprecation, sunset } = seen.at(-1)!;
  assert.deepEqual([isChanged, ignoredFields, { deprecation, sunset }], [undefined, [], ending]);
});

test('a dry run stores nothing, and says what needs attention', async () => {
  const stamm = await openClient();
  const customerId = (await stamm.customers.create(validCustomer)).id;
  const address = { ...validAddress, zipCode: '99999', city: 'Nirgendheim' };
  const { attention } = await stamm.sites.create({ ...validSite(customerId), address }, { dryRun: true });
  assert.deepEqual(
    attention.map(({ code }) => code),
    ['no_position'],
  );
  assert.equal((await stamm.sites.page({ count: true })).total, 0);
});

test('a list yields every object over all pages, and reads no page before the loop gets there', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  for (let number = 1; number <= 5; number += 1)
    await stamm.employees.create({ firstName: 'Jonas', lastName: `Harms ${number}` });
  const before = proxy.seen.length;
  const names: string[] = [];
  for await (const employee of stamm.employees.list({ limit: 2, sort: 'name' })) {
    names.push(employee.lastName);
    if (names.length === 2) assert.equal(proxy.seen.length - before, 1);
  }
  assert.deepEqual(
    names,
    [1, 2, 3, 4, 5].map((number) => `Harms ${number}`),
  );
  assert.equal(proxy.seen.length - before, 3);
});

test('visits come over all pages in the order of days, with the included objects', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const customerId = (await stamm.customers.create(validCustomer)).id;
  const attendingIntervals = [{ frequency: 'DAILY', durationInMinutes: 30 }];
  await stamm.sites.create({ ...validSite(customerId), attendingIntervals });
  const before = proxy.seen.length;
  const query = { from: '2026-11-16', until: '2026-11-20', include: 'site', limit: 2 } as const;
  const visits: string[] = [];
  for await (const { date, site, status, conflicts } of stamm.visits.list(query))
    visits.push(`${date} ${site?.name} ${status} ${conflicts}`);
  assert.deepEqual(
    visits,
    [16, 17, 18, 19, 20].map((day) => `2026-11-${day} Lobby PLANNED no_employee`),
  );
  assert.equal(proxy.seen.length - before, 3);
  assert.equal((await stamm.visits.page(query)).data.length, 2);
  await assert.rejects(stamm.visits.page({ from: '2026-01-01', until: '2026-12-31' }), {
    code: 'validation_failed',
  });
});

test('a version that was changed meanwhile is not overwritten', async () => {
  const stamm = await openClient();
  const { id } = await stamm.customers.create(validCustomer);
  await stamm.customers.merge(id, { comment: 'office' });
  await assert.rejects(stamm.customers.merge(id, { comment: 'erp' }, { ifVersion: 1 }), {
    code: 'version_mismatch',
  });
  assert.equal((await stamm.customers.merge(id, { comment: 'erp' }, { ifVersion: 2 })).comment, 'erp');
});

test('a creation whose answer is lost is repeated with the same key, and creates one object', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const before = proxy.seen.length;
  proxy.failures.push('cut-answer', 'cut-answer');
  const { id } = await stamm.customers.create(validCustomer);
  const keys = proxy.seen.slice(before).map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  const { data } = await stamm.customers.page();
  assert.deepEqual(
    data.map((customer) => customer.id),
    [id],
  );
});

test('a deletion whose answer is lost succeeds', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const { id } = await stamm.customers.create(validCustomer);
  proxy.failures.push('cut-answer');
  await stamm.customers.delete(id);
  await assert.rejects(stamm.customers.delete(id), { code: 'not_found' });
});

test('a change of a version is not repeated where it may have been carried out', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const { id } = await stamm.customers.create(validCustomer);
  proxy.failures.push('cut-answer');
  await assert.rejects(stamm.customers.merge(id, { comment: 'x' }, { ifVersion: 1 }), {
    status: 0,
    code: 'connection_failed',
  });
  assert.equal((await stamm.customers.get(id)).version, 2);
});

const limited = (retryAfter: string) => ({
  status: 429,
  headers: { 'Retry-After': retryAfter, 'Content-Type': 'application/json' },
  body: JSON.stringify({ message: 'Too many requests.', code: 'rate_limited', requestId: 'x' }),
});

test('a rate limit is waited for as long as the service asks', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const before = proxy.seen.length;
  proxy.failures.push(limited('1'));
  await stamm.sites.page();
  const [first, second] = proxy.seen.slice(before);
  // Timers may be early by a fraction of a millisecond.
  assert.ok(second!.atMs - first!.atMs > 990);
});

test('a service that asks for more than two minutes is not waited for', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  proxy.failures.push(limited('3600'));
  await assert.rejects(stamm.sites.page(), { status: 429, code: 'rate_limited' });
});

test('other refusals are not repeated', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const before = proxy.seen.length;
  await assert.rejects(stamm.sites.get('nothing'), { status: 404 });
  assert.equal(proxy.seen.length - before, 1);
});

test('an aborted call ends with the reason of its signal', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const abort = new AbortController();
  proxy.failures.push(limited('60'));
  const before = proxy.seen.length;
  const call = stamm.sites.page({}, { signal: abort.signal });
  await until('the request arrives', () => proxy.seen.length > before);
  abort.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
});

const customerLine = (externalId: string, more: object = {}) =>
  ({ type: 'customer', data: { ...validCustomer, externalId, ...more } }) as const;

test('an import yields the result of a line before the next line is sent', async () => {
  const stamm = await openClient();
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  async function* lines() {
    yield customerLine('K-1');
    await answered;
    yield customerLine('K-2', { companyName: '' });
  }
  const run = stamm.import(lines());
  const first = await run.next();
  assert.deepEqual([first.value, first.done], [{ line: 1, status: 201, ...idOf(first.value) }, false]);
  resolve();
  const second = await run.next();
  assert.ok(!second.done && second.value.errors?.[0]?.field === 'companyName');
  const end = await run.next();
  assert.ok(end.done);
  assert.deepEqual([end.value.created, end.value.failed], [1, 1]);
});

function idOf(result: object): object {
  const { line: _line, status: _status, ...rest } = result as { line: number; status: number };
  return rest;
}

test('an import with a wrong key says so, although fetch may hide a 401 from a stream', async () => {
  const hiding: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (response.status === 401 && init?.body) throw new TypeError('fetch failed');
    return response;
  };
  const stamm = createStamm({ baseUrl, apiKey: 'unknown', fetch: hiding });
  await assert.rejects(stamm.import([customerLine('K-1')]).finish(), { status: 401, code: 'key_malformed' });
});

test('an import that breaks off is sent again, stores each line once, and yields each result once', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  const lines = Array.from({ length: 300 }, (_, number) => customerLine(`K-${number}`));
  const before = proxy.seen.length;
  proxy.failures.push('cut-middle');
  const results: number[] = [];
  const run = stamm.import(lines);
  for await (const { line, status } of run) {
    assert.ok(status === 200 || status === 201, String(status));
    results.push(line);
  }
  assert.ok(proxy.seen.length - before >= 2);
  assert.deepEqual(
    results.toSorted((one, other) => one - other),
    lines.map((_, number) => number + 1),
  );
  assert.equal((await stamm.customers.page({ count: true })).total, 300);
});

test('lines that cannot be read again are not sent again', async () => {
  const stamm = await openClient({ baseUrl: proxy.baseUrl });
  // Some of them may have been read before the refusal.
  proxy.failures.push(limited('0'));
  const refused = stamm.import(new Set([customerLine('K-1')]).values());
  await assert.rejects(refused.finish(), { status: 429 });
  proxy.failures.push('cut-middle');
  const lines = new Set([customerLine('K-1')]).values();
  await assert.rejects(stamm.import(lines).finish(), { code: 'connection_failed' });
});

test('all or nothing: the summary says that nothing was stored', async () => {
  const stamm = await openClient();
  const lines = [customerLine('K-1'), customerLine('K-2', { companyName: '' })];
  const summary = await stamm.import(lines, { mode: 'all-or-nothing' }).finish();
  assert.deepEqual([summary.created, summary.failed, summary.notStored], [0, 1, 1]);
});

test('a follower goes on behind what it has handled, and is ended by its signal', async () => {
  const stamm = await openClient();
  for (const number of [1, 2, 3]) await stamm.employees.create({ firstName: 'A', lastName: `${number}` });
  let kept: string | undefined;
  const cursor = {
    load: () => kept,
    save: (place: string) => {
      kept = place;
    },
  };
  const abort = new AbortController();
  const options = { cursor, pollSeconds: 0.01, signal: abort.signal };

  const first: string[] = [];
  for await (const change of stamm.changes.follow(options)) {
    if (first.length === 1) break;
    first.push(change.id);
  }
  assert.ok(kept, 'the place is kept when the loop is left');

  const second: string[] = [];
  for await (const change of stamm.changes.follow(options)) {
    second.push(change.id);
    if (second.length === 2) await stamm.employees.create({ firstName: 'A', lastName: '4' });
    if (second.length === 3) abort.abort();
  }
  const all = await Array.fromAsync(stamm.changes.list({ limit: 2 }), ({ id }) => id);
  assert.deepEqual([...first, ...second], all);
  assert.equal(kept, (await stamm.changes.page({ after: kept! })).nextCursor);
});
