// The cases that every route has in common, run on every route that the application has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { createApiKey, deleteApiKey, makeApiKey } from '../../../server/access/api-keys.ts';
import { assertDeclared } from '../../helpers/declared-answers.ts';
import { exchange, listen, postBytes } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const limited = await startService({ RATE_LIMIT_PER_MINUTE: 2 });
const broken = await startService();
const { app, owner, tenant, createTenant, logLines } = service;
const port = await listen(app);
const { key: replacedKey, tenantId } = await createTenant();
const newKey = (await createApiKey(owner, tenantId))!;
const deleted = await createTenant();
await deleteApiKey(owner, deleted.tenantId);

const json = { 'content-type': 'application/json' };
const withKey = { apikey: tenant.key };
const tooLarge = Buffer.alloc(102_401, ' ');

/** Method and path of each route, from the tree that Fastify prints. */
function routesOf(tree: string): { method: 'POST'; url: string }[] {
  const parents: string[] = [];
  return tree
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', path = '', methods = ''] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line)!;
      const depth = indent.length / 4;
      parents[depth] = path;
      const url = parents.slice(0, depth + 1).join('');
      return methods.split(', ').map((method) => ({ method: method as 'POST', url }));
    });
}

const routes = routesOf(app.printRoutes({ commonPrefix: false })).filter(
  // Where GET is allowed, Fastify answers HEAD alike.
  ({ method, url }) => url.startsWith('/api/v1') && (method as string) !== 'HEAD',
);
/** Those that take one JSON object; an import takes lines of them. */
const jsonRoutes = routes.filter(
  ({ method, url }) => ['POST', 'PUT', 'PATCH'].includes(method) && url !== '/api/v1/import',
);

function methodsOf(url: string): string[] {
  const methods: string[] = routes.filter((route) => route.url === url).map(({ method }) => method);
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

interface Expected {
  status: number;
  code: string;
}

async function assertAnswer(request: InjectOptions, expected: Expected) {
  const response = await app.inject(request);
  const { message, requestId, errors, ...rest } = response.json();
  assert.deepEqual([response.statusCode, rest], [expected.status, { code: expected.code }], response.body);
  assert.equal(typeof message, 'string');
  assert.equal(requestId, response.headers['x-request-id']);
  assert.equal(Array.isArray(errors), expected.status === 400, 'a 400 has errors, and nothing else has');
  return response;
}

test('the routes are those of the document', () => {
  const documented = Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${url}`),
  );
  const found = routes.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`);
  assert.deepEqual(found.sort(), documented.sort());
  assert.ok(
    documented.includes('POST /api/v1/customer') && documented.includes('POST /api/v1/customer/site'),
  );
});

const typingError = tenant.key.slice(0, 20) + (tenant.key[20] === 'x' ? 'y' : 'x') + tenant.key.slice(21);
const badKeys: readonly (readonly [name: string, key: string | undefined, code: string])[] = [
  ['no key', undefined, 'key_missing'],
  ['an empty key', '', 'key_missing'],
  ['a key with a typing error', typingError, 'key_malformed'],
  ['a key that is cut off', tenant.key.slice(0, -1), 'key_malformed'],
  ['another case', tenant.key.toUpperCase(), 'key_malformed'],
  ['a bearer token', `Bearer ${tenant.key}`, 'key_malformed'],
  ['two keys', `${tenant.key}, ${tenant.key}`, 'key_malformed'],
  ['a key of nobody', makeApiKey(), 'key_unknown'],
  ['a replaced key', replacedKey, 'key_replaced'],
  ['a deleted key', deleted.key, 'key_deleted'],
];

const otherTypes = [
  undefined,
  '',
  'text/plain',
  'application/xml',
  'application/jsonp',
  'application/json+x',
  'application/merge-patch+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=iso-8859-1',
  'application/json; charset=utf-16',
  'text/json',
  'application',
  '/',
  ';',
  '\u00e4',
  `application/json${' '.repeat(10_000)}x`,
];

const jsonTypes = [
  'application/json',
  'Application/JSON',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json ; charset="utf-8"',
  'application/json;',
];

const badBodies: readonly (readonly [headers: Record<string, string>, payload: string | Buffer])[] = [
  [json, '{'],
  [json, tooLarge],
  [{ 'content-type': 'text/plain' }, 'x'],
  [{}, ''],
];

for (const { method, url } of routes) {
  test(`${method} ${url} without a live key is 401, before anything of the body counts`, async () => {
    for (const [name, key, code] of badKeys) {
      for (const [headers, payload] of badBodies) {
        const request = {
          method,
          url,
          payload,
          headers: { ...headers, ...(key !== undefined && { apikey: key }) },
        };
        const response = await assertAnswer(request, { status: 401, code });
        assert.equal(response.headers['retry-after'], undefined, name);
      }
    }
  });

  test(`${method} ${url} with another method is 403 with a key and 401 without`, async () => {
    for (const other of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
      if (methodsOf(url).includes(other)) continue;
      if (other === 'HEAD') {
        assert.equal((await app.inject({ method: 'HEAD', url, headers: withKey })).statusCode, 403);
        continue;
      }
      const request = { method: other as 'GET', url, payload: tooLarge };
      await assertAnswer({ ...request, headers: withKey }, { status: 403, code: 'not_recognised' });
      await assertAnswer(request, { status: 401, code: 'key_missing' });
    }
  });
}

