// Tiles from a PMTiles file on the disk of the service.
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { findTileFileTrouble } from '../../../server/features/map/tile-file.ts';
import { callOffice, createPerson } from '../../helpers/office.ts';
import { basemapLayers, pmtilesFile, rectangle, vectorTile } from '../../helpers/pmtiles-file.ts';
import { startService } from '../../helpers/service.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
after(() => rm(folder, { recursive: true }));
const file = path.join(folder, 'town.pmtiles');
const service = await startService({ MAP_TILES_FILE: file });
const person = await createPerson(service, { role: 'PFLEGE' });

const sea = vectorTile({
  water: [{ type: 3, geometry: rectangle(0, 0, 4096, 4096), values: { kind: 'sea' } }],
});
const lake = vectorTile({ water: [{ type: 3, geometry: rectangle(0, 0, 9, 9), values: { kind: 'lake' } }] });
const attribution = '<a href="https://maps.example">&copy; OpenStreetMap</a> <b>contributors</b>';
const metadata = { ...basemapLayers, attribution };
const town = pmtilesFile({ tileType: 1, metadata, tiles: { '0/0/0': sea, '3/4/2': lake } });

/** Whole files take the place of others. */
async function put(content: Buffer): Promise<void> {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
}

beforeEach(() => put(town));

async function readSettings() {
  const response = await person.call('GET', '/map/settings');
  assert.equal(response.statusCode, 200, response.body);
  return response.json();
}

async function readTile(place: string, headers: Record<string, string> = { 'accept-encoding': 'gzip, br' }) {
  const { tilesUrl } = await readSettings();
  const url = tilesUrl.replace('/app', '').replace('{z}/{x}/{y}', place);
  return person.call('GET', url, undefined, { headers });
}

test('people who are signed in get the tiles of the file and its licence line, and browsers keep them', async () => {
  const settings = await readSettings();
  assert.match(settings.tilesUrl, /^\/app\/map\/tiles\/[\w-]{16}\/\{z\}\/\{x\}\/\{y\}$/);
  assert.deepEqual(settings.tileFile, { kind: 'VECTOR', minZoom: 0, maxZoom: 3 });
  assert.equal(settings.attribution, '© OpenStreetMap contributors');

  const tile = await readTile('3/4/2');
  assert.equal(tile.statusCode, 200);
  assert.equal(tile.headers['content-type'], 'application/vnd.mapbox-vector-tile');
  assert.equal(tile.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(tile.rawPayload), lake);
  assert.equal(tile.headers['cache-control'], 'private, max-age=604800, immutable');
  assert.equal(tile.headers.vary, 'Accept-Encoding');

  const plain = await readTile('3/4/2', { 'accept-encoding': 'br' });
  assert.deepEqual([plain.headers['content-encoding'], plain.rawPayload], [undefined, lake]);
  const known = await readTile('3/4/2', { 'if-none-match': String(tile.headers.etag) });
  assert.deepEqual([known.statusCode, known.body], [304, '']);
});

test('strangers get no tile', async () => {
  const { tilesUrl } = await readSettings();
  const path = tilesUrl.replace('/app', '').replace('{z}/{x}/{y}', '0/0/0');
  const response = await callOffice(service.app, 'GET', path);
  assert.equal(response.statusCode, 401, response.body);
  assert.equal(response.json().code, 'session_missing');
});

test('a tile that the file lacks, and anything that is no tile, is not found', async () => {
  const places = [
    '3/5/2',
    '4/0/0',
    '0/1/0',
    '3/0/8',
    '27/0/0',
    '99999999/0/0',
    '0/-1/0',
    '0/0/0.5',
    '0/0/1e0',
  ];
  for (const place of [...places, '0/0/%2e%2e', '0/0/999999999999', 'a/b/c']) {
    const response = await readTile(place);
    assert.equal(response.statusCode, 404, `${place} ${response.body}`);
    assert.equal(response.headers['cache-control'], 'no-store');
  }
  assert.equal((await readTile('0/0/0?x=1')).statusCode, 400);
});

