// Signing in and out: what a password, a cookie and a one-time link are good for, and when they end.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pino } from 'pino';
import { endSetupToken, makeSetupToken, useSetup } from '../../../server/access/one-time-links.ts';
import { removePerson, setPassword } from '../../../server/access/people.ts';
import { hashToken } from '../../../server/access/secrets.ts';
import { buildApp } from '../../../server/app/app.ts';
import { hashPassword } from '../../../server/features/sign-in/passwords.ts';
import { untilLocked } from '../../helpers/locks.ts';
import { callOffice, cookieOf, createPerson, password, signIn } from '../../helpers/office.ts';
import { generousLimits, startService } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { app, owner } = service;

/** Before there is anybody: these run in order, as a first start does. */
test('while there is nobody, a setup link makes the business and its first person, once', async (t) => {
  const empty = await startService();
  const state = async () => (await callOffice(empty.app, 'GET', '/state')).json();
  assert.deepEqual(await state(), { hasPeople: false, hasMail: false, isRelease: false, me: null });
  const firstStart = (await makeSetupToken(empty.database))!;
  const form = {
    businessName: 'Grün & Gut GmbH',
    name: 'Anke Petersen',
    email: 'Anke@Gruen.example',
    password,
  };
  const use = (token: string, changes: object = {}) =>
    callOffice(empty.app, 'POST', `/setup/${token}`, { ...form, ...changes });

  await t.test('a link of an earlier start ends with the next one', async () => {
    await empty.owner.query(`UPDATE setup_link SET created_at = now() - interval '2 minutes'`);
    const secondStart = (await makeSetupToken(empty.database))!;
    assert.equal((await callOffice(empty.app, 'GET', `/setup/${firstStart}`)).statusCode, 404);
    assert.equal((await use(firstStart)).statusCode, 404);
    assert.equal((await callOffice(empty.app, 'GET', `/setup/${secondStart}`)).statusCode, 200);
    await endSetupToken(empty.database, secondStart);
    assert.equal((await callOffice(empty.app, 'GET', `/setup/${secondStart}`)).statusCode, 404);
  });

  await t.test('an invalid form names its errors and does not use the link up', async () => {
    const token = (await makeSetupToken(empty.database))!;
    const response = await use(token, { businessName: ' ', email: 'x', password: 'short', name: 5 });
    assert.equal(response.statusCode, 400);
    assert.deepEqual(
      response.json().errors.map(({ field, code }: Record<string, string>) => `${field}: ${code}`),
      ['businessName: blank', 'name: type', 'email: invalid_email', 'password: too_short'],
    );
    for (const easy of ['aaaaaaaaaaaa', 'abcabcabcabc', '1234567890', 'anke@gruen.example']) {
      assert.equal((await use(token, { password: easy })).json().errors[0].code, 'too_easy', easy);
    }
    assert.equal((await callOffice(empty.app, 'GET', `/setup/${token}`)).statusCode, 200);
  });

  await t.test('of links that are used at the same moment one works', async () => {
    const tokens = [(await makeSetupToken(empty.database))!, (await makeSetupToken(empty.database))!];
    // The one business that is there already is the one that the first person joins.
    const found = await callOffice(empty.app, 'GET', `/setup/${tokens[0]}`);
    assert.deepEqual(found.json(), { businessName: 'Grün & Gut GmbH' });
    const responses = await Promise.all(
      [...tokens, ...tokens, ...tokens].map((token, index) => use(token, { email: `p${index}@x.example` })),
    );
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [201, 404, 404, 404, 404, 404]);
    const made = responses.find(({ statusCode }) => statusCode === 201)!;
    assert.equal(made.json().person.role, 'VERWALTUNG');
    assert.equal(made.json().business.id, empty.tenant.tenantId);
    const me = await callOffice(empty.app, 'GET', '/session', undefined, {
      headers: { cookie: cookieOf(made) },
    });
    assert.deepEqual(me.json(), made.json());
    assert.equal((await empty.owner.query('SELECT FROM person')).rowCount, 1);
    assert.equal((await state()).hasPeople, true);
    assert.equal(await makeSetupToken(empty.database), undefined, 'no further link is made');
  });
});

