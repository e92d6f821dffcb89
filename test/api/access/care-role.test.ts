import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { startService, validSite } from '../../helpers/service.ts';

const service = await startService();
const carer = await createPerson(service, { role: 'PFLEGE' });
const clerk = await createPerson(service);

async function create(path: string, body: object): Promise<string> {
  const response = await service.post(path, body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

const customerId = await service.createCustomer();
const siteId = await create('/customer/site', { ...validSite(customerId), callOutFee: 24.9 });
const plantId = await create('/customer/site/plant', { siteId, botanicalName: 'Ficus elastica' });
const mobile = '0171 5550199';
const contactId = await create('/customer/contact-person', {
  ...{ customerId, lastName: 'Petersen', phone: '040 1', mobile },
});
const contract = { customerId, type: 'CARE', startDate: '2026-01-01', netPrice: 129.9 };
const contractId = await create('/customer/contract', contract);
const productId = await create('/product', { name: 'Ficus', kind: 'PLANT', netPrice: 79.9 });

test('Pflege changes the health and the note of a plant, and nothing else', async () => {
  const patch = (path: string, body: unknown) => carer.call('PATCH', path, body);
  const plant = `/plants/${plantId}`;
  const changed = await patch(plant, { status: 'CRITICAL', comment: 'Trauermücken' });
  assert.equal(changed.statusCode, 200, changed.body);
  assert.equal((await service.get(plant)).json().comment, 'Trauermücken');
  for (const body of [{ quantity: 2 }, { status: 'HEALTHY', quantity: 2 }, [], 'x', { __proto__x: 1 }]) {
    const { statusCode } = await patch(plant, body);
    assert.ok([400, 403].includes(statusCode), `${JSON.stringify(body)} ${statusCode}`);
  }
  assert.equal((await patch(plant, { status: 'SLEEPY' })).statusCode, 400);
  assert.equal((await patch(`/sites/${siteId}`, { comment: 'x' })).statusCode, 403);
  assert.equal((await carer.call('DELETE', plant)).statusCode, 403);
  assert.equal(
    (await carer.call('POST', '/customer/site/plant', { siteId, botanicalName: 'x' })).statusCode,
    403,
  );
  const stored = (await service.get(plant)).json();
  assert.deepEqual([stored.status, stored.quantity], ['CRITICAL', 1]);
});

test('no answer of the office tells Pflege a price or a private phone number', async () => {
  await service.patch(`/contracts/${contractId}`, { netPrice: 131.5 });
  const paths = [
    ...[`/sites/${siteId}`, '/sites', `/named/sites?ids=${siteId}`, `/contracts/${contractId}`, '/contracts'],
    ...[`/products/${productId}`, '/products', `/contact-persons/${contactId}`, '/contact-persons'],
    ...[`/history/contract/${contractId}`, '/history', '/changes'],
  ];
  for (const path of paths) {
    const seen = await carer.call('GET', path);
    if (seen.statusCode === 403) continue;
    assert.equal(seen.statusCode, 200, `${path} ${seen.body}`);
    assert.doesNotMatch(seen.body, /netPrice|callOutFee|mobile|5550199|129\.9|131\.5|79\.9|24\.9/, path);
    seen.json();
  }
  const all = await Promise.all(paths.map(async (path) => (await clerk.call('GET', path)).body));
  for (const value of ['5550199', '131.5', '79.9', '24.9']) assert.ok(all.join().includes(value), value);
  assert.match((await carer.call('GET', `/contact-persons/${contactId}`)).body, /040 1/);
});

test('no feed, history or tag tells Pflege who is ill', async () => {
  const employeeId = await create('/employee', { firstName: 'Mia', lastName: 'Sander', externalId: 'HR-12' });
  const absence = { employeeId, from: '2026-12-21', until: '2026-12-23', comment: 'Bandscheibe' };
  const id = await create('/employee/absence', { ...absence, reason: 'SICK', externalId: 'HR-12-A1' });
  await service.patch(`/absences/${id}`, { reason: 'TRAINING' });
  const other = await create('/employee/absence', { ...absence, externalId: 'HR-12-A2' });
  await service.delete(`/absences/${other}`);
  for (const path of [
    '/changes?limit=1000&include=data',
    '/changes?resource=absence&include=externalIds',
    '/changes?resource=absence&fields=reason,comment,from',
    '/history?limit=200',
    `/history/absence/${id}`,
    `/absences/${id}`,
    '/attention',
    '/search?q=Bandscheibe',
  ]) {
    const seen = await carer.call('GET', path);
    assert.doesNotMatch(seen.body, /SICK|TRAINING|Bandscheibe|HR-12-A/, path);
    if (!path.startsWith('/changes') && !path.startsWith('/history?')) continue;
    const entries = seen.json().data.filter((entry: { resource: string }) => entry.resource === 'absence');
    assert.equal(entries.length, 4, 'the feed has no gaps');
  }
  assert.match((await clerk.call('GET', '/changes?resource=absence&include=data')).body, /SICK.*TRAINING/);
  const withContract = `/sites/${siteId}?include=contract`;
  await service.patch(`/sites/${siteId}`, { contractId });
  const tagOf = async ({ call }: typeof carer) => (await call('GET', withContract)).headers.etag;
  assert.notEqual(await tagOf(carer), await tagOf(clerk));
});

test("an export of everything about a person is Verwaltung's", async () => {
  const refused = await carer.call('GET', `/personal-data/${contactId}`);
  assert.equal(refused.json().code, 'role_insufficient');
  assert.equal((await clerk.call('GET', `/personal-data/${contactId}`)).statusCode, 200);
});

test('Pflege cannot ask for prices by filter, order or file, and its tables do not offer them', async () => {
  for (const path of [
    '/contracts?netPriceFrom=100',
    '/contracts?sort=netPrice',
    '/contracts?filled=netPrice',
    '/contracts.csv',
    '/sites.csv',
  ]) {
    assert.equal((await carer.call('GET', path)).statusCode, 403, path);
    assert.equal((await clerk.call('GET', path)).statusCode, 200, path);
  }
  assert.doesNotMatch((await carer.call('GET', '/definitions')).body, /netPrice"|callOutFee"|"mobile"/);
  for (const person of [carer, clerk]) {
    const counts: object = (await person.call('GET', '/counts')).json();
    const definitions: { collection: string }[] = (await person.call('GET', '/definitions')).json();
    const collections = definitions.map(({ collection }) => collection);
    assert.deepEqual(Object.keys(counts), collections);
    for (const [collection, count] of Object.entries(counts))
      assert.equal(count, (await person.call('GET', `/${collection}?count=true`)).json().total);
  }
  assert.match((await clerk.call('GET', '/definitions')).body, /netPrice"/);
  assert.match((await clerk.call('GET', '/search?q=5550199')).body, /"mobile"/);
  assert.deepEqual((await carer.call('GET', '/search?q=5550199')).json().data, []);
  for (const q of ['5550199', '555-01', 'a 5550199', '+', '+4', '＋'])
    assert.equal((await carer.call('GET', `/contact-persons?q=${encodeURIComponent(q)}`)).statusCode, 403, q);
});
