// A German office imports its own file: names with typing errors, a missing column, rows that exist already.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../api/office.ts';
import { withoutChromium } from '../programs.ts';
import { validAddress, validCustomer } from '../service.ts';
import { findBarriers, type Office, openOffice, type Visit } from './office.ts';

const shots = process.env.STAMM_SHOTS;

function csv(name: string, lines: readonly string[]) {
  return { name, mimeType: 'text/csv', buffer: Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1') };
}

describe('a file of an office', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  let email: string;
  const ids = new Map<string, string>();

  async function shot(name: string): Promise<void> {
    if (!shots) return;
    for (const [width, scheme] of [
      [390, 'light'],
      [1024, 'dark'],
      [1440, 'light'],
    ] as const) {
      await visit.page.setViewportSize({ width, height: 900 });
      await visit.page.emulateMedia({ colorScheme: scheme });
      await visit.page.screenshot({ path: `${shots}/${name}-${width}.png`, fullPage: true });
    }
    await visit.page.emulateMedia({ colorScheme: 'light' });
  }

  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    visit = await office.enter(email);
    const customers = [
      ['Bäckerei Möller', 'Hamburg'],
      ['Hotel Alsterblick', 'Hamburg'],
      ['Praxis Nord', 'Kiel'],
      ['Praxis Nord', 'Lübeck'],
    ] as const;
    for (const [companyName, city] of customers) {
      const body = { ...validCustomer, companyName, address: { ...validAddress, city } };
      ids.set(`${companyName} ${city}`, await office.createCustomer(body));
    }
  });

  const names = ['Bäckerei Möller', 'Hotel Alsterblik', 'Praxis Nord', 'Firma Unbekannt'];
  const file = csv('objekte.csv', [
    'Objekt;Auftraggeber;Straße/Hausnr.;PLZ/Ort;Schlüssel;Anfahrt',
    ...Array.from(
      { length: 200 },
      (_, index) =>
        `Etage ${index};${names[index % 4]};Lange Straße ${index + 1};26122 Oldenburg;x;12,50 \u0080`,
    ),
  ]);

  test('is imported with names that are assigned once, and a value for the missing column', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/import`);
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('200 Zeilen · 6 Spalten').waitFor();
    const importing = page.getByRole('button', { name: '200 Zeilen importieren' });
    await page.getByRole('heading', { name: 'Namen zuordnen' }).waitFor();
    assert.equal(await importing.isDisabled(), true, 'a required field has no column');
    await page.getByText('3 Namen sind unbekannt oder mehrdeutig.').waitFor();
    await shot('assign');

    await page.getByRole('combobox', { name: 'Termin nötig' }).click();
    await page.getByRole('option', { name: 'Nein', exact: true }).click();

    // The search forgives the typing error; of two of the same name the town tells.
    await page.getByRole('combobox', { name: 'Eintrag für: Hotel Alsterblik' }).click();
    await page.getByRole('option', { name: /Hotel Alsterblick/ }).click();
    await page.getByRole('combobox', { name: 'Eintrag für: Praxis Nord' }).click();
    await page.getByRole('option', { name: /Praxis Nord.*Kiel/ }).click();
    await page.getByRole('combobox', { name: 'Was geschieht mit: Firma Unbekannt' }).click();
    await page.getByRole('option', { name: 'Zeilen auslassen' }).click();
    await page.getByText('Alle Namen sind zugeordnet.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await shot('assigned');

    await importing.click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    assert.match(await page.locator('dl').innerText(), /angelegt\s+150\s[\s\S]*fehlerhaft\s+0/);
    assert.deepEqual(await findBarriers(page), []);
    await shot('imported');
    const kiel = ids.get('Praxis Nord Kiel');
    const { data, total } = (await office.get(`/sites?customerId=${kiel}&count=true&limit=1`)).json();
    assert.equal(total, 50);
    assert.deepEqual(
      [data[0].needsAppointment, data[0].hasKey, data[0].callOutFee, data[0].address.zipCode],
      [false, true, 12.5, '26122'],
    );
    assert.match(data[0].address.houseNumber, /^\d+$/);
    assert.deepEqual(complaints, []);
  });

  test('the second time, names are remembered and rows that exist are shown before anything is written', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/import`);
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('gemerkt', { exact: true }).first().waitFor();
    assert.equal(await page.getByText('gemerkt', { exact: true }).count(), 2);
    await page.getByRole('combobox', { name: 'Was geschieht mit: Firma Unbekannt' }).click();
    await page.getByRole('option', { name: 'Zeilen auslassen' }).click();
    await page.getByRole('combobox', { name: 'Termin nötig' }).click();
    await page.getByRole('option', { name: 'Ja', exact: true }).click();
    await page.getByRole('button', { name: '200 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Wahrscheinlich schon vorhanden' }).waitFor();
    await page.getByText('150 Zeilen gibt es vermutlich schon.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await shot('duplicates');
    assert.equal((await office.get('/sites?count=true&limit=1')).json().total, 150);

    await page.getByRole('button', { name: 'Auslassen', exact: true }).click();
    await page.getByRole('combobox', { name: 'Wahl für Zeile 2', exact: true }).click();
    await page.getByRole('option', { name: 'Vorhandenen ändern' }).click();
    await page.getByRole('combobox', { name: 'Wahl für Zeile 3', exact: true }).click();
    await page.getByRole('option', { name: 'Trotzdem anlegen' }).click();
    await page.getByRole('button', { name: 'Jetzt importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    assert.match(await page.locator('dl').innerText(), /angelegt\s+1\s[\s\S]*geändert\s+1\s/);
    assert.equal((await office.get('/sites?count=true&limit=1')).json().total, 151);

    // Forgotten, a name is asked for again.
    await page.getByRole('button', { name: 'Weitere Datei importieren' }).click();
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Vergessen' }).first().click();
    await page.getByText('2 Namen sind unbekannt oder mehrdeutig.').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('an import is undone from the list, and what was changed since stays and is named', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/import`);
    await page.getByRole('heading', { name: 'Importe der letzten 30 Tage' }).waitFor();
    await page.getByText('150 angelegt').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await shot('list');
    const undoButtons = page.getByRole('button', { name: 'Import rückgängig machen' });
    assert.equal(await undoButtons.count(), 2);

    // The newest one first: its change and its creation go.
    await undoButtons.first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import rückgängig machen' }).click();
    await page.getByText('Import rückgängig gemacht').first().waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.equal((await office.get('/sites?count=true&limit=1')).json().total, 150);

    const { data } = (await office.get('/sites?q=Etage 4&limit=1')).json();
    await office.patch(`/sites/${data[0].id}`, { comment: 'von Hand' });
    await page.getByText(/^Rückgängig gemacht von/).waitFor();
    assert.equal(await undoButtons.count(), 1);
    await undoButtons.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import rückgängig machen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 Eintrag blieb, wie er ist:').waitFor();
    await dialog
      .getByText(/seither geändert von/)
      .first()
      .waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await shot('kept');
    await dialog.getByRole('button', { name: 'Schließen' }).last().click();
    assert.equal((await office.get('/sites?count=true&limit=1')).json().total, 1);
    assert.deepEqual(complaints, []);
  });

  test('creates an unknown customer, keeps it after the undo, and leaves out total and repeated titles', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/import`);
    await page
      .locator('input[type=file]')
      .setInputFiles(
        csv('filialen.csv', [
          'Objekt;Auftraggeber;Straße/Hausnr.;PLZ/Ort;Schlüssel;Termin nötig;Anfahrt',
          'Filiale Ost;Grünzeug Neu;Weg 1;26122 Oldenburg;x;nein;12,50',
          'Objekt;Auftraggeber;Straße/Hausnr.;PLZ/Ort;Schlüssel;Termin nötig;Anfahrt',
          'Filiale West;Grünzeug Neu;Weg 2;26122 Oldenburg;x;nein;12,50',
          'Summe;;;;;;25,00',
          '',
          'Stand: 17.11.2026',
        ]),
      );
    await page.getByText('2 Zeilen · 7 Spalten').waitFor();
    await page.getByText('Zeile 3 wiederholt die Spaltentitel').waitFor();
    await page.getByText('Zeile 5 („Summe · 25,00“) gehört nicht zu den Daten').waitFor();
    await page.getByText('Zeile 7 („Stand: 17.11.2026“)').waitFor();
    await page.getByRole('combobox', { name: 'Eintrag für: Grünzeug Neu' }).click();
    await page.getByRole('option', { name: 'Kunde „Grünzeug Neu“ anlegen' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kunde anlegen' });
    assert.equal(await dialog.getByLabel('Firma').inputValue(), 'Grünzeug Neu');
    await dialog.getByLabel('Straße').fill('Weg');
    await dialog.getByLabel('Hausnummer').fill('1');
    await dialog.getByLabel('PLZ').fill('26122');
    await dialog.getByLabel('Ort').fill('Oldenburg');
    await shot('create-customer');
    await dialog.getByRole('button', { name: 'Anlegen und übernehmen' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Alle Namen sind zugeordnet.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await shot('left-out');
    await page.getByRole('button', { name: '2 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    assert.match(await page.locator('dl').innerText(), /angelegt\s+2\s[\s\S]*fehlerhaft\s+0/);

    await page.goto(`${office.origin}/import`);
    await page.getByRole('button', { name: 'Import rückgängig machen' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import rückgängig machen' }).click();
    await page.getByText('Import rückgängig gemacht').first().waitFor();
    assert.deepEqual((await office.get('/sites?q=Filiale')).json().data, []);
    assert.equal((await office.get('/customers?q=Grünzeug Neu')).json().data.length, 1);
    assert.deepEqual(complaints, []);
  });
});
