// What Stamm mails, and what happens when the mail server does not take it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../../server/config.ts';
import { openMailer } from '../../../server/mail/mailer.ts';
import { writeNotice } from '../../../server/mail/notice-texts.ts';
import { callOffice, createPerson, deviceCookieOf, password } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { type Received, startMailServer } from './mail-server.ts';

const mail = await startMailServer();
const service = await startService({
  SMTP_URL: mail.url,
  PUBLIC_URL: 'https://stamm.example.com',
  MAIL_FROM: 'Stamm <stamm@stamm.example.com>',
});
const { app } = service;
const about = (subject: RegExp) => (received: Received) => subject.test(received.subject);

test('an invitation is mailed, in both languages since nobody knows which', async () => {
  const { call } = await createPerson(service, { name: 'Vera' });
  const email = `${randomUUID()}@gruen.example`;
  const made = (await call('POST', '/invitations', { email, role: 'PFLEGE' })).json();
  assert.equal(made.isMailed, true);
  const { subject, body, raw } = await mail.mailTo(email);
  assert.equal(subject, 'Einladung zu Stamm / Invitation to Stamm');
  assert.ok(body.includes(made.link) && made.link.startsWith('https://stamm.example.com/invitation#'));
  assert.match(body, /Vera lädt Sie zu Grün & Gut GmbH ein/);
  assert.match(body, /Vera invites you to Grün & Gut GmbH/);
  assert.match(raw, /^From: Stamm <stamm@stamm.example.com>\r?$/m);
});

test('a business mails a bounded number of invitations, and sees each link', async () => {
  const { tenantId } = await service.createTenant('Blatt & Co.');
  const { call } = await createPerson(service, { tenantId });
  const isMailed = [];
  for (let count = 0; count < 32; count++) {
    const made = await call('POST', '/invitations', { email: `${count}@many.example`, role: 'PFLEGE' });
    assert.ok(made.json().link);
    isMailed.push(made.json().isMailed);
  }
  assert.deepEqual([isMailed.indexOf(false), isMailed.lastIndexOf(true)], [30, 29]);
});

test('a test business mails nobody', async () => {
  const { tenantId } = await service.createTenant('Blatt & Co.');
  const vera = await createPerson(service, { tenantId, name: 'Vera' });
  await vera.call('POST', '/test-business');
  await vera.call('POST', '/test-business/enter');
  assert.equal((await vera.call('POST', '/key')).statusCode, 201);
  assert.equal((await vera.call('DELETE', '/key')).statusCode, 204);
  await vera.call('POST', '/test-business/leave');
  const { lastFour } = (await vera.call('POST', '/key')).json();
  const first = await mail.mailTo(vera.email, ({ subject }) => /API/.test(subject));
  assert.ok(first.body.includes(lastFour), 'the first mail is about the real business');
});

test('security notices come in the language of the last sign-in', async () => {
  const vera = await createPerson(service, { name: 'Vera' });
  const paul = await createPerson(service, { name: 'Paul' });
  const enter = (headers: Record<string, string>) =>
    callOffice(app, 'POST', '/session', { email: paul.email, password }, { headers });
  const first = await enter({ 'accept-language': 'de', 'user-agent': 'Firefox' });
  const newDevice = await mail.mailTo(paul.email, ({ body }) => body.includes('Browser: Firefox'));
  assert.equal(newDevice.subject, 'Anmeldung von einem neuen Gerät');
  await enter({ 'accept-language': 'en', cookie: deviceCookieOf(first), 'user-agent': 'Known' });

  await vera.call('PATCH', `/people/${paul.id}`, { role: 'PFLEGE' });
  const role = await mail.mailTo(paul.email, about(/^Your role was changed$/));
  assert.match(role.body, /Vera gave you the role Care at Grün & Gut GmbH/);
  await vera.call('POST', `/people/${paul.id}/reset-link`);
  const made = await mail.mailTo(paul.email, about(/^Password link created$/));
  assert.ok(!made.raw.includes('#'), 'the link is for Verwaltung to hand over');
  await paul.call('POST', '/password', { currentPassword: password, newPassword: 'vier Rosen im Garten' });
  await mail.mailTo(paul.email, about(/^Your password was changed$/));
  await vera.call('DELETE', `/people/${paul.id}`);
  await mail.mailTo(paul.email, about(/^Your account was removed$/));
  const { lastFour } = (await vera.call('POST', '/key')).json();
  const key = await mail.mailTo(vera.email, about(/New API key/));
  assert.ok(key.body.includes(lastFour) && !/stamm_/.test(key.body));
  await vera.call('DELETE', '/key');
  await mail.mailTo(vera.email, about(/API key deleted/));
  const known = mail.received.filter(({ body }) => body.includes('Known'));
  assert.deepEqual(known, [], 'no notice for a device that is known');
});

