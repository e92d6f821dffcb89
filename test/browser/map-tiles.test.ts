import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pino } from 'pino';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startGeocoding } from '../../server/features/map/geocoding.ts';
import { createPerson } from '../helpers/office.ts';
import { basemapLayers, pmtilesFile, rectangle, vectorTile } from '../helpers/pmtiles-file.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validAddress, validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice } from './helpers/office.ts';

/** 256 pixels wide and high, pure red. */
const redTile = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAQAAAAEAAQMAAABmvDolAAAAA1BMVEX/AAAZ4gk3AAAAH0lEQVR42u3BAQ0AAADCoPdPbQ43oAAAAAAAAAAAvg0hAAABYOSdlwAAAABJRU5ErkJggg==',
  'base64',
);

/** A vector tile with one layer, "land", and one square in it that fills the tile. */
const landTile = Buffer.from('1a1f78020a046c616e6412121803220e0900001a804000008040ff3f000f288020', 'hex');

/** Tiles, and answers like those of Nominatim. */
async function startMapServer() {
  const state = { origin: '', tiles: [] as string[], isAway: false };
  const server = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (request.url!.startsWith('/search'))
      return response.end(JSON.stringify([{ lat: '53.5612', lon: '9.9871', display_name: 'Am Hafen 3' }]));
    if (request.url === '/style.json') return response.end(JSON.stringify(styleOf(state.origin)));
    state.tiles.push(request.url!);
    if (request.url!.endsWith('.pbf')) return response.end(landTile);
    if (state.isAway) return response.writeHead(503).end();
    response.writeHead(200, { 'content-type': 'image/png' }).end(redTile);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { state, close: () => server.close() };
}

/** Blue land, as a vector style of MapLibre. */
function styleOf(origin: string) {
  return {
    version: 8,
    sources: { base: { type: 'vector', tiles: [`${origin}/{z}/{x}/{y}.pbf`], maxzoom: 14 } },
    layers: [
      {
        id: 'land',
        type: 'fill',
        source: 'base',
        'source-layer': 'land',
        paint: { 'fill-color': '#0000ff' },
      },
    ],
  };
}

/** Evaluates an expression about the pixels of the map, as a person sees it. */
async function readPixels<Value>(page: Page, expression: string): Promise<Value> {
  const picture = await page.getByRole('application').screenshot();
  return page.evaluate(
    `(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${picture.toString('base64')}';
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return ${expression};
    })()`,
  );
}

/** The colour a little beside the middle of the map. */
function readColour(page: Page): Promise<string> {
  return readPixels(page, 'context.getImageData(image.width / 3, image.height / 3, 1, 1).data.join()');
}

function countDarkPixels(page: Page): Promise<number> {
  return readPixels(
    page,
    'context.getImageData(0, 0, image.width, image.height).data.filter((value, index) => index % 4 === 0 && value < 120).length',
  );
}

/** A screenshot reads pixels, and Chromium notes how slow that is without a graphics card. */
function isExpected(complaint: string, origin: string): boolean {
  return complaint.startsWith(`request to ${origin}/`) || complaint.includes('GPU stall due to ReadPixels');
}

describe('the map with a vector style', { skip: withoutChromium }, () => {
  test('shows its tiles and the licence line, and the page may ask no other host', async () => {
    const [server, other] = [await startMapServer(), await startMapServer()];
    const { origin } = server.state;
    try {
      const office = await openOffice({
        MAP_TILES_URL: `${origin}/style.json`,
        MAP_ATTRIBUTION: '© Vektorkarten',
      });
      const { email } = await createPerson(office);
      const address = { ...validAddress, location: { lat: 53.55, lng: 9.99 } };
      // A map without sites has a note above it.
      await office.post('/customer/site', { ...validSite(await office.createCustomer()), address });
      const { page, complaints } = await office.enter(email);
      await page.goto(`${office.origin}/map?lat=53.55&lng=9.99&zoom=10`);
      await page.getByText('© Vektorkarten').waitFor();
      await until('the land is seen', async () => (await readColour(page)) === '0,0,255,255');
      assert.match(server.state.tiles[0]!, /^\/\d+\/\d+\/\d+\.pbf$/);
      assert.deepEqual(
        complaints.filter((complaint) => !isExpected(complaint, origin)),
        [],
      );
      const reaches = (url: string) => page.evaluate(`fetch('${url}').then(() => true, () => false)`);
      assert.equal(await reaches(`${origin}/1/0/0.pbf`), true);
      assert.equal(await reaches(`${other.state.origin}/1/0/0.pbf`), false);
      assert.deepEqual(other.state.tiles, []);
      await page.context().close();
    } finally {
      server.close();
      other.close();
    }
  });
});

