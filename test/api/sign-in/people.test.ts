// What Verwaltung does about people, the business and its key.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { changePerson } from '../../../server/access/people.ts';
import { untilLocked } from '../../helpers/locks.ts';
import { callOffice, cookieOf, createPerson, password } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const { app, owner } = service;

/** A business of its own, with one person of each role. */
async function createBusiness() {
  const { tenantId, key } = await service.createTenant('Blatt & Co.');
  const verwaltung = await createPerson(service, { tenantId, name: 'Vera' });
  const pflege = await createPerson(service, { tenantId, role: 'PFLEGE', name: 'Paul' });
  return { tenantId, key, verwaltung, pflege };
}

async function invite(business: Awaited<ReturnType<typeof createBusiness>>, email: string, role = 'PFLEGE') {
  const response = await business.verwaltung.call('POST', '/invitations', { email, role });
  assert.equal(response.statusCode, 201, response.body);
  const { id, link } = response.json();
  const [, token] = /^http:\/\/localhost\/invitation#([\w-]{43})$/.exec(link)!;
  return { id, token: token! };
}

test('the people of the business are listed, and nobody else', async () => {
  const { verwaltung, pflege } = await createBusiness();
  const { data } = (await verwaltung.call('GET', '/people')).json();
  assert.deepEqual(
    data.map(({ id, role, isSelf }: Record<string, unknown>) => [id, role, isSelf]),
    [
      [pflege.id, 'PFLEGE', false],
      [verwaltung.id, 'VERWALTUNG', true],
    ],
  );
  assert.deepEqual(Object.keys(data[0]).sort(), [
    'createdAt',
    'email',
    'employeeId',
    'id',
    'isSelf',
    'lastSignInAt',
    'name',
    'role',
  ]);
});

test('an invitation brings one person in, once, with the role that it names', async () => {
  const business = await createBusiness();
  const email = `${randomUUID()}@blatt.example`;
  const { token } = await invite(business, email);
  const seen = await callOffice(app, 'GET', `/invitation/${token}`);
  assert.deepEqual(seen.json(), { businessName: 'Blatt & Co.', email, role: 'PFLEGE' });
  const accept = () =>
    callOffice(app, 'POST', `/invitation/${token}`, { name: 'Nele', password, role: 'VERWALTUNG' });
  const answers = await Promise.all([accept(), accept(), accept()]);
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 404, 404]);
  const accepted = answers.find(({ statusCode }) => statusCode === 201)!;
  assert.deepEqual(accepted.json().person.role, 'PFLEGE');
  assert.equal(accepted.json().business.id, business.tenantId);
  const cookie = cookieOf(accepted);
  assert.equal((await callOffice(app, 'GET', '/sites', undefined, { headers: { cookie } })).statusCode, 200);
  assert.equal((await callOffice(app, 'GET', `/invitation/${token}`)).statusCode, 404);
});

test('an invitation ends when it is withdrawn, when it expires, and when the address is invited anew', async () => {
  const business = await createBusiness();
  const status = async (token: string) => (await callOffice(app, 'GET', `/invitation/${token}`)).statusCode;
  const withdrawn = await invite(business, 'a@blatt.example');
  const stranger = await createBusiness();
  assert.equal((await stranger.verwaltung.call('DELETE', `/invitations/${withdrawn.id}`)).statusCode, 404);
  assert.equal(await status(withdrawn.token), 200);
  assert.equal((await business.verwaltung.call('DELETE', `/invitations/${withdrawn.id}`)).statusCode, 204);
  assert.equal(await status(withdrawn.token), 404);
  const renewed = await invite(business, 'b@blatt.example');
  const newer = await invite(business, 'B@blatt.example');
  assert.deepEqual([await status(renewed.token), await status(newer.token)], [404, 200]);
  await owner.query('UPDATE invitation SET expires_at = now() WHERE id = $1', [newer.id]);
  assert.equal(await status(newer.token), 404);
  const late = await callOffice(app, 'POST', `/invitation/${newer.token}`, { name: 'x', password });
  assert.equal(late.statusCode, 404);
  assert.deepEqual((await business.verwaltung.call('GET', '/invitations')).json(), { data: [] });
});