test('a link that is used while another one is being used is too late', async () => {
  const empty = await startService();
  const tokens = [(await makeSetupToken(empty.database))!, (await makeSetupToken(empty.database))!] as const;
  const use = (token: string, email: string, then: () => Promise<void>) =>
    useSetup(empty.database, token, 'Grün & Gut', { name: 'A', email, passwordHash: 'x' }, then);
  let second: Promise<unknown> | undefined;
  await use(tokens[0], 'a@x.example', async () => {
    // The first has not been committed when the second begins, and is before the second can go on.
    second = assert.rejects(
      use(tokens[1], 'b@x.example', async () => {}),
      { code: 'not_found' },
    );
    await untilLocked(empty.owner);
  });
  await second;
  assert.equal((await empty.owner.query('SELECT FROM person')).rowCount, 1);
});

test('where there are several businesses, or none, a setup link makes a new one', async () => {
  const empty = await startService();
  await empty.createTenant('Zweite GmbH');
  const token = (await makeSetupToken(empty.database))!;
  const found = await callOffice(empty.app, 'GET', `/setup/${token}`);
  assert.deepEqual(found.json(), { businessName: null });
  const form = { businessName: 'Dritte GmbH', name: 'A', email: 'a@b.example', password };
  const made = await callOffice(empty.app, 'POST', `/setup/${token}`, form);
  assert.equal(made.statusCode, 201, made.body);
  assert.equal(made.json().business.name, 'Dritte GmbH');
  assert.equal((await empty.owner.query('SELECT FROM tenant')).rowCount, 3);
});

