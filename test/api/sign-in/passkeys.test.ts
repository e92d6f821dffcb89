// Passkeys: adding and removing them, signing in with them, recovery codes, and businesses that require them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setPassword } from '../../../server/access/people.ts';
import {
  callOffice,
  cookieOf,
  createPerson,
  type OfficePerson,
  password,
  routesBelow,
} from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';
import { SoftwareAuthenticator } from './software-authenticator.ts';

const service = await startService();
const { app, owner } = service;

type Answer = Awaited<ReturnType<typeof callOffice>>;

function assertStatus(response: Answer, status: number, code?: string): Answer {
  assert.equal(response.statusCode, status, response.body);
  if (code) assert.equal(response.json().code, code);
  return response;
}

async function addPasskey(person: Pick<OfficePerson, 'call'>, authenticator = new SoftwareAuthenticator()) {
  const options = assertStatus(await person.call('POST', '/passkeys/options'), 200).json();
  const credential = authenticator.create(options);
  assertStatus(await person.call('POST', '/passkeys', { credential }), 201);
  return authenticator;
}

async function createBusiness() {
  const { tenantId } = await service.createTenant('Blatt & Co.');
  const verwaltung = await createPerson(service, { tenantId, name: 'Vera' });
  return { tenantId, verwaltung };
}

async function signInOptions() {
  return assertStatus(await callOffice(app, 'POST', '/session/passkey/options'), 200).json();
}

const signInWithPasskey = (credential: unknown) =>
  callOffice(app, 'POST', '/session/passkey', { credential });

const signInWithPassword = (email: string) => callOffice(app, 'POST', '/session', { email, password });

const finish = (body: object) => callOffice(app, 'POST', '/session/second-factor', body);

async function auditOf(personId: string): Promise<{ event: string; details: unknown }[]> {
  const { rows } = await owner.query(
    'SELECT event, details FROM audit_entry WHERE subject_id = $1 ORDER BY id',
    [personId],
  );
  return rows;
}

test('a person adds several passkeys, names them and removes them', async () => {
  const person = await createPerson(service);
  await addPasskey(person);
  const chrome = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36' };
  const options = (await person.call('POST', '/passkeys/options')).json();
  assert.equal(options.rp.id, 'localhost');
  assert.equal(options.excludeCredentials.length, 1);
  assert.deepEqual(options.authenticatorSelection, {
    residentKey: 'required',
    userVerification: 'required',
    requireResidentKey: true,
  });
  const credential = new SoftwareAuthenticator().create(options);
  const added = await person.call('POST', '/passkeys', { credential }, { headers: chrome });
  assert.equal(assertStatus(added, 201).json().name, 'Chrome, Windows');
  const { id } = added.json();
  assertStatus(await person.call('PATCH', `/passkeys/${id}`, { name: ' Büro ' }), 200);
  const listed = (await person.call('GET', '/passkeys')).json();
  assert.deepEqual(
    listed.data.map(({ name, rpId, lastUsedAt }: Record<string, unknown>) => [name, rpId, lastUsedAt]),
    [
      ['Passkey', 'localhost', null],
      ['Büro', 'localhost', null],
    ],
  );
  assert.deepEqual([listed.recoveryCodesLeft, listed.isRequired], [0, false]);
  assertStatus(await person.call('DELETE', `/passkeys/${id}`), 204);
  assertStatus(await person.call('DELETE', `/passkeys/${id}`), 404, 'not_found');
  assert.deepEqual(
    (await auditOf(person.id)).map(({ event }) => event),
    ['PASSKEY_ADDED', 'PASSKEY_ADDED', 'PASSKEY_REMOVED'],
  );
});

test('nobody renames, removes or lists the passkeys of another person, of this business or another', async () => {
  const { tenantId, verwaltung } = await createBusiness();
  await addPasskey(verwaltung);
  const [{ id }] = (await verwaltung.call('GET', '/passkeys')).json().data;
  for (const other of [await createPerson(service, { tenantId }), (await createBusiness()).verwaltung]) {
    assert.deepEqual((await other.call('GET', '/passkeys')).json().data, []);
    assertStatus(await other.call('PATCH', `/passkeys/${id}`, { name: 'x' }), 404);
    assertStatus(await other.call('DELETE', `/passkeys/${id}`), 404);
  }
  const stranger = (await createBusiness()).verwaltung;
  assertStatus(await stranger.call('DELETE', `/people/${verwaltung.id}/passkeys`), 404);
  assert.equal((await verwaltung.call('GET', '/passkeys')).json().data.length, 1);
});

