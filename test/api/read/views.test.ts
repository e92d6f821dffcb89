import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callOffice, createPerson } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const anke = await createPerson(service);
const berta = await createPerson(service, { name: 'Berta Blum' });
const paul = await createPerson(service, { role: 'PFLEGE', name: 'Paul Pflege' });
const other = await service.createTenant();
const stranger = await createPerson(service, { tenantId: other.tenantId, name: 'Fritz Fremd' });

const view = {
  resource: 'site',
  name: 'Hamburg',
  search: 'city=Hamburg',
  columns: ['customerId'],
  isShared: false,
};

type Person = typeof anke;

async function list(person: Person): Promise<{ id: string; name: string; isShared: boolean }[]> {
  return (await person.call('GET', '/views')).json().data;
}

async function create(person: Person, changes: object = {}): Promise<string> {
  const answer = await person.call('POST', '/views', { ...view, ...changes });
  assert.equal(answer.statusCode, 201, answer.body);
  return answer.json().id;
}

test('a person sees their own views and the shared ones, and nobody else sees their own', async () => {
  const own = await create(anke);
  const shared = await create(berta, { name: 'Altona', isShared: true });
  assert.deepEqual(await list(anke), [
    { ...view, id: shared, name: 'Altona', isShared: true },
    { ...view, id: own },
  ]);
  assert.deepEqual(
    (await list(paul)).map(({ id }) => id),
    [shared],
  );
  assert.deepEqual(await list(stranger), []);
  for (const person of [berta, stranger]) {
    assert.equal((await person.call('PATCH', `/views/${own}`, { name: 'X' })).statusCode, 404);
    assert.equal((await person.call('DELETE', `/views/${own}`)).statusCode, 404);
  }
  assert.equal((await stranger.call('DELETE', `/views/${shared}`)).statusCode, 404);
});

test('Verwaltung changes and deletes shared views; Pflege keeps views of its own', async () => {
  const shared = await create(anke, { isShared: true });
  assert.equal((await berta.call('PATCH', `/views/${shared}`, { name: 'Hafen' })).statusCode, 204);
  assert.equal((await paul.call('PATCH', `/views/${shared}`, { name: 'X' })).statusCode, 403);
  assert.equal((await paul.call('DELETE', `/views/${shared}`)).statusCode, 403);
  assert.equal((await paul.call('POST', '/views', { ...view, isShared: true })).statusCode, 403);
  const own = await create(paul);
  assert.equal((await paul.call('PATCH', `/views/${own}`, { isShared: true })).statusCode, 403);
  assert.equal((await paul.call('PATCH', `/views/${own}`, { search: '', columns: [] })).statusCode, 204);
  assert.deepEqual(
    (await list(paul)).find(({ id }) => id === own),
    { ...view, id: own, search: '', columns: [] },
  );
  assert.equal((await paul.call('DELETE', `/views/${own}`)).statusCode, 204);
  assert.equal((await berta.call('DELETE', `/views/${shared}`)).statusCode, 204);
  assert.equal((await berta.call('DELETE', `/views/${shared}`)).statusCode, 404);
});

test('a view that is shared no more belongs to the person who took it back', async () => {
  const id = await create(anke, { isShared: true });
  assert.equal((await berta.call('PATCH', `/views/${id}`, { isShared: false })).statusCode, 204);
  assert.ok(!(await list(anke)).some((saved) => saved.id === id));
  assert.ok((await list(berta)).some((saved) => saved.id === id));
});

test('a faulty view is refused with every faulty field', async () => {
  const faulty = { resource: 'tree', name: ' ', search: 7, columns: ['a', 1], isShared: 'no' };
  const answer = await anke.call('POST', '/views', faulty);
  assert.equal(answer.statusCode, 400);
  const fields = answer.json().errors.map(({ field }: { field: string }) => field);
  assert.deepEqual(fields.sort(), ['columns', 'isShared', 'name', 'resource', 'search']);
  assert.equal((await anke.call('PATCH', `/views/${randomUUID()}`, {})).statusCode, 404);
  assert.equal((await anke.call('DELETE', '/views/nothing')).statusCode, 404);
  assert.equal((await callOffice(service.app, 'GET', '/views')).statusCode, 401);
});

test('the 201st view is refused, and shared views of a colleague who leaves stay', async () => {
  const guest = await createPerson(service, { name: 'Gustav Gast' });
  await create(guest, { name: 'Bleibt', isShared: true });
  for (let count = 0; count < 200; count++) await create(guest, { name: `Nr. ${count}` });
  const answer = await guest.call('POST', '/views', view);
  assert.deepEqual([answer.statusCode, answer.json().code], [409, 'too_many_views']);
  assert.equal((await anke.call('DELETE', `/people/${guest.id}`)).statusCode, 204);
  assert.ok((await list(anke)).some(({ name }) => name === 'Bleibt'));
  const { rows } = await service.owner.query(
    `SELECT count(*)::integer AS count FROM saved_view WHERE name LIKE 'Nr. %'`,
  );
  assert.equal(rows[0].count, 0);
});
