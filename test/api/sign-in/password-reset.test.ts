// Links that set a new password, without and with mail.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callOffice, cookieOf, createPerson, deviceCookieOf, password } from '../../helpers/office.ts';
import { startService, type TestService } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { startMailServer } from './mail-server.ts';

const publicUrl = 'https://stamm.example.com';
const mail = await startMailServer();
const service = await startService({ TRUST_PROXY: ['127.0.0.1'] });
const mailing = await startService({
  TRUST_PROXY: ['127.0.0.1'],
  SMTP_URL: mail.url,
  PUBLIC_URL: publicUrl,
  MAIL_FROM: 'Stamm <stamm@stamm.example.com>',
});

const newPassword = 'vier Rosen im Garten';
const tokenIn = (link: string) => /\/reset#([\w-]{43})/.exec(link)![1]!;

function reset(on: TestService, token: string, typed = newPassword) {
  return callOffice(on.app, 'POST', `/reset/${token}`, { password: typed });
}

async function signInStatus(on: TestService, email: string, typed: string, cookie = '') {
  const headers = { 'x-forwarded-for': '203.0.113.5', cookie };
  return (await callOffice(on.app, 'POST', '/session', { email, password: typed }, { headers })).statusCode;
}

test('a link of Verwaltung sets a new password once, and ends sessions and other links', async () => {
  const [verwaltung, colleague] = [await createPerson(service), await createPerson(service)];
  const make = () => verwaltung.call('POST', `/people/${colleague.id}/reset-link`);
  const [first, second] = [await make(), await make()];
  assert.equal(first.statusCode, 201, first.body);
  assert.match(first.json().link, /^http:\/\/localhost\/reset#[\w-]{43}$/);
  const token = tokenIn(first.json().link);
  const seen = await callOffice(service.app, 'GET', `/reset/${token}`);
  assert.deepEqual(seen.json(), { email: colleague.email, businessName: 'Grün & Gut GmbH' });

  assert.equal((await reset(service, token, 'kurz')).json().errors[0].code, 'too_short');
  const answers = await Promise.all([reset(service, token), reset(service, token), reset(service, token)]);
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 404, 404]);
  assert.equal((await colleague.call('GET', '/session')).statusCode, 401);
  assert.equal((await reset(service, tokenIn(second.json().link))).statusCode, 404);
  assert.equal(await signInStatus(service, colleague.email, password), 401);
  const used = answers.find(({ statusCode }) => statusCode === 204)!;
  assert.throws(() => cookieOf(used), 'it signs nobody in');
  const device = deviceCookieOf(used);
  for (let count = 0; count < 10; count++) await signInStatus(service, colleague.email, 'guess guess');
  assert.equal(await signInStatus(service, colleague.email, newPassword), 429);
  assert.equal(await signInStatus(service, colleague.email, newPassword, device), 200, 'a known device');
  const { rows } = await service.owner.query(
    `SELECT event, actor_id FROM audit_entry WHERE event LIKE 'PASSWORD%' ORDER BY id`,
  );
  assert.deepEqual(rows, [
    { event: 'PASSWORD_RESET_REQUESTED', actor_id: verwaltung.id },
    { event: 'PASSWORD_RESET_REQUESTED', actor_id: verwaltung.id },
    { event: 'PASSWORD_RESET', actor_id: colleague.id },
  ]);
});

test('a link is for somebody else of the own business, and ends after a day', async () => {
  const verwaltung = await createPerson(service);
  const colleague = await createPerson(service);
  const { tenantId } = await service.createTenant('Blatt & Co.');
  const stranger = await createPerson(service, { tenantId });
  const make = (id: string) => verwaltung.call('POST', `/people/${id}/reset-link`);
  assert.equal((await make(verwaltung.id)).json().code, 'own_account');
  for (const id of [stranger.id, randomUUID(), 'x']) assert.equal((await make(id)).statusCode, 404, id);
  const token = tokenIn((await make(colleague.id)).json().link);
  await service.owner.query(`UPDATE password_reset SET expires_at = expires_at - interval '1 day'`);
  assert.equal((await callOffice(service.app, 'GET', `/reset/${token}`)).statusCode, 404);
  assert.equal((await reset(service, token)).statusCode, 404);
  for (const bad of ['x', 'A'.repeat(43), "'; --"]) {
    assert.equal((await reset(service, encodeURIComponent(bad))).statusCode, 404, bad);
  }
});