test('the right password signs in, with the address in any case', async () => {
  const { email, id } = await createPerson(service);
  const response = await callOffice(app, 'POST', '/session', { email: ` ${email.toUpperCase()} `, password });
  assert.equal(response.statusCode, 200, response.body);
  assert.equal(response.json().person.id, id);
  const [setCookie] = response.headers['set-cookie'] as string[];
  assert.match(setCookie!, /^stamm_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
  const stored = await owner.query('SELECT token_hash FROM session WHERE token_hash = $1', [
    hashToken(cookieOf(response).split('=')[1]!),
  ]);
  assert.equal(stored.rowCount, 1, 'only the hash of the token is stored');
});

test('over https the cookies are those of this host alone, and no others count', async () => {
  const proxied = await startService({ connection: service.connection, TRUST_PROXY: ['127.0.0.1'] });
  const { email } = await createPerson(proxied);
  const headers = {
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '192.0.2.9',
    origin: 'https://localhost:80',
  };
  const response = await callOffice(proxied.app, 'POST', '/session', { email, password }, { headers });
  for (const cookie of response.headers['set-cookie'] as string[])
    assert.match(
      cookie,
      /^__Host-stamm_\w+=[\w-]{43}; Secure; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
    );
  const secure = cookieOf(response);
  const plain = secure.replace('__Host-', '');
  const other = (await createPerson(proxied)).cookie;
  const read = async (cookie: string, more: object = {}) =>
    (
      await callOffice(proxied.app, 'GET', '/state', undefined, { headers: { ...headers, cookie, ...more } })
    ).json().me?.person.email;
  assert.equal(await read(secure), email);
  assert.equal(await read(`${other}; ${secure}`), email, 'one that another host may have set is ignored');
  assert.equal(await read(plain), undefined);
  assert.equal(await read(`${secure}; ${secure}`), undefined);
  assert.equal(
    await read(plain, { 'x-forwarded-proto': 'http' }),
    email,
    'without TLS the plain name counts',
  );
  assert.equal(await read(`${other}; ${secure}`, { 'x-forwarded-proto': 'http' }), email);
  const ended = await callOffice(proxied.app, 'DELETE', '/session', undefined, {
    headers: { ...headers, cookie: secure },
  });
  assert.match(String(ended.headers['set-cookie']), /^__Host-stamm_session=; Secure; .*Max-Age=0$/);

  const unproxied = await callOffice(
    app,
    'POST',
    '/session',
    { email, password },
    { headers: { 'x-forwarded-proto': 'https' } },
  );
  assert.doesNotMatch(String(unproxied.headers['set-cookie']), /Secure/);
  const silent = await callOffice(
    app,
    'POST',
    '/session',
    { email, password },
    { headers: { origin: 'https://localhost:80' } },
  );
  assert.match(cookieOf(silent), /^__Host-/, 'also where the proxy does not tell');
});

test('an unknown account and a wrong password get the same answer, and the same work is done', async () => {
  const { email } = await createPerson(service);
  const attempt = async (address: string) => {
    const response = await callOffice(app, 'POST', '/session', {
      email: address,
      password: 'wrong password',
    });
    const { requestId: _id, ...body } = response.json();
    const { 'x-request-id': _other, date: _date, ...headers } = response.headers;
    return { status: response.statusCode, body, headers };
  };
  const [known, unknown] = [await attempt(email), await attempt(`${randomUUID()}@nobody.example`)];
  assert.equal(known.status, 401);
  assert.equal(known.body.code, 'sign_in_failed');
  assert.deepEqual(unknown, known);
});

test('guesses are limited for each account and network, over all processes, known or not', async () => {
  const second = await startService({ connection: service.connection });
  const { email } = await createPerson(service);
  for (const address of [email, `${randomUUID()}@nobody.example`]) {
    const statuses = await Promise.all(
      Array.from({ length: 14 }, async (_, index) => {
        const from = index % 2 ? app : second.app;
        const response = await callOffice(from, 'POST', '/session', {
          email: address,
          password: 'guess guess',
        });
        if (response.statusCode === 429) assert.ok(Number(response.headers['retry-after']) > 60);
        return response.statusCode;
      }),
    );
    assert.equal(statuses.filter((status) => status === 401).length, 10, String(statuses));
    assert.equal(statuses.filter((status) => status === 429).length, 4);
  }
  const right = await callOffice(app, 'POST', '/session', { email, password });
  assert.equal(right.json().code, 'too_many_sign_ins', 'also the right password has to wait there');
  await owner.query(`UPDATE sign_in_attempt SET started_at = started_at - interval '16 minutes'`);
  await signIn(app, email);
});

test('guesses are limited for each address, and an address of IPv6 is its network', async () => {
  const limited = await startService({ connection: service.connection, TRUST_PROXY: ['127.0.0.1'] });
  const attempt = (address: string) =>
    callOffice(
      limited.app,
      'POST',
      '/session',
      { email: `${randomUUID()}@nobody.example`, password: 'guess guess' },
      { headers: { 'x-forwarded-for': address } },
    );
  await attempt('2001:db8:1:2::1');
  await owner.query(
    'UPDATE sign_in_attempt SET attempts = 100 WHERE attempts = 1 AND started_at > now() - $1::interval',
    ['1 minute'],
  );
  assert.equal((await attempt('2001:db8:1:2:ffff::7')).statusCode, 429);
  assert.equal((await attempt('2001:db8:1:3::1')).statusCode, 401);
});

test('signing in begins a new session and ends the one that the browser brought', async () => {
  const { email, cookie } = await createPerson(service);
  const newCookie = await signIn(app, email, { headers: { cookie } });
  assert.notEqual(newCookie, cookie);
  const isLive = async (value: string) =>
    (await callOffice(app, 'GET', '/session', undefined, { headers: { cookie: value } })).statusCode === 200;
  assert.equal(await isLive(cookie), false);
  assert.equal(await isLive(newCookie), true);
  const planted = `stamm_session=${'A'.repeat(43)}`;
  assert.equal(await isLive(planted), false);
  assert.notEqual(
    await signIn(app, email, { headers: { cookie: planted } }),
    planted,
    'no token is taken over',
  );
  for (const both of [`${planted}; ${newCookie}`, `${newCookie}; ${planted}`]) {
    assert.equal(await isLive(both), false, 'of two cookies neither counts');
  }
});

test('the session is readable without an error, also where nobody is signed in', async () => {
  const { id, call } = await createPerson(service);
  const { me, version } = (await call('GET', '/state')).json();
  assert.deepEqual([me.person.id, version], [id, '0.1.0']);
  // Strangers need not know which defects the version has.
  assert.deepEqual((await callOffice(app, 'GET', '/state')).json(), {
    hasPeople: true,
    hasMail: false,
    isRelease: false,
    me: null,
  });
});

test('somebody who signs in again and again has a bounded number of sessions', async () => {
  const { id, email, call } = await createPerson(service);
  await owner.query(
    `INSERT INTO session (tenant_id, id, person_id, token_hash, last_used_at, address, user_agent)
     SELECT tenant_id, gen_random_uuid(), person_id, sha256(n::text::bytea), now() - interval '1 hour', '', ''
     FROM session, generate_series(1, 60) AS n WHERE person_id = $1`,
    [id],
  );
  await signIn(app, email);
  const { data } = (await call('GET', '/sessions')).json();
  assert.equal(data.length, 50);
  assert.ok(data.some(({ isCurrent }: { isCurrent: boolean }) => isCurrent));
});

test('signing out ends the session on the server', async () => {
  const { call } = await createPerson(service);
  const response = await call('DELETE', '/session');
  assert.equal(response.statusCode, 204);
  assert.match(String(response.headers['set-cookie']), /^stamm_session=; .*Max-Age=0/);
  assert.equal((await call('GET', '/session')).statusCode, 401);
});

test('a session ends when it is not used, and when it is old', async () => {
  for (const change of [
    `last_used_at = now() - interval '37 hours'`,
    `created_at = now() - interval '15 days'`,
  ]) {
    const { id, call } = await createPerson(service);
    await owner.query(`UPDATE session SET ${change} WHERE person_id = $1`, [id]);
    assert.equal((await call('GET', '/session')).statusCode, 401, change);
    assert.equal((await call('GET', '/sites')).statusCode, 401, change);
  }
});

test('a used session notes its use, and stays', async () => {
  const { id, call } = await createPerson(service);
  await owner.query(`UPDATE session SET last_used_at = now() - interval '35 hours' WHERE person_id = $1`, [
    id,
  ]);
  assert.equal((await call('GET', '/session')).statusCode, 200);
  const { rows } = await owner.query(
    `SELECT last_used_at > now() - interval '1 minute' AS noted FROM session WHERE person_id = $1`,
    [id],
  );
  assert.deepEqual(rows, [{ noted: true }]);
});

test("a person sees and ends their own sessions, and nobody else's", async () => {
  const person = await createPerson(service);
  const other = await createPerson(service);
  const phone = await signIn(app, person.email, { headers: { 'user-agent': 'Phone' } });
  const { data } = (await person.call('GET', '/sessions')).json();
  assert.equal(data.length, 2);
  assert.deepEqual(
    data.map(({ userAgent, isCurrent }: Record<string, unknown>) => [userAgent, isCurrent]).sort(),
    [
      ['Phone', false],
      ['lightMyRequest', true],
    ],
  );
  const phoneSession = data.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent);
  assert.deepEqual(Object.keys(phoneSession).sort(), [
    'address',
    'createdAt',
    'id',
    'isCurrent',
    'lastUsedAt',
    'userAgent',
  ]);
  assert.equal((await other.call('DELETE', `/sessions/${phoneSession.id}`)).statusCode, 404);
  assert.equal((await person.call('DELETE', `/sessions/${phoneSession.id}`)).statusCode, 204);
  const ended = await callOffice(app, 'GET', '/session', undefined, { headers: { cookie: phone } });
  assert.equal(ended.statusCode, 401);
  assert.equal((await person.call('GET', '/session')).statusCode, 200);
});

