// Cells of a table as a clerk knows them from a spreadsheet.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('cells of a table', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;

  before(async () => {
    office = await openOffice();
    const { email } = await createPerson(office);
    visit = await office.enter(email);
    for (let index = 0; index < 20; index += 1) {
      await office.createCustomer({
        companyName: `Kunde ${String(index).padStart(2, '0')}`,
        customerNumber: `K-${index}`,
        phone: `040 ${index}`,
      });
    }
  });

  const stored = async (name: string): Promise<Record<string, unknown>[]> =>
    (await office.get(`/customers?sort=name&limit=100&q=${encodeURIComponent(name)}`)).json().data;
  const phones = async (name: string) => (await stored(name)).map(({ phone }) => phone ?? null);
  const cell = (page: Page, row: string, column: number) =>
    page.getByRole('row', { name: row }).locator(`[data-cell$=":${column}"]`);
  const paste = (page: Page, text: string) =>
    page.evaluate((plain) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', plain);
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.activeElement!.dispatchEvent(event);
    }, text);
  const open = async (page: Page, q: string) => {
    await page.goto(`${office.origin}/data/customers?q=${encodeURIComponent(q)}`);
    // The menu has a link of this name, too.
    await page.locator('tbody').getByRole('link', { name: q }).first().waitFor();
  };

  test('20 phone numbers are corrected by one paste from Excel, and taken back by one undo', async () => {
    const { page, complaints } = visit;
    await open(page, 'Kunde');
    await cell(page, 'Kunde 00', 3).click();
    const numbers = Array.from({ length: 20 }, (_, index) => `+49 351 ${index}`);
    await paste(page, `${numbers.join('\r\n')}\r\n`);
    // A notice waits while the pointer is on it.
    await page.getByText('20 Zellen geändert').hover();
    assert.deepEqual(await phones('Kunde'), numbers);
    await page
      .getByText('20 Zellen ausgewählt')
      .or(page.getByRole('gridcell', { name: '+49 351 19' }))
      .first()
      .waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
    assert.deepEqual(
      await phones('Kunde'),
      numbers.map((_, index) => `040 ${index}`),
    );
    assert.deepEqual(complaints, []);
  });

  test('a cell is edited by a double click, F2, Enter or typing, and Tab and Enter move on', async () => {
    const { page } = visit;
    await open(page, 'Kunde');
    await cell(page, 'Kunde 00', 3).dblclick();
    const input = page.getByLabel('Telefon', { exact: true });
    await input.fill('040 111');
    await input.press('Enter');
    await cell(page, 'Kunde 01', 3).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('040 222');
    await page.keyboard.press('Tab');
    await cell(page, 'Kunde 01', 4).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('F2');
    await page.getByRole('option', { name: 'Inaktiv' }).click();
    await until('both rows are saved', async () => (await stored('Kunde'))[1]?.status === 'INACTIVE');
    assert.deepEqual((await phones('Kunde')).slice(0, 2), ['040 111', '040 222']);
    await cell(page, 'Kunde 01', 4).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: 'Aktiv', exact: true }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });

  test('a range is copied for Excel, filled down and cleared', async () => {
    const { page } = visit;
    await open(page, 'Kunde');
    await cell(page, 'Kunde 03', 2).click();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('4 Zellen ausgewählt').waitFor();
    const copy = () =>
      page.evaluate(() => {
        const clipboardData = new DataTransfer();
        const event = new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true });
        document.activeElement!.dispatchEvent(event);
        return { plain: clipboardData.getData('text/plain'), html: clipboardData.getData('text/html') };
      });
    // The first focus loads the code that copies.
    let copied = await copy();
    await until('the cells are copied', async () => {
      copied = await copy();
      return copied.plain !== '';
    });
    assert.equal(copied.plain, 'K-3\t040 3\r\nK-4\t040 4');
    assert.match(copied.html, /mso-number-format/);
    await cell(page, 'Kunde 05', 3).click();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Control+d');
    await page.getByText('2 Zellen geändert').waitFor();
    assert.deepEqual((await phones('Kunde')).slice(5, 8), ['040 5', '040 5', '040 5']);
    await page.keyboard.press('Delete');
    await page.getByText('3 Zellen geändert').waitFor();
    assert.deepEqual((await phones('Kunde')).slice(5, 8), [null, null, null]);
  });

  test('what the service refuses keeps its text in the cell until it is corrected', async () => {
    const { page } = visit;
    await open(page, 'Kunde');
    await cell(page, 'Kunde 09', 2).click();
    await paste(page, `K-90\t040 90\r\nK-0\t040 91\r\n${'9'.repeat(40)}\t040 92`);
    await page.getByText('2 Zellen nicht gespeichert').waitFor();
    assert.deepEqual((await phones('Kunde')).slice(9, 12), ['040 90', '040 91', '040 92']);
    const taken = page.getByRole('row', { name: 'Kunde 10' }).getByRole('gridcell', { name: 'K-0' });
    assert.equal(await taken.getAttribute('aria-invalid'), 'true');
    assert.deepEqual(await findBarriers(page), []);
    await cell(page, 'Kunde 10', 2).click();
    await page.keyboard.press('F2');
    const input = page.getByLabel('Kundennummer', { exact: true });
    assert.equal(await input.inputValue(), 'K-0');
    await input.fill('K-91');
    await input.press('Enter');
    await page.getByText('1 Zelle nicht gespeichert').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 Zelle nicht gespeichert').waitFor({ state: 'detached' });
    await until('the number is saved', async () => (await stored('Kunde'))[10]!.customerNumber === 'K-91');
    assert.equal((await stored('Kunde'))[11]!.customerNumber, 'K-11');
  });

  test('a paste keeps what a colleague has changed, and asks which value stays', async () => {
    const { page } = visit;
    await open(page, 'Kunde');
    const colleague = await createPerson(office, { name: 'Merle Dierksen' });
    const [, , , , , , , , , , , , one, other] = await stored('Kunde');
    for (const [entity, body] of [
      [one, { phone: '040 von Merle' }],
      [other, { comment: 'von Merle' }],
    ] as const) {
      const answer = await colleague.call('PATCH', `/customers/${entity!.id}`, body);
      assert.equal(answer.statusCode, 200, answer.body);
    }
    await cell(page, 'Kunde 12', 3).click();
    await paste(page, '040 neu\r\n040 neu');
    await page.getByText('1 Zelle nicht gespeichert').waitFor();
    assert.deepEqual((await phones('Kunde')).slice(12, 14), ['040 von Merle', '040 neu']);
    assert.equal((await stored('Kunde'))[13]!.comment, 'von Merle');
    await page.getByRole('button', { name: 'Vergleichen' }).click();
    await page.getByRole('dialog').getByText('040 von Merle').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Auswahl speichern' }).click();
    await until('mine is stored', async () => (await phones('Kunde'))[12] === '040 neu');
  });

  test('a network that fails keeps all cells, and a second attempt saves them', async () => {
    const { page } = visit;
    await open(page, 'Kunde');
    await page.route('**/app/import', (route) => route.abort());
    await cell(page, 'Kunde 14', 3).click();
    await paste(page, '040 aa\r\n040 bb');
    await page.getByText('2 Zellen nicht gespeichert').waitFor();
    await page.unroute('**/app/import');
    await page.getByRole('button', { name: 'Erneut versuchen' }).click();
    await page.getByText('2 Zellen geändert').waitFor();
    assert.deepEqual((await phones('Kunde')).slice(14, 16), ['040 aa', '040 bb']);
  });

  test('a paste reaches rows that are not loaded', async () => {
    const { page } = visit;
    await Promise.all(
      Array.from({ length: 130 }, (_, index) =>
        office.createCustomer({ companyName: `Viele ${String(index).padStart(3, '0')}` }),
      ),
    );
    await open(page, 'Viele');
    await cell(page, 'Viele 000', 3).click();
    await paste(page, Array.from({ length: 130 }, (_, index) => `0${index + 1}`).join('\n'));
    await page.getByText('130 Zellen geändert').waitFor();
    const last = (await office.get('/customers?q=Viele&sort=-name&limit=1')).json().data[0];
    assert.equal(last.phone, '0130');
  });

  test('the space key opens the record beside the table, arrows walk on, and Escape closes it', async () => {
    const { page } = visit;
    await open(page, 'Kunde');
    await page.getByRole('link', { name: 'Kunde 16' }).focus();
    await page.keyboard.press('Space');
    const preview = page.getByRole('complementary', { name: 'Vorschau' });
    await preview.getByRole('heading', { name: 'Kunde 16' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await preview.getByRole('heading', { name: 'Kunde 17' }).waitFor();
    await cell(page, 'Kunde 18', 3).click();
    await preview.getByRole('link', { name: 'Kunde 18' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await preview.waitFor({ state: 'detached' });
  });

  test('Pflege changes the cells that it may', async () => {
    const customerId = await office.createCustomer({ companyName: 'Pflegekunde' });
    const site = (await office.post('/customer/site', validSite(customerId))).json().id;
    for (const botanicalName of ['Ficus', 'Monstera'])
      await office.post('/customer/site/plant', { siteId: site, botanicalName });
    const { email } = await createPerson(office, { role: 'PFLEGE', name: 'Paul Pflege' });
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/data/plants`);
    await cell(page, 'Ficus', 5).click();
    await page.keyboard.press('Shift+ArrowDown');
    await paste(page, 'krank');
    await page.getByText('2 Zellen geändert').waitFor();
    const plants = (await office.get('/plants')).json().data;
    assert.deepEqual(
      plants.map(({ status }: { status: string }) => status),
      ['NEEDS_ATTENTION', 'NEEDS_ATTENTION'],
    );
    await cell(page, 'Ficus', 4).click();
    await page.keyboard.type('9');
    await page.getByText('Diese Zelle lässt sich nicht ändern.').waitFor();
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
  });
});
