// Compressed answers, over real sockets.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import zlib from 'node:zlib';
import { createPerson } from '../../helpers/office.ts';
import { countProductPages } from '../../helpers/pages-read.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { app, createCustomer, database, owner, tenant } = service;
const port = await listen(app);
const agent = new http.Agent({ keepAlive: true });
after(() => agent.destroy());
const id = await createCustomer();
for (let number = 0; number < 20; number++) await createCustomer();

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
};

async function open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const request = http.get({ port, path, agent, headers: { apikey: tenant.key, ...headers } });
  request.on('error', () => {});
  return (await once(request, 'response'))[0];
}

async function read(path: string, headers: Record<string, string> = {}) {
  const message = await open(path, headers);
  const body = Buffer.concat(await Array.fromAsync(message));
  return { status: message.statusCode, headers: message.headers, body };
}

for (const [encoding, decode] of Object.entries(decoders)) {
  test(`lists, exports and documents come in ${encoding} on request, and are the same`, async () => {
    for (const path of [
      '/api/v1/customers',
      '/api/v1/customers.csv',
      '/api/v1/customers.ndjson',
      '/docs',
      '/openapi.json',
    ]) {
      const plain = await read(path);
      const compressed = await read(path, { 'accept-encoding': encoding });
      assert.equal(plain.headers['content-encoding'], undefined, path);
      assert.equal(compressed.headers['content-encoding'], encoding, path);
      assert.ok(compressed.body.length < plain.body.length, path);
      assert.deepEqual(decode(compressed.body), plain.body, path);
      for (const { headers } of [plain, compressed]) assert.match(headers.vary!, /Accept-Encoding/, path);
    }
  });
}

test('the heaviest weight wins, and an unwanted or unknown encoding is not used', async () => {
  for (const [accepted, expected] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, br;q=0.5', 'gzip'],
    ['GZIP;Q=0.3', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0', undefined],
    ['*;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['compress', undefined],
    ['', undefined],
    ['gzip;q=x', undefined],
  ] as const) {
    const { headers, status } = await read('/api/v1/customers', { 'accept-encoding': accepted });
    assert.deepEqual([status, headers['content-encoding']], [200, expected], accepted);
  }
});

test('short answers, workbooks and import results are not compressed', async () => {
  const headers = { 'accept-encoding': 'gzip' };
  for (const path of [`/api/v1/customers/${id}`, '/api/v1/customers.xlsx', '/api/v1/unknown']) {
    assert.equal((await read(path, headers)).headers['content-encoding'], undefined, path);
  }
  const line = { type: 'customer', data: { companyName: 'X', address: validAddress } };
  const lines = Array.from({ length: 100 }, () => line);
  const { summary } = await sendImport({ port, key: tenant.key, headers }, lines);
  assert.equal(summary.created, 100);
});

test('answers for a session are not compressed', async () => {
  const { cookie } = await createPerson(service, { tenantId: tenant.tenantId });
  const answer = await read('/app/customers', { cookie, 'accept-encoding': 'gzip, br, zstd' });
  assert.equal(answer.status, 200);
  assert.ok(answer.body.length > 1024);
  assert.equal(answer.headers['content-encoding'], undefined);
});

test('the ETag of a compressed read is the strong one of the plain read, and gives 304', async () => {
  const created = await service.post('/product', {
    name: 'Monstera',
    kind: 'PLANT',
    description: 'grün '.repeat(400),
  });
  const path = `/api/v1/products/${created.json().id}`;
  const plain = await read(path);
  const compressed = await read(path, { 'accept-encoding': 'br' });
  assert.equal(compressed.headers['content-encoding'], 'br');
  assert.equal(compressed.headers.etag, plain.headers.etag);
  assert.match(plain.headers.etag!, /^"\d+"$/);
  const again = await read(path, { 'accept-encoding': 'br', 'if-none-match': compressed.headers.etag! });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  assert.equal(again.headers['content-encoding'], undefined);
});

test('a compressed export stops reading while its client does not read, and ends with its client', async () => {
  const { tenantId, key } = await service.createTenant();
  // Random text hardly shrinks: 44 MB, more than Linux keeps for a connection that nobody reads from.
  for (let chunk = 0; chunk < 6; chunk++) {
    const texts = Array.from({ length: 5000 }, () => randomBytes(1440).toString('base64'));
    await owner.query(
      `INSERT INTO product (tenant_id, id, name, kind, unit_code, currency, active, description)
       SELECT $1, gen_random_uuid(), 'Nr. ' || number, 'PLANT', 'H87', 'EUR', true, text
       FROM unnest($2::text[]) WITH ORDINALITY AS random (text, number)`,
      [tenantId, texts],
    );
  }
  const pagesRead = countProductPages(database);
  const openExport = (coding: string) =>
    open('/api/v1/products.ndjson', { apikey: key, 'accept-encoding': coding });
  for await (const _ of await openExport('identity'));
  const pagesOfAll = pagesRead();
  const message = await openExport('gzip');
  assert.equal(message.headers['content-encoding'], 'gzip');
  // Meanwhile an export that does not wait for its client would read all of its own pages.
  for await (const _ of await openExport('gzip'));
  const read = pagesRead() - 2 * pagesOfAll;
  assert.ok(read > 0 && read < pagesOfAll, `${read} of ${pagesOfAll} pages`);
  message.destroy();
  await until('the export is logged as cut off', () =>
    service.logLines.some((line) => line.includes('products.ndjson') && line.includes('"isCutOff":true')),
  );
});
