// What arrives on the socket and is no ordinary request: each gets the JSON error shape with a published status.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertErrorShape } from '../../helpers/declared-answers.ts';
import { exchange, listen, postBytes } from '../../helpers/raw-client.ts';
import { startService, validCustomer } from '../../helpers/service.ts';
import { countRows } from '../../helpers/stored-rows.ts';

const { app, owner, tenant } = await startService();
const port = await listen(app);
const customer = JSON.stringify(validCustomer);
const withKey = { ApiKey: tenant.key };
const path = '/api/v1/customer';
const keyLine = `Host: x\r\nApiKey: ${tenant.key}\r\n`;
const chunkedHead = `POST ${path} HTTP/1.1\r\n${keyLine}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;

const oddities: readonly (readonly [name: string, bytes: string | Buffer, status: number, code: string])[] = [
  ['garbage', 'this is not HTTP\r\n\r\n', 400, 'bad_request'],
  ['a garbled version', 'GET / HTTX/1.1\r\n\r\n', 400, 'bad_request'],
  ['a TLS handshake', Buffer.from('16030100c8010000c403030102', 'hex'), 400, 'bad_request'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  ['an unknown version', `POST ${path} HTTP/9.9\r\nHost: x\r\n\r\n`, 400, 'bad_request'],
  ['a header without a colon', `POST ${path} HTTP/1.1\r\nbroken\r\n\r\n`, 400, 'bad_request'],
  ['a header name with a space', `POST ${path} HTTP/1.1\r\nApi Key: x\r\n\r\n`, 400, 'bad_request'],
  ['a NUL in a header', `POST ${path} HTTP/1.1\r\nApiKey: a\0b\r\n\r\n`, 400, 'bad_request'],
  ['a target without a slash', `POST api/v1/customer HTTP/1.1\r\n${keyLine}\r\n`, 400, 'bad_request'],
  ['two different lengths', postBytes(path, '{}', { ...withKey, 'content-length': '3' }), 400, 'bad_request'],
  ['a negative length', postBytes(path, '{}', { ...withKey, 'Content-Length': '-1' }), 400, 'bad_request'],
  [
    'a length and chunks',
    postBytes(path, '0\r\n\r\n', { ...withKey, 'Transfer-Encoding': 'chunked' }),
    400,
    'bad_request',
  ],
  ['a chunk of no size', `${chunkedHead}zz\r\n{}\r\n0\r\n\r\n`, 400, 'bad_request'],
  ['a chunk longer than its size', `${chunkedHead}2\r\n{}x\r\n0\r\n\r\n`, 400, 'bad_request'],
  ['headers too large', `GET ${path} HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 415, 'headers_too_large'],
  ['a path too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 415, 'headers_too_large'],
  ['a great many headers', `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(50_000)}\r\n`, 415, 'headers_too_large'],
  ['a method that nobody has', `FROBNICATE ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 403, 'not_recognised'],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 403, 'not_recognised'],
  ['a known method that has no route', `PROPFIND ${path} HTTP/1.1\r\n${keyLine}\r\n`, 403, 'not_recognised'],
  ['the same without a key', `PROPFIND ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 401, 'key_missing'],
  ['a path that cannot be decoded', `POST /api/v1/%zz HTTP/1.1\r\n${keyLine}\r\n`, 403, 'not_recognised'],
  ['the same without a key', 'POST /api/v1/%c3 HTTP/1.1\r\n\r\n', 401, 'key_missing'],
  ['an unknown expectation', postBytes(path, customer, { ...withKey, Expect: 'magic' }), 400, 'bad_request'],
  ['the same without a key', postBytes(path, customer, { Expect: 'magic' }), 401, 'key_missing'],
  ['no Host and no key', `POST ${path} HTTP/1.1\r\n\r\n`, 401, 'key_missing'],
  ['HTTP/1.0', `POST ${path} HTTP/1.0\r\n\r\n`, 401, 'key_missing'],
  ['an absolute target', `POST http://other.example${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 401, 'key_missing'],
  [
    'an upgrade',
    `GET ${path} HTTP/1.1\r\n${keyLine}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    403,
    'not_recognised',
  ],
  ['two keys', `POST ${path} HTTP/1.1\r\n${keyLine}ApiKey: x\r\n\r\n`, 401, 'key_malformed'],
];

for (const [name, bytes, status, code] of oddities) {
  test(`${name} is answered with ${status} in the shape of every other error`, async () => {
    const before = await countRows(owner);
    const { answers } = await exchange(port, bytes);
    assert.equal(answers[0]?.status, status, JSON.stringify(answers[0]));
    assertErrorShape(answers[0]!);
    const { message, requestId, errors, ...rest } = JSON.parse(answers[0]!.body);
    assert.deepEqual(rest, { code });
    assert.equal(await countRows(owner), before);
  });
}

const accepted: readonly (readonly [name: string, bytes: string])[] = [
  ['without a Host', postBytes(path, customer, withKey).replace('Host: localhost\r\n', '')],
  ['with an absolute target', postBytes(`http://other.example${path}`, customer, withKey)],
  ['with a query', postBytes(`${path}?a=%zz&b`, customer, withKey)],
  ['in chunks', `${chunkedHead}${customer.length.toString(16)}\r\n${customer}\r\n0\r\n\r\n`],
  ['after empty lines', `\r\n\r\n${postBytes(path, customer, withKey)}`],
  ['over HTTP/1.0', postBytes(path, customer, withKey).replace('HTTP/1.1', 'HTTP/1.0')],
];

