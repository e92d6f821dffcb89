// A large business is not read again while nothing changes, and everything that changes an answer makes it new.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { countRowsRead } from '../../helpers/rows-read.ts';
import { startService, validSite } from '../../helpers/service.ts';

const service = await startService();
const sitesPerCustomer = 120;
const paths = [
  '/counts',
  '/sites?limit=1&count=true',
  '/attention?limit=1&count=true',
  '/attention/counts',
  '/attention/overview',
  '/visit-sums?from=2026-11-23&until=2026-11-29',
];

test('totals, the attention list and the sums of visits are read once, and again after each change', async () => {
  const { key, tenantId } = await service.createTenant();
  const headers = { apikey: key };
  const { call } = await createPerson(service, { tenantId });
  const customerId = await service.createCustomer({}, { headers });
  const interval = { frequency: 'WEEKLY', byDay: ['MONDAY'] };
  const create = (name: string) =>
    service.post(
      '/customer/site',
      { ...validSite(customerId), name, attendingIntervals: [interval] },
      { headers },
    );
  const sites = [];
  for (let number = 0; number < sitesPerCustomer; number++) sites.push(await create(`Halle ${number}`));
  const read = async () => {
    const answers = [];
    for (const url of paths) {
      const answer = await call('GET', url);
      assert.equal(answer.statusCode, 200, answer.body);
      answers.push(answer.json());
    }
    return answers;
  };
  const summary = async () => {
    const [counts, list, attention, kinds, overview, sums] = await read();
    const ofKind = (code: string) =>
      kinds.data.find((kind: { code: string }) => kind.code === code)?.count ?? 0;
    assert.equal(
      attention.total,
      kinds.data.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    );
    assert.equal(counts.sites, list.total);
    return [list.total, ofKind('no_employee'), overview.count, sums.data[0]?.visits ?? 0];
  };
  assert.deepEqual(await summary(), [120, 120, 100, 120]);

  const rowsRead = await countRowsRead(service);
  assert.deepEqual(await summary(), [120, 120, 100, 120]);
  const ofSites = [...(await rowsRead())].filter(([name]) => /\bsite/.test(name));
  assert.ok(
    ofSites.every(([, rows]) => rows < sitesPerCustomer / 10),
    JSON.stringify(ofSites),
  );

  await create('Kantine');
  assert.deepEqual(await summary(), [121, 121, 100, 121]);
  const { id } = sites[0]!.json();
  await service.app.inject({ method: 'DELETE', url: `/api/v1/sites/${id}`, headers });
  assert.deepEqual(await summary(), [120, 120, 100, 120]);

  const entry = { resource: 'site', field: 'assignedEmployeeId', code: 'no_employee' };
  const post = (url: string, body: object) => call('POST', url, body);
  assert.equal((await post('/attention/left/all', entry)).statusCode, 200);
  assert.deepEqual((await summary())[1], 0);
  const one = { ...entry, id: sites[1]!.json().id };
  assert.equal((await post('/attention/reopened', one)).statusCode, 204);
  assert.deepEqual((await summary())[1], 1);
});
