import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('tables', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  before(async () => {
    office = await openOffice();
    const { email } = await createPerson(office);
    visit = await office.enter(email);
    const customerId = await office.createCustomer({ companyName: 'Hotel Alsterblick GmbH' });
    const contracts = [
      {
        contractNumber: 'V-1',
        startDate: '2024-01-01',
        endDate: '2026-12-31',
        netPrice: 120,
        status: 'ACTIVE',
      },
      {
        contractNumber: 'V-2',
        startDate: '2025-01-01',
        endDate: '2027-06-30',
        netPrice: 80.5,
        status: 'DRAFT',
      },
      { contractNumber: 'V-3', startDate: '2023-01-01', status: 'EXPIRED' },
    ];
    for (const contract of contracts) {
      const response = await office.post('/customer/contract', { customerId, type: 'CARE', ...contract });
      assert.equal(response.statusCode, 201, response.body);
    }
  });

  const numbers = (page: Page) => page.locator('tbody [data-row]').allInnerTexts();

  async function assertNumbers(page: Page, expected: string[]): Promise<void> {
    await until(`the table shows ${expected}`, async () => (await numbers(page)).join() === expected.join());
  }

  test('narrow by a range of days, by several choices and by missing values, in the address', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/data/contracts`);
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Ende bis').fill('31.12.2026');
    await page.getByRole('button', { name: 'Einträge anzeigen' }).click();
    await assertNumbers(page, ['V-1']);
    assert.match(page.url(), /endDateUntil=2026-12-31/);
    await page.getByRole('button', { name: 'Entfernen: Ende bis' }).click();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Entwurf' }).click();
    await page.getByRole('option', { name: 'Abgelaufen' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Einträge anzeigen' }).click();
    await assertNumbers(page, ['V-2', 'V-3']);
    await page.goto(`${office.origin}/data/contracts?empty=endDate`);
    await assertNumbers(page, ['V-3']);
    await page.getByText('Ohne Angabe: Ende').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
  });

  test('say on a phone what tells rows apart, and no second number', async () => {
    const [customer] = (await office.get('/customers')).json().data;
    for (const [path, body] of [
      [
        '/product',
        { name: 'Anfahrt', kind: 'SERVICE', articleNumber: 'A-1', externalId: 'P-1', netPrice: 39 },
      ],
      [
        '/customer/contact-person',
        { customerId: customer.id, lastName: 'Lund', externalId: 'AP-1', phone: '040 1' },
      ],
    ] as const)
      assert.equal((await office.post(path, body)).statusCode, 201);
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 800 });
    const assertHint = async (collection: string, hint: string) => {
      await page.goto(`${office.origin}/data/${collection}`);
      const row = page.locator('tbody th').first();
      await row.getByText(hint.split(' ')[0]!).waitFor();
      assert.equal((await row.innerText()).split('\n')[1]?.replace(/\s/g, ' '), hint);
    };
    await assertHint('contracts', 'Hotel Alsterblick GmbH · bis 31.12.2026, Aktiv');
    await assertHint('products', '39,00 €, A-1');
    await assertHint('contact-persons', 'Hotel Alsterblick GmbH · 040 1, AP-1');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('sort by a column with a click on its head', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/data/contracts`);
    const end = page
      .getByRole('columnheader', { name: 'Ende' })
      .getByRole('button', { name: 'Ende' })
      .first();
    await end.click();
    await page.waitForURL(/sort=/);
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    await end.click();
    await assertNumbers(page, ['V-3', 'V-2', 'V-1']);
    await page.getByRole('columnheader', { name: 'Nettopreis' }).getByRole('button').first().click();
    await assertNumbers(page, ['V-2', 'V-1', 'V-3']);
  });

  test('keep the order of columns, their width and the height of rows in the browser', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/data/contracts`);
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    await page.getByRole('button', { name: 'Spalten' }).click();
    await page.getByText('Kompakt').click();
    await page.getByRole('button', { name: 'Status: nach vorn' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Breite der Spalte Kunde' }).press('ArrowRight');
    await page.reload();
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    const heads = await page.getByRole('columnheader').allInnerTexts();
    assert.ok(heads.indexOf('Status') < heads.indexOf('Nettopreis'), heads.join());
    const row = await page.locator('tbody tr').first().boundingBox();
    assert.ok(row!.height < 40, String(row!.height));
    const styled = page.locator('th[style*="width"]', { hasText: 'Kunde' });
    assert.equal(await styled.count(), 1);
  });

  test('are saved as a view, for oneself and for everybody', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/data/contracts?status=DRAFT`);
    await page.getByRole('button', { name: 'Ansichten' }).click();
    await page.getByRole('menuitem', { name: 'Ansicht speichern' }).click();
    await page.getByLabel('Name der Ansicht').fill('Entwürfe');
    await page.getByLabel('Für alle sichtbar').check();
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('Ansicht „Entwürfe“ gespeichert').waitFor();
    const { email } = await createPerson(office, { role: 'PFLEGE', name: 'Paul Pflege' });
    const colleague = await office.enter(email);
    await colleague.page.goto(`${office.origin}/data/contracts`);
    await colleague.page.getByRole('button', { name: 'Ansichten' }).click();
    await colleague.page.getByRole('menuitem', { name: 'Entwürfe' }).click();
    await assertNumbers(colleague.page, ['V-2']);
    assert.deepEqual(await findBarriers(colleague.page), []);
    await page.getByRole('button', { name: 'Entwürfe', exact: true }).click();
    await page.getByRole('menuitem', { name: '„Entwürfe“ löschen' }).click();
    await page.getByText('Ansicht „Entwürfe“ gelöscht').waitFor();
  });

  test('change one field of many ticked rows, and take it back', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/data/contracts`);
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    await page.getByRole('checkbox', { name: 'V-1 auswählen' }).check();
    await page.getByRole('checkbox', { name: 'V-3 auswählen' }).click({ modifiers: ['Shift'] });
    await page.getByText('3 ausgewählt').waitFor();
    await page.getByRole('checkbox', { name: 'V-2 auswählen' }).uncheck();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Feld ändern' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Welches Feld?' }).click();
    await page.getByRole('option', { name: 'Kündigungsfrist in Monaten' }).click();
    await dialog.getByLabel('Kündigungsfrist in Monaten').fill('6');
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Feld ändern' }).click();
    await page.getByText('2 Verträge · Kündigungsfrist in Monaten: 6').waitFor();
    const notices = async () =>
      (await office.get('/contracts?sort=name'))
        .json()
        .data.map((contract: { noticePeriodInMonths?: number }) => contract.noticePeriodInMonths ?? null);
    assert.deepEqual(await notices(), [6, null, 6]);
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
    assert.deepEqual(await notices(), [null, null, null]);
  });

  test('raise a price of many ticked rows, and give them all the same intervals', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/data/contracts`);
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    const dialog = page.getByRole('dialog');
    async function change(title: string) {
      await page.getByRole('button', { name: 'Feld ändern' }).click();
      await dialog.getByRole('combobox', { name: 'Welches Feld?' }).click();
      await page.getByRole('option', { name: title, exact: true }).click();
    }
    const prices = async () =>
      (await office.get('/contracts?sort=name'))
        .json()
        .data.map((contract: { netPrice?: number }) => contract.netPrice ?? null);
    await page.getByRole('checkbox', { name: 'V-1 auswählen' }).check();
    await page.getByRole('checkbox', { name: 'V-3 auswählen' }).check();
    await change('Nettopreis');
    await dialog.getByLabel('Nettopreis').fill('24,90');
    await dialog.getByRole('button', { name: 'Feld ändern' }).click();
    await page.getByText('2 Verträge · Nettopreis: 24,90').waitFor();
    await page.getByRole('checkbox', { name: 'Alle geladenen auswählen' }).check();
    await change('Nettopreis');
    await dialog.getByLabel('Nettopreis').fill('+3 %');
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Feld ändern' }).click();
    await page.getByText('3 Verträge · Nettopreis: +3 %').waitFor();
    assert.deepEqual(await prices(), [25.65, 82.92, 25.65]);

    const customerId = await office.createCustomer({ companyName: 'Zwei Häuser GmbH' });
    for (const name of ['Haus A', 'Haus B'])
      await office.post('/customer/site', { ...validSite(customerId), name });
    await page.goto(`${office.origin}/data/sites?q=Haus`);
    await page.getByRole('checkbox', { name: 'Haus A auswählen' }).check();
    await page.getByRole('checkbox', { name: 'Haus B auswählen' }).check();
    await change('Besuchsintervalle');
    await dialog.getByRole('button', { name: 'Intervall hinzufügen' }).click();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Feld ändern' }).click();
    await page.getByText('2 Standorte · Besuchsintervalle geändert').waitFor();
    const { data } = (await office.get('/sites?q=Haus')).json();
    for (const { attendingIntervals } of data) assert.equal(attendingIntervals[0].interval, 2);
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
    assert.equal((await office.get('/sites?q=Haus')).json().data[0].attendingIntervals, undefined);
    await office.delete(`/customers/${customerId}?cascade=true`);
    assert.deepEqual(visit.complaints, []);
  });

  test('say which of many records could not be deleted, and why', async () => {
    const { page } = visit;
    const free = await office.createCustomer({ companyName: 'Ohne Vertrag GmbH' });
    await page.goto(`${office.origin}/data/customers`);
    await page.getByRole('checkbox', { name: 'Alle geladenen auswählen' }).check();
    await page.getByRole('button', { name: 'Löschen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Löschen' }).click();
    await dialog.getByText('1 Eintrag blieb, wie er war:').waitFor();
    await dialog.getByRole('link', { name: 'Hotel Alsterblick GmbH' }).waitFor();
    await dialog.getByText('Es gehören noch andere Einträge dazu.').waitFor();
    assert.equal((await office.get(`/customers/${free}`)).statusCode, 404);
    await page.getByText('1 Eintrag gelöscht').waitFor();
    await dialog.getByRole('button', { name: 'Schließen' }).last().click();
    await page.getByRole('region', { name: 'Auswahl' }).waitFor({ state: 'detached' });

    await page.getByRole('checkbox', { name: 'Alle geladenen auswählen' }).check();
    await page.getByRole('button', { name: 'Löschen' }).click();
    await dialog.getByRole('button', { name: 'Löschen' }).click();
    await page.getByRole('dialog', { name: 'Nichts geändert' }).waitFor();
    assert.equal(await page.getByText('0 Einträge gelöscht').count(), 0);
    await dialog.getByRole('button', { name: 'Schließen' }).last().click();
  });

  test('delete many ticked rows, and bring them back with everything', async () => {
    const { page } = visit;
    const customerId = await office.createCustomer({ companyName: 'Zurück GmbH' });
    const contact = await office.post('/customer/contact-person', { customerId, lastName: 'Zurück' });
    await page.goto(`${office.origin}/data/customers`);
    await page.getByRole('checkbox', { name: 'Zurück GmbH auswählen' }).check();
    await page.getByRole('button', { name: 'Löschen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Zugehöriges mitlöschen').check();
    await dialog.getByRole('button', { name: 'Löschen' }).click();
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
    await page.getByRole('link', { name: 'Zurück GmbH' }).waitFor();
    const restored = await office.get(`/contact-persons/${contact.json().id}`);
    assert.equal(restored.json().lastName, 'Zurück');
  });

  test('say that a search has more matches than they show, and offer neither all of them nor a file', async () => {
    const { page } = visit;
    // More than the search reads.
    await office.owner.query(
      `INSERT INTO search_word (tenant_id, resource, word, id)
       SELECT tenant_id, 'contract:detail', 'zz' || number, id FROM contract, generate_series(1, 50000) AS number`,
    );
    await page.goto(`${office.origin}/data/contracts?q=zz`);
    await page.getByText('Die ersten 1.000 Einträge', { exact: true }).waitFor();
    await page.getByText('Es gibt mehr Treffer, als die Tabelle zeigt.').waitFor();
    await page.getByRole('checkbox', { name: 'Alle geladenen auswählen' }).check();
    await page.getByText('Für alle: genauer suchen oder filtern.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Alle .* auswählen/ }).count(), 0);
    await page.getByRole('button', { name: 'Exportieren' }).first().click();
    await page.getByText('Zu viele Treffer für eine Datei.').waitFor();
    assert.equal(await page.getByRole('menuitem').count(), 0);
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Stattdessen filtern' }).click();
    await page.getByRole('dialog').getByText('Filter').first().waitFor();
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    await page.getByText('3 Einträge', { exact: true }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('q'), null);
  });

  test('are read by Pflege without tick boxes', async () => {
    const { email } = await createPerson(office, { role: 'PFLEGE', name: 'Petra Pflege' });
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/data/contracts`);
    await assertNumbers(page, ['V-1', 'V-2', 'V-3']);
    assert.equal(await page.getByRole('checkbox').count(), 0);
  });
});