test('a link ends with the person, and when the password is changed otherwise', async () => {
  const [verwaltung, colleague] = [await createPerson(service), await createPerson(service)];
  const make = async () =>
    tokenIn((await verwaltung.call('POST', `/people/${colleague.id}/reset-link`)).json().link);
  const changed = await make();
  await colleague.call('POST', '/password', { currentPassword: password, newPassword });
  assert.equal((await reset(service, changed)).statusCode, 404);
  const removed = await make();
  await verwaltung.call('DELETE', `/people/${colleague.id}`);
  assert.equal((await reset(service, removed)).statusCode, 404);
});

function ask(email: string, address = '203.0.113.9', headers: Record<string, string> = {}) {
  const options = { headers: { 'x-forwarded-for': address, ...headers } };
  return callOffice(mailing.app, 'POST', '/password-reset', { email }, options);
}

test('with mail, the person asks for a link; known and unknown addresses get the same answer', async () => {
  const { email, id } = await createPerson(mailing);
  const answers = [await ask(email), await ask(`${randomUUID()}@nobody.example`)].map(
    ({ statusCode, headers, body }) => {
      const { 'x-request-id': _id, date: _date, ...rest } = headers;
      return { statusCode, body, rest };
    },
  );
  assert.equal(answers[0]!.statusCode, 202);
  assert.deepEqual(answers[0], answers[1]);
  const { body, to } = await mail.mailTo(email, ({ body }) => body.includes('/reset#'));
  assert.deepEqual(to, [email]);
  const [link] = /https:\S+/.exec(body)!;
  assert.ok(link.startsWith(`${publicUrl}/reset#`), link);
  assert.equal((await reset(mailing, tokenIn(link))).statusCode, 204);
  assert.equal(await signInStatus(mailing, email, newPassword), 200);
  const isNotice = ({ body }: { body: string }) => /Passwort.*geändert|password.*changed/.test(body);
  const notice = await mail.mailTo(email, isNotice);
  assert.ok(!notice.body.includes('http'));
  const { rows } = await mailing.owner.query(
    `SELECT actor_id, subject_id FROM audit_entry WHERE event = 'PASSWORD_RESET_REQUESTED'`,
  );
  assert.deepEqual(rows, [{ actor_id: null, subject_id: id }]);
});

test('no header of the request decides where a mailed link leads', async () => {
  const { email } = await createPerson(mailing);
  await ask(email, '203.0.113.10', {
    origin: 'https://evil.example',
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'sec-fetch-site': 'same-origin',
  });
  const { raw, body } = await mail.mailTo(email, ({ body }) => body.includes('/reset#'));
  assert.ok(body.includes(`${publicUrl}/reset#`));
  assert.ok(!raw.includes('evil'));
});

test('an address gets few mails, and a network asks few times', async () => {
  const { email, id } = await createPerson(mailing);
  for (let count = 0; count < 8; count++)
    assert.equal((await ask(email, `203.0.113.${20 + count}`)).statusCode, 202);
  const links = async () =>
    (await mailing.owner.query('SELECT FROM password_reset WHERE person_id = $1', [id])).rowCount;
  await until('the mails are written', async () => (await links()) === 3);
  const last = await createPerson(mailing);
  await ask(last.email, '203.0.113.40');
  await mail.mailTo(last.email, ({ body }) => body.includes('/reset#'));
  assert.equal(await links(), 3, 'what was asked for later is answered and sent');
  const statuses = [];
  for (let count = 0; count < 22; count++)
    statuses.push((await ask(`${randomUUID()}@nobody.example`, '203.0.113.60')).statusCode);
  assert.deepEqual([statuses.indexOf(429), statuses[21]], [20, 429]);
});

test('without mail nobody can ask for it', async () => {
  const response = await callOffice(service.app, 'POST', '/password-reset', { email: 'a@b.example' });
  assert.equal(response.statusCode, 404);
  const hasMail = async (on: TestService) => (await callOffice(on.app, 'GET', '/state')).json().hasMail;
  assert.deepEqual([await hasMail(service), await hasMail(mailing)], [false, true]);
});