test("somebody else's claim on an address neither shows nor keeps its owner out", async () => {
  const [one, other, third] = [await createBusiness(), await createBusiness(), await createBusiness()];
  const { email } = one.pflege;
  const taken = await one.verwaltung.call('POST', '/invitations', {
    email: email.toUpperCase(),
    role: 'PFLEGE',
  });
  assert.deepEqual([taken.statusCode, taken.json().code, taken.json().field], [409, 'email_taken', 'email']);
  assert.deepEqual(taken.json().person, { id: one.pflege.id, name: 'Paul' }, 'whose link would help');

  const fresh = `${randomUUID()}@blatt.example`;
  const answers = [];
  for (const [business, address, typed] of [
    [other, email, 'vier Rosen im Garten'],
    [other, fresh, 'vier Rosen im Garten'],
    [third, email, password],
  ] as const) {
    const { token } = await invite(business, address);
    const accepted = await callOffice(app, 'POST', `/invitation/${token}`, { name: 'Paul', password: typed });
    answers.push([accepted.statusCode, Object.keys(accepted.json()).sort()]);
  }
  assert.deepEqual(answers[0], answers[1], 'the same answer for an address of another business');

  const signIn = (typed: string, more: object = {}) =>
    callOffice(app, 'POST', '/session', { email, password: typed, ...more });
  const own = await signIn('vier Rosen im Garten');
  assert.equal(own.json().business.id, other.tenantId, 'the password leads to its business');
  const several = await signIn(password);
  assert.deepEqual([several.statusCode, several.json().code], [409, 'several_businesses']);
  assert.deepEqual(
    several
      .json()
      .businesses.map(({ id }: { id: string }) => id)
      .sort(),
    [one.tenantId, third.tenantId].sort(),
  );
  const chosen = await signIn(password, { businessId: third.tenantId });
  assert.equal(chosen.json().business.id, third.tenantId);
  assert.equal((await signIn(password, { businessId: other.tenantId })).statusCode, 401);
  assert.equal((await signIn(password, { businessId: 'x' })).statusCode, 400);
});

test('Verwaltung signs a colleague out everywhere, and nobody of another business', async () => {
  const [one, other] = [await createBusiness(), await createBusiness()];
  const end = (id: string) => one.verwaltung.call('DELETE', `/people/${id}/sessions`);
  assert.equal((await end(other.pflege.id)).statusCode, 404);
  assert.equal((await end('x')).statusCode, 404);
  assert.equal((await other.pflege.call('GET', '/session')).statusCode, 200);
  assert.equal((await end(one.pflege.id)).statusCode, 204);
  assert.equal((await one.pflege.call('GET', '/session')).statusCode, 401);
  assert.equal((await one.verwaltung.call('GET', '/session')).statusCode, 200);
  const { rows } = await owner.query(
    `SELECT actor_id, subject FROM audit_entry WHERE tenant_id = $1 AND event = 'SIGNED_OUT_EVERYWHERE'`,
    [one.tenantId],
  );
  assert.deepEqual(rows, [{ actor_id: one.verwaltung.id, subject: 'Paul' }]);
});

test('a changed role counts with the next request, and a removed person is out immediately', async () => {
  const { verwaltung, pflege } = await createBusiness();
  const changed = await verwaltung.call('PATCH', `/people/${pflege.id}`, {
    role: 'VERWALTUNG',
    name: 'Paula',
  });
  assert.deepEqual([changed.json().role, changed.json().name], ['VERWALTUNG', 'Paula']);
  assert.equal((await pflege.call('GET', '/people')).statusCode, 200);
  assert.equal((await verwaltung.call('DELETE', `/people/${pflege.id}`)).statusCode, 204);
  assert.equal((await pflege.call('GET', '/session')).statusCode, 401);
  const signIn = await callOffice(app, 'POST', '/session', { email: pflege.email, password });
  assert.equal(signIn.statusCode, 401);
  assert.equal((await owner.query('SELECT FROM sign_in_name WHERE person_id = $1', [pflege.id])).rowCount, 0);
});