test('a registration is refused for another origin, host name or challenge, and without verification', async () => {
  const person = await createPerson(service);
  const other = await createPerson(service);
  const newOptions = async () => (await person.call('POST', '/passkeys/options')).json();
  const send = (credential: object) => person.call('POST', '/passkeys', { credential });
  const authenticator = new SoftwareAuthenticator();
  for (const behaviour of [
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:4000' },
    { rpId: 'evil.example' },
    { isVerified: false },
  ]) {
    const credential = authenticator.create(await newOptions(), behaviour);
    assertStatus(await send(credential), 401, 'passkey_refused');
  }
  const othersOptions = (await other.call('POST', '/passkeys/options')).json();
  assertStatus(await send(authenticator.create(othersOptions)), 401, 'passkey_refused');
  const credential = authenticator.create(await newOptions());
  assertStatus(await send(credential), 201);
  assertStatus(await send(credential), 401, 'passkey_refused');
  assertStatus(await send(authenticator.create(await newOptions())), 409, 'passkey_known');
  const expired = await newOptions();
  await owner.query('UPDATE passkey_challenge SET expires_at = now()');
  assertStatus(await send(new SoftwareAuthenticator().create(expired)), 401, 'passkey_refused');
});

test('malformed credentials are a 400, and nonsense in the right shape is refused', async () => {
  const person = await createPerson(service);
  const options = (await person.call('POST', '/passkeys/options')).json();
  const good = new SoftwareAuthenticator().create(options);
  const huge = 'A'.repeat(50_000);
  for (const credential of [
    null,
    [],
    'x',
    {},
    { ...good, id: 5 },
    { ...good, id: '' },
    { ...good, response: { ...good.response, clientDataJSON: huge } },
    { ...good, response: { ...good.response, attestationObject: 'ä' } },
  ]) {
    assertStatus(await person.call('POST', '/passkeys', { credential }), 400, 'validation_failed');
    assertStatus(await signInWithPasskey(credential), 400, 'validation_failed');
  }
  for (const attestationObject of ['AAAA', '_____w', Buffer.alloc(8000, 0x81).toString('base64url')]) {
    const { clientDataJSON } = new SoftwareAuthenticator().create(
      (await person.call('POST', '/passkeys/options')).json(),
    ).response;
    const credential = { ...good, response: { clientDataJSON, attestationObject } };
    assertStatus(await person.call('POST', '/passkeys', { credential }), 401, 'passkey_refused');
  }
  assertStatus(
    await signInWithPasskey({
      id: 'AAAA',
      response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
    }),
    401,
    'passkey_refused',
  );
});

test('an attestation statement is dropped unread: its certificates could name addresses to ask', async () => {
  const person = await createPerson(service);
  const options = (await person.call('POST', '/passkeys/options')).json();
  const statement = new Map([['sig', Buffer.from('no signature that anybody could verify')]]);
  const credential = new SoftwareAuthenticator().create(options, { format: 'fido-u2f', statement });
  assertStatus(await person.call('POST', '/passkeys', { credential }), 201);
});

test('a person has at most 20 passkeys', async () => {
  const person = await createPerson(service);
  await addPasskey(person);
  await owner.query(
    `INSERT INTO passkey (tenant_id, id, person_id, credential_id, public_key, counter, transports, rp_id, name)
     SELECT $1, gen_random_uuid(), $2, decode(md5(number::text), 'hex'), '', 0, '{}', 'localhost', 'x'
     FROM generate_series(1, 19) AS number`,
    [person.tenantId, person.id],
  );
  const options = (await person.call('POST', '/passkeys/options')).json();
  const credential = new SoftwareAuthenticator().create(options);
  assertStatus(await person.call('POST', '/passkeys', { credential }), 409, 'too_many_passkeys');
});

test('a passkey signs in without a password', async () => {
  const person = await createPerson(service);
  const authenticator = await addPasskey(person);
  const options = await signInOptions();
  assert.deepEqual([options.rpId, options.userVerification], ['localhost', 'required']);
  assert.deepEqual(options.allowCredentials, []);
  const response = assertStatus(await signInWithPasskey(authenticator.sign(options)), 200);
  assert.equal(response.json().person.id, person.id);
  const headers = { cookie: cookieOf(response) };
  assertStatus(await callOffice(app, 'GET', '/session', undefined, { headers }), 200);
  assert.ok((await person.call('GET', '/passkeys')).json().data[0].lastUsedAt);
  assert.deepEqual((await auditOf(person.id)).at(-1), {
    event: 'SIGNED_IN',
    details: { method: 'passkey' },
  });
});

