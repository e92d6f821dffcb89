import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validAddress, validSite } from '../helpers/service.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('master data', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  before(async () => {
    office = await openOffice();
    const { email } = await createPerson(office);
    visit = await office.enter(email);
  });

  async function createSite(customerId: string, body: object = {}): Promise<string> {
    const response = await office.post('/customer/site', { ...validSite(customerId), ...body });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  }

  test('an object is created with the errors of the service at its fields', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/data/customers/new`);
    await page.getByLabel('Firma').fill('Hotel Elbkontor GmbH');
    await page.getByLabel('E-Mail').fill('kein-at');
    await page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await page.locator('#field-email[aria-invalid=true]').waitFor();
    await page.locator('#field-address-city[aria-invalid=true]').waitFor();
    // A house number may be empty, so nothing is wrong with it.
    assert.equal(await page.locator('#field-address-houseNumber[aria-invalid=true]').count(), 0);

    await page.getByLabel('E-Mail').fill('empfang@elbkontor.example');
    await page.getByLabel('Straße').fill('Am Sandtorkai');
    await page.getByLabel('PLZ').fill('20457');
    await page.getByLabel('Ort').fill('Hamburg');
    await page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await page.getByRole('heading', { name: 'Hotel Elbkontor GmbH', level: 1 }).waitFor();
    const { data } = (await office.get('/customers?q=Elbkontor')).json();
    assert.equal(data[0].email, 'empfang@elbkontor.example');
    assert.equal(data[0].address.houseNumber, '');
    assert.deepEqual(complaints, []);
  });

  test('a value that somebody else holds is refused at its field', async () => {
    const { page } = visit;
    await office.createCustomer({ customerNumber: 'K-1' });
    const id = await office.createCustomer({ companyName: 'Zweite GmbH' });
    await page.goto(`${office.origin}/data/customers/${id}/edit`);
    await page.getByLabel('Kundennummer').fill('K-1');
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.locator('#field-customerNumber[aria-invalid=true]').waitFor();
    await page.getByText('Schon vergeben an Hotel Alsterblick GmbH.').waitFor();
  });

  test('errors speak the words of the page, and a day is chosen from a calendar in its language', async () => {
    const { page, complaints } = visit;
    const id = await createSite(await office.createCustomer());
    await page.goto(`${office.origin}/data/sites/${id}/edit`);
    await page.getByRole('button', { name: 'Weitere Angaben' }).click();
    await page.getByLabel('Gültig ab').fill('1.3.36');
    await page.getByLabel('Gültig bis').fill('1.2.36');
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('Darf nicht vor „Gültig ab“ liegen.').waitFor();
    const from = page.getByLabel('Gültig ab');
    await from.press('Alt+ArrowDown');
    const calendar = page.getByRole('dialog', { name: 'Kalender: Gültig ab' });
    await calendar.getByRole('button', { name: 'März 2036', exact: true }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await calendar.getByRole('button', { name: 'Voriger Monat' }).click();
    await calendar.getByRole('button', { name: '1 Februar 2036', exact: true }).click();
    await page.locator('#field-validFrom[value="01.02.2036"]').waitFor();
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('1. Feb. 2036').or(page.getByText('01.02.2036')).first().waitFor();
    const { validFrom, validUntil } = (await office.get(`/sites/${id}`)).json();
    assert.deepEqual([validFrom, validUntil], ['2036-02-01', '2036-02-01']);
    assert.deepEqual(complaints, []);
  });

  test('an edit changes what was changed and keeps exact decimals and unknown shapes', async () => {
    const { page } = visit;
    const customerId = await office.createCustomer();
    const strange = { rhythmus: '14-tägig', wochentag: 'Di' };
    const id = await createSite(customerId, { attendingIntervals: [strange], callOutFee: 10.5 });
    await page.goto(`${office.origin}/data/sites/${id}/edit`);
    await page.getByLabel('Anfahrtspauschale').fill('1.234,50');
    await page.getByLabel('Gültig bis').fill('1.5.2030');
    await page.getByRole('button', { name: 'Montag: Zeiten eintragen' }).click();
    await page.getByLabel('Montag: Schließt').fill('1830');
    await page.getByRole('button', { name: 'Intervall hinzufügen' }).click();
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('1.234,50 €', { exact: true }).waitFor();
    const stored = (await office.get(`/sites/${id}`)).json();
    assert.equal(stored.callOutFee, 1234.5);
    assert.equal(stored.validUntil, '2030-05-01');
    assert.deepEqual(stored.openingHours, [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:30' }]);
    assert.equal(stored.attendingIntervals.length, 2);
    assert.deepEqual(stored.attendingIntervals[1], strange);
    await page.getByText('"rhythmus"').first().waitFor();
  });

  test('the slower of two people sees both entries and chooses', async () => {
    const { page } = visit;
    const id = await office.createCustomer({ companyName: 'Vorher GmbH' });
    await page.goto(`${office.origin}/data/customers/${id}/edit`);
    await page.getByLabel('Firma').fill('Meine GmbH');
    await page.getByLabel('Telefon').fill('040 1');
    await page.getByLabel('Bemerkung').fill('Meine Bemerkung');
    const colleague = await createPerson(office, { name: 'Bernd Claasen' });
    const theirs = { companyName: 'Ihre GmbH', comment: 'Ihre Bemerkung', vatId: 'DE1' };
    assert.equal((await colleague.call('PATCH', `/customers/${id}`, theirs)).statusCode, 200);
    await page.getByRole('button', { name: 'Speichern' }).click();
    const dialog = page.getByRole('dialog', { name: 'Zwischenzeitlich geändert' });
    await dialog.getByText('Bernd Claasen hat Vorher GmbH geändert').waitFor();
    await dialog.getByRole('radio', { name: /Ihre GmbH/ }).waitFor();
    await dialog.getByRole('radio', { name: /Ihre Bemerkung/ }).click();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Auswahl speichern' }).click();
    await page.getByRole('heading', { name: 'Meine GmbH', level: 1 }).waitFor();
    const stored = (await office.get(`/customers/${id}`)).json();
    assert.deepEqual(
      [stored.companyName, stored.phone, stored.vatId, stored.comment],
      ['Meine GmbH', '040 1', 'DE1', 'Ihre Bemerkung'],
    );
  });

  test('what was typed is not lost by a click beside it', async () => {
    const { page } = visit;
    const id = await office.createCustomer();
    await page.goto(`${office.origin}/data/customers/${id}/edit`);
    await page.getByLabel('Firma').fill('Halb getippt');
    await page.getByRole('navigation', { name: 'Hauptnavigation' }).getByText('Standorte').click();
    await page.getByRole('button', { name: 'Bleiben' }).click();
    assert.equal(await page.getByLabel('Firma').inputValue(), 'Halb getippt');
    await page.getByRole('navigation', { name: 'Hauptnavigation' }).getByText('Standorte').click();
    await page.getByRole('button', { name: 'Verlassen' }).click();
    await page.waitForURL(/\/data\/sites/);
  });

  test('a deletion names what goes with it before, and deletes', async () => {
    const { page } = visit;
    const customerId = await office.createCustomer({ companyName: 'Zum Löschen GmbH' });
    const siteId = await createSite(customerId);
    await page.goto(`${office.origin}/data/customers/${customerId}`);
    await page.getByRole('button', { name: 'Löschen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 Standort', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Abbrechen' }).click();
    assert.equal((await office.get(`/sites/${siteId}`)).statusCode, 200);
    await page.getByRole('button', { name: 'Löschen' }).click();
    await dialog.getByRole('button', { name: /löschen/i }).click();
    await page.waitForURL(`${office.origin}/data/customers`);
    assert.equal((await office.get(`/customers/${customerId}`)).statusCode, 404);
    assert.equal((await office.get(`/sites/${siteId}`)).statusCode, 404);
  });

  test('a customer shows its sites, and a site its plants, its week and who belongs to it', async () => {
    const { page } = visit;
    const customerId = await office.createCustomer({ companyName: 'Ganz GmbH' });
    const person = await office.post('/customer/contact-person', {
      customerId,
      lastName: 'Petersen',
      firstName: 'Anke',
    });
    const siteId = await createSite(customerId, {
      name: 'Dachgarten',
      contactPersonId: person.json().id,
      openingHours: [{ dayOfWeek: 'FRIDAY', opens: '07:15', closes: '12:00' }],
      attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['MONDAY', 'TUESDAY'] }],
    });
    await office.post('/customer/site/plant', { siteId, botanicalName: 'Ficus elastica' });
    await page.goto(`${office.origin}/data/customers/${customerId}`);
    await page.getByRole('link', { name: /^Dachgarten/ }).click();
    await page.getByRole('link', { name: /^Ficus elastica/ }).waitFor();
    await page.getByRole('link', { name: 'Anke Petersen' }).waitFor();
    await page.getByRole('row', { name: /Freitag 07:15 – 12:00/ }).waitFor();
    await page.getByText('jede Woche, am Montag und Dienstag').waitFor();
    await page.getByText('Angelegt', { exact: true }).waitFor();
  });

  test('a table is searched while typing, moved through by keys, and leads back to the same rows', async () => {
    const { page, complaints } = visit;
    for (let index = 0; index < 150; index += 1) {
      await office.createCustomer({
        companyName: `Reihe ${String(index).padStart(3, '0')}`,
        address: validAddress,
      });
    }
    await page.goto(`${office.origin}/data/customers`);
    await page.getByRole('searchbox').fill('Reihe');
    await page.getByText('150 Einträge').waitFor();
    await page.getByRole('link', { name: 'Reihe 000' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('link', { name: 'Reihe 002' }).and(page.locator(':focus')).waitFor();
    // Only what can be seen exists, and the rest is fetched on the way down.
    assert.ok((await page.locator('tbody tr').count()) < 60);
    await page.keyboard.press('Control+End');
    await page
      .getByRole('link', { name: 'Reihe 099' })
      .or(page.getByRole('link', { name: 'Reihe 149' }))
      .first()
      .waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: /^Reihe \d+$/, level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('150 Einträge').waitFor();
    assert.match(page.url(), /q=Reihe/);
    assert.deepEqual(complaints, []);
  });

  test('a table is filtered by fields and by what others name, and the filter can be taken away', async () => {
    const { page } = visit;
    const customerId = await office.createCustomer({ companyName: 'Filter GmbH' });
    await createSite(customerId, { name: 'Gesucht', hasKey: true });
    await createSite(customerId, { name: 'Ohne Schlüssel' });
    await page.goto(`${office.origin}/data/sites`);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('combobox', { name: 'Kunde' }).fill('Filter G');
    await page.getByRole('option', { name: /^Filter GmbH/ }).click();
    await page.getByRole('combobox', { name: 'Schlüssel vorhanden' }).click();
    await page.getByRole('option', { name: 'ja' }).click();
    await page.getByRole('button', { name: 'Einträge anzeigen' }).click();
    await page.getByText('1 Eintrag', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Gesucht' }).waitFor();
    await page.getByRole('button', { name: 'Entfernen: Schlüssel vorhanden' }).click();
    await page.getByRole('link', { name: 'Ohne Schlüssel' }).waitFor();
    // A new object belongs to the one that was shown.
    await page.getByRole('link', { name: 'Standort anlegen' }).click();
    await page.waitForFunction(`document.querySelector('#field-customerId')?.value === 'Filter GmbH'`);
  });

  test('an entry of the attention list is fixed in place and disappears', async () => {
    const { page } = visit;
    const customerId = await office.createCustomer({ companyName: 'Aufmerksam GmbH' });
    const id = await createSite(customerId, { name: 'Abgelaufen', validUntil: '2020-01-01' });
    await page.goto(`${office.origin}/attention?code=validity_ended`);
    await page.getByRole('button', { name: 'Beheben: Abgelaufen' }).click();
    await page.getByLabel('Gültig bis').fill('31.12.2099');
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('Davon gibt es nichts.').waitFor();
    assert.equal((await office.get(`/sites/${id}`)).json().validUntil, '2099-12-31');
  });

  test('a site takes the address of its customer, and the next one begins with the same customer', async () => {
    const { page, complaints } = visit;
    const customerId = await office.createCustomer({ companyName: 'Viele Standorte GmbH' });
    await page.goto(`${office.origin}/data/sites/new?customerId=${customerId}`);
    await page.locator('#field-name:focus').fill('Erster');
    assert.equal(await page.getByLabel('Zeitzone').isVisible(), false);
    await page.getByRole('button', { name: 'Kundenadresse übernehmen' }).click();
    await page.locator(`#field-address-city[value="${validAddress.city}"]`).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Speichern und nächste' }).click();
    await page.locator('#field-name[value=""]').waitFor();
    await page.locator('#field-customerId[value="Viele Standorte GmbH"]').waitFor();
    // What was saved is no draft.
    assert.equal(await page.getByText('Es gibt einen Entwurf').count(), 0);
    const { data } = (await office.get(`/sites?customerId=${customerId}`)).json();
    assert.deepEqual([data.length, data[0].name, data[0].address.city], [1, 'Erster', validAddress.city]);
    assert.deepEqual(complaints, []);
  });

  test('a record is copied without what only one may have', async () => {
    const { page } = visit;
    const id = await office.createCustomer({
      companyName: 'Vorlage GmbH',
      customerNumber: 'V-1',
      vatId: 'DE7',
    });
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('link', { name: 'Kopieren' }).click();
    await page.locator('#field-companyName[value="Vorlage GmbH"]').waitFor();
    assert.equal(await page.getByLabel('Kundennummer').inputValue(), '');
    // A folded field that has a value is shown.
    assert.equal(await page.getByLabel('USt-IdNr.').inputValue(), 'DE7');
  });

  test('Pflege changes the health of a plant, and is offered nothing else', async () => {
    const { email: carer } = await createPerson(office, { role: 'PFLEGE', name: 'Paul Pflege' });
    const { page, complaints } = await office.enter(carer);
    const siteId = await createSite(await office.createCustomer());
    const plant = await office.post('/customer/site/plant', { siteId, botanicalName: 'Ficus lyrata' });
    await page.goto(`${office.origin}/data/plants/${plant.json().id}`);
    const health = page.getByRole('group', { name: 'Zustand von Ficus lyrata' });
    await health.getByRole('button', { name: 'Kritisch', pressed: false }).click();
    await health.getByRole('button', { name: 'Kritisch', pressed: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Anzahl bearbeiten' }).count(), 0);
    await page.getByRole('button', { name: 'Notiz zu Ficus lyrata' }).click();
    await page.getByRole('textbox', { name: 'Notiz zu Ficus lyrata' }).fill('Schildläuse');
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('Schildläuse').first().waitFor();
    await page.getByText('Kritisch', { exact: true }).first().waitFor();
    await page.goto(`${office.origin}/`);
    await page
      .getByRole('link', { name: /Ficus lyrata/ })
      .first()
      .waitFor();
    await page.goto(`${office.origin}/data/sites/new`);
    await page.getByRole('heading', { name: 'Das macht Ihre Verwaltung' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
  });

  test('an entry of the attention list is left as it is, with a reason, and taken back', async () => {
    const { page, complaints } = visit;
    const customerId = await office.createCustomer({ companyName: 'Saison GmbH' });
    await createSite(customerId, { name: 'Strandbar', validUntil: '2020-01-01' });
    await page.goto(`${office.origin}/attention`);
    await page.getByRole('link', { name: 'Saison GmbH' }).first().waitFor();
    await page.getByText('Gültigkeit abgelaufen (1)').first().click();
    await page.getByRole('button', { name: 'So lassen: Strandbar' }).click();
    await page.getByLabel('Grund').fill('öffnet im Mai');
    await page.getByRole('button', { name: 'So lassen', exact: true }).click();
    await page.getByText('Davon gibt es nichts.').waitFor();
    await page.getByRole('tab', { name: 'So gelassen' }).click();
    await page.getByText('öffnet im Mai').waitFor();
    await page.getByText(/^So gelassen von Anke Petersen/).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Wieder prüfen: Strandbar' }).click();
    await page.getByText('Nichts so gelassen').waitFor();
    await page.getByRole('tab', { name: 'Offen' }).click();
    await page.getByText('Gültigkeit abgelaufen (1)').first().waitFor();
    assert.deepEqual(complaints, []);
  });
});
