// A nightly run with revive=false leaves alone what the office has deleted.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { externalIdName } from '../../../server/engine/definition/fields.ts';
import { resources } from '../../../server/resources/index.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { owner, get, patch, post, put } = service;
const port = await listen(service.app);

type Answered = Awaited<ReturnType<typeof put>>;

function assertDeleted(answer: Answered, id: string): void {
  const { code, field, id: toRestore } = answer.json();
  assert.deepEqual(
    [answer.statusCode, code, field, toRestore],
    [409, 'deleted', 'externalId', id],
    answer.body,
  );
}

async function deleteCustomer(externalId: string = randomUUID()) {
  const id = await service.createCustomer({ externalId });
  assert.equal((await service.delete(`/customers/${id}`)).statusCode, 204);
  return { id, externalId, path: `/customers/by-external-id/${externalId}` };
}

const ways: Record<string, (path: string) => Promise<Answered>> = {
  PUT: (path) => put(path, validCustomer),
  PATCH: (path) => patch(path, validCustomer),
};

for (const [method, send] of Object.entries(ways)) {
  test(`${method} with revive=false rejects a deleted external id, and creates a new one`, async () => {
    const { id, path } = await deleteCustomer();
    assertDeleted(await send(`${path}?revive=false`), id);
    assertDeleted(await send(`${path}?revive=false&dryRun=true`), id);
    assert.equal((await get(path)).statusCode, 404);
    const unknown = `/customers/by-external-id/${randomUUID()}?revive=false`;
    assert.equal((await send(unknown)).statusCode, 201);
    assert.equal((await send(unknown)).statusCode, 200);
    assert.equal((await send(`${path}?revive=no`)).statusCode, 400);
  });

  test(`${method} creates a deleted external id again by default`, async () => {
    const { id, path } = await deleteCustomer();
    const revived = await send(path);
    assert.equal(revived.statusCode, 201, revived.body);
    assert.notEqual(revived.json().id, id);
  });

  test(`${method}: a restored object is known again`, async () => {
    const { id, path } = await deleteCustomer();
    assert.equal((await post(`/customers/${id}/restore`, '', { headers: {} })).statusCode, 200);
    assert.equal((await send(`${path}?revive=false`)).statusCode, 200);
  });
}

test('of requests that arrive together, each gets its own answer', async () => {
  const deleted = await Promise.all(Array.from({ length: 20 }, () => deleteCustomer()));
  const answers = await Promise.all(
    deleted.flatMap(({ path }) => [
      put(`${path}?revive=false`, validCustomer),
      put(`/customers/by-external-id/${randomUUID()}?revive=false`, validCustomer),
    ]),
  );
  deleted.forEach(({ id }, index) => {
    assertDeleted(answers[2 * index]!, id);
    assert.equal(answers[2 * index + 1]!.statusCode, 201);
  });
});

test('the newest deletion is named, another tenant sees none, and the bin forgets after 30 days', async () => {
  const { externalId, path } = await deleteCustomer();
  const { id } = await deleteCustomer(externalId);
  assertDeleted(await put(`${path}?revive=false`, validCustomer), id);
  const { key } = await service.createTenant();
  const foreign = await put(`${path}?revive=false`, validCustomer, { headers: { apikey: key } });
  assert.equal(foreign.statusCode, 201, foreign.body);
  await owner.query(
    "UPDATE deleted_object SET deleted_at = now() - interval '31 days' WHERE external_id = $1",
    [externalId],
  );
  assert.equal((await put(`${path}?revive=false`, validCustomer)).statusCode, 201);
});

test('every resource is found in the bin, also one that went with its owner', async () => {
  const externalIds = resources.map(({ name }) => `${name}-${randomUUID()}`);
  const named = (name: string) => externalIds[resources.findIndex((resource) => resource.name === name)]!;
  const bodies = resources.map(({ example, fields }, index) => {
    const owners = Object.entries(fields).flatMap(([field, { reference }]) =>
      reference && externalIdName(field) in example
        ? [[externalIdName(field), named(reference.resources[0]!)]]
        : [],
    );
    return { ...example, ...Object.fromEntries(owners), externalId: externalIds[index] };
  });
  const write = (index: number, query = '') =>
    put(`/${resources[index]!.collection}/by-external-id/${externalIds[index]}${query}`, bodies[index]);
  const ids: string[] = [];
  for (const index of resources.keys()) ids.push((await write(index)).json().id);
  for (const name of ['customer', 'employee', 'product']) {
    const index = resources.findIndex((resource) => resource.name === name);
    await service.delete(`/${resources[index]!.collection}/${ids[index]}?cascade=true`);
  }
  // Also where its owner is deleted too.
  for (const index of resources.keys()) assertDeleted(await write(index, '?revive=false'), ids[index]!);
});

test('import lines with revive false are rejected one by one, with any action', async () => {
  const { id, externalId } = await deleteCustomer();
  const data = { ...validCustomer, externalId };
  const fresh = { ...validCustomer, externalId: randomUUID() };
  const target = { port, key: service.tenant.key };
  const lines = [
    ...['replace', 'merge', 'create'].map((action) => ({ type: 'customer', action, revive: false, data })),
    { type: 'customer', action: 'merge', revive: false, data: fresh },
    { type: 'customer', action: 'delete', data: { externalId: fresh.externalId } },
    { type: 'customer', revive: false, data: fresh },
    { type: 'customer', revive: 'no', data },
  ];
  const { results, summary } = await sendImport(target, lines);
  const seen = results.map(({ status, code, id }) => (code === 'deleted' ? [status, code, id] : [status]));
  const freshId = results[3].id;
  const rejected = [409, 'deleted', id];
  assert.deepEqual(seen, [rejected, rejected, rejected, [201], [200], [409, 'deleted', freshId], [400]]);
  assert.equal(summary.failed, 5);
  const revived = await sendImport(target, [{ type: 'customer', data }]);
  assert.equal(revived.summary.created, 1);
});