test('a sign-in by passkey is refused with a used challenge, another origin or host, and without verification', async () => {
  const person = await createPerson(service);
  const authenticator = await addPasskey(person);
  const credential = authenticator.sign(await signInOptions());
  assertStatus(await signInWithPasskey(credential), 200);
  assertStatus(await signInWithPasskey(credential), 401, 'passkey_refused');
  const parallel = authenticator.sign(await signInOptions());
  const answers = await Promise.all([1, 2, 3].map(() => signInWithPasskey(parallel)));
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 401, 401]);
  for (const behaviour of [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { isVerified: false },
  ]) {
    const wrong = authenticator.sign(await signInOptions(), behaviour);
    assertStatus(await signInWithPasskey(wrong), 401, 'passkey_refused');
  }
  const ours = { challenge: Buffer.from('made elsewhere').toString('base64url'), rpId: 'localhost' };
  assertStatus(await signInWithPasskey(authenticator.sign(ours)), 401, 'passkey_refused');
  const proof = (await person.call('POST', '/proof/options')).json();
  assertStatus(await signInWithPasskey(authenticator.sign(proof)), 401, 'passkey_refused');
  const bad = authenticator.sign(await signInOptions());
  bad.response.signature = new SoftwareAuthenticator().sign(await signInOptions()).response.signature;
  assertStatus(await signInWithPasskey(bad), 401, 'passkey_refused');
});

test('an unknown passkey, a removed one and one that claims another person get the same answer', async () => {
  const person = await createPerson(service);
  const victim = await createPerson(service);
  const authenticator = await addPasskey(person);
  await addPasskey(victim);
  const bodyWithoutId = (response: Answer) => {
    assertStatus(response, 401);
    const { requestId, ...body } = response.json();
    return body;
  };
  const claim = authenticator.sign(await signInOptions());
  claim.response.userHandle = Buffer.from(victim.id.replaceAll('-', ''), 'hex').toString('base64url');
  const claimed = bodyWithoutId(await signInWithPasskey(claim));
  const stranger = new SoftwareAuthenticator();
  stranger.userHandle = authenticator.userHandle;
  const unknown = bodyWithoutId(await signInWithPasskey(stranger.sign(await signInOptions())));
  const withoutHandle = authenticator.sign(await signInOptions());
  withoutHandle.response.userHandle = '';
  const nameless = bodyWithoutId(await signInWithPasskey(withoutHandle));
  const [{ id }] = (await person.call('GET', '/passkeys')).json().data;
  assertStatus(await person.call('DELETE', `/passkeys/${id}`), 204);
  const removed = bodyWithoutId(await signInWithPasskey(authenticator.sign(await signInOptions())));
  for (const answer of [unknown, nameless, removed]) assert.deepEqual(answer, claimed);
});

test('a signature counter that goes back is refused: somebody may have copied the passkey', async () => {
  const person = await createPerson(service);
  const authenticator = await addPasskey(person);
  const signIn = async (counter: number) =>
    (await signInWithPasskey(authenticator.sign(await signInOptions(), { counter }))).statusCode;
  assert.deepEqual(
    [await signIn(5), await signIn(6), await signIn(6), await signIn(2)],
    [200, 200, 401, 401],
  );
  assert.equal(await signIn(7), 200);
});

test('guesses with passkeys are limited per network, and successes are not counted', async () => {
  const limited = await startService();
  const person = await createPerson(limited);
  const authenticator = await addPasskey(person);
  const options = () => callOffice(limited.app, 'POST', '/session/passkey/options');
  const send = (credential: object) => callOffice(limited.app, 'POST', '/session/passkey', { credential });
  await limited.owner.query(`DELETE FROM sign_in_attempt`);
  assertStatus(await send(authenticator.sign((await options()).json())), 200);
  await limited.owner.query('UPDATE sign_in_attempt SET attempts = attempts + 99');
  assertStatus(await send(authenticator.sign((await options()).json())), 200);
  await limited.owner.query('UPDATE sign_in_attempt SET attempts = attempts + 1');
  const refused = await send(authenticator.sign((await options()).json()));
  assertStatus(refused, 429, 'too_many_sign_ins');
  assert.ok(Number(refused.headers['retry-after']) > 0);
  await limited.owner.query('UPDATE sign_in_attempt SET attempts = 300');
  assertStatus(await options(), 429, 'too_many_sign_ins');
});