describe('the map with a PMTiles file', { skip: withoutChromium }, () => {
  /** Opens a map of the tile 0/0/0, whose middle is that of the map. */
  async function openMap(content: Buffer, options: BrowserContextOptions = {}) {
    const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
    after(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'town.pmtiles');
    await writeFile(file, content);
    const office = await openOffice({ MAP_TILES_FILE: file });
    const { email } = await createPerson(office);
    // A map without sites has a note above it. This one lies out of sight.
    const address = { ...validAddress, location: { lat: 53.55, lng: 9.99 } };
    await office.post('/customer/site', { ...validSite(await office.createCustomer()), address });
    const { page, complaints } = await office.enter(email, options);
    await page.goto(`${office.origin}/map?lat=0&lng=0&zoom=12`);
    return { page, complaints: () => complaints.filter((complaint) => !complaint.includes('GPU stall')) };
  }

  const river = { type: 3, geometry: rectangle(0, 0, 2048, 4096), values: { kind: 'river' } } as const;
  const metadata = {
    ...basemapLayers,
    attribution: '<a href="https://maps.example">&copy; OpenStreetMap</a>',
  };
  const water = { '0/0/0': vectorTile({ water: [river] }) };
  const town = {
    type: 1,
    geometry: [9, 4096, 4096],
    values: { kind: 'locality', name: 'Neustadt', population_rank: 12 },
  } as const;

  test('shows vector tiles in the colours of the app, light and dark, and the licence line of the file', async () => {
    for (const [colorScheme, colour] of [
      ['light', '207,226,230,255'],
      ['dark', '15,22,22,255'],
    ] as const) {
      const content = pmtilesFile({ tileType: 1, metadata, tiles: water });
      const { page, complaints } = await openMap(content, { colorScheme });
      await page.getByText('© OpenStreetMap').waitFor();
      await until('the water is seen', async () => (await readColour(page)) === colour);
      assert.deepEqual(await findBarriers(page), []);
      assert.deepEqual(complaints(), []);
      await page.context().close();
    }
  });

  test('writes the names of towns without glyph files', async () => {
    const tiles = { '0/0/0': vectorTile({ places: [town] }) };
    const { page, complaints } = await openMap(pmtilesFile({ tileType: 1, metadata, tiles }));
    await until('the name is seen', async () => (await countDarkPixels(page)) > 50);
    assert.deepEqual(complaints(), []);
    await page.context().close();
  });

  test('shows pictures of the file', async () => {
    const content = pmtilesFile({ tileType: 2, metadata: {}, tiles: { '0/0/0': redTile } });
    const { page, complaints } = await openMap(content);
    await until('the picture is seen', async () => (await readColour(page)) === '255,0,0,255');
    assert.deepEqual(complaints(), []);
    await page.context().close();
  });
});