test('a person signs out everywhere, this browser included', async () => {
  const person = await createPerson(service);
  const elsewhere = await signIn(app, person.email);
  const colleague = await createPerson(service);
  const response = await person.call('DELETE', '/sessions');
  assert.equal(response.statusCode, 204);
  assert.match(String(response.headers['set-cookie']), /^stamm_session=; .*Max-Age=0/);
  for (const cookie of [person.cookie, elsewhere]) {
    const ended = await callOffice(app, 'GET', '/session', undefined, { headers: { cookie } });
    assert.equal(ended.statusCode, 401);
  }
  assert.equal((await colleague.call('GET', '/session')).statusCode, 200);
});

test('name and address of the own account can be changed, the address with the password only', async () => {
  const person = await createPerson(service);
  const colleague = await createPerson(service);
  const change = (body: object) => person.call('PATCH', '/profile', body);
  assert.equal((await change({ name: 'Anke Meier' })).json().person.name, 'Anke Meier');
  const email = `${randomUUID()}@neu.example`;
  assert.equal((await change({ email })).json().errors[0].field, 'currentPassword');
  const wrong = await change({ email, currentPassword: 'something else' });
  assert.equal(wrong.json().errors[0].code, 'wrong_password');
  const taken = await change({ email: colleague.email.toUpperCase(), currentPassword: password });
  assert.deepEqual([taken.statusCode, taken.json().code], [409, 'email_taken']);
  const changed = await change({ email, currentPassword: password });
  assert.deepEqual([changed.statusCode, changed.json().person.email], [200, email]);
  await signIn(app, email);
  const before = await callOffice(app, 'POST', '/session', { email: person.email, password });
  assert.equal(before.statusCode, 401);
  assert.equal((await person.call('GET', '/session')).json().person.name, 'Anke Meier');
});

