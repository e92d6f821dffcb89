import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifyWebhook, WebhookError } from '../../client/src/index.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, no').toString('base64')}`;
const otherSecret = `whsec_${Buffer.from('another one of thirty-two bytes').toString('base64')}`;
const body = JSON.stringify({
  type: 'site.changed',
  timestamp: '2026-01-31T09:30:00Z',
  data: { name: 'Büro' },
});

function sign(id: string, timestamp: number, text: string, key = secret): string {
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.${text}`).digest('base64')}`;
}

function headersFor(text = body, { seconds = 0, key = secret } = {}) {
  const timestamp = Math.floor(Date.now() / 1000) + seconds;
  return {
    'Webhook-Id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign('msg_1', timestamp, text, key),
  };
}

test('a signed event is returned, from headers of either kind and a body as text or bytes', async () => {
  const headers = headersFor();
  assert.deepEqual(await verifyWebhook({ secret, headers, body }), JSON.parse(body));
  const bytes = new TextEncoder().encode(body);
  assert.deepEqual(
    await verifyWebhook({ secret, headers: new Headers(headers), body: bytes }),
    JSON.parse(body),
  );
});

test('one of several signatures, and one of several secrets, is enough', async () => {
  const headers = headersFor();
  const more = { ...headers, 'webhook-signature': `v1a,xx v1,AAAA ${headers['webhook-signature']}` };
  assert.ok(await verifyWebhook({ secret, headers: more, body }));
  assert.ok(await verifyWebhook({ secret: [otherSecret, secret], headers, body }));
});

const refusals: [string, Parameters<typeof verifyWebhook>[0]][] = [
  ['a changed body', { secret, headers: headersFor(), body: body.replace('site', 'cite') }],
  ['another secret', { secret: otherSecret, headers: headersFor(), body }],
  ['an old event', { secret, headers: headersFor(body, { seconds: -400 }), body }],
  ['an event of the future', { secret, headers: headersFor(body, { seconds: 400 }), body }],
  ['another id', { secret, headers: { ...headersFor(), 'Webhook-Id': 'msg_2' }, body }],
  ['no signature', { secret, headers: { ...headersFor(), 'webhook-signature': undefined }, body }],
  ['no time', { secret, headers: { ...headersFor(), 'webhook-timestamp': 'NaN' }, body }],
  ['an empty secret', { secret: 'whsec_', headers: headersFor(), body }],
  [
    'a signature that is no base64',
    { secret, headers: { ...headersFor(), 'webhook-signature': 'v1,%' }, body },
  ],
];

for (const [name, request] of refusals) {
  test(`${name} is refused`, () => assert.rejects(verifyWebhook(request), WebhookError));
}
