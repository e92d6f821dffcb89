// Traces reach a real receiver of OTLP over HTTP, with the parents that they should have.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { createEndpoint } from '../../../server/features/webhooks/endpoints.ts';
import { WebhookSender } from '../../../server/features/webhooks/sender.ts';
import { Notices } from '../../../server/mail/notices.ts';
import { resources } from '../../../server/resources/index.ts';
import { startTracing } from '../../../server/telemetry/tracing.ts';
import { startService, validCustomer } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { startReceiver } from '../webhooks/webhook-receiver.ts';

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  links?: { traceId: string }[];
  attributes: { key: string; value: { stringValue?: string } }[];
}

const spans: SentSpan[] = [];
const collector = createServer(async (request, response) => {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is the protocol's
  const body = (await json(request)) as any;
  for (const { scopeSpans } of body.resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
  response.setHeader('content-type', 'application/json').end('{}');
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
after(() => collector.close());
const { port } = collector.address() as AddressInfo;
const endpointVariable = 'OTEL_EXPORTER_OTLP_ENDPOINT';

async function traceTo(endpoint: string) {
  process.env[endpointVariable] = endpoint;
  const stop = await startTracing({ serviceName: 'stamm', serviceVersion: '1', sampledShare: 1 });
  delete process.env[endpointVariable];
  return stop;
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

test('a request continues the trace of its sender, down to the statements, and tells no values', async () => {
  const stop = await traceTo(`http://127.0.0.1:${port}`);
  const { post, tenant } = await startService();
  const body = { ...validCustomer, companyName: 'Geheim-QXZJ' };
  assert.equal((await post('/customer', body, { headers: { traceparent } })).statusCode, 201);
  assert.equal((await post('/customer', body, { headers: { traceparent: 'nonsense' } })).statusCode, 201);
  await stop();
  const request = spans.find((span) => span.parentSpanId === 'b7ad6b7169203331')!;
  assert.deepEqual([request.traceId, request.name], [traceId, 'POST /api/v1/customer']);
  const own = spans.filter((span) => span.traceId === traceId);
  const childOf = (parent: SentSpan, name: RegExp) =>
    own.find((span) => span.parentSpanId === parent.spanId && name.test(span.name));
  const lookUp = childOf(request, /^batch key look-up$/)!;
  const creation = childOf(request, /^batch creation$/)!;
  assert.ok(childOf(lookUp, /^authenticate$/), 'the statement of the look-up');
  assert.ok(childOf(creation, /^COMMIT$/), 'the commit of the batch');
  assert.equal(spans.filter(({ name }) => name === 'POST /api/v1/customer').length, 2);
  const text = JSON.stringify(spans);
  assert.ok(!text.includes('QXZJ') && !text.includes(tenant.tenantId) && !text.includes(tenant.key));
});

test('requests of one batch share its span: one is the parent, the others are linked', async () => {
  spans.length = 0;
  const stop = await traceTo(`http://127.0.0.1:${port}`);
  const { post } = await startService();
  await Promise.all(Array.from({ length: 10 }, () => post('/customer', validCustomer)));
  await stop();
  const requests = spans.filter(({ name }) => name === 'POST /api/v1/customer');
  const batches = spans.filter(({ name }) => name === 'batch creation');
  const linked = batches.flatMap((batch) => [
    batch.traceId,
    ...(batch.links ?? []).map((link) => link.traceId),
  ]);
  assert.equal(requests.length, 10);
  assert.deepEqual(linked.sort(), requests.map((request) => request.traceId).sort());
});

test('a webhook carries the trace of its delivery', async () => {
  spans.length = 0;
  const stop = await traceTo(`http://127.0.0.1:${port}`);
  const config = { WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_PRIVATE: true };
  const { owner, database, tenant, createCustomer } = await startService(config);
  const receiver = await startReceiver();
  await createEndpoint(owner, tenant.tenantId, { url: receiver.url, resources: null });
  const notices = new Notices(undefined, database);
  const log = pino({ level: 'silent' });
  const sender = new WebhookSender({ config, database, resources, notices, log, limits: { pollMs: 20 } });
  sender.start();
  await createCustomer();
  await until('the webhook', () => receiver.received.length > 0);
  await sender.stop();
  await receiver.close();
  await stop();
  const delivery = spans.find(({ name }) => name === 'webhook delivery')!;
  const sent = receiver.received[0]!.headers.traceparent;
  assert.equal(sent, `00-${delivery.traceId}-${delivery.spanId}-01`);
});

test('a receiver that is away changes no answer, and without tracing nothing is sent', async () => {
  spans.length = 0;
  const stop = await traceTo('http://127.0.0.1:1');
  const { post } = await startService();
  assert.equal((await post('/customer', validCustomer)).statusCode, 201);
  await stop();
  assert.equal((await post('/customer', validCustomer, { headers: { traceparent } })).statusCode, 201);
  assert.deepEqual(spans, []);
});
