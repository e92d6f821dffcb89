import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validAddress, validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice } from './helpers/office.ts';

describe('the map', { skip: withoutChromium }, () => {
  let office: Office;
  let customerId: string;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office, { role: 'PFLEGE' }));
    customerId = await office.createCustomer();
  });

  async function createSite(name: string, lat: number, lng: number): Promise<string> {
    const address = { ...validAddress, location: { lat, lng } };
    const response = await office.post('/customer/site', { ...validSite(customerId), name, address });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  }

  test('says what to do while no site has a position', async () => {
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/map`);
    await page.getByText('Noch kein Standort hat eine Position').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('shows clusters, comes closer at a click, and leads to a site and back to the same place', async () => {
    await createSite('Alster', 53.56, 10.0);
    await createSite('Elbe', 53.54, 9.97);
    const id = await createSite('Isar', 48.14, 11.58);
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/map`);
    const list = page.getByRole('region', { name: 'Sichtbare Standorte' });
    await list.getByRole('link', { name: 'Isar bei München' }).waitFor();
    const cluster = list.getByRole('button', { name: '2 Standorte bei Hamburg' });
    await cluster.waitFor();
    await page.waitForURL(/zoom=/);
    assert.deepEqual(await findBarriers(page), []);

    // The same on the drawn map: a click where the site lies leads to it.
    const map = page.getByRole('application', { name: 'Karte' });
    await map.click({ position: await placeOn(map, page.url(), 48.14, 11.58) });
    await page.waitForURL(`${office.origin}/data/sites/${id}`);
    await page.goBack();
    await cluster.click();
    await list.getByText('Isar').waitFor({ state: 'detached' });
    const zoomOf = (url: URL) => Number(url.searchParams.get('zoom'));
    await page.waitForURL((url) => zoomOf(url) > 7);
    const near = zoomOf(new URL(page.url()));

    await map.focus();
    for (const key of ['+', '+', '+', 'ArrowLeft', 'ArrowRight']) await page.keyboard.press(key);
    await page.waitForURL((url) => zoomOf(url) > near + 2.5);
    await page.getByRole('button', { name: 'Alle zeigen' }).click();
    await list.getByRole('link', { name: 'Isar bei München' }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('colours sites by employee, and says who comes and when', async () => {
    const employee = await office.post('/employee', { firstName: 'Merle', lastName: 'Dierksen' });
    const id = await createSite('Leuchtturm', 54.4, 7.9);
    const assigned = await office.patch(`/sites/${id}`, {
      assignedEmployeeId: employee.json().id,
      attendingIntervals: [{ frequency: 'DAILY', interval: 1 }],
    });
    assert.equal(assigned.statusCode, 200, assigned.body);
    // More of them than a page of visits holds. Far from every public holiday.
    const today = Temporal.PlainDate.from('2026-11-04');
    for (let days = 0; days < 12; days += 1) {
      const date = today.add({ days }).toString();
      const cancelled = { siteId: id, date, plannedDate: date, status: 'CANCELLED' };
      assert.equal((await office.post('/customer/site/appointment', cancelled)).statusCode, 201);
    }
    const { page, complaints } = await office.enter(email);
    await page.clock.setFixedTime(`${today}T09:00:00Z`);
    await page.goto(`${office.origin}/map?lat=54.4&lng=7.9&zoom=8`);
    const seen = page.getByRole('region', { name: 'Sichtbare Standorte' });
    await seen.getByRole('link', { name: /Leuchtturm.*Merle Dierksen/ }).waitFor();
    const names = seen.getByRole('list', { name: 'Farben der Mitarbeiter' }).getByRole('listitem');
    assert.deepEqual(await names.allTextContents(), ['Merle Dierksen', 'mehrere oder niemand']);
    const map = page.getByRole('application', { name: 'Karte' });
    const position = await placeOn(map, page.url(), 54.4, 7.9);
    const read = `(() => {
      const map = document.querySelector('canvas');
      const { data } = map.getContext('2d').getImageData(${position.x}, ${position.y}, 1, 1);
      return [...data].join();
    })()`;
    await until('the mark has the first colour', async () => (await page.evaluate(read)) === '31,95,153,255');
    await map.hover({ position });
    await map.getByText('Merle Dierksen').waitFor();
    const next = today.add({ days: 12 }).toLocaleString('de-DE', {
      ...{ weekday: 'short', day: 'numeric', month: 'numeric' },
    });
    await map.getByText(`Nächster Besuch: ${next}`, { exact: true }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('names the sites of one house, which no zoom parts', async () => {
    await createSite('Erdgeschoss', 50.94, 6.96);
    const id = await createSite('Dachgarten', 50.94, 6.96);
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/map`);
    await page.getByRole('button', { name: '2 Standorte bei Köln' }).click();
    const house = page.getByRole('dialog', { name: 'Standorte in diesem Haus' });
    await house.getByRole('link', { name: 'Erdgeschoss' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await house.getByRole('link', { name: 'Dachgarten' }).click();
    await page.waitForURL(`${office.origin}/data/sites/${id}`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('shows a site without a position in its postcode, and says so on its page', async () => {
    const response = await office.post('/customer/site', {
      ...validSite(customerId),
      name: 'Semperoper',
      address: { ...validAddress, zipCode: '01067', city: 'Dresden' },
    });
    const { id } = response.json();
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/map`);
    await page.getByRole('link', { name: 'Semperoper bei Dresden, ungefähr' }).click();
    await page.waitForURL(`${office.origin}/data/sites/${id}`);
    await page.getByText('Alle Angaben').click();
    await page.getByText('ungefähr, nach der Postleitzahl').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('link', { name: /^51,0\d+, 13,7\d+$/ }).click();
    await page.waitForURL(/\/map\?/);
    await page
      .getByRole('region', { name: 'Sichtbare Standorte' })
      .getByRole('link', { name: 'Semperoper' })
      .waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('is drawn in both themes, with land and water', async () => {
    const colours = new Set<string>();
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await office.enter(email, { colorScheme, locale: 'en-GB' });
      await page.goto(`${office.origin}/map?lat=54&lng=9&zoom=5`);
      await page.getByRole('heading', { name: 'Visible sites' }).waitFor();
      // Holstein and the North Sea, from the middle of the map. Read from a copy, which may be read often.
      const read = `(() => {
        const map = document.querySelector('canvas');
        const copy = Object.assign(document.createElement('canvas'), { width: map.width, height: map.height });
        const context = copy.getContext('2d', { willReadFrequently: true });
        context.drawImage(map, 0, 0);
        return [[12, 0], [-80, -40]].map(([x, y]) =>
          context.getImageData(map.width / 2 + x, map.height / 2 + y, 1, 1).data.join());
      })()`;
      await until('land and water are drawn', async () => {
        const [land, water] = await page.evaluate<string[]>(read);
        if (land === water) return false;
        colours.add(land!).add(water!);
        return true;
      });
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
    assert.equal(colours.size, 4);
  });

  test('gives a position to a site, by a click or by the keyboard', async () => {
    const { email: administrator } = await createPerson(office);
    const { page, complaints } = await office.enter(administrator);
    const id = await createSite('Ohne Ort', 1, 1);
    await office.patch(`/sites/${id}`, { address: { location: null } });
    await page.goto(`${office.origin}/data/sites/${id}/edit`);
    await page.getByRole('button', { name: 'Auf Karte wählen' }).click();
    const map = page.getByRole('application', { name: 'Position wählen' });
    await page.getByText('Noch nichts gewählt').waitFor();
    await page.getByText('Die Karte beginnt bei 20095 Hamburg.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await map.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Gewählt: 53,55200; 10,01300').waitFor();
    await map.click({ position: { x: 40, y: 40 } });
    await page.getByText('Gewählt: 53,55200; 10,01300').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Position übernehmen' }).click();
    await page.locator('#field-address-location-lat:not([value=""])').waitFor();
    const shown = await page.locator('#field-address-location-lat').inputValue();
    await page.getByRole('button', { name: 'Speichern' }).click();
    // The heading of the form begins with the same words.
    await page.getByRole('heading', { name: 'Ohne Ort', level: 1, exact: true }).waitFor();
    const { location } = (await office.get(`/sites/${id}`)).json().address;
    assert.equal(String(location.lat).replace('.', ','), shown);
    assert.ok(
      location.lat > 53.552 && location.lng < 10.013,
      'the upper left corner is north-west of the middle',
    );
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});

/** Where a position lies on the map whose view the address names. */
async function placeOn(
  map: { boundingBox: () => Promise<{ width: number; height: number } | null> },
  url: string,
  lat: number,
  lng: number,
): Promise<{ x: number; y: number }> {
  const { width, height } = (await map.boundingBox())!;
  const view = Object.fromEntries(new URL(url).searchParams) as Record<'lat' | 'lng' | 'zoom', string>;
  const scale = 256 * 2 ** Number(view.zoom);
  const mercator = (degrees: number) => Math.asinh(Math.tan((degrees * Math.PI) / 180)) / (2 * Math.PI);
  return {
    x: width / 2 + ((lng - Number(view.lng)) / 360) * scale,
    y: height / 2 - (mercator(lat) - mercator(Number(view.lat))) * scale,
  };
}
