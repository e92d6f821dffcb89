// What a clerk looks for, in the frame's search and in a table's field.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validCustomer, validSite } from '../helpers/service.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('search', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;

  before(async () => {
    office = await openOffice();
    const { email } = await createPerson(office);
    visit = await office.enter(email);
    const customerId = await office.createCustomer({
      ...validCustomer,
      companyName: 'Möbelhaus Brügge KG',
      phone: '+49 40 556677',
    });
    for (const [name, zipCode] of [
      ['Foyer', '20251'],
      ['Lager', '20459'],
    ] as const) {
      const address = { streetName: 'Überseering', houseNumber: '3', zipCode, city: 'Hamburg' };
      const site = { ...validSite(customerId), name, address, externalId: `ST-${zipCode}` };
      assert.equal((await office.post('/customer/site', site)).statusCode, 201);
    }
  });

  const options = () => visit.page.getByRole('listbox').getByRole('option');

  test('Ctrl+K finds by customer and site together, and Enter opens the best', async () => {
    const { page, complaints } = visit;
    await page.goto(office.origin);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // The dialog arrives only after everything was typed, and nothing is lost.
    const { promise: isTyped, resolve: letItCome } = Promise.withResolvers<void>();
    await page.route('**/assets/search-dialog-*.js', async (route) => {
      await isTyped;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('moebelhaus foyer');
    letItCome();
    await options().filter({ hasText: 'Möbelhaus Brügge KG · Hamburg' }).waitFor();
    assert.equal(await options().count(), 1);
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Foyer', level: 1 }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('"/" opens it with what was opened last; results are grouped and say what matched', async () => {
    const { page } = visit;
    await page.goto(office.origin);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: 'Alles durchsuchen' });
    await field.fill('Foyer');
    await options().first().click();
    await page.getByRole('heading', { name: 'Foyer', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('listbox', { name: 'Zuletzt geöffnet' }).getByText('Foyer').waitFor();
    await field.fill('040 556677');
    await page.getByRole('group', { name: 'Kunden' }).getByText('Telefon: +49 40 556677').waitFor();
    await field.fill('20459');
    await page.getByRole('group', { name: 'Standorte' }).getByText('PLZ: 20459').waitFor();
    await field.fill('Überseerign');
    await options().nth(1).waitFor();
    await page.getByRole('group', { name: 'Standorte' }).getByText('Foyer').waitFor();
    assert.equal(await options().count(), 2);
    await page.keyboard.press('ArrowDown');
    assert.equal(await options().nth(1).getAttribute('aria-selected'), 'true');
    await field.fill('Kanzlei');
    await page.getByText('Nichts gefunden zu „Kanzlei“').waitFor();
    await page.getByRole('button', { name: 'Neu suchen' }).click();
    await page.getByRole('listbox', { name: 'Zuletzt geöffnet' }).waitFor();
    // Enter means what stands in the field, not what is still shown below it.
    const { promise: isPressed, resolve: letItCome } = Promise.withResolvers<void>();
    await page.route('**/app/search?*', async (route) => {
      await isPressed;
      await route.continue();
    });
    await field.fill('Lager');
    await page.keyboard.press('Enter');
    letItCome();
    await field.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Lager', level: 1 }).waitFor();
    await page.unroute('**/app/search?*');
  });

  test("Ctrl+K finds pages and actions in people's words, and those of the open record", async () => {
    const { page } = visit;
    await page.goto(office.origin);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const find = async (text: string, title: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Alles durchsuchen' }).fill(text);
      await page
        .getByRole('group', { name: 'Aktionen und Seiten' })
        .getByText(title, { exact: true })
        .waitFor();
    };
    await find('besuch morgen', 'Besuche morgen');
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Enter');
    await page.waitForURL(/visits\?.*view=day/);
    await find('neuer Kunde', 'Kunde anlegen');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/data/customers/new');
    await find('karte', 'Karte');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/map');
    const customer = (await office.get('/customers?limit=1')).json().data[0];
    await page.goto(`${office.origin}/data/customers/${customer.id}`);
    await page.getByRole('heading', { level: 1, name: customer.companyName }).waitFor();
    await find('neuer standort', 'Standort dafür anlegen');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/data/sites/new?customerId=${customer.id}`);
    await page.goto(`${office.origin}/data/customers/${customer.id}`);
    await page.getByRole('heading', { level: 1, name: customer.companyName }).waitFor();
    await find('löschen', 'Kunde löschen');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Abbrechen' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Tastenkürzel' }).getByText('Nach unten ausfüllen').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
  });

  test('a table finds sites by customer, street, postcode and number, and says what matched', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/data/sites`);
    await page.getByRole('link', { name: 'Foyer' }).waitFor();
    await page.keyboard.press('/');
    const field = page.getByRole('searchbox', { name: 'Standorte durchsuchen' });
    await page.getByRole('tooltip').getByText('Externe ID').waitFor();
    for (const [q, text] of [
      ['20251', 'PLZ: 20251'],
      ['ST-20251', 'Externe ID: ST-20251'],
      ['Ueberseering 20251', 'Straße: Überseering'],
    ] as const) {
      await field.fill(q);
      await page.getByRole('row', { name: text }).getByRole('link', { name: 'Foyer' }).waitFor();
      await page.getByText('1 Eintrag', { exact: true }).waitFor();
      assert.equal(await page.getByRole('tooltip').isVisible(), false, 'the hint leaves the results visible');
      const row = page.getByRole('row', { name: text });
      const [height, given] = await row.evaluate((element) => [
        element.getBoundingClientRect().height,
        Number.parseFloat((element as HTMLElement).style.height),
      ]);
      assert.ok(height! <= given! + 1, `the row is ${height} px high, and has ${given}`);
    }
    await field.fill('Möbelhaus');
    await page.getByText('2 Einträge', { exact: true }).waitFor();
    await field.fill('Möbelhaus Kanzlei');
    await page.getByRole('button', { name: 'Zurücksetzen' }).click();
    await page.getByRole('link', { name: 'Lager' }).waitFor();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('[data-table-search]')?.value === '',
    );
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
  });
});
