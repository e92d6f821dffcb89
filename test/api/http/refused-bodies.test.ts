import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, fieldErrorCodes } from '../../../server/errors.ts';
import { errorBody } from '../../../server/http/error-handler.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { countRows } from '../../helpers/stored-rows.ts';

const { app, owner, post, createCustomer, logLines, tenant } = await startService();
const customerId = await createCustomer();

const deep = (inside: string, depth: number) => `{"x":${'['.repeat(depth)}${inside}${']'.repeat(depth)}}`;

const notOneObject: readonly (readonly [
  name: string,
  body: string | Buffer,
  code: string,
  params?: object,
])[] = [
  ['an empty body', '', 'invalid_json'],
  ['white space', ' \n', 'invalid_json'],
  ['text that is not JSON', '{"name": }', 'invalid_json'],
  ['JSON that ends early', '{"name": "x"', 'invalid_json'],
  ['two JSON values', '{}{}', 'invalid_json'],
  ['single quotes', "{'a':1}", 'invalid_json'],
  ['NaN', '{"callOutFee":NaN}', 'invalid_json'],
  ['a raw NUL in a text', '{"name":"a\0b"}', 'invalid_json'],
  ['UTF-16', Buffer.from('{}', 'utf16le'), 'invalid_json'],
  ['UTF-8 that is cut off', Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x7d]), 'invalid_text'],
  ['UTF-8 of a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'invalid_text'],
  ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'invalid_text'],
  ['null', 'null', 'type', { type: 'object' }],
  ['a text', '"{}"', 'type', { type: 'object' }],
  ['a number', '5', 'type', { type: 'object' }],
  ['true', 'true', 'type', { type: 'object' }],
  ['a list', '[{}]', 'type', { type: 'object' }],
];

for (const path of ['/customer', '/customer/site']) {
  test(`POST ${path} refuses anything but one JSON object with one error at the root`, async () => {
    for (const [name, body, code, params] of notOneObject) {
      const response = await post(path, body);
      assert.equal(response.statusCode, 400, name);
      const { message: _message, ...item } = response.json().errors[0];
      assert.deepEqual(item, { field: '', pointer: '', code, ...(params && { params }) }, name);
      assert.equal(response.json().errors.length, 1, name);
    }
  });
}

test('a body nested as deeply as its size allows is refused quickly, with any value at its bottom', async () => {
  for (const inside of ['', '1', '12345678901234567890', '1e400', '"\\u0000"', '{"__proto__":1}']) {
    const before = process.cpuUsage();
    const response = await post('/customer', deep(inside, 51_000));
    assert.equal(response.statusCode, 400, `${inside}: ${response.body.slice(0, 200)}`);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1e6, `${inside} took ${(user + system) / 1000} ms of a processor`);
  }
});

test('at most 100 errors are reported', async () => {
  const items = Array(100).fill(1);
  const response = await post('/customer/site', { openingHours: items, attendingIntervals: items });
  assert.equal(response.statusCode, 400);
  assert.equal(response.json().errors.length, 100);
});

test('values that were sent are never echoed', async () => {
  const secret = 'Geheim-7319';
  const body = {
    ...validSite(secret),
    name: secret.repeat(10),
    validFrom: secret,
    callOutFee: secret,
    openingHours: [secret],
    address: secret,
    timeZone: secret,
    unknown: { a: secret },
  };
  for (const sent of [body, { ...validCustomer, status: secret, email: secret }, `{"name":"${secret}`]) {
    const response = await post('/customer/site', sent);
    assert.equal(response.statusCode, 400);
    assert.ok(!response.body.includes('7319'), response.body);
  }
});

