// Compressed bodies, over real sockets where streams matter.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { exchange, listen } from '../../helpers/raw-client.ts';
import { startService, validAddress, validCustomer } from '../../helpers/service.ts';
import { openImport, refusedImport } from '../import/import-client.ts';

const service = await startService();
const { app, get, post, tenant } = service;
const port = await listen(app);
const limitBytes = 102_400;

const quickBrotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };
const encoders: Record<string, (bytes: Buffer | string) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, quickBrotli),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
};

const sendEncoded = (encoding: string, body: Buffer, headers = {}) =>
  post('/customer', body, { headers: { 'content-encoding': encoding, ...headers } });

function customerOfLength(bytes: number): string {
  const frame = JSON.stringify({ ...validCustomer, unknown: '' });
  return JSON.stringify({ ...validCustomer, unknown: 'x'.repeat(bytes - Buffer.byteLength(frame)) });
}

for (const [encoding, encode] of Object.entries(encoders)) {
  test(`a body in ${encoding} is stored like a plain one`, async () => {
    const companyName = `Grün ${encoding} GmbH`;
    const body = encode(JSON.stringify({ ...validCustomer, companyName }));
    for (const name of [encoding, encoding.toUpperCase()]) {
      const created = await sendEncoded(name, body);
      assert.equal(created.statusCode, 201, created.body);
      assert.equal((await get(`/customers/${created.json().id}`)).json().companyName, companyName);
    }
  });

  test(`the limit of a body in ${encoding} counts decoded bytes`, async () => {
    const longest = await sendEncoded(encoding, encode(customerOfLength(limitBytes)));
    assert.equal(longest.statusCode, 201, longest.body);
    const tooLong = await sendEncoded(encoding, encode(customerOfLength(limitBytes + 1)));
    assert.deepEqual([tooLong.statusCode, tooLong.json().code], [415, 'body_too_large']);
  });

  test(`a bomb in ${encoding} is refused without being decoded to its end`, async () => {
    const bomb = encode(Buffer.alloc(60_000_000, ' '));
    assert.ok(bomb.length < limitBytes);
    const { external, arrayBuffers } = process.memoryUsage();
    const refused = await sendEncoded(encoding, bomb);
    const after = process.memoryUsage();
    assert.deepEqual([refused.statusCode, refused.json().code], [415, 'body_too_large']);
    assert.ok(after.external + after.arrayBuffers - external - arrayBuffers < 20_000_000);
  });

  test(`damaged data in ${encoding} is a 400 that says so`, async () => {
    const sound = encode(JSON.stringify(validCustomer));
    for (const damaged of [
      Buffer.from(JSON.stringify(validCustomer)),
      Buffer.alloc(0),
      sound.subarray(0, -2),
      Buffer.concat([sound, Buffer.from('more')]),
    ]) {
      const refused = await sendEncoded(encoding, damaged);
      assert.equal(refused.statusCode, 400, refused.body);
      assert.deepEqual(
        refused.json().errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
        [['', 'invalid_compression']],
      );
    }
  });
}

test('incompressible data may be a little longer than the limit on the wire', async () => {
  const stored = zlib.gzipSync(customerOfLength(limitBytes), { level: 0 });
  assert.ok(stored.length > limitBytes);
  assert.equal((await sendEncoded('gzip', stored)).statusCode, 201);
  const longOnTheWire = zlib.gzipSync(Buffer.alloc(2 * limitBytes), { level: 0 });
  assert.equal((await sendEncoded('gzip', longOnTheWire)).statusCode, 415);
});

test('a zstd window that would need more memory than 8 MiB is refused', async () => {
  const body = zlib.zstdCompressSync(JSON.stringify(validCustomer), {
    params: { [zlib.constants.ZSTD_c_windowLog]: 27, [zlib.constants.ZSTD_c_contentSizeFlag]: 0 },
  });
  const stream = zlib.createZstdCompress({ params: { [zlib.constants.ZSTD_c_windowLog]: 27 } });
  stream.write('{');
  stream.end('}');
  const streamed = Buffer.concat(await Array.fromAsync(stream));
  assert.equal((await sendEncoded('zstd', body)).statusCode, 201);
  const refused = await sendEncoded('zstd', streamed);
  assert.equal(refused.json().errors[0].code, 'invalid_compression');
});

test('gzip with several members, its old name and identity are accepted', async () => {
  const [first, second] = [
    JSON.stringify(validCustomer).slice(0, 20),
    JSON.stringify(validCustomer).slice(20),
  ];
  const members = Buffer.concat([zlib.gzipSync(first), zlib.gzipSync(second)]);
  assert.equal((await sendEncoded('x-gzip', members)).statusCode, 201);
  assert.equal((await sendEncoded('identity', Buffer.from(JSON.stringify(validCustomer)))).statusCode, 201);
});

test('a retry with another encoding is the same request', async () => {
  const headers = { 'idempotency-key': 'compressed-once' };
  const body = JSON.stringify(validCustomer);
  const first = await sendEncoded('gzip', zlib.gzipSync(body), headers);
  const second = await sendEncoded('zstd', zlib.zstdCompressSync(body), headers);
  const third = await post('/customer', body, { headers });
  assert.equal(first.statusCode, 201);
  assert.deepEqual([second.body, third.body], [first.body, first.body]);
});