for (const [name, bytes] of accepted) {
  test(`a creation ${name} is a creation`, async () => {
    const { answers, text } = await exchange(port, bytes);
    assert.equal(answers[0]?.status, 201, text);
  });
}

test('a client that asks before sending a body gets its 401 without sending it', async () => {
  const head = postBytes(path, '', { ApiKey: 'wrong', Expect: '100-continue', 'Content-Length': '500' });
  const { answers, text } = await exchange(port, head);
  assert.equal(answers[0]?.status, 401);
  assert.ok(!text.includes('100 Continue'), text);
});

test('a client that asks before sending a body that is too large gets its 415 without sending it', async () => {
  const head = postBytes(path, '', { ...withKey, Expect: '100-continue', 'Content-Length': '200000' });
  const { answers, text } = await exchange(port, head);
  assert.equal(answers[0]?.status, 415);
  assert.ok(!text.includes('100 Continue'), text);
});

test('a client that asks with a valid key may go on, and then gets 201', async () => {
  const bytes = postBytes(path, customer, { ...withKey, Expect: '100-continue' });
  const { answers, text } = await exchange(port, (socket) => {
    socket.write(bytes.slice(0, -customer.length));
    socket.once('data', () => socket.write(customer));
  });
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  assert.equal(answers.length, 1);
});

test('a body that ends before its length makes no row', async () => {
  const before = await countRows(owner);
  const cut = postBytes(path, customer, { ...withKey, 'Content-Length': String(customer.length + 10) });
  const { answers } = await exchange(port, cut, { endsAfterSending: true });
  for (const answer of answers) {
    assert.equal(answer.status, 400);
    assertErrorShape(answer);
  }
  assert.equal(await countRows(owner), before);
});

test('requests sent without waiting are answered in their order', async () => {
  const bytes = [
    postBytes(path, customer, withKey),
    postBytes(path, '{}', withKey),
    postBytes(`${path}/nothing`, '{}', withKey),
    postBytes(path, customer, {}),
    postBytes(path, customer, withKey),
  ];
  const { answers } = await exchange(port, bytes.join(''), { answers: 5 });
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [201, 400, 403, 401, 201],
  );
});

test('a client that ends its side after a complete request still gets its answer, and is then let go', async () => {
  const bytes = postBytes('/api/v1/customer', JSON.stringify(validCustomer), { ApiKey: tenant.key });
  const { answers, isClosedByServer } = await exchange(port, bytes, { answers: 2, endsAfterSending: true });
  assert.equal(answers[0]?.status, 201);
  assert.ok(isClosedByServer);
});

test('a client that resets its connection does not harm the service', async () => {
  const beginnings = [
    'CONNECT example.com:443 HTTP/1.1\r\n\r\n',
    'garbage\r\n\r\n',
    postBytes(path, customer, withKey),
    postBytes(path, '{', { ...withKey, 'Content-Length': '100' }),
    postBytes(path, '', { ...withKey, Expect: '100-continue', 'Content-Length': '100' }),
  ];
  for (const bytes of beginnings) {
    await Promise.all(
      Array.from({ length: 20 }, () =>
        exchange(port, (socket) => {
          socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy()));
          socket.once('close', () => socket.emit('end'));
        }),
      ),
    );
  }
  const { answers } = await exchange(port, postBytes(path, customer, withKey));
  assert.equal(answers[0]?.status, 201);
});

test('garbage behind a complete request does not take its answer', async () => {
  const before = await countRows(owner);
  const bytes = `${postBytes(path, customer, withKey).repeat(2)}garbage\r\n\r\n`;
  const { answers, isClosedByServer } = await exchange(port, bytes, { answers: 4 });
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [201, 201, 403],
  );
  assert.ok(isClosedByServer);
  assert.equal(await countRows(owner), before + 2);
});

test('a connection goes on after every refusal that leaves it intact', async () => {
  for (const refused of [
    postBytes(path, '{', withKey),
    postBytes(path, customer, { ...withKey, 'Content-Type': 'text/plain' }),
    postBytes(path, customer, { ApiKey: 'wrong' }),
    postBytes(`${path}s`, customer, withKey),
    postBytes(path, ' '.repeat(150_000), withKey),
  ]) {
    const { answers } = await exchange(port, refused + postBytes(path, customer, withKey), { answers: 2 });
    assert.equal(answers[1]?.status, 201, JSON.stringify(answers));
  }
});

test('a client that sends megabytes too many still reads its 415', async () => {
  const body = ' '.repeat(8 * 1024 * 1024);
  const chunked = `${chunkedHead}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  for (const bytes of [postBytes(path, body, withKey), chunked]) {
    const { answers } = await exchange(port, bytes);
    assert.equal(answers[0]?.status, 415);
    assertErrorShape(answers[0]!);
  }
});

test('a client that waits with the rest of a body that is too large gets its 415 immediately', async () => {
  const unfinished = [
    postBytes(path, '{', { ...withKey, 'Content-Length': '200000' }),
    `${chunkedHead}${(200_000).toString(16)}\r\n${' '.repeat(150_000)}`,
  ];
  for (const bytes of unfinished) {
    const { answers } = await exchange(port, bytes);
    assert.equal(answers[0]?.status, 415);
  }
});

test('a body of many megabytes behind a bad key is answered with 401', async () => {
  const { answers } = await exchange(port, postBytes(path, ' '.repeat(8 * 1024 * 1024)));
  assert.equal(answers[0]?.status, 401);
});