for (const { method, url } of jsonRoutes) {
  /** What an empty object gets: an object that is not there, or everything that it lacks. */
  const namesById = url.includes('/:id');
  const emptyAnswer = namesById
    ? { status: 404, code: 'not_found' }
    : { status: 400, code: 'validation_failed' };

  test(`${method} ${url} with a content type other than JSON is 413, even if the body is too large`, async () => {
    for (const type of otherTypes) {
      if ((method as string) === 'PATCH' && type === 'application/merge-patch+json') continue;
      const headers = { ...withKey, ...(type !== undefined && { 'content-type': type }) };
      for (const payload of ['{}', tooLarge]) {
        await assertAnswer({ method, url, headers, payload }, { status: 413, code: 'content_type' });
      }
    }
    for (const encoding of ['compress', 'gzip, gzip', '']) {
      const headers = { ...withKey, ...json, 'content-encoding': encoding };
      for (const payload of ['{}', tooLarge])
        await assertAnswer({ method, url, headers, payload }, { status: 413, code: 'content_encoding' });
    }
    // A restoration and a test of a webhook need no body.
    const bodiless = /\/(restore|test)$/.test(url) ? emptyAnswer : { status: 413, code: 'content_type' };
    await assertAnswer({ method, url, headers: withKey }, bodiless);
  });

  test(`${method} ${url} takes JSON in every spelling of its content type`, async () => {
    for (const type of jsonTypes) {
      const headers = { ...withKey, 'content-type': type };
      await assertAnswer({ method, url, headers, payload: '{}' }, emptyAnswer);
    }
  });

  test(`${method} ${url} with a body above the limit is 415, declared or chunked, even if it is no JSON`, async () => {
    const headers = { ...withKey, ...json };
    await assertAnswer({ method, url, headers, payload: tooLarge }, { status: 415, code: 'body_too_large' });
    const atLimit = tooLarge.subarray(1);
    await assertAnswer(
      { method, url, headers, payload: atLimit },
      { status: 400, code: 'validation_failed' },
    );
    if (method !== 'POST') return;

    const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`;
    const chunked = postBytes(url, `${chunk.repeat(4)}0\r\n\r\n`, {
      ApiKey: tenant.key,
      'Transfer-Encoding': 'chunked',
    }).replace(/Content-Length: \d+\r\n/, '');
    const declared = postBytes(url, ' ', { ApiKey: tenant.key, 'Content-Length': '102401' });
    for (const bytes of [chunked, declared]) {
      const { answers } = await exchange(port, bytes);
      assertDeclared(method, url, answers[0]!);
      assert.equal(answers[0]?.status, 415);
    }
  });

  test(`${method} ${url} is 429 for a tenant that sent too many, before its body is looked at`, async () => {
    const headers = { apikey: (await limited.createTenant()).key };
    for (const status of [413, 413, 429]) {
      const response = await limited.app.inject({ method, url, headers, payload: tooLarge });
      assert.equal(response.statusCode, status);
      assert.match(String(response.headers['ratelimit-policy']), /^"tenant";q=2;w=60$/);
      assert.match(String(response.headers.ratelimit), /^"tenant";r=[01];t=\d+$/);
      if (status === 429) assert.match(String(response.headers['retry-after']), /^([1-9]|[1-5]\d|60)$/);
      else assert.equal(response.headers['retry-after'], undefined);
    }
    const unknown = { method: 'OPTIONS', url, headers } as const;
    assert.equal((await limited.app.inject(unknown)).statusCode, 403, '403 comes before 429');
    assert.equal((await limited.app.inject({ method, url, payload: '{' })).statusCode, 401, '401 before 429');
  });

  test(`${method} ${url} reads the key from its header in any case, and from nowhere else`, async () => {
    for (const name of method === 'POST' ? ['ApiKey', 'APIKEY', 'apikey', 'aPiKeY'] : []) {
      const { answers } = await exchange(port, postBytes(url, '{}', { [name]: tenant.key }));
      assert.equal(answers[0]?.status, emptyAnswer.status, name);
    }
    const elsewhere = {
      authorization: `Bearer ${tenant.key}`,
      'x-api-key': tenant.key,
      cookie: `ApiKey=${tenant.key}`,
    };
    const request = { method, url: `${url}?ApiKey=${tenant.key}`, headers: elsewhere };
    await assertAnswer(request, { status: 401, code: 'key_missing' });
  });
}

test('a key works until it is replaced, and not with the next request', async () => {
  const request = { method: 'POST', url: '/api/v1/customer', payload: '{}' } as const;
  const other = await createTenant();
  const send = async (key: string) =>
    (await app.inject({ ...request, headers: { ...json, apikey: key } })).statusCode;
  assert.equal(await send(newKey), 400);
  assert.equal(await send(other.key), 400);
  const newer = (await createApiKey(owner, other.tenantId))!;
  assert.deepEqual([await send(other.key), await send(newer)], [401, 400]);
  await deleteApiKey(owner, other.tenantId);
  assert.equal(await send(newer), 401);
});

test('a defect of the service is 500 and says nothing about its cause', async () => {
  await broken.owner.query('REVOKE INSERT ON customer FROM stamm_service');
  const response = await broken.post('/customer', {
    companyName: 'x',
    address: { streetName: 'x', houseNumber: '', zipCode: 'x', city: 'x' },
  });
  assert.equal(response.statusCode, 500);
  assert.equal(response.json().code, 'internal_error');
  assert.ok(!/permission|customer/.test(response.body), response.body);
  assert.ok(broken.logLines.some((line) => line.includes(response.json().requestId)));
});

test('no answer in this file was an unexpected 500', () => {
  assert.deepEqual(
    logLines.map((line) => JSON.parse(line)).filter((line) => line.status >= 500),
    [],
  );
});