test('after the password a person with passkeys needs one of them, and has no session before', async () => {
  const person = await createPerson(service);
  const authenticator = await addPasskey(person);
  const asked = assertStatus(await signInWithPassword(person.email), 200);
  assert.equal(asked.headers['set-cookie'], undefined);
  const { needs, token, options, hasRecoveryCodes, ...rest } = asked.json();
  assert.deepEqual([needs, hasRecoveryCodes, rest], ['SECOND_FACTOR', false, {}]);
  assert.deepEqual(
    options.allowCredentials.map(({ id }: { id: string }) => id),
    [authenticator.id],
  );
  for (const cookie of [`stamm_session=${token}`, `stamm_session=${randomUUID()}`]) {
    assertStatus(await callOffice(app, 'GET', '/session', undefined, { headers: { cookie } }), 401);
  }
  const finished = assertStatus(await finish({ token, credential: authenticator.sign(options) }), 200);
  assert.equal(finished.json().person.id, person.id);
  const headers = { cookie: cookieOf(finished) };
  assertStatus(await callOffice(app, 'GET', '/customers', undefined, { headers }), 200);
  assert.deepEqual((await auditOf(person.id)).at(-1)!.details, { method: 'password and passkey' });
  assertStatus(await finish({ token, credential: authenticator.sign(options) }), 401, 'sign_in_expired');
});

test('a second step is refused for another sign-in, another person, a stale token, and after five tries', async () => {
  const person = await createPerson(service);
  const authenticator = await addPasskey(person);
  const ask = async () => (await signInWithPassword(person.email)).json();
  const [first, second] = [await ask(), await ask()];
  const crossed = { token: first.token, credential: authenticator.sign(second.options) };
  assertStatus(await finish(crossed), 401, 'passkey_refused');
  const stranger = await createPerson(service);
  const strangersKey = await addPasskey(stranger);
  const foreign = { token: first.token, credential: strangersKey.sign(first.options) };
  assertStatus(await finish(foreign), 401, 'passkey_refused');
  for (let tries = 0; tries < 3; tries++)
    assertStatus(await finish({ token: first.token, recoveryCode: 'x' }), 401, 'recovery_code_wrong');
  const late = { token: first.token, credential: authenticator.sign(first.options) };
  assertStatus(await finish(late), 401, 'sign_in_expired');
  const stale = await ask();
  await owner.query('UPDATE pending_sign_in SET expires_at = now()');
  const expired = { token: stale.token, credential: authenticator.sign(stale.options) };
  assertStatus(await finish(expired), 401, 'sign_in_expired');
  const pending = await ask();
  await service.database.inTenants([person.tenantId], async (client) => {
    const { rows } = await client.query('SELECT password_hash FROM person WHERE id = $1', [person.id]);
    await setPassword(client, person.tenantId, person.id, rows[0].password_hash);
  });
  const afterChange = { token: pending.token, credential: authenticator.sign(pending.options) };
  assertStatus(await finish(afterChange), 401, 'sign_in_expired');
  for (const token of ['x', randomUUID()])
    assertStatus(await finish({ token, recoveryCode: 'x' }), 401, 'sign_in_expired');
  assertStatus(await finish({ token: second.token }), 400);
  const failures = (await auditOf(person.id)).filter(({ event }) => event === 'SIGN_IN_FAILED');
  assert.equal(failures.length, 5);
});

test('of two that finish the same sign-in at the same moment one gets a session', async () => {
  const person = await createPerson(service);
  await addPasskey(person);
  const { codes } = (await person.call('POST', '/recovery-codes')).json();
  const { token } = (await signInWithPassword(person.email)).json();
  const answers = await Promise.all(
    codes.slice(0, 4).map((recoveryCode: string) => finish({ token, recoveryCode })),
  );
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 401, 401, 401]);
  const { recoveryCodesLeft } = (await person.call('GET', '/passkeys')).json();
  assert.equal(recoveryCodesLeft, 9, 'the codes of the others are still good');
});