describe('the map with tiles and a geocoder', { skip: withoutChromium }, () => {
  let office: Office;
  let server: Awaited<ReturnType<typeof startMapServer>>;
  let email: string;
  before(async () => {
    server = await startMapServer();
    office = await openOffice({
      MAP_TILES_URL: `${server.state.origin}/{z}/{x}/{y}.png`,
      MAP_ATTRIBUTION: '© Testkarten',
      GEOCODER_URL: `${server.state.origin}/search`,
    });
    ({ email } = await createPerson(office));
  });
  after(() => server.close());

  test('shows tiles of the named host and its licence line, and asks no other host', async () => {
    const customerId = await office.createCustomer();
    const address = { ...validAddress, location: { lat: 53.55, lng: 9.99 } };
    await office.post('/customer/site', { ...validSite(customerId), address });
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/map?lat=53.55&lng=9.99&zoom=10`);
    await page.getByText('© Testkarten').waitFor();
    await until('the tiles are seen', async () => (await readColour(page)) === '255,0,0,255');
    assert.match(server.state.tiles[0]!, /^\/\d+\/\d+\/\d+\.png$/);
    assert.deepEqual(await findBarriers(page), []);
    const others = complaints.filter((complaint) => !isExpected(complaint, server.state.origin));
    assert.deepEqual(others, []);
    await page.context().close();
  });

  test('shows outlines and says so while the tiles are out of reach', async () => {
    server.state.isAway = true;
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/map?lat=53.55&lng=9.99&zoom=10`);
    await page.getByText('Die Kartenbilder sind gerade nicht erreichbar.').waitFor();
    await page.getByText('Umrisse: Natural Earth').waitFor();
    await page.context().close();
    server.state.isAway = false;
  });

  test('draws the route of an employee on a day, and lists its stops in their order', async () => {
    const customerId = await office.createCustomer();
    const employee = await office.post('/employee', { firstName: 'Rosa', lastName: 'Linde' });
    const place = async (name: string, lat: number, lng: number) =>
      office.post('/customer/site', {
        ...validSite(customerId),
        name,
        address: { ...validAddress, location: { lat, lng } },
        assignedEmployeeId: employee.json().id,
        attendingIntervals: [{ frequency: 'DAILY', interval: 1, startDate: '2026-01-01' }],
      });
    await place('A im Norden', 53.6, 10);
    await place('B im Süden', 53.4, 10);
    await place('C in der Mitte', 53.55, 10);
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/map?employeeId=${employee.json().id}&day=2026-11-18`);
    const card = page.getByRole('region', { name: 'Tagesroute' });
    await card.getByText('3 Besuche, 22 km Luftlinie.').waitFor();
    const stops = await card.getByRole('listitem').allTextContents();
    assert.deepEqual(stops, ['A im Norden', 'C in der Mitte', 'B im Süden']);
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Route schließen' }).click();
    await card.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a proposed position is seen, shown on the map, rejected or accepted', async () => {
    const customerId = await office.createCustomer();
    const ids = new Map<string, string>();
    for (const name of ['Hafen', 'Werft', 'Kai', 'Dock']) {
      const response = await office.post('/customer/site', {
        ...validSite(customerId),
        name,
        address: validAddress,
      });
      ids.set(name, response.json().id);
    }
    const { database } = office;
    const url = `${server.state.origin}/search`;
    const limits = { intervalMs: 10, idleMs: 10 };
    const stop = startGeocoding({
      url,
      publicUrl: undefined,
      database,
      log: pino({ level: 'silent' }),
      limits,
    });
    const { page } = await office.enter(email);
    try {
      await until('all are asked for', async () => {
        const { rows } = await office.owner.query('SELECT count(*)::integer AS count FROM position_proposal');
        return rows[0].count === 4;
      });
    } finally {
      await stop();
    }
    await page.goto(`${office.origin}/map`);
    const card = page.getByRole('region', { name: '4 vorgeschlagene Positionen' });
    await card.getByText('Am Hafen 3').first().waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await card.getByRole('button', { name: 'Vorschlag für Hafen auf der Karte zeigen' }).click();
    await page.waitForURL(/lat=53\.56\d+&lng=9\.98\d+&zoom=15/);

    const locationOf = async (name: string) =>
      (await office.get(`/sites/${ids.get(name)}`)).json().address.location;
    await card.getByRole('button', { name: 'Vorschlag für Werft ablehnen' }).click();
    const three = page.getByRole('region', { name: '3 vorgeschlagene Positionen' });
    await three.getByRole('button', { name: 'Vorschlag für Hafen übernehmen' }).click();
    const two = page.getByRole('region', { name: '2 vorgeschlagene Positionen' });
    await two.waitFor();
    assert.deepEqual(await locationOf('Hafen'), { lat: 53.5612, lng: 9.9871 });
    assert.equal(await locationOf('Werft'), undefined);
    assert.equal(await locationOf('Kai'), undefined);
    await two.getByRole('button', { name: 'Alle 2 gezeigten übernehmen' }).click();
    await two.waitFor({ state: 'detached' });
    assert.deepEqual(await locationOf('Dock'), { lat: 53.5612, lng: 9.9871 });
    await page.context().close();
  });
});
