import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { exchange, listen } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';

const { app, tenant } = await startService();
const port = await listen(app);
const tooLarge = Buffer.alloc(102_401, ' ');
const withKey = { apikey: tenant.key };

async function assertAnswer(request: InjectOptions, status: number, code: string): Promise<void> {
  const response = await app.inject(request);
  const { message, requestId, ...rest } = response.json();
  assert.deepEqual([response.statusCode, rest], [status, { code }], `${request.method} ${request.url}`);
  assert.ok(message);
  assert.equal(requestId, response.headers['x-request-id']);
}

const unknownPaths = [
  '',
  '/',
  '/customers/',
  '/customers/by-external-id/',
  '/sites/x/y',
  '/customer/',
  '/customer/site/x',
  '/Customer',
  '//customer',
  '/%zz',
  '/customer%2Fsite',
  `/${'x'.repeat(5000)}`,
];

test('a path that is not part of the API is 403 with a key and 401 without, with any body', async () => {
  for (const path of unknownPaths) {
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      const request = { method, url: `/api/v1${path}`, payload: tooLarge };
      await assertAnswer({ ...request, headers: withKey }, 403, 'not_recognised');
      await assertAnswer(request, 401, 'key_missing');
    }
  }
});

test('steps upwards in a path are not followed', async () => {
  const bytes = `POST /api/v1/x/../customer HTTP/1.1\r\nHost: x\r\nApiKey: ${tenant.key}\r\n\r\n`;
  const { answers } = await exchange(port, bytes);
  assert.equal(answers[0]?.status, 403);
});

test('a path outside the API is 404, with any body', async () => {
  const json = { 'content-type': 'application/json' };
  for (const url of ['/nothing', '/api', '/api/v2/customer', '/api/v1x', '/%zz']) {
    await assertAnswer({ method: 'GET', url }, 404, 'not_found');
    for (const payload of ['{', '{}', '', tooLarge, Buffer.alloc(2_000_000)]) {
      await assertAnswer({ method: 'POST', url, headers: json, payload }, 404, 'not_found');
      const other = { 'content-type': 'text/html' };
      await assertAnswer({ method: 'POST', url, headers: other, payload }, 404, 'not_found');
    }
  }
});

test('the health checks need no key', async () => {
  for (const url of ['/livez', '/readyz']) {
    const response = await app.inject({ method: 'GET', url });
    assert.deepEqual([response.statusCode, response.json()], [200, { status: 'ok' }]);
  }
});

test('a wrong method of a known path is answered with the methods that it takes', async () => {
  const messageOf = async (method: 'GET' | 'PUT' | 'DELETE', url: string, language = 'en') => {
    const headers = { apikey: tenant.key, 'accept-language': language };
    const response = await app.inject({ method, url: `/api/v1${url}`, headers });
    assert.equal(response.statusCode, 403);
    return response.json().message;
  };
  assert.equal(await messageOf('GET', '/customer/site'), 'Unknown method. This path takes POST.');
  assert.equal(
    await messageOf('PUT', '/sites/01a1dd84-6004-7bdb-8c52-a3638e25ba9a?x=1'),
    'Unknown method. This path takes DELETE, GET, PATCH.',
  );
  assert.equal(await messageOf('DELETE', '/sites', 'de'), 'Unbekannte Methode. Dieser Pfad erlaubt GET.');
  for (const url of ['/trees', '/sites/', '/customer/site/', '/'])
    assert.equal(await messageOf('GET', url), 'Unknown path or method. Check both.');
});