test('somebody always administers the business, also when two demote each other at the same time', async () => {
  const { tenantId, verwaltung, pflege } = await createBusiness();
  for (const attempt of [
    () => verwaltung.call('PATCH', `/people/${verwaltung.id}`, { role: 'PFLEGE' }),
    () => verwaltung.call('PATCH', `/people/${verwaltung.id}`, { role: 'BUERO' }),
    () => verwaltung.call('DELETE', `/people/${verwaltung.id}`),
  ]) {
    const response = await attempt();
    assert.deepEqual([response.statusCode, response.json().code], [409, 'last_administrator']);
  }
  await verwaltung.call('PATCH', `/people/${pflege.id}`, { role: 'VERWALTUNG' });
  let second: ReturnType<typeof pflege.call> | undefined;
  await service.database.inTenants([tenantId], async (client) => {
    await changePerson(client, tenantId, pflege.id, { role: 'PFLEGE' });
    // The first has not been committed when the second begins.
    second = pflege.call('DELETE', `/people/${verwaltung.id}`);
    await untilLocked(owner);
  });
  assert.equal((await second!).statusCode, 409);
  const { rows } = await owner.query(`SELECT id FROM person WHERE tenant_id = $1 AND role = 'VERWALTUNG'`, [
    tenantId,
  ]);
  assert.equal(rows.length, 1);
});

test("nobody changes or removes another business's people", async () => {
  const [one, other] = [await createBusiness(), await createBusiness()];
  for (const [method, body] of [['PATCH', { name: 'x' }], ['DELETE']] as const) {
    for (const id of [other.pflege.id, randomUUID(), 'x']) {
      const response = await one.verwaltung.call(method, `/people/${id}`, body);
      assert.equal(response.statusCode, 404, `${method} ${id}`);
    }
  }
  assert.equal((await other.pflege.call('GET', '/session')).json().person.name, 'Paul');
});

test('an account names its employee, from the invitation on, and only one of its business', async () => {
  const [business, other] = [await createBusiness(), await createBusiness()];
  const hire = async ({ verwaltung }: typeof business) =>
    (await verwaltung.call('POST', '/employee', { firstName: 'Nils', lastName: 'Holm' })).json().id;
  const [employeeId, duplicate, stranger] = [await hire(business), await hire(business), await hire(other)];
  const invite = (id: string) =>
    business.verwaltung.call('POST', '/invitations', {
      email: 'n@x.example',
      role: 'PFLEGE',
      employeeId: id,
    });
  assert.equal((await invite(stranger)).json().errors[0].code, 'reference_not_found');
  const [, token] = (await invite(employeeId)).json().link.split('#');
  const arrived = await callOffice(app, 'POST', `/invitation/${token}`, { name: 'Nils', password });
  const { id } = arrived.json().person;
  const own = async () => {
    const headers = { cookie: cookieOf(arrived) };
    return (await callOffice(app, 'GET', '/profile', undefined, { headers })).json().employeeId;
  };
  assert.equal(await own(), employeeId);
  await business.verwaltung.call('POST', `/employees/${duplicate}/merge`, { ids: [employeeId] });
  assert.equal(await own(), duplicate, 'the employee that it was merged into');
  const change = (to: unknown) => business.verwaltung.call('PATCH', `/people/${id}`, { employeeId: to });
  assert.equal((await change(stranger)).statusCode, 400);
  assert.equal((await change(null)).json().employeeId, null);
  assert.equal((await change(duplicate)).json().employeeId, duplicate);
  const { rows } = await owner.query(
    `SELECT details FROM audit_entry WHERE tenant_id = $1 AND event = 'PERSON_CHANGED' ORDER BY at DESC LIMIT 1`,
    [business.tenantId],
  );
  assert.deepEqual(rows[0].details, { employee: { from: '–', to: 'Nils Holm' } });
  await business.verwaltung.call('DELETE', `/employees/${duplicate}`);
  assert.equal(await own(), null);
});

