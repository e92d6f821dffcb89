import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startService, type TestService } from '../../helpers/service.ts';

describe('the files of the web app', () => {
  let service: TestService;
  before(async () => {
    await promisify(execFile)(process.execPath, [path.resolve(import.meta.dirname, '../../../web/build.ts')]);
    service = await startService();
  });

  const html = { accept: 'text/html,application/xhtml+xml' };
  const get = (url: string, headers: Record<string, string> = {}) => service.app.inject({ url, headers });

  async function findScript(): Promise<string> {
    return /\/assets\/[\w-]+\.js/.exec((await get('/', html)).body)![0];
  }

  test('the page allows no script but its own, no frame, and styles only with its nonce', async () => {
    const first = await get('/', html);
    const second = await get('/', html);
    const policy = String(first.headers['content-security-policy']);
    assert.match(policy, /default-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe-(inline|eval)/);
    assert.equal(first.headers['x-content-type-options'], 'nosniff');
    assert.equal(first.headers['referrer-policy'], 'same-origin');
    assert.equal(first.headers['cache-control'], 'no-store');
    const nonce = /'nonce-([\w-]+)'/.exec(policy)![1]!;
    assert.ok(first.body.includes(nonce));
    assert.ok(!second.body.includes(nonce));
    assert.doesNotMatch(first.body, /<script(?![^>]*\bsrc=)/);
  });

  test('a file with a hash in its name is kept for ever, compressed as the browser likes, and the same', async () => {
    const url = await findScript();
    const plain = await get(url);
    const brotli = await get(url, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(url, { 'accept-encoding': 'gzip' });
    assert.match(String(plain.headers['cache-control']), /immutable/);
    assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(plain.headers.vary, 'Accept-Encoding');
    assert.ok(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload));
    assert.ok(gunzipSync(gzip.rawPayload).equals(plain.rawPayload));
    const unwanted = await get(url, { 'accept-encoding': 'br;q=0, gzip;q=0.5' });
    assert.equal(unwanted.headers['content-encoding'], 'gzip');
    const again = await get(url, { 'accept-encoding': 'gzip', 'if-none-match': String(gzip.headers.etag) });
    assert.equal(again.statusCode, 304);
    assert.notEqual(gzip.headers.etag, plain.headers.etag);
  });

  test('a page of the app can be reloaded, and only by clients that accept a page', async () => {
    assert.equal((await get('/data/sites/1', html)).statusCode, 200);
    assert.match((await get('/data/sites/1', html)).body, /id="app"/);
    assert.equal((await get('/data/sites/1', { accept: 'application/json' })).statusCode, 404);
    assert.equal(
      (await service.app.inject({ method: 'POST', url: '/data/sites/1', headers: html })).statusCode,
      404,
    );
    const head = await service.app.inject({ method: 'HEAD', url: '/data/sites/1', headers: html });
    assert.equal(head.statusCode, 200);
    assert.equal((await get('/assets/missing.js', html)).statusCode, 404);
  });

  test('paths of the service are never a page', async () => {
    assert.equal((await get('/api/v1/nothing', html)).statusCode, 401);
    assert.equal((await get('/api/v1/nothing', { ...html, apikey: service.tenant.key })).statusCode, 403);
    assert.equal((await get('/app/nothing', html)).statusCode, 404);
    assert.equal((await get('/docs/nothing', html)).statusCode, 404);
    assert.equal((await get('/docs', html)).statusCode, 200);
  });
});
