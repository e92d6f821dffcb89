// Pages on paper, as Chromium prints them.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import jsQRModule from 'jsqr';
import type { Page } from 'playwright-core';
import { extractText, getDocumentProxy } from 'unpdf';
import { labelSheets } from '../../../web/src/paper/label-sheets.ts';
import { createPerson, password } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, signIn, untilLoaded } from '../helpers/office.ts';

// The package is CommonJS with a default of its own.
const jsQR = jsQRModule as unknown as typeof jsQRModule.default;

/** The text of each sheet. */
async function print(page: Page): Promise<string[]> {
  const pdf = await page.pdf({ preferCSSPageSize: true });
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)));
  return text;
}

describe('paper', { skip: withoutChromium }, () => {
  let office: Office;
  let email: string;
  const names = Array.from({ length: 130 }, (_, index) => `Standort-${String(index).padStart(3, '0')}`);
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    const customerId = await office.createCustomer({ companyName: 'Hotel Alsterblick GmbH' });
    for (const name of names) {
      const created = await office.post('/customer/site', { ...validSite(customerId), name });
      assert.equal(created.statusCode, 201, created.body);
    }
  });

  test('holds every row and column of a table, its head on each sheet, and page numbers', async () => {
    const { page, complaints } = await office.enter(email, { viewport: { width: 390, height: 800 } });
    // Headless Chromium opens no dialog.
    await page.addInitScript('window.print = () => { window.isDialogOpen = true; }');
    await page.goto(`${office.origin}/data/sites`);
    await page.getByRole('button', { name: 'Drucken' }).click();
    await until('the dialog opens', () => page.evaluate<boolean>('window.isDialogOpen === true'));
    const sheets = await print(page);
    const all = sheets.join('\n');
    assert.deepEqual(
      names.filter((name) => !all.includes(name)),
      [],
    );
    assert.equal(all.split('Hotel Alsterblick GmbH').length - 1, names.length);
    for (const [index, sheet] of sheets.entries()) {
      assert.match(sheet, /Bezeichnung/);
      assert.match(sheet, /Schlüssel/);
      assert.ok(sheet.includes(`${index + 1} / ${sheets.length}`), sheet.slice(0, 200));
    }
    assert.doesNotMatch(all, /Filter|Spalten|Standort anlegen|Einstellungen|Name A–Z/);
    // Paper has ended: the phone shows its list again.
    const shown = () => page.locator('[data-row]').count();
    await until('the list is short again', async () => (await shown()) < names.length);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('says how many rows are missing when the browser prints a table that is not loaded', async () => {
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/data/sites`);
    await page.locator('[data-row="0"]').waitFor();
    const all = (await print(page)).join('\n');
    assert.ok(all.includes('Standort-099'));
    assert.match(all, /100 von 130 Einträgen/);
    await page.context().close();
  });

  test('is light in the dark theme, which returns to the screen', async () => {
    const { page } = await office.enter(email, { colorScheme: 'dark' });
    await page.goto(`${office.origin}/data/customers`);
    await page.locator('[data-row="0"]').waitFor();
    const colour = 'getComputedStyle(document.querySelector("[data-row]")).color';
    await page.evaluate(`addEventListener('beforeprint', () => { window.onPaper = ${colour}; })`);
    const onScreen = await page.evaluate(colour);
    await print(page);
    assert.equal(await page.evaluate('window.onPaper'), 'rgb(29, 37, 32)');
    assert.notEqual(onScreen, 'rgb(29, 37, 32)');
    assert.equal(await page.evaluate(colour), onScreen);
    await page.context().close();
  });

  test('holds no buttons, navigation or notices on any page', async () => {
    const { page } = await office.enter(email, { locale: 'en-GB' });
    for (const path of [
      '/',
      '/visits',
      '/attention',
      '/requests',
      '/settings/people',
      '/settings/audit',
      '/bin',
    ]) {
      await page.goto(`${office.origin}${path}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await untilLoaded(page);
      const title = await page.getByRole('heading', { level: 1 }).first().innerText();
      await page.emulateMedia({ media: 'print' });
      const controls = await page
        .locator('button, input:not([role=switch]), [role=status][aria-live], #navigation a')
        .filter({ visible: true })
        .evaluateAll((found) =>
          found.filter((element) => !element.closest('td, li, th')).map((element) => element.outerHTML),
        );
      await page.emulateMedia({ media: null });
      assert.deepEqual(controls, [], path);
      assert.ok((await print(page)).join().includes(title.slice(0, 10)), path);
    }
    await page.context().close();
  });

  test('a site sheet names the way in, the contact and the plants by room, with a code to its page', async () => {
    const { page, complaints } = await office.enter(email, { locale: 'en-GB' });
    const siteId = await createGreenSite();
    await page.goto(`${office.origin}/data/sites/${siteId}`);
    await page.getByRole('link', { name: 'Site sheet' }).click();
    await page.getByText('Meeting room Elbe').waitFor();
    await page.getByText('Janssen').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    const text = (await print(page)).join('\n');
    for (const part of [
      'Ballindamm 17a',
      '+49 40 5550',
      'Ring twice',
      '3 × Monstera deliciosa',
      'Meeting room Elbe',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`);
    assert.ok(text.indexOf('Lobby') < text.indexOf('Meeting room Elbe'));
    assert.doesNotMatch(text, /Gone forever/);
    const [code] = await readCodes(page);
    assert.equal(code, `${office.origin}/data/sites/${siteId}`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('a site sheet breaks no line inside a phone number', async () => {
    const { page } = await office.enter(email, { locale: 'en-GB' });
    const siteId = await createGreenSite();
    await page.goto(`${office.origin}/data/sites/${siteId}/sheet`);
    const phone = page.getByText('+49 40 5550', { exact: true });
    await phone.waitFor();
    for (let width = 360; width <= 1440; width += 40) {
      await page.setViewportSize({ width, height: 900 });
      const lines = await phone.evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
      });
      assert.equal(lines, 1, `${width}`);
    }
    await page.context().close();
  });

  test('labels wait for the names of their sites, whenever the browser prints', async () => {
    const { page } = await office.enter(email, { locale: 'en-GB' });
    const siteId = await createGreenSite();
    let answer = () => {};
    const isAsked = new Promise<void>((resolve) => {
      void page.route('**/app/named/sites*', (route) => {
        answer = () => void route.continue();
        resolve();
      });
    });
    await page.goto(`${office.origin}/labels/plants?siteId=${siteId}&sort=name`);
    await isAsked;
    await page.getByText('2 entries').waitFor();
    assert.doesNotMatch((await print(page)).join(), /Ficus|…/);
    answer();
    await page.getByText('Ficus lyrata').waitFor();
    assert.match((await print(page)).join(), /Ficus/);
    await page.context().close();
  });

  test('labels of every size hold whole lines only', async () => {
    const { page } = await office.enter(email, { locale: 'en-GB' });
    const customerId = await office.createCustomer();
    const name = 'Besprechungsräume im dritten Obergeschoss, Nordflügel';
    const site = (await office.post('/customer/site', { ...validSite(customerId), name })).json();
    await office.post('/customer/site/plant', {
      ...{ siteId: site.id, botanicalName: "Dracaena fragrans 'Massangeana Compacta Variegata'" },
      ...{ labelCode: 'P-000450', building: 'Vorderhaus', floor: '3. OG', room: 'Großraumbüro Elbe' },
      position: 'zwischen dem Sideboard und der vorderen Säule',
    });
    await page.goto(office.origin);
    for (const { id } of labelSheets) {
      await page.evaluate((value) => localStorage.setItem('stamm-label-sheet', JSON.stringify(value)), id);
      await page.goto(`${office.origin}/labels/plants?siteId=${site.id}`);
      await page.emulateMedia({ media: 'print' });
      const words = page.locator('[data-line=name]').locator('..');
      await words.waitFor();
      const { isWhole, lines } = await words.evaluate((element) => ({
        isWhole: element.scrollHeight <= element.clientHeight + 1,
        lines: [...element.children].map(
          (line) =>
            line.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(line).lineHeight),
        ),
      }));
      assert.ok(isWhole, id);
      assert.equal(lines.length, 4, id);
      for (const count of lines) assert.ok(Math.abs(count - Math.round(count)) < 0.1, `${id}: ${lines}`);
      await page.emulateMedia({ media: null });
    }
    await page.context().close();
  });

  test('labels begin at the chosen place, and their codes lead to the records', async () => {
    const { page, complaints } = await office.enter(email, { locale: 'en-GB' });
    const siteId = await createGreenSite();
    await page.goto(`${office.origin}/labels/plants?siteId=${siteId}&sort=name`);
    await page.getByText('Ficus lyrata').waitFor();
    await page.getByLabel('First label').fill('21');
    await page.getByLabel('First label').press('Tab');
    assert.deepEqual(await findBarriers(page), []);
    // The sheet has 21 places, so the second label goes on the next one.
    const sheets = await print(page);
    assert.equal(sheets.length, 2);
    assert.match(sheets[0]!, /Ficus/);
    assert.match(sheets[1]!, /Monstera/);
    assert.doesNotMatch(sheets.join(), /Gone forever|Label sheet| \/ /);
    const { data } = (await office.get(`/plants?siteId=${siteId}&sort=name&status=HEALTHY`)).json();
    assert.deepEqual(
      await readCodes(page),
      data.map(({ id }: { id: string }) => `${office.origin}/data/plants/${id}`),
    );
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("a day sheet and a week sheet have a page per employee, and Pflege begins with today's own visits on a phone", async () => {
    const customerId = await office.createCustomer({ companyName: 'Kontorhaus AG', phone: '+49 40 4711' });
    const daily = [{ frequency: 'DAILY', durationInMinutes: 30 }];
    const ids = new Map<string, string>();
    for (const lastName of ['Harms', 'Aydin']) {
      const employee = await office.post('/employee', { firstName: 'Jo', lastName });
      const site = await office.post('/customer/site', {
        ...validSite(customerId),
        name: `Halle ${lastName}`,
        attendingIntervals: daily,
        assignedEmployeeId: employee.json().id,
      });
      assert.equal(site.statusCode, 201, site.body);
      ids.set(lastName, employee.json().id);
    }
    await office.post('/employee/absence', {
      ...{ employeeId: ids.get('Aydin')!, substituteEmployeeId: ids.get('Harms')! },
      ...{ from: '2026-11-12', until: '2026-11-12' },
    });
    const pflege = await createPerson(office, {
      role: 'PFLEGE',
      name: 'Jonas Harms',
      employeeId: ids.get('Harms')!,
    });
    // Far from every public holiday.
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/day-sheet?date=2026-11-11`);
    await page.getByText('Halle Aydin').first().waitFor();
    assert.deepEqual(await findBarriers(page), []);
    const sheets = await print(page);
    assert.equal(sheets.length, 2);
    const aydin = sheets.find((sheet) => sheet.includes('Jo Aydin'))!;
    assert.match(aydin, /Halle Aydin/);
    assert.match(aydin, /Ballindamm 17a/);
    assert.match(aydin, /\+49 40 4711/);
    assert.doesNotMatch(aydin, /Halle Harms/);

    await page.goto(`${office.origin}/week-sheet?day=2026-11-11`);
    await page.getByText('Halle Aydin').first().waitFor();
    assert.deepEqual(await findBarriers(page), []);
    const weeks = await getDocumentProxy(new Uint8Array(await page.pdf({ preferCSSPageSize: true })));
    assert.equal(weeks.numPages, 2);
    // The name alone does not say which of several receptions it is.
    const [ofAydin, ofHarms] = (await print(page)).map((sheet) => sheet.replaceAll(/\s+/g, ' '));
    assert.match(ofAydin!, /Halle Aydin Kontorhaus AG .*Ballindamm 17a, Hamburg/);
    assert.match(ofAydin!, /Do\., 12\.11\. abwesend/);
    assert.doesNotMatch(`${ofAydin} ${ofHarms}`, /…/, 'there is room for every text');
    assert.doesNotMatch(ofHarms!, /abwesend/);
    for (const number of [1, 2]) {
      const { width, height } = (await weeks.getPage(number)).getViewport({ scale: 1 });
      assert.ok(width > height, `sheet ${number} is ${width} × ${height}`);
    }
    await page.context().close();

    const phone = await office.visit({
      viewport: { width: 390, height: 800 },
      userAgent: 'Mozilla/5.0 (Linux; Android 16)',
    });
    // Today may be a holiday; the browser then has no visits to show.
    await phone.page.clock.setFixedTime('2026-11-11T09:00:00Z');
    await phone.page.goto(`${office.origin}/sign-in`);
    await signIn(phone.page, pflege.email);
    const card = phone.page.getByRole('region', { name: 'Besuche heute' });
    await card.getByText('Halle Harms').waitFor();
    assert.equal(await card.getByText('Halle Aydin').count(), 0);
    assert.match(
      String(await card.getByRole('link', { name: 'Karte öffnen' }).getAttribute('href')),
      /^geo:0,0\?q=Ballindamm/,
    );
    assert.equal(await card.getByRole('link', { name: '+49 40 4711' }).getAttribute('href'), 'tel:+49404711');
    assert.deepEqual(await findBarriers(phone.page), []);
    assert.deepEqual(phone.complaints, []);
    await phone.page.context().close();
  });

  test('a day sheet begins at the address of the business, orders approximate stops too, and says both', async () => {
    const customerId = await office.createCustomer({ companyName: 'Nordhandel AG' });
    const employee = await office.post('/employee', { firstName: 'Kim', lastName: 'Reise' });
    const places = { Kiel: '24103', Lübeck: '23552', Flensburg: '24937' };
    for (const [city, zipCode] of Object.entries(places)) {
      const site = await office.post('/customer/site', {
        ...validSite(customerId),
        name: `Haus ${city}`,
        address: { streetName: 'Markt', houseNumber: '1', zipCode, city },
        attendingIntervals: [{ frequency: 'DAILY', durationInMinutes: 30 }],
        assignedEmployeeId: employee.json().id,
      });
      assert.equal(site.statusCode, 201, site.body);
    }
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/day-sheet?date=2026-11-11&employeeId=${employee.json().id}`);
    const stops = async () =>
      (await page.getByRole('rowheader').allTextContents()).map(
        (text) => /Haus (\p{L}+?)Nord/u.exec(text)![1],
      );
    await page.getByText('ab Haus').waitFor();
    await page.getByRole('button', { name: 'Startadresse' }).click();
    const dialog = page.getByRole('dialog', { name: 'Startadresse' });
    await dialog.getByLabel('Straße und Hausnummer').fill('Holm 1');
    await dialog.getByLabel('Postleitzahl').fill('24939');
    await dialog.getByLabel('Ort').fill('Flensburg');
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('ab Holm 1, 24939 Flensburg').waitFor();
    assert.deepEqual(await stops(), ['Flensburg', 'Kiel', 'Lübeck']);
    const sheet = (await print(page)).join('\n');
    assert.match(sheet, /Reihenfolge nach Luftlinie, ab Holm 1, 24939 Flensburg/);
    assert.match(sheet, /Position ungefähr/);
    assert.deepEqual(await findBarriers(page), []);

    await page.getByRole('combobox', { name: 'Start bei' }).click();
    await page.getByRole('option', { name: 'Haus Lübeck' }).click();
    await page.getByText('ab Haus Lübeck').waitFor();
    assert.deepEqual(await stops(), ['Lübeck', 'Kiel', 'Flensburg']);

    await page.getByRole('button', { name: 'Startadresse' }).click();
    await dialog.getByRole('button', { name: 'Entfernen' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.getByText('Holm 1').count(), 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('the page of an employee shows where they go in the next seven days', async () => {
    const { id } = (await office.post('/employee', { firstName: 'Wilma', lastName: 'Woche' })).json();
    for (const companyName of ['Blatt AG', 'Zweig AG'])
      await office.post('/customer/site', {
        ...validSite(await office.createCustomer({ companyName })),
        ...{ name: 'Wintergarten', assignedEmployeeId: id, attendingIntervals: [{ frequency: 'DAILY' }] },
      });
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/data/employees/${id}`);
    const card = page.getByRole('region', { name: 'Besuche der nächsten 7 Tage' });
    for (const customer of ['Blatt AG', 'Zweig AG'])
      await card.getByText(`Wintergarten ${customer} · `).first().waitFor();
    await card.getByRole('link', { name: 'Wintergarten' }).last().click();
    await page.getByRole('heading', { name: 'Wintergarten', level: 1 }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('the address of a calendar is made, copied, replaced and removed on the page of an employee', async () => {
    const { id } = (await office.post('/employee', { firstName: 'Lena', lastName: 'Kalender' })).json();
    const { page, complaints } = await office.enter(email, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${office.origin}/data/employees/${id}`);
    const card = page.getByRole('region', { name: 'Kalender abonnieren' });
    const address = () => card.locator('code').innerText();
    const statusOf = async (url: string) =>
      (await office.app.inject({ url: new URL(url).pathname })).statusCode;
    await card.getByRole('button', { name: 'Adresse erstellen' }).click();
    await card.locator('code').waitFor();
    const first = await address();
    await card.getByRole('button', { name: 'Kopieren' }).click();
    await card.getByRole('button', { name: 'Kopiert' }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), first);
    assert.equal(await statusOf(first), 200);
    assert.deepEqual(await findBarriers(page), []);

    await office.owner.query(`UPDATE session SET proved_at = now() - interval '1 hour'`);
    await card.getByRole('button', { name: 'Adresse ersetzen' }).click();
    const question = page.getByRole('dialog', { name: 'Sind Sie es?' });
    await question.getByRole('textbox', { name: 'Passwort' }).fill(password);
    await question.getByRole('button', { name: 'Bestätigen' }).click();
    await until('the new address is shown', async () => (await address()) !== first);
    const second = await address();
    assert.deepEqual([await statusOf(first), await statusOf(second)], [404, 200]);

    await card.getByRole('button', { name: 'Entfernen' }).click();
    await card.getByRole('button', { name: 'Adresse erstellen' }).waitFor();
    assert.equal(await card.locator('code').count(), 0);
    assert.equal(await statusOf(second), 404);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  async function createGreenSite(): Promise<string> {
    const customerId = await office.createCustomer({ companyName: 'Reederei Elbe AG' });
    const created = async (path: string, body: object): Promise<string> => {
      const response = await office.post(path, body);
      assert.equal(response.statusCode, 201, response.body);
      return response.json().id;
    };
    const contactPersonId = await created('/customer/contact-person', {
      customerId,
      lastName: 'Janssen',
      phone: '+49 40 5550',
    });
    const siteId = await created('/customer/site', {
      ...validSite(customerId),
      comment: 'Ring twice',
      contactPersonId,
    });
    const plants = [
      { botanicalName: 'Monstera deliciosa', quantity: 3, room: 'Meeting room Elbe', status: 'HEALTHY' },
      { botanicalName: 'Ficus lyrata', room: 'Lobby', status: 'HEALTHY' },
      { botanicalName: 'Gone forever', room: 'Lobby', status: 'REMOVED' },
    ];
    for (const plant of plants) await created('/customer/site/plant', { siteId, ...plant });
    return siteId;
  }
});

/** What a reader makes of the codes on the page. */
async function readCodes(page: Page): Promise<string[]> {
  const paths = await page
    .locator('svg[role=img] path')
    .evaluateAll((found) => found.map((path) => path.getAttribute('d')!));
  return paths.map((path) => {
    const cells = [...path.matchAll(/M(\d+) (\d+)h/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
    const size = 1 + Math.max(...cells.map(([x]) => x));
    const scale = 4;
    const width = (size + 8) * scale;
    const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
    for (const [x, y] of cells) {
      for (let row = 0; row < scale; row += 1) {
        const start = (((y + 4) * scale + row) * width + (x + 4) * scale) * 4;
        for (let at = 0; at < scale; at += 1) pixels.set([0, 0, 0, 255], start + at * 4);
      }
    }
    return jsQR(pixels, width, width)?.data ?? 'unreadable';
  });
}