test('the business is renamed, and only this one', async () => {
  const [one, other] = [await createBusiness(), await createBusiness()];
  const response = await one.verwaltung.call('PATCH', '/business', { name: ' Ast & Söhne ' });
  assert.deepEqual(response.json(), { id: one.tenantId, name: 'Ast & Söhne' });
  assert.equal((await one.pflege.call('GET', '/session')).json().business.name, 'Ast & Söhne');
  assert.equal((await other.pflege.call('GET', '/session')).json().business.name, 'Blatt & Co.');
  assert.equal((await one.verwaltung.call('PATCH', '/business', { name: ' ' })).statusCode, 400);
});

test('a key made here works immediately and is shown once; the one before it ends, and its users are named', async () => {
  const fresh = await startService();
  const verwaltung = await createPerson(fresh, { name: 'Vera' });
  const use = (key: string) =>
    fresh
      .get('/sites', { headers: { apikey: key, 'user-agent': 'ERP/1.0' } })
      .then(({ statusCode }) => statusCode);
  const first = (await verwaltung.call('GET', '/key')).json();
  assert.equal(first.key.createdBy, 'command line');
  assert.deepEqual(first.ended, []);
  const made = await verwaltung.call('POST', '/key');
  assert.equal(made.statusCode, 201, made.body);
  const { key, lastFour } = made.json();
  assert.equal(key.slice(-4), lastFour);
  assert.deepEqual(
    [await use(key), await use(fresh.tenant.key), await use(fresh.tenant.key)],
    [200, 401, 401],
  );
  // What was noted in the process is written when it closes.
  await fresh.app.close();
  const later = await startService({ connection: fresh.connection });
  const state = (
    await callOffice(later.app, 'GET', '/key', undefined, { headers: { cookie: verwaltung.cookie } })
  ).json();
  assert.deepEqual(Object.keys(state.key).sort(), [
    'createdAt',
    'createdBy',
    'createdByEmail',
    'createdById',
    'lastFour',
    'lastUsedAt',
    'prefix',
  ]);
  assert.deepEqual([state.key.prefix, state.key.lastFour, state.key.createdBy], ['stamm_', lastFour, 'Vera']);
  assert.ok(state.key.lastUsedAt);
  assert.equal(state.ended.length, 1);
  const [ended] = state.ended;
  assert.deepEqual([ended.lastFour, ended.endedBy], [fresh.tenant.key.slice(-4), 'REPLACED']);
  const { lastUsedAt, ...uses } = ended.uses[0];
  assert.deepEqual(uses, { address: '127.0.0.1', userAgent: 'ERP/1.0', count: 2 });
  assert.ok(lastUsedAt);
  assert.ok(!JSON.stringify(state).includes(key));
});

test('a deleted key ends immediately', async () => {
  const { key, verwaltung } = await createBusiness();
  const headers = { apikey: key };
  assert.equal((await service.get('/sites', { headers })).statusCode, 200);
  assert.equal((await verwaltung.call('DELETE', '/key')).statusCode, 204);
  assert.equal((await service.get('/sites', { headers })).json().code, 'key_deleted');
  assert.equal((await verwaltung.call('GET', '/key')).json().key, null);
  assert.equal((await verwaltung.call('DELETE', '/key')).statusCode, 404);
});

test('of keys made at the same moment one is live', async () => {
  const { tenantId, verwaltung } = await createBusiness();
  const made = await Promise.all(Array.from({ length: 5 }, () => verwaltung.call('POST', '/key')));
  assert.deepEqual(
    made.map(({ statusCode }) => statusCode),
    Array(5).fill(201),
  );
  const { rowCount } = await owner.query('SELECT FROM api_key WHERE tenant_id = $1 AND ended_at IS NULL', [
    tenantId,
  ]);
  assert.equal(rowCount, 1);
});