test('a file that is replaced is read anew, and an open page gets its tiles, which browsers do not keep', async () => {
  const before = await readSettings();
  await put(pmtilesFile({ tileType: 1, metadata: basemapLayers, tiles: { '0/0/0': lake } }));
  const now = await readSettings();
  assert.notEqual(now.tilesUrl, before.tilesUrl);
  assert.deepEqual([now.tileFile.maxZoom, now.attribution], [0, '© OpenStreetMap']);
  const oldPath = before.tilesUrl.replace('/app', '').replace('{z}/{x}/{y}', '0/0/0');
  const tile = await person.call('GET', oldPath);
  assert.deepEqual([tile.rawPayload, tile.headers['cache-control']], [lake, 'no-store']);
});

test('without a usable file the map has no tiles, the log says why, and a good file is used again', async () => {
  const { tilesUrl } = await readSettings();
  await rm(file);
  assert.deepEqual(await readSettings(), {
    tilesUrl: null,
    tileFile: null,
    attribution: null,
    hasGeocoder: false,
  });
  const [line] = service.logLines.filter((text) => text.includes('MAP_TILES_FILE'));
  assert.match(line!, /The map shows outlines, because MAP_TILES_FILE cannot be read: ENOENT/);
  // Not a 404, at which the page would wait for a tile of another zoom.
  const path = tilesUrl.replace('/app', '').replace('{z}/{x}/{y}', '0/0/0');
  assert.equal((await person.call('GET', path)).statusCode, 500);
  await put(town);
  assert.equal((await readSettings()).tilesUrl, tilesUrl);
});

test('pictures in the file are sent as they are', async () => {
  const picture = Buffer.from('a picture');
  await put(pmtilesFile({ tileType: 2, metadata: {}, tiles: { '1/0/1': picture } }));
  const settings = await readSettings();
  assert.deepEqual(settings.tileFile, { kind: 'RASTER', minZoom: 1, maxZoom: 1 });
  assert.equal(settings.attribution, null);
  const tile = await readTile('1/0/1');
  assert.deepEqual([tile.headers['content-type'], tile.rawPayload], ['image/png', picture]);
  assert.equal(tile.headers['content-encoding'], undefined);
});

test('a file that cannot be used is named with its reason', async () => {
  const change = (at: number, value: number) => {
    const content = Buffer.from(town);
    content[at] = value;
    return content;
  };
  const otherLayers = { vector_layers: [{ id: 'water' }, { id: 'transportation' }] };
  const cases: [Buffer, RegExp][] = [
    [Buffer.alloc(0), /is not a PMTiles file/],
    [Buffer.from('<html>404 Not Found</html>'), /is not a PMTiles file/],
    [change(7, 2), /is not a PMTiles file \(version 3\)/],
    [town.subarray(0, 100), /cannot be read/],
    [town.subarray(0, 150), /cannot be read/],
    [town.subarray(0, -1), /is cut off$/],
    [change(99, 6), /holds neither vector tiles \(MVT\) nor pictures/],
    [change(98, 4), /is compressed in another way than gzip/],
    [change(38, 1), /is damaged: a part has \d+ bytes/],
    [
      pmtilesFile({ tileType: 1, metadata: otherLayers, tiles: { '0/0/0': sea } }),
      /is no basemap of Protomaps \(version 4\): it lacks earth, roads$/,
    ],
  ];
  for (const [content, reason] of cases) {
    await put(content);
    assert.match((await findTileFileTrouble(file)) ?? 'none', reason);
    assert.equal((await readSettings()).tilesUrl, null);
  }
  assert.match((await findTileFileTrouble(folder))!, /^must name a file$/);
  await put(town);
  assert.equal(await findTileFileTrouble(file), undefined);
});
