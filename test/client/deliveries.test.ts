// A webhook as the service really sends it, read by the client and held to the OpenAPI document.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pino } from 'pino';
import { verifyWebhook, type WebhookEvent } from '../../client/src/index.ts';
import document from '../../generated/openapi.json' with { type: 'json' };
import { formatChecks } from '../../server/engine/definition/formats.ts';
import { sendTest } from '../../server/features/webhooks/deliveries.ts';
import { createEndpoint } from '../../server/features/webhooks/endpoints.ts';
import { WebhookSender } from '../../server/features/webhooks/sender.ts';
import { Notices } from '../../server/mail/notices.ts';
import { resources } from '../../server/resources/index.ts';
import { startReceiver } from '../api/webhooks/webhook-receiver.ts';
import { startService, validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const config = { WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_PRIVATE: true };
const service = await startService(config);

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { ...formatChecks, 'date-time': timestamp },
});
ajv.addSchema(withoutOtherMembers(), 'openapi');

/** A member that the document does not name would also be missing in the type. */
function withoutOtherMembers(): object {
  const copy = structuredClone(document);
  const { WebhookMessage: message } = copy.components.schemas;
  Object.assign(message, { additionalProperties: false });
  Object.assign(message.properties.data, { additionalProperties: false });
  return copy;
}

function assertValid(pointer: string, value: unknown): void {
  const validate = ajv.getSchema(`openapi#${pointer}`)!;
  assert.ok(validate(value), `${pointer}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}

const bodyOf = (webhook: 'change' | 'test') =>
  `/webhooks/${webhook}/post/requestBody/content/application~1json/schema`;

async function startEndpoint() {
  const tenant = await service.createTenant();
  const receiver = await startReceiver();
  const { id, secret } = await createEndpoint(service.owner, tenant.tenantId, {
    url: receiver.url,
    resources: null,
  });
  const read = (): Promise<WebhookEvent[]> =>
    Promise.all(receiver.received.map(({ headers, body }) => verifyWebhook({ secret, headers, body })));
  return { ...tenant, webhookId: id, receiver, read };
}

test('changes are what the document and the type say', async () => {
  const { key, receiver, read } = await startEndpoint();
  const headers = { apikey: key, 'stamm-origin': 'erp' };
  const customerId = await service.createCustomer({ externalId: 'K-1' }, { headers });
  const site = await service.post('/customer/site', validSite(customerId), { headers });
  const person = { customerId, lastName: 'Petersen' };
  await service.post('/customer/contact-person', person, { headers: { apikey: key } });
  await service.patch(`/customers/${customerId}`, { phone: '1', comment: null }, { headers });
  await service.delete(`/sites/${site.json().id}`, { headers });
  const notices = new Notices(undefined, service.database);
  const { database } = service;
  const log = pino({ level: 'silent' });
  const sender = new WebhookSender({ config, database, resources, notices, log, limits: { pollMs: 20 } });
  sender.start();
  try {
    await until('all five changes', () => receiver.received.length >= 5);
  } finally {
    await sender.stop();
    await receiver.close();
  }
  const events = await read();
  for (const event of events) {
    assertValid(bodyOf('change'), event);
    if (event.type === 'stamm.test') assert.fail('no test was asked for');
    const { object, resource } = event.data;
    const schema = { customer: 'Customer', site: 'Site', 'contact-person': 'ContactPerson' }[
      resource as string
    ];
    if (object) assertValid(`/components/schemas/${schema}`, object);
  }
  const seen = events.map(({ type, data }) => [type, 'origin' in data && data.origin, 'object' in data]);
  assert.deepEqual(seen, [
    ['customer.created', 'erp', true],
    ['site.created', 'erp', false],
    ['contact_person.created', false, true],
    ['customer.changed', 'erp', true],
    ['site.deleted', 'erp', false],
  ]);
});

test('a test is what the document and the type say', async () => {
  const { tenantId, webhookId, receiver, read } = await startEndpoint();
  await sendTest({ config, database: service.database, tenantId, webhookId });
  await receiver.close();
  const [event] = await read();
  assertValid(bodyOf('test'), event);
  assert.equal(event!.type, 'stamm.test');
});