test('nothing of a compressed body is read before the key and the encoding are known', async () => {
  const head = (key: string, encoding: string) =>
    `POST /api/v1/customer HTTP/1.1\r\nHost: x\r\nApiKey: ${key}\r\nContent-Type: application/json\r\nContent-Encoding: ${encoding}\r\nContent-Length: 100\r\n\r\n`;
  for (const [key, encoding, status, code] of [
    ['stamm_wrong', 'gzip', 401, 'key_malformed'],
    [tenant.key, 'compress', 413, 'content_encoding'],
  ] as const) {
    const { answers } = await exchange(port, head(key, encoding));
    assert.deepEqual([answers[0]!.status, JSON.parse(answers[0]!.body).code], [status, code]);
  }
});

const line = (number: number) =>
  `${JSON.stringify({ type: 'customer', data: { companyName: `Kunde ${number}`, address: validAddress, externalId: `Z-${number}` } })}\n`;

const streams = {
  gzip: () => zlib.createGzip(),
  deflate: () => zlib.createDeflate(),
  br: () => zlib.createBrotliCompress(),
  zstd: () => zlib.createZstdCompress(),
};

const flushes = {
  gzip: zlib.constants.Z_SYNC_FLUSH,
  deflate: zlib.constants.Z_SYNC_FLUSH,
  br: zlib.constants.BROTLI_OPERATION_FLUSH,
  zstd: zlib.constants.ZSTD_e_flush,
};

/** An import whose lines are compressed one by one. */
function openEncoded(encoding: keyof typeof streams, query = '') {
  const opened = openImport({ port, key: tenant.key, query, headers: { 'content-encoding': encoding } });
  const encoder = streams[encoding]();
  encoder.pipe(opened.request);
  return {
    ...opened,
    encoder,
    sendLine: async (number: number) => {
      encoder.write(line(number));
      await new Promise<void>((resolve) => encoder.flush(flushes[encoding], resolve));
    },
  };
}

for (const encoding of ['gzip', 'deflate', 'br', 'zstd'] as const) {
  test(`an import in ${encoding} answers each line while the next is still to come`, async () => {
    const opened = openEncoded(encoding);
    for (const number of [1, 2, 3]) {
      await opened.sendLine(number);
      const { line: answered, status } = await opened.next();
      assert.equal(answered, number);
      assert.ok(status === 201 || status === 200);
    }
    opened.encoder.end();
    const { summary } = await opened.next();
    assert.deepEqual([summary.lines, summary.code], [3, undefined]);
  });

  test(`an import that is not ${encoding} though it says so is a 400`, async () => {
    const headers = { 'content-encoding': encoding };
    const refused = await refusedImport({ port, key: tenant.key, headers }, line(1));
    assert.equal(refused.status, 400);
    assert.equal(refused.body.errors[0].code, 'invalid_compression');
  });
}

test('an import whose compressed data breaks off keeps its lines and says why it ended', async () => {
  for (const breakOff of [
    (request: import('node:http').ClientRequest) => request.end(),
    (request: import('node:http').ClientRequest) => request.end(Buffer.alloc(100, 0xff)),
  ]) {
    const opened = openEncoded('gzip');
    await opened.sendLine(10);
    const { status } = await opened.next();
    assert.ok(status === 201 || status === 200);
    opened.encoder.unpipe();
    breakOff(opened.request);
    const { summary } = await opened.next();
    assert.deepEqual([summary.lines, summary.code], [1, 'import_damaged']);
  }
});

test('all or nothing stores nothing of damaged data', async () => {
  const opened = openEncoded('gzip', '?mode=all-or-nothing');
  await opened.sendLine(20);
  await opened.sendLine(21);
  opened.encoder.unpipe();
  opened.request.end();
  const [{ summary }] = await opened.rest();
  assert.deepEqual([summary.created, summary.code], [0, 'import_damaged']);
  assert.equal((await get('/customers/by-external-id/Z-20')).statusCode, 404);
});

test('an import ends early where its data expands without measure', async () => {
  const opened = openImport({ port, key: tenant.key, headers: { 'content-encoding': 'br' } });
  opened.request.end(encoders.br!(Buffer.alloc(60_000_000, '\n')));
  const { summary } = await opened.next();
  assert.deepEqual([summary.lines, summary.code], [0, 'body_too_large']);
});

test('a compressed import of many lines keeps the limit of a line', async () => {
  const opened = openEncoded('zstd');
  const long = `${JSON.stringify({ type: 'customer', data: { note: 'x'.repeat(limitBytes) } })}\n`;
  opened.encoder.write(long);
  for (let number = 100; number < 1100; number++) opened.encoder.write(line(number));
  opened.encoder.end();
  const answers = await opened.rest();
  const { summary } = answers.pop();
  assert.deepEqual([summary.lines, summary.created, summary.failed], [1001, 1000, 1]);
  assert.deepEqual([answers[0].status, answers[0].code], [415, 'line_too_long']);
});

test('a client that leaves a compressed import in the middle frees its place', async () => {
  const opened = openEncoded('gzip');
  await opened.sendLine(30);
  await opened.next();
  opened.request.destroy();
  await once(opened.request, 'close');
  const again = openEncoded('gzip');
  await again.sendLine(31);
  again.encoder.end();
  assert.equal((await again.rest()).at(-1).summary.lines, 1);
});