test('the address before it hears of a changed address', async () => {
  const person = await createPerson(service);
  const email = `${randomUUID()}@neu.example`;
  await person.call('PATCH', '/profile', { email, currentPassword: password });
  const { body } = await mail.mailTo(person.email, about(/address was changed/));
  assert.ok(body.includes(email));
});

test('names cannot add headers, recipients or lines', async () => {
  const evil = 'Vera\r\nBcc: victim@evil.example\r\n\r\nhttps://evil.example';
  const { call } = await createPerson(service, { name: evil });
  const email = `${randomUUID()}@gruen.example`;
  await call('POST', '/invitations', { email, role: 'PFLEGE' });
  const { to, raw, body } = await mail.mailTo(email);
  assert.deepEqual(to, [email]);
  assert.doesNotMatch(raw, /^Bcc:/im);
  assert.match(body, /^Vera Bcc: victim@evil\.example https:\/\/evil\.example lädt Sie/m);
  const list = 'a@gruen.example,victim@evil.example'.replace('@', '_');
  await call('POST', '/invitations', { email: list, role: 'PFLEGE' });
  await until('it is refused', () => service.logLines.some((line) => line.includes('no address for mail')));
  assert.ok(!mail.received.some((received) => received.to.some((address) => address.includes('victim'))));
});

test('a mail server that refuses for the moment is asked again; one that is away fails no request', async () => {
  const { call, email: own } = await createPerson(service);
  // The notice of the sign-in is on its way, and is not the one to refuse.
  await mail.mailTo(own);
  const email = `${randomUUID()}@later.example`;
  mail.refusals.push(451);
  assert.equal((await call('POST', '/invitations', { email, role: 'PFLEGE' })).statusCode, 201);
  await mail.mailTo(email);
  assert.ok(service.logLines.some((line) => line.includes('will be tried again') && line.includes('451')));
  assert.ok(!service.logLines.some((line) => line.includes(email)), 'no log line holds an address');

  const away = await startService({
    connection: service.connection,
    SMTP_URL: 'smtp://127.0.0.1:1',
    PUBLIC_URL: 'https://stamm.example.com',
  });
  const person = await createPerson(away);
  const made = await person.call('POST', '/invitations', { email: 'x@away.example', role: 'PFLEGE' });
  assert.equal(made.statusCode, 201);
  await until('it is logged', () => away.logLines.some((line) => line.includes('mail not sent')));
});

test('waiting mail is bounded for each business', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const mailer = (await openMailer({ SMTP_URL: mail.url, MAIL_FROM: 'a@b.example' }, log))!;
  let prepared = 0;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  for (let count = 0; count < 150; count++)
    mailer.send('one', async () => {
      await held;
      prepared++;
      return [];
    });
  mailer.send('other', async () => {
    prepared++;
    return [];
  });
  assert.equal(lines.filter((line) => line.includes('mail dropped')).length, 50);
  letGo();
  await until('the rest is prepared', () => prepared === 101);
  await mailer.close();
});

test('settings: mail needs the address of the web app, since no request may name it', () => {
  const read = (environment: Record<string, string>) => readConfig(environment);
  assert.throws(() => read({ SMTP_URL: 'smtp://mail.example' }), /SMTP_URL needs PUBLIC_URL/);
  assert.throws(
    () => read({ PUBLIC_URL: 'https://a.example/x' }),
    /PUBLIC_URL must be an address without a path/,
  );
  const config = read({ SMTP_URL: 'smtps://mail.example', PUBLIC_URL: 'https://a.example/' });
  assert.deepEqual([config.PUBLIC_URL, config.MAIL_FROM], ['https://a.example', 'Stamm <stamm@a.example>']);
});

test('every mail is written in both languages, with every value in its place', () => {
  const { text } = writeNotice('newDevice', 'en', { business: 'Grün', address: '192.0.2.1', userAgent: 'x' });
  assert.doesNotMatch(text, /[{}]/);
});