test('sign-ins, good and bad, and everything about passwords are on record', async () => {
  const person = await createPerson(service);
  await callOffice(app, 'POST', '/session', { email: person.email, password: 'guess guess' });
  await person.call('POST', '/password', { currentPassword: password, newPassword: 'vier Rosen im Garten' });
  const cookie = await signInWith(person.email, 'vier Rosen im Garten');
  await callOffice(app, 'DELETE', '/session', undefined, { headers: { cookie } });
  const read = async () => {
    const { rows } = await owner.query<{ event: string }>(
      `SELECT event FROM audit_entry WHERE tenant_id = $1 AND $2 IN (actor_id, subject_id) ORDER BY id`,
      [person.tenantId, person.id],
    );
    return rows.map(({ event }) => event);
  };
  // A failure is recorded after its answer.
  await until('all of it is recorded', async () => (await read()).length === 5);
  assert.deepEqual((await read()).sort(), [
    'PASSWORD_CHANGED',
    'SIGNED_IN',
    'SIGNED_IN',
    'SIGNED_OUT',
    'SIGN_IN_FAILED',
  ]);
});

async function signInWith(email: string, typed: string): Promise<string> {
  return cookieOf(await callOffice(app, 'POST', '/session', { email, password: typed }));
}

test('a changed password ends all other sessions, and the old password', async () => {
  const person = await createPerson(service);
  const elsewhere = await signIn(app, person.email);
  const newPassword = 'vier Rosen im Garten';
  const wrong = await person.call('POST', '/password', { currentPassword: 'wrong', newPassword });
  assert.equal(wrong.statusCode, 400);
  assert.deepEqual(
    [wrong.json().errors[0].field, wrong.json().errors[0].code],
    ['currentPassword', 'wrong_password'],
  );
  const changed = await person.call('POST', '/password', { currentPassword: password, newPassword });
  assert.equal(changed.statusCode, 204, changed.body);
  const statusOf = async (cookie: string) =>
    (await callOffice(app, 'GET', '/session', undefined, { headers: { cookie } })).statusCode;
  assert.equal(await statusOf(cookieOf(changed)), 200, 'this browser goes on with a new token');
  assert.equal(await statusOf(person.cookie), 401, 'the token before it has ended');
  assert.equal(await statusOf(elsewhere), 401);
  const again = async (typed: string) =>
    (await callOffice(app, 'POST', '/session', { email: person.email, password: typed })).statusCode;
  assert.deepEqual([await again(password), await again(newPassword)], [401, 200]);
});

