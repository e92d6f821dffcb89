// Import lines that merge, create or delete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress, validCustomer } from '../../helpers/service.ts';
import { type Answer, sendImport } from './import-client.ts';

const service = await startService();
const { get, createTenant } = service;
const port = await listen(service.app);

const customer = (externalId: string, more: object = {}) => ({ ...validCustomer, externalId, ...more });
const site = (externalId: string, customerExternalId: string) => ({
  externalId,
  customerExternalId,
  name: 'Lobby',
  address: validAddress,
  needsAppointment: true,
  hasKey: false,
});
const remove = (type: string, externalId: string, more: object = {}) => ({
  type,
  action: 'delete',
  data: { externalId },
  ...more,
});

async function startBusiness() {
  const { key } = await createTenant();
  const send = (lines: readonly unknown[], query = '', headers: Record<string, string> = {}) =>
    // In one piece: lines that are close together share a chunk.
    sendImport({ port, key, query, headers }, [lines.map(toText).join('\n')]);
  const read = async (path: string): Promise<Answer[]> =>
    (await get(path, { headers: { apikey: key } })).json().data;
  await send([
    { type: 'customer', data: customer('K-1', { comment: 'kept', phone: '1' }) },
    { type: 'customer', data: customer('K-2') },
    { type: 'site', data: site('S-1', 'K-1') },
    { type: 'site', data: site('S-2', 'K-1') },
  ]);
  return { key, send, read };
}

function toText(line: unknown): string {
  return typeof line === 'string' ? line : JSON.stringify(line);
}

function statusesOf(results: readonly Answer[]): unknown[] {
  return results.map(({ status, code }) => code ?? status);
}

test('a merge keeps unnamed fields, creates a complete object, and otherwise lists the missing fields', async () => {
  const { send, read } = await startBusiness();
  const { results, summary } = await send([
    { type: 'customer', action: 'merge', data: { externalId: 'K-1', phone: '2' } },
    { type: 'customer', action: 'merge', data: { externalId: 'K-1', phone: null } },
    { type: 'customer', action: 'merge', data: { externalId: 'K-1', comment: 'kept' } },
    { type: 'customer', action: 'merge', data: customer('K-3') },
    { type: 'customer', action: 'merge', data: { externalId: 'K-4', phone: '2' } },
    { type: 'customer', action: 'merge', data: { phone: '2' } },
    { type: 'customer', action: 'merge', data: { externalId: 'K-2', companyName: null } },
    { type: 'site', action: 'merge', data: { externalId: 'S-1', customerExternalId: 'K-2' } },
  ]);
  const invalid = 'validation_failed';
  assert.deepEqual(statusesOf(results), [200, 200, 200, 201, invalid, invalid, invalid, 200]);
  assert.deepEqual(
    [summary.replaced, summary.unchanged, summary.created, summary.failed, summary.deleted],
    [3, 1, 1, 3, 0],
  );
  assert.deepEqual(
    [results[4].errors[0].field, results[5].errors[0].field, results[6].errors[0].field],
    ['companyName', 'externalId', 'companyName'],
  );
  const [stored] = await read('/customers?externalId=K-1');
  assert.deepEqual([stored.comment, stored.phone, stored.version], ['kept', undefined, 3]);
  const [moved] = await read('/sites?externalId=S-1&include=externalIds');
  assert.deepEqual([moved.customerExternalId, moved.name], ['K-2', 'Lobby']);
});

test('a creation of a known external id is an error of its line', async () => {
  const { send, read } = await startBusiness();
  const [known] = await read('/customers?externalId=K-1');
  const { results } = await send([
    { type: 'customer', action: 'create', data: customer('K-1', { comment: 'lost' }) },
    { type: 'customer', action: 'create', data: customer('K-5') },
    { type: 'customer', action: 'create', data: customer('K-5', { comment: 'second' }) },
  ]);
  assert.deepEqual(statusesOf(results), ['conflict', 201, 'conflict']);
  assert.deepEqual([results[0].id, results[0].field], [known.id, 'externalId']);
  assert.equal((await read('/customers?externalId=K-1'))[0].comment, 'kept');
});