test('unknown fields are ignored, and named by their path in a header and in the log', async () => {
  const cases: readonly (readonly [body: object, header: string, ignored: string[]])[] = [
    [{ adress: 1 }, 'adress', ['adress']],
    [{ x: null, y: { z: [] } }, 'x, y', ['x', 'y']],
    [
      { address: { ...validCustomer.address, zip: 1, location: { lat: 1, alt: 2 } } },
      'address.zip, address.location.alt',
      ['address.zip', 'address.location.alt'],
    ],
    [{ 'a, b\r\nX-Evil: 1': 1 }, 'a%2C%20b%0D%0AX-Evil%3A%201', ['a, b\r\nX-Evil: 1']],
    [{ größe: 1, '🌵': 1 }, 'gr%C3%B6%C3%9Fe, %F0%9F%8C%B5', ['größe', '🌵']],
    [{ '': 1, toString: 1, constructor: 1 }, ', toString, constructor', ['', 'toString', 'constructor']],
  ];
  for (const [unknown, header, ignored] of cases) {
    const response = await post('/customer', { ...validCustomer, ...unknown });
    assert.equal(response.statusCode, 201, response.body);
    assert.equal(response.headers['stamm-ignored-fields'], header);
    const line = logLines
      .map((text) => JSON.parse(text))
      .find((one) => one.requestId === requestIdOf(response));
    assert.deepEqual(line.ignoredFields, ignored);
  }
});

function requestIdOf(response: { headers: Record<string, unknown> }): unknown {
  return response.headers['x-request-id'];
}

test('unknown fields are named in the answer to a refused body too', async () => {
  const response = await post('/customer', { companyNmae: 'x', address: validCustomer.address });
  assert.equal(response.statusCode, 400);
  assert.equal(response.headers['stamm-ignored-fields'], 'companyNmae');
});

test('however many unknown fields there are and however they are named, an ordinary client can read the answer', async () => {
  const port = await listen(app);
  const unknown = Array.from({ length: 150 }, (_, index) => [`${'語'.repeat(100)}🌵${index}`, 1]);
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/customer`, {
    method: 'POST',
    headers: { ApiKey: tenant.key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...validCustomer, ...Object.fromEntries(unknown) }),
  });
  assert.equal(response.status, 201);
  const header = response.headers.get('Stamm-Ignored-Fields')!;
  assert.ok(header.length > 0 && header.length <= 4096, `${header.length} bytes, which proxies refuse`);
  for (const name of header.split(', ')) assert.match(decodeURIComponent(name), /^語+/);
});

const languages: readonly (readonly [acceptLanguage: string | undefined, language: 'en' | 'de'])[] = [
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['DE', 'de'],
  ['de-AT', 'de'],
  ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
  ['en-GB,de;q=0.9', 'en'],
  ['en;q=0.5, de;q=0.6', 'de'],
  ['de;q=0', 'en'],
  ['fr, de;q=0.1', 'de'],
  ['fr', 'en'],
  ['*', 'en'],
  ['den', 'en'],
  [';;;q=x,,de', 'de'],
];

test('sentences are German where Accept-Language prefers it, and codes never change', async () => {
  for (const [header, language] of languages) {
    const headers = header === undefined ? {} : { 'accept-language': header };
    const response = await post('/customer', {}, { headers });
    const { message, errors } = response.json();
    assert.equal(errors[0].code, 'required');
    const expected = language === 'de' ? 'Pflichtfeld.' : 'Required.';
    assert.equal(errors[0].message, expected, `Accept-Language: ${header}`);
    assert.equal(message.startsWith('Ungültige Daten'), language === 'de');
  }
  const unauthorized = await post('/customer', {}, { headers: { apikey: '', 'accept-language': 'de' } });
  assert.equal(unauthorized.json().message, 'Der Header "ApiKey" fehlt.');
});

test('every error has a message of its own in both languages', () => {
  const sentences = (['en', 'de'] as const).flatMap((language) =>
    fieldErrorCodes.map((code) => {
      const apiError = new ApiError('validation_failed', { fieldErrors: [{ path: ['x'], code }] });
      return (errorBody(apiError, '', language) as { errors: { message: string }[] }).errors[0]!.message;
    }),
  );
  assert.equal(new Set(sentences).size, 2 * fieldErrorCodes.length);
});

test('nothing of a refused body is stored', async () => {
  const before = await countRows(owner);
  for (const body of [
    { ...validSite(customerId), name: '' },
    { ...validSite(customerId), hasKey: null },
  ]) {
    assert.equal((await post('/customer/site', body)).statusCode, 400);
  }
  assert.equal(await countRows(owner), before);
});
