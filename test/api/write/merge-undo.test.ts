// Undoing a merge: references, fields and names return, except where somebody wrote since.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson } from '../../helpers/office.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const origin = await service.app.listen({ host: '127.0.0.1', port: 0 });

/** Two customers with a site each, and a third that was merged into the second before. */
async function startWithMerge() {
  const { tenantId } = await service.createTenant();
  const { call, cookie } = await createPerson(service, { tenantId });
  const create = async (path: string, body: object): Promise<string> => {
    const response = await call('POST', path, body);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const read = async (path: string) => (await call('GET', path)).json();
  const merge = async (winner: string, loser: string) => {
    const response = await call('POST', `/customers/${winner}/merge`, { ids: [loser] });
    assert.equal(response.statusCode, 200, response.body);
  };
  const [winner, loser, earlier] = [
    await create('/customer', { ...validCustomer, externalId: 'A' }),
    await create('/customer', { ...validCustomer, externalId: 'B', customerNumber: 'K-2' }),
    await create('/customer', { ...validCustomer, externalId: 'C' }),
  ];
  const sites = [
    await create('/customer/site', validSite(loser!)),
    await create('/customer/site', validSite(loser!)),
  ];
  await merge(loser!, earlier!);
  const before = await read(`/customers/${winner}`);
  await merge(winner!, loser!);
  const undo = async () => {
    const { data } = await read('/recent-actions');
    const [run] = data.flatMap((one: { run: { objectId: string } }) =>
      one.run?.objectId === winner ? one.run : [],
    );
    for (;;) {
      const response = await call('POST', `/imports/${run.id}/undo`);
      assert.equal(response.statusCode, 200, response.body);
      if (!response.json().isOpen) return { ...response.json(), id: run.id };
    }
  };
  return { call, cookie, read, undo, before, winner: winner!, loser: loser!, earlier: earlier!, sites };
}

test('an undone merge gives back references, fields, and names of earlier merges, too', async () => {
  const { read, undo, before, winner, loser, earlier, sites } = await startWithMerge();
  assert.equal((await read(`/customers/${winner}`)).customerNumber, 'K-2');
  assert.equal((await read(`/customers/${earlier}`)).id, winner);
  const { kept } = await undo();
  assert.equal(kept, 0);
  const { version, updatedAt, ...restored } = await read(`/customers/${winner}`);
  const { version: _, updatedAt: __, ...former } = before;
  assert.deepEqual(restored, former);
  assert.ok(version > 1 && updatedAt);
  assert.deepEqual(
    [(await read(`/customers/${loser}`)).id, (await read(`/customers/${loser}`)).customerNumber],
    [loser, 'K-2'],
  );
  for (const site of sites) assert.equal((await read(`/sites/${site}`)).customerId, loser);
  assert.equal((await read(`/customers/${earlier}`)).id, loser);
  assert.equal((await read('/customers/by-external-id/B')).id, loser);
  assert.equal((await read('/customers/by-external-id/C')).id, loser);
  assert.equal((await read('/recent-actions')).data[0].run.isOpen, false);
  const faults = await checkConsistency(service.owner, resources);
  assert.deepEqual(
    faults.filter(({ count }) => count > 0),
    [],
  );
});

test('what somebody wrote since a merge stays, and the undo names it', async () => {
  const { call, read, undo, winner, loser, sites } = await startWithMerge();
  await call('PATCH', `/sites/${sites[0]}`, { comment: 'Neu' });
  const { kept, id } = await undo();
  assert.equal(kept, 1);
  assert.equal((await read(`/sites/${sites[0]}`)).customerId, winner);
  assert.equal((await read(`/sites/${sites[1]}`)).customerId, loser);
  const { data } = await read(`/imports/${id}/kept`);
  assert.deepEqual([data[0].resource, data[0].id, data[0].reason], ['site', sites[0], 'changed']);
});

test('recent actions list each deletion once, and none that an import, a bulk change or a merge made', async () => {
  const { call, cookie, read, sites, winner } = await startWithMerge();
  await call('DELETE', `/sites/${sites[0]}`);
  const line = JSON.stringify({ type: 'site', action: 'delete', data: { id: sites[1] } });
  const sent = await fetch(`${origin}/app/import`, {
    method: 'POST',
    headers: { origin, cookie, 'content-type': 'application/x-ndjson' },
    body: `${line}\n`,
  });
  assert.match(await sent.text(), /"deleted":1/);
  const { data, next } = await read('/recent-actions');
  const told = data.map(({ run, deletion }: Record<string, Record<string, unknown> | null>) =>
    run ? (run.objectId ?? `${run.deleted} deleted`) : deletion!.id,
  );
  assert.deepEqual([told.slice(0, 3), told.length, next], [['1 deleted', sites[0], winner], 4, null]);
});