test('a deletion names its object by either id, and fails for unknown ones and for dependants', async () => {
  const { send, read } = await startBusiness();
  const [second] = await read('/sites?externalId=S-2');
  const { results, summary } = await send([
    remove('site', 'S-1'),
    { type: 'site', action: 'delete', data: { id: second.id.toUpperCase() } },
    remove('site', 'S-1'),
    remove('site', 'unknown'),
    { type: 'site', action: 'delete', data: { id: second.id } },
    { type: 'site', action: 'delete', data: {} },
    { type: 'site', action: 'delete', data: { id: 'x' } },
    { type: 'site', action: 'delete', data: { externalId: 5 } },
  ]);
  const invalid = 'validation_failed';
  const missing = 'not_found';
  assert.deepEqual(statusesOf(results), [200, 200, missing, missing, missing, invalid, invalid, invalid]);
  assert.deepEqual([results[1].id, results[1].type, summary.deleted], [second.id, 'site', 2]);
  assert.deepEqual([results[0].externalId, results[3].externalId], ['S-1', 'unknown']);
  assert.match(results[5].errors[0].message, /externalId or id/);
  assert.deepEqual(await read('/sites'), []);

  const refused = await startBusiness();
  const { results: kept } = await refused.send([remove('customer', 'K-1'), remove('customer', 'K-2')]);
  assert.deepEqual(statusesOf(kept), ['has_dependants', 200]);
  assert.deepEqual([kept[0].status, kept[0].dependants[0].count], [409, 2]);
});

test('dependants and owners are deleted together in any order, or by a cascade that lists them', async () => {
  const { send, read } = await startBusiness();
  const together = await send([remove('customer', 'K-1'), remove('site', 'S-1'), remove('site', 'S-2')]);
  assert.deepEqual(statusesOf(together.results), [200, 200, 200]);

  const other = await startBusiness();
  const [one, two] = await other.read('/sites');
  const { results } = await other.send([
    remove('customer', 'K-1', { cascade: true }),
    remove('customer', 'K-2', { cascade: true }),
  ]);
  assert.deepEqual(results[0].deleted, [
    { resource: 'site', ids: [one.id, two.id] },
    { resource: 'customer', ids: [results[0].id] },
  ]);
  assert.deepEqual(results[1].deleted, [{ resource: 'customer', ids: [results[1].id] }]);
  for (const path of ['/customers', '/sites']) assert.deepEqual(await other.read(path), []);
  assert.equal((await read('/customers')).length, 1);
});

test('lines of one object take effect in their order, with any actions', async () => {
  const { send, read } = await startBusiness();
  const { results } = await send([
    remove('customer', 'K-2'),
    { type: 'customer', data: customer('K-2', { comment: 'again' }) },
    { type: 'customer', action: 'merge', data: { externalId: 'K-2', phone: '3' } },
    remove('customer', 'K-1', { cascade: true }),
    { type: 'site', data: site('S-1', 'K-1') },
    { type: 'customer', data: customer('K-1') },
    { type: 'customer', data: customer('K-6') },
    remove('customer', 'K-6'),
  ]);
  assert.deepEqual(statusesOf(results), [200, 201, 200, 200, 201, 201, 201, 200]);
  const [again] = await read('/customers?externalId=K-2');
  assert.deepEqual([again.comment, again.phone, again.version], ['again', '3', 2]);
  assert.equal((await read('/sites?customerExternalId=K-1')).length, 1);
  assert.deepEqual(await read('/customers?externalId=K-6'), []);
});

