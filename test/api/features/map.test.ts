import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { MapCluster } from '../../../core/place/map-cluster.ts';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, type TestService, validAddress, validSite } from '../../helpers/service.ts';

let service: TestService;
let person: OfficePerson;
let customerId: string;

before(async () => {
  service = await startService();
  person = await createPerson(service, { role: 'PFLEGE' });
  customerId = await service.createCustomer();
});

async function createSite(name: string, address: Record<string, unknown>): Promise<string> {
  const body = { ...validSite(customerId), name, address: { ...validAddress, ...address } };
  const response = await service.post('/customer/site', body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

async function readMap(query: string): Promise<MapCluster[]> {
  const response = await person.call('GET', `/map?${query}`);
  assert.equal(response.statusCode, 200, response.body);
  return response.json().clusters;
}

test('a site without a position lies in its postcode, marked as approximate, and its address stays as it was', async () => {
  const id = await createSite('Römer', { zipCode: '60311', city: 'Frankfurt' });
  const around = 'west=8&south=50&east=9&north=51';
  const [cluster, ...others] = await readMap(`${around}&zoom=13`);
  assert.deepEqual(others, []);
  assert.deepEqual([cluster!.id, cluster!.name, cluster!.count, cluster!.approximate], [id, 'Römer', 1, 1]);
  assert.ok(Math.abs(cluster!.lat - 50.11) < 0.05 && Math.abs(cluster!.lng - 8.68) < 0.05);
  assert.deepEqual(await readMap('west=10&south=50&east=11&north=51&zoom=13'), [], 'outside of the view');
  const stored = (await service.get(`/sites/${id}`)).json();
  assert.equal(stored.address.location, undefined);

  const exact = await createSite('Oper', {
    zipCode: '60313',
    city: 'Frankfurt',
    location: { lat: cluster!.lat, lng: cluster!.lng },
  });
  const near = await readMap(`${around}&zoom=14`);
  assert.deepEqual(
    new Set(near.map((one) => `${one.id} ${one.approximate}`)),
    new Set([`${id} 1`, `${exact} undefined`]),
  );
  const [both] = await readMap(`${around}&zoom=6`);
  assert.deepEqual([both!.count, both!.approximate, both!.id], [2, 1, undefined]);
});

test('sites of one postcode are named where they are few, and lead to the postcode where they are many', async () => {
  const names = ['Marienplatz', 'Rathaus', 'Viktualienmarkt'];
  for (const name of names) await createSite(name, { zipCode: '80331', city: 'München' });
  await createSite('Gasteig', { zipCode: '80331', city: 'Muenchen' });
  const around = 'west=11&south=48&east=12&north=49&zoom=16';
  const [few] = await readMap(around);
  assert.deepEqual(few!.sites?.map(({ name }) => name).sort(), ['Gasteig', ...names]);
  for (let number = 0; number < 50; number++)
    await createSite(`Haus ${number}`, { zipCode: '80331', city: 'München' });
  const [many, ...others] = await readMap(around);
  assert.deepEqual(others, []);
  assert.deepEqual([many!.count, many!.zipCode, many!.sites], [54, '80331', undefined]);
});

test('sites of one employee name their employee, near and far', async () => {
  const employees: string[] = [];
  for (const lastName of ['Harms', 'Aydın']) {
    const response = await service.post('/employee', { firstName: 'Jo', lastName });
    assert.equal(response.statusCode, 201, response.body);
    employees.push(response.json().id);
  }
  const [first, second] = employees;
  const assign = async (id: string, assignedEmployeeId: string | null | undefined) => {
    const response = await service.patch(`/sites/${id}`, { assignedEmployeeId });
    assert.equal(response.statusCode, 200, response.body);
  };
  const exact = await createSite('Bad', { location: { lat: 52.1, lng: 11.6 } });
  const other = await createSite('Dom', { location: { lat: 52.12, lng: 11.63 } });
  const approximate = await createSite('Zoo', { zipCode: '39104', city: 'Magdeburg' });
  const around = 'west=11&south=52&east=12&north=53';
  const read = async (zoom: number) => (await readMap(`${around}&zoom=${zoom}`)).map((one) => one.employeeId);
  assert.deepEqual(await read(4), [undefined], 'of nobody');
  for (const id of [exact, other, approximate]) await assign(id, first);
  assert.deepEqual(await read(4), [first], 'all of one');
  assert.deepEqual(await read(16), [first, first, first]);
  await assign(approximate, second);
  assert.deepEqual(await read(4), [undefined], 'of two');
  assert.deepEqual(new Set(await read(16)), new Set(employees));
  await assign(approximate, null);
  assert.deepEqual(await read(4), [undefined], 'one is of nobody');

  const { employees: named } = (await person.call('GET', `/map?${around}&zoom=4`)).json();
  assert.deepEqual(named, [{ id: first, name: 'Jo Harms' }], 'only those who have sites');
});

test('an address that no table knows has no place', async () => {
  const everywhere = 'west=-180&south=-90&east=180&north=90&zoom=3';
  const count = async () => (await readMap(everywhere)).reduce((sum, one) => sum + one.count, 0);
  const before = await count();
  await createSite('Mond', { zipCode: '00000', city: 'Mare Tranquillitatis' });
  assert.equal(await count(), before);
});

test('the approximate position of an address that is being typed', async () => {
  const find = async (query: string) =>
    (await person.call('GET', `/map/approximate-position?${query}`)).json().approximatePosition;
  assert.equal((await find('zipCode=20095&city=Hamburg')).source, 'postcode');
  assert.equal((await find('zipCode=&city=Hamburg')).source, 'town');
  assert.equal(await find('zipCode=00000&city=Nirgendwo'), null);
  assert.equal(await find('zipCode=1&zipCode=2&city=Nirgendwo'), null);
  const unknown = await person.call('GET', '/map/approximate-position?street=x');
  assert.equal(unknown.statusCode, 400);
});