test('each recovery code works once, in any spelling, and a new set ends the old one', async () => {
  const person = await createPerson(service);
  assertStatus(await person.call('POST', '/recovery-codes'), 409, 'passkey_missing');
  await addPasskey(person);
  const old = (await person.call('POST', '/recovery-codes')).json().codes;
  const { codes } = assertStatus(await person.call('POST', '/recovery-codes'), 201).json();
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) assert.match(code, /^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/);
  const signIn = async (recoveryCode: string) => {
    const { token } = (await signInWithPassword(person.email)).json();
    return finish({ token, recoveryCode });
  };
  assertStatus(await signIn(old[0]), 401, 'recovery_code_wrong');
  const typed = codes[0].toUpperCase().replaceAll('-', ' ');
  assert.equal(assertStatus(await signIn(typed), 200).json().recoveryCodesLeft, 9);
  assertStatus(await signIn(codes[0]), 401, 'recovery_code_wrong');
  const stored = await owner.query('SELECT code_hash FROM recovery_code WHERE person_id = $1', [person.id]);
  assert.ok(stored.rows.every(({ code_hash }) => code_hash.length === 32));
  const events = (await auditOf(person.id)).map(({ event }) => event);
  assert.ok(events.includes('RECOVERY_CODES_CREATED') && events.includes('RECOVERY_CODE_USED'));
});

test('the same recovery code at the same moment works once', async () => {
  const person = await createPerson(service);
  await addPasskey(person);
  const { codes } = (await person.call('POST', '/recovery-codes')).json();
  const tokens: string[] = [];
  for (let count = 0; count < 4; count++) tokens.push((await signInWithPassword(person.email)).json().token);
  const answers = await Promise.all(tokens.map((token) => finish({ token, recoveryCode: codes[3] })));
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 401, 401, 401]);
});

test('a recovery code of another person does not help', async () => {
  const [person, other] = [await createPerson(service), await createPerson(service)];
  for (const one of [person, other]) await addPasskey(one);
  const { codes } = (await other.call('POST', '/recovery-codes')).json();
  const { token } = (await signInWithPassword(person.email)).json();
  assertStatus(await finish({ token, recoveryCode: codes[0] }), 401, 'recovery_code_wrong');
});

test('with the last passkey its recovery codes end, and the password alone signs in again', async () => {
  const person = await createPerson(service);
  await addPasskey(person);
  assertStatus(await person.call('POST', '/recovery-codes'), 201);
  const [{ id }] = (await person.call('GET', '/passkeys')).json().data;
  assertStatus(await person.call('DELETE', `/passkeys/${id}`), 204);
  assert.equal((await person.call('GET', '/passkeys')).json().recoveryCodesLeft, 0);
  cookieOf(assertStatus(await signInWithPassword(person.email), 200));
});

test('Verwaltung removes the passkeys of a colleague, who is signed out everywhere', async () => {
  const { tenantId, verwaltung } = await createBusiness();
  const colleague = await createPerson(service, { tenantId, role: 'PFLEGE', name: 'Paul' });
  const authenticator = await addPasskey(colleague);
  assert.deepEqual((await verwaltung.call('GET', '/passkey-requirement')).json(), {
    isRequired: false,
    people: [{ id: colleague.id, passkeys: 1 }],
  });
  assertStatus(await verwaltung.call('DELETE', `/people/${colleague.id}/passkeys`), 204);
  assertStatus(await colleague.call('GET', '/session'), 401);
  const credential = authenticator.sign(await signInOptions());
  assertStatus(await signInWithPasskey(credential), 401, 'passkey_refused');
  cookieOf(assertStatus(await signInWithPassword(colleague.email), 200));
  const { event, details } = (await auditOf(colleague.id)).find(
    (entry) => entry.event === 'PASSKEY_REMOVED',
  )!;
  assert.deepEqual([event, details], ['PASSKEY_REMOVED', { count: 1 }]);
});