test('all or nothing stores nothing if one action fails, and a dry run never does', async () => {
  const { send, read } = await startBusiness();
  const lines = [
    remove('customer', 'K-1', { cascade: true }),
    { type: 'customer', action: 'merge', data: { externalId: 'K-2', phone: '3' } },
    { type: 'customer', action: 'create', data: customer('K-9') },
  ];
  const before = [await read('/customers'), await read('/sites')];
  const failed = await send([...lines, remove('site', 'unknown')], '?mode=all-or-nothing');
  assert.deepEqual([failed.summary.failed, failed.summary.notStored, failed.summary.deleted], [1, 3, 0]);
  assert.deepEqual(statusesOf(failed.results), ['not_found']);
  for (const query of ['?dryRun=true', '?dryRun=true&mode=all-or-nothing']) {
    const tried = await send(lines, query);
    assert.deepEqual(statusesOf(tried.results), [200, 200, 201]);
    assert.equal(tried.summary.deleted, 1);
  }
  assert.deepEqual([await read('/customers'), await read('/sites')], before);
  const stored = await send(lines, '?mode=all-or-nothing');
  assert.deepEqual(statusesOf(stored.results), [200, 200, 201]);
  assert.deepEqual(await read('/sites'), []);
});

test('lines that are repeated under the same Idempotency-Key are not carried out again', async () => {
  const { send, read } = await startBusiness();
  const headers = { 'idempotency-key': 'nightly' };
  const lines = [
    remove('site', 'S-1'),
    { type: 'customer', action: 'merge', data: { externalId: 'K-2', phone: '3' } },
    { type: 'customer', action: 'create', data: customer('K-9') },
    remove('site', 'unknown'),
  ];
  const first = await send(lines, '', headers);
  assert.deepEqual(statusesOf(first.results), [200, 200, 201, 'not_found']);
  await send([{ type: 'site', data: site('S-1', 'K-1') }]);
  const second = await send(lines, '', headers);
  assert.deepEqual(
    second.results.map(({ replayed }) => replayed),
    [true, true, true, undefined],
  );
  assert.equal(second.results[0].id, first.results[0].id);
  assert.equal((await read('/sites?externalId=S-1')).length, 1);
});

test('a faulty line is called a line, and results name the type and external id where they can', async () => {
  const { send } = await startBusiness();
  const { results } = await send([
    'nonsense',
    '[1]',
    { type: 'customer', action: 'upsert', data: { externalId: 'K-1' } },
    { type: 'customer', action: 'delete', cascade: 'yes', data: { externalId: 'K-1' } },
    { type: 'tree', data: { externalId: 'T-1' } },
    { type: 'customer', data: { externalId: 'x'.repeat(101) } },
    { type: 'customer', cascade: true, data: customer('K-1') },
  ]);
  assert.equal(results[0].errors[0].message, 'Line 1 must be a JSON object.');
  assert.equal(results[1].errors[0].code, 'type');
  assert.doesNotMatch(results[1].errors[0].message, /body/);
  assert.deepEqual(
    results
      .slice(2, 5)
      .map(({ errors, type, externalId }) => [errors[0].field, errors[0].code, type, externalId]),
    [
      ['action', 'invalid_choice', 'customer', 'K-1'],
      ['cascade', 'type', 'customer', 'K-1'],
      ['type', 'invalid_choice', undefined, 'T-1'],
    ],
  );
  assert.deepEqual([results[5].type, results[5].externalId], ['customer', undefined]);
  assert.deepEqual(results[6].ignoredFields, ['cascade']);
});

test('a version that no object can have is rejected; other actions ignore it', async () => {
  const { send, read } = await startBusiness();
  const [{ id, externalId, companyName, address }] = await read('/customers?externalId=K-2');
  const versions = [0, -3_000_000_000, 3_000_000_000, 1.5, '1', null];
  const { results } = await send([
    ...versions.map((version) => ({ type: 'customer', action: 'merge', version, data: { id, phone: '4' } })),
    { type: 'customer', version: -1, data: { externalId, companyName, address } },
  ]);
  assert.deepEqual(statusesOf(results), [...versions.map(() => 'validation_failed'), 200]);
  assert.equal(results[0].errors[0].field, 'version');
  assert.deepEqual(results.at(-1).ignoredFields, ['version']);
});