test('a sign-in with the old password comes too late while it is changed, or its person removed', async () => {
  const { database } = service;
  const newHash = await hashPassword('vier Rosen am Tor');
  for (const change of [setPassword, removePerson]) {
    const person = await createPerson(service);
    await createPerson(service);
    // The moment between the look at the password and the session.
    const inTenants: typeof database.inTenants = async (...call) => {
      await database.inTenants([person.tenantId], async (client) => {
        await change(client, person.tenantId, person.id, newHash);
      });
      return database.inTenants(...call);
    };
    const app = await buildApp(generousLimits, { ...database, inTenants }, pino({ level: 'silent' }));
    const answer = await callOffice(app, 'POST', '/session', { email: person.email, password });
    assert.deepEqual([answer.statusCode, answer.json().code], [401, 'sign_in_failed']);
    const { rowCount } = await owner.query('SELECT FROM session WHERE person_id = $1', [person.id]);
    assert.equal(rowCount, 0);
    await app.close();
  }
});

test('an open browser is no place to try passwords', async () => {
  const person = await createPerson(service);
  const attempt = () =>
    person.call('POST', '/password', { currentPassword: 'x', newPassword: 'long enough 1' });
  for (let count = 0; count < 10; count++) assert.equal((await attempt()).statusCode, 400);
  assert.equal((await attempt()).statusCode, 429);
});

test('no log line holds a password, a cookie or the token of a link', async () => {
  const person = await createPerson(service);
  const token = 'T'.repeat(43);
  for (const path of [`/setup/${token}`, `/invitation/${token}`, `/setup/${token}/`, `/x/${token}%20`]) {
    await callOffice(app, 'GET', path);
    await callOffice(app, 'POST', path, { password });
  }
  await person.call('POST', '/password', { currentPassword: password, newPassword: `${password} neu` });
  const lines = service.logLines.join('');
  assert.ok(lines.includes('"/app/setup/…"'));
  assert.ok(!lines.includes(token));
  assert.ok(!lines.includes('Tulpen'));
  assert.ok(!lines.includes(person.cookie.split('=')[1]!));
});

test('of more sign-ins than can be computed together some must wait, and the rest are served', async () => {
  const attempts = Array.from({ length: 80 }, () =>
    callOffice(app, 'POST', '/session', { email: `${randomUUID()}@x.example`, password: 'guess guess' }),
  );
  await owner.query('DELETE FROM sign_in_attempt');
  const answers = await Promise.all(attempts);
  const statuses = new Set(answers.map(({ statusCode }) => statusCode));
  assert.deepEqual([...statuses].sort(), [401, 429]);
  // A full queue answers with Retry-After: 1; a rate limit with minutes. That there is a
  // queue shows that an account that does not exist costs a hash like any other.
  const full = answers.filter(({ statusCode }) => statusCode === 429);
  assert.deepEqual(new Set(full.map(({ headers }) => headers['retry-after'])), new Set(['1']));
});

test('a cookie that can be no token is no session', async () => {
  const response = await callOffice(app, 'GET', '/session', undefined, {
    headers: { cookie: `stamm_session=${"'; DROP TABLE session; --"}` },
  });
  assert.equal(response.statusCode, 401);
});
