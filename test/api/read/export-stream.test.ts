// Exports as streams, through sockets: an answer that is complete from the start would prove nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { countProductPages } from '../../helpers/pages-read.ts';
import { startService } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const { app, owner, database, connection, tenant, logLines, createTenant } = await startService();

const addProducts = (tenantId: string, count: number, descriptionLength: number) =>
  owner.query(
    `INSERT INTO product (tenant_id, id, name, kind, unit_code, currency, active, description)
     SELECT $1, gen_random_uuid(), 'Nr. ' || number, 'PLANT', 'H87', 'EUR', true, repeat('x', $3)
     FROM generate_series(1, $2) AS number`,
    [tenantId, count, descriptionLength],
  );

const rowCount = 20_000;
await addProducts(tenant.tenantId, rowCount, 2000);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as net.AddressInfo;

async function open(path: string, apikey = tenant.key): Promise<http.IncomingMessage> {
  const request = http.get({ port, path: `/api/v1${path}`, headers: { apikey }, agent: false });
  request.on('error', () => {});
  const [response] = await once(request, 'response');
  return response;
}

const pagesRead = countProductPages(database);

/** Returns how many pages were read. Meanwhile a stream that does not wait for its client would read all of its own. */
async function readAll(): Promise<number> {
  const before = pagesRead();
  for await (const _ of await open('/products.ndjson'));
  return pagesRead() - before;
}

const pagesOfAll = await readAll();

const untilLogged = (text: string) =>
  until(`a line with ${text}`, () => logLines.some((line) => line.includes(text)));

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function usedMebibytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
}

for (const [extension, headLines] of [
  ['csv', 1],
  ['ndjson', 0],
] as const) {
  test(`20,000 rows leave as ${extension} in little memory`, async () => {
    const before = usedMebibytes();
    let [lines, bytes, most] = [0, 0, 0];
    for await (const chunk of await open(`/products.${extension}`)) {
      for (const byte of chunk) if (byte === 0x0a) lines++;
      const mebibytesBefore = bytes >> 22;
      bytes += chunk.length;
      if (bytes >> 22 !== mebibytesBefore) most = Math.max(most, usedMebibytes() - before);
    }
    assert.equal(lines, rowCount + headLines);
    assert.ok(bytes > 40_000_000);
    assert.ok(most < 25, `at most ${most.toFixed(1)} MiB for ${(bytes / 1024 ** 2).toFixed(0)} MiB`);
  });
}

test('while a client reads nothing, no page is read and no connection is held', async () => {
  logLines.length = 0;
  const before = pagesRead();
  const response = await open('/products.ndjson');
  await once(response, 'readable');
  await readAll();
  const read = pagesRead() - before - pagesOfAll;
  assert.ok(read < 15, `${read} of ${pagesOfAll} pages`);
  await until('no connection is held', () => database.pool.idleCount === database.pool.totalCount);
  response.destroy();
  await untilLogged('"isCutOff":true');
});

test('a client that goes away stops the work', async () => {
  logLines.length = 0;
  const before = pagesRead();
  const response = await open('/products.ndjson');
  await once(response, 'data');
  response.destroy();
  await untilLogged('"isCutOff":true');
  await readAll();
  const read = pagesRead() - before - pagesOfAll;
  assert.ok(read < 15, `${read} of ${pagesOfAll} pages`);
});

test('a database that dies half-way cuts the answer off, for HTTP/1.1 and for HTTP/1.0', async () => {
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  const allow = (isAllowed: boolean) =>
    admin.query(`ALTER DATABASE ${connection.database} ALLOW_CONNECTIONS ${isAllowed}`);
  async function killDatabase() {
    await allow(false);
    await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> $2',
      [connection.database, (owner as unknown as { processID: number }).processID],
    );
    await until('the service has noticed', () => database.pool.totalCount === 0);
  }
  try {
    logLines.length = 0;
    const response = await open('/products.csv');
    await once(response, 'readable');
    await killDatabase();
    await assert.rejects(async () => {
      for await (const _ of response);
    }, /aborted|ECONNRESET/);
    assert.equal(response.complete, false);

    await allow(true);
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`GET /api/v1/products.csv HTTP/1.0\r\nApiKey: ${tenant.key}\r\n\r\n`);
    await once(socket, 'readable');
    await killDatabase();
    await assert.rejects(async () => {
      for await (const _ of socket);
    }, /ECONNRESET/);
    await untilLogged('"code":"database_unavailable"');

    const refused = await open('/products.csv');
    assert.equal(refused.statusCode, 500, 'before its first line an export fails like anything else');
    assert.equal(refused.headers['content-disposition'], undefined);
    refused.resume();
  } finally {
    await allow(true);
    await admin.end();
  }
});

test('a page boundary neither loses nor repeats a row, in any order', async () => {
  const { tenantId, key } = await createTenant();
  const count = 2600;
  await addProducts(tenantId, count, 1);
  for (const sort of ['createdAt', '-createdAt', 'name', '-updatedAt']) {
    const ids: string[] = [];
    let rest = '';
    for await (const chunk of (await open(`/products.ndjson?sort=${sort}`, key)).setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) ids.push(JSON.parse(line).id);
    }
    assert.equal(rest, '');
    assert.deepEqual([ids.length, new Set(ids).size], [count, count], sort);
  }
});