test('a repeated line is answered as the first time, also after somebody has changed the same field', async () => {
  const { send, read, key } = await startBusiness();
  const [{ id }] = await read('/customers?externalId=K-2');
  const line = { type: 'customer', action: 'merge', version: 1, data: { id, phone: '4' } };
  const repeat = () => send([line], '', { 'idempotency-key': 'same' });
  assert.deepEqual(statusesOf((await repeat()).results), [200]);
  const { results } = await send([{ type: 'customer', action: 'merge', data: { id, phone: '5' } }]);
  assert.deepEqual(statusesOf(results), [200]);
  assert.deepEqual(
    (await repeat()).results.map(({ status, replayed }) => [status, replayed]),
    [[200, true]],
  );
  // Without the key it is a request of its own, and a field that changed since is not overwritten.
  const { results: rejected } = await sendImport({ port, key }, [line]);
  assert.deepEqual([rejected[0].status, rejected[0].field], [412, 'phone']);
  assert.equal((await read('/customers?externalId=K-2'))[0]!.phone, '5');
});

test('another tenant cannot delete or merge into an object', async () => {
  const { read } = await startBusiness();
  const { key } = await createTenant();
  const [victim] = await read('/customers?externalId=K-2');
  const { results } = await sendImport({ port, key }, [
    { type: 'customer', action: 'delete', cascade: true, data: { id: victim.id } },
    remove('customer', 'K-2', { cascade: true }),
    { type: 'customer', action: 'merge', data: { externalId: 'K-2', phone: '3' } },
  ]);
  assert.deepEqual(statusesOf(results), ['not_found', 'not_found', 'validation_failed']);
  assert.deepEqual(await read('/customers?externalId=K-2'), [victim]);
});

const count = 200;
const numbers = Array.from({ length: count }, (_, index) => index);

/** Statements of the longest transaction: other work of the service takes shorter ones. */
async function countLongestTransaction(run: () => Promise<unknown>): Promise<number> {
  const { query } = pg.Client.prototype;
  const counts = new Map<pg.Client, number>();
  let longest = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
    const [statement] = parameters as [string | pg.QueryConfig];
    const text = typeof statement === 'string' ? statement : statement.text;
    // Statistics are refreshed now and then, as tables grow.
    const isCounted = !text.includes('refresh_statistics');
    const count = text.startsWith('BEGIN') ? 1 : (counts.get(this) ?? 0) + Number(isCounted);
    counts.set(this, count);
    if (text.startsWith('COMMIT')) longest = Math.max(longest, count);
    return Reflect.apply(query, this, parameters);
  } as typeof query;
  try {
    await run();
  } finally {
    pg.Client.prototype.query = query;
  }
  return longest;
}

test('merges, creations, deletions and cascades take as many statements for 200 lines as for two', async () => {
  const actions: Record<string, (index: number) => object> = {
    create: (index) => ({ type: 'customer', action: 'create', data: customer(`N-${index}`) }),
    merge: (index) => ({ type: 'customer', action: 'merge', data: { externalId: `N-${index}`, phone: '9' } }),
    'delete and create': (index) =>
      index % 2 === 0 ? remove('customer', `N-${index}`) : { type: 'customer', data: customer(`M-${index}`) },
    delete: (index) => remove('customer', `N-${index}`),
    cascade: (index) => remove('customer', `N-${index}`, { cascade: true }),
  };
  for (const [action, toLine] of Object.entries(actions)) {
    const { key } = await createTenant();
    const lines = numbers.map((index) => JSON.stringify(toLine(index)));
    if (action !== 'create') {
      const objects = numbers.map((index) => ({ type: 'customer', data: customer(`N-${index}`) }));
      await sendImport({ port, key }, [objects.map((one) => JSON.stringify(one)).join('\n')]);
    }
    const send = async (some: readonly string[]) => {
      const { summary } = await sendImport({ port, key }, [some.join('\n')]);
      assert.deepEqual([summary.failed, summary.lines], [0, some.length], action);
    };
    const few = await countLongestTransaction(() => send(lines.slice(0, 2)));
    const many = await countLongestTransaction(() => send(lines.slice(2)));
    assert.ok(few > 3, `${action}: ${few} statements`);
    assert.ok(many <= few, `${action}: ${many} statements instead of ${few}`);
  }
});