test('passkeys are not offered without https, at an IP address, or beside the public address', async () => {
  const person = await createPerson(service);
  await addPasskey(person);
  const at = (origin: string) => ({ headers: { origin, 'sec-fetch-site': 'same-origin' } });
  for (const origin of [
    'http://stamm.example',
    'http://127.0.0.1:3000',
    'https://192.168.1.5',
    'https://[::1]',
  ]) {
    const options = await person.call('POST', '/passkeys/options', undefined, at(origin));
    assertStatus(options, 409, 'passkeys_unavailable');
    const signIn = await callOffice(app, 'POST', '/session/passkey/options', undefined, at(origin));
    assertStatus(signIn, 409, 'passkeys_unavailable');
    const credentials = { email: person.email, password };
    const asked = (await callOffice(app, 'POST', '/session', credentials, at(origin))).json();
    assert.deepEqual([asked.needs, asked.options], ['SECOND_FACTOR', null]);
  }
  const elsewhere = at('https://stamm.example');
  const options = (await person.call('POST', '/passkeys/options', undefined, elsewhere)).json();
  assert.equal(options.rp.id, 'stamm.example');
  const credential = new SoftwareAuthenticator().create(options, { origin: 'https://stamm.example' });
  assertStatus(await person.call('POST', '/passkeys', { credential }, elsewhere), 201);
  const here = (await signInWithPassword(person.email)).json();
  assert.equal(here.options.allowCredentials.length, 1, 'only the passkey of this address');

  const withAddress = await startService({ PUBLIC_URL: 'https://stamm.example' });
  const other = await createPerson(withAddress);
  assertStatus(await other.call('POST', '/passkeys/options'), 409, 'passkeys_unavailable');
  assertStatus(await other.call('POST', '/passkeys/options', undefined, elsewhere), 200);
});

test('a business that requires passkeys lets people without one do nothing but add it', async () => {
  const { tenantId, verwaltung } = await createBusiness();
  const colleague = await createPerson(service, { tenantId, name: 'Paul' });
  const require = (isRequired: unknown) => verwaltung.call('PUT', '/passkey-requirement', { isRequired });
  assertStatus(await require(true), 409, 'passkey_missing');
  assertStatus(await require('yes'), 400);
  await addPasskey(verwaltung);
  assertStatus(await colleague.call('GET', '/customers'), 200);
  assertStatus(await require(true), 200);

  const allowed = [
    'GET /app/session',
    'DELETE /app/session',
    'GET /app/passkeys',
    'POST /app/passkeys/options',
    'POST /app/passkeys',
    'POST /app/proof/options',
    'POST /app/proof',
  ];
  const isOpen = /^\/app\/(state|setup|invitation|session\/|password-reset|reset\/|calendar\/)/;
  const refused = routesBelow(app, '/app/').filter(({ method, path }) => {
    const isPublic = isOpen.test(path) || (method === 'POST' && path === '/app/session');
    return !isPublic && !allowed.includes(`${method === 'HEAD' ? 'GET' : method} ${path}`);
  });
  assert.ok(refused.length > 60);
  for (const { method, path } of refused) {
    const url = path.replace(/^\/app/, '').replace(/:\w+/g, randomUUID());
    const response = await colleague.call(method, url);
    assert.equal(response.statusCode, 403, `${method} ${path}: ${response.body}`);
    if (method !== 'HEAD') assert.equal(response.json().code, 'passkey_required', path);
  }

  assert.equal((await colleague.call('GET', '/session')).json().needsPasskey, true);
  const state = await callOffice(app, 'GET', '/state', undefined, { headers: { cookie: colleague.cookie } });
  assert.equal(state.json().me.needsPasskey, true);
  const again = assertStatus(await signInWithPassword(colleague.email), 200);
  assert.equal(again.json().needsPasskey, true);
  assertStatus(await verwaltung.call('GET', '/customers'), 200);
  await addPasskey(colleague);
  assertStatus(await colleague.call('GET', '/customers'), 200);
  assert.equal((await colleague.call('GET', '/session')).json().needsPasskey, undefined);

  const [{ id }] = (await colleague.call('GET', '/passkeys')).json().data;
  assertStatus(await colleague.call('DELETE', `/passkeys/${id}`), 409, 'last_passkey');
  assertStatus(await require(false), 200);
  assertStatus(await colleague.call('DELETE', `/passkeys/${id}`), 204);
  assertStatus(await colleague.call('GET', '/customers'), 200);
  const { rows } = await owner.query(
    `SELECT details FROM audit_entry WHERE tenant_id = $1 AND event = 'SETTINGS_CHANGED' ORDER BY id`,
    [tenantId],
  );
  assert.deepEqual(
    rows.map(({ details }) => details),
    [{ requiresPasskeys: true }, { requiresPasskeys: false }],
  );
});

test('the requirement of one business says nothing about another', async () => {
  const { verwaltung } = await createBusiness();
  await addPasskey(verwaltung);
  assertStatus(await verwaltung.call('PUT', '/passkey-requirement', { isRequired: true }), 200);
  assertStatus(await (await createBusiness()).verwaltung.call('GET', '/customers'), 200);
});
