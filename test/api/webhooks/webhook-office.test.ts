// Webhooks as people of the office manage them, and what they hear about one that fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { WebhookSender } from '../../../server/features/webhooks/sender.ts';
import { openNotices } from '../../../server/mail/notices.ts';
import { resources } from '../../../server/resources/index.ts';
import { createPerson, routesBelow } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { startMailServer } from '../sign-in/mail-server.ts';
import { startReceiver } from './webhook-receiver.ts';

const mail = await startMailServer();
const settings = {
  WEBHOOK_ALLOW_HTTP: true,
  WEBHOOK_ALLOW_PRIVATE: true,
  SMTP_URL: mail.url,
  PUBLIC_URL: 'https://stamm.example.com',
  MAIL_FROM: 'Stamm <stamm@stamm.example.com>',
};
const service = await startService(settings);
const { app, database, owner } = service;
const url = 'https://erp.example/stamm';

/** A business of its own, as the number of its webhooks matters. */
async function openBusiness() {
  const tenant = await service.createTenant();
  const open = (role: 'VERWALTUNG' | 'PFLEGE') => createPerson(service, { role, tenantId: tenant.tenantId });
  return { ...tenant, verwaltung: await open('VERWALTUNG'), pflege: await open('PFLEGE') };
}

test('the role Pflege may neither see nor change webhooks', async () => {
  const { verwaltung, pflege } = await openBusiness();
  const { id } = (await verwaltung.call('POST', '/webhooks', { url })).json();
  const routes = routesBelow(app, '/app/').filter(({ path }) => path.startsWith('/app/webhooks'));
  assert.ok(routes.length >= 9, JSON.stringify(routes));
  for (const { method, path } of routes) {
    if (method === 'HEAD') continue;
    const body = method === 'POST' || method === 'PATCH' ? {} : undefined;
    const response = await pflege.call(method, path.replace('/app', '').replace(':id', id), body);
    assert.deepEqual([response.statusCode, response.json().code], [403, 'role_insufficient'], path);
  }
  assert.equal((await verwaltung.call('GET', '/webhooks')).json().data.length, 1);
});

test('the eleventh webhook is refused, also of several that are added at the same moment', async () => {
  const { verwaltung } = await openBusiness();
  const answers = await Promise.all(
    Array.from({ length: 14 }, () => verwaltung.call('POST', '/webhooks', { url })),
  );
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  assert.deepEqual(statuses, [...Array(10).fill(201), ...Array(4).fill(409)]);
  const refused = answers.find(({ statusCode }) => statusCode === 409)!;
  assert.equal(refused.json().code, 'too_many_webhooks');
  const { data } = (await verwaltung.call('GET', '/webhooks')).json();
  assert.equal(data.length, 10);
  assert.equal((await verwaltung.call('DELETE', `/webhooks/${data[0].id}`)).statusCode, 204);
  assert.equal((await verwaltung.call('POST', '/webhooks', { url })).statusCode, 201);
});

test('a change of address or types keeps the rest, and another business cannot make it', async () => {
  const { verwaltung } = await openBusiness();
  const stranger = (await openBusiness()).verwaltung;
  const { id } = (await verwaltung.call('POST', '/webhooks', { url, resources: ['site'] })).json();
  const read = async () => (await verwaltung.call('GET', '/webhooks')).json().data[0];
  const patch = (body: object, person = verwaltung) => person.call('PATCH', `/webhooks/${id}`, body);
  assert.equal((await patch({ url: 'https://crm.example/' })).statusCode, 204);
  assert.deepEqual([(await read()).url, (await read()).resources], ['https://crm.example/', ['site']]);
  assert.equal((await patch({ resources: null })).statusCode, 204);
  assert.deepEqual([(await read()).url, (await read()).resources], ['https://crm.example/', null]);
  assert.equal((await patch({ url: 'ftp://crm.example/' })).json().errors[0].code, 'invalid_url');
  assert.equal((await patch({ url }, stranger)).statusCode, 404);
  assert.equal((await read()).url, 'https://crm.example/');
});

test('after three days of failures Verwaltung gets a mail, Pflege none, and the office shows the pause', async () => {
  const { tenantId, key, verwaltung, pflege } = await openBusiness();
  const receiver = await startReceiver((_received, response) => response.writeHead(503).end());
  const made = await verwaltung.call('POST', '/webhooks', { url: receiver.url });
  assert.equal(made.statusCode, 201, made.body);
  await service.createCustomer({}, { headers: { apikey: key } });
  const notices = await openNotices(settings, database, pino({ level: 'silent' }));
  const sender = new WebhookSender({
    config: settings,
    database,
    resources,
    notices,
    log: pino({ level: 'silent' }),
    limits: { pollMs: 20, pauseSeconds: () => 0.05 },
  });
  sender.start();
  try {
    await until('a failure', () => receiver.received.length > 0);
    const failingSince = `UPDATE webhook SET failing_since = now() - interval '3 days'
      WHERE tenant_id = $1 AND failing_since IS NOT NULL`;
    await until(
      'a recorded failure',
      async () => (await owner.query(failingSince, [tenantId])).rowCount === 1,
    );
    const { subject, body } = await mail.mailTo(verwaltung.email, (one) => /Webhook/.test(one.subject));
    assert.match(`${subject}\n${body}`, /Webhook (angehalten|paused)/);
    assert.ok(body.includes(new URL(receiver.url).host));
  } finally {
    await sender.stop();
    await notices.close();
    await receiver.close();
  }
  const mails = mail.received.filter(({ subject }) => /Webhook/.test(subject));
  assert.deepEqual(
    mails.map(({ to }) => to),
    [[verwaltung.email]],
    'one mail, and none to Pflege',
  );
  assert.ok(pflege.email !== verwaltung.email);
  const [shown] = (await verwaltung.call('GET', '/webhooks')).json().data;
  assert.equal(shown.pausedBecause, 'FAILED');
});
