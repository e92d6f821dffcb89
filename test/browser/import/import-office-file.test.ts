// A German office imports its own file: names with typing errors, a missing column, rows that exist already.
import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validAddress, validCustomer } from '../../helpers/service.ts';
import { findBarriers, type Office, openOffice, type Visit } from '../helpers/office.ts';

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
    for (const [index, [companyName, city]] of customers.entries()) {
      const customerNumber = `K-${index + 1}`;
      const body = { ...validCustomer, companyName, customerNumber, address: { ...validAddress, city } };
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
    await page.getByRole('heading', { name: 'Namen zuordnen' }).waitFor();
    await page.getByText('Ohne Spalte, gilt als nein: Termin nötig').waitFor();
    await page.getByRole('button', { name: '150 fehlerhaft' }).waitFor();
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

    await page.getByRole('button', { name: '50 ausgelassen' }).waitFor();
    await page.getByRole('button', { name: '150 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    assert.match(
      await page.locator('dl').innerText(),
      /angelegt\s+150\s[\s\S]*fehlerhaft\s+0\s[\s\S]*ausgelassen\s+50/,
    );
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
    // Remembered with the columns of these titles.
    await page.getByRole('switch', { name: 'Termin nötig' }).click();
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
    // From what to what, in the row that changes a stored site.
    const change = page.getByRole('row', { name: /^2 geändert/ }).locator('[data-changed]');
    await change.waitFor();
    await page.getByRole('button', { name: '2 vielleicht doppelt' }).waitFor();
    await page.getByRole('button', { name: '198 ausgelassen' }).waitFor();
    await page.getByRole('button', { name: '2 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    assert.match(await page.locator('dl').innerText(), /angelegt\s+1\s[\s\S]*geändert\s+1\s/);
    assert.equal((await office.get('/sites?count=true&limit=1')).json().total, 151);

    // Forgotten, a name is asked for again.
    await page.getByRole('button', { name: 'Weitere Datei importieren' }).click();
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('listitem').getByRole('button', { name: 'Vergessen' }).first().click();
    await page.getByText('2 Namen sind unbekannt oder mehrdeutig.').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('an import is undone from the list, and what was changed since stays and is named', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/recent`);
    await page.getByRole('heading', { name: 'Letzte Aktionen' }).waitFor();
    await page.getByText('150 angelegt').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await shot('list');
    const undoButtons = page.getByRole('button', { name: 'Rückgängig machen' });
    assert.equal(await undoButtons.count(), 2);

    // The newest one first: its change and its creation go.
    await undoButtons.first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rückgängig machen' }).click();
    await page.getByText('Rückgängig gemacht').first().waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.equal((await office.get('/sites?count=true&limit=1')).json().total, 150);

    const { data } = (await office.get('/sites?q=Etage 4&limit=1')).json();
    await office.patch(`/sites/${data[0].id}`, { comment: 'von Hand' });
    await page.getByText(/^Rückgängig gemacht von/).waitFor();
    assert.equal(await undoButtons.count(), 1);
    await undoButtons.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rückgängig machen' }).click();
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
    await page.getByText('5 Zeilen · 7 Spalten').waitFor();
    await page.getByRole('button', { name: '3 ausgelassen' }).click();
    await page.getByRole('row', { name: /^5 ausgelassen Summe .*25,00/ }).waitFor();
    await page.getByRole('row', { name: /^7 ausgelassen Stand: 17.11.2026/ }).waitFor();
    await page.getByRole('row', { name: /^3 ausgelassen Objekt Auftraggeber/ }).waitFor();
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

    await page.goto(`${office.origin}/recent`);
    await page.getByRole('button', { name: 'Rückgängig machen' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rückgängig machen' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.deepEqual((await office.get('/sites?q=Filiale')).json().data, []);
    assert.equal((await office.get('/customers?q=Grünzeug Neu')).json().data.length, 1);
    assert.deepEqual(complaints, []);
  });

  test('marks a number and a name of different customers, until one of them is corrected', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/import`);
    await page
      .locator('input[type=file]')
      .setInputFiles(
        csv('anlagen.csv', [
          'Objekt;Kunden-Nr.;Firma;Straße/Hausnr.;PLZ/Ort;Schlüssel;Termin nötig',
          'Halle 1;K-1;Bäckerei Möller;Weg 1;26122 Oldenburg;x;nein',
          'Halle 2;K-1;Hotel Alsterblick;Weg 2;26122 Oldenburg;x;nein',
          'Halle 3;K-3;Praxis Nord;Weg 3;26122 Oldenburg;x;nein',
          'Halle 4;K-99;Hotel Alsterblick;Weg 4;26122 Oldenburg;x;nein',
        ]),
      );
    await page.getByRole('button', { name: '1 fehlerhaft' }).waitFor();
    await page.getByRole('button', { name: '2 gültig' }).waitFor();
    await page.getByRole('button', { name: '1 mit Hinweis' }).waitFor();
    await page.getByText('Nach der Nummer oder dem Namen daneben zugeordnet: 1 Zelle').waitFor();
    const cell = page.getByRole('row', { name: /Halle 2/ }).getByRole('gridcell', { name: /K-1/ });
    assert.match(await cell.innerText(), /Nummer und Name in dieser Zeile gehören nicht zusammen\./);
    assert.equal(await page.getByRole('heading', { name: 'Namen zuordnen' }).count(), 0);
    await shot('two-customers');
    await cell.dblclick();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('K-2');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: '3 gültig' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('passes at the first try, and each guess is shown and taken back with one click', async () => {
    const { page, complaints } = visit;
    const drop = async (name: string) => {
      await page.goto(`${office.origin}/import`);
      await page
        .locator('input[type=file]')
        .setInputFiles(path.resolve(import.meta.dirname, '../../office-files', name));
    };
    await drop('lexware-kunden.csv');
    await page.getByRole('button', { name: '8 gültig' }).waitFor();
    await page.getByRole('button', { name: '2 mit Hinweis' }).waitFor();
    await page.getByText('Wie leer behandelt: 1 Zelle in „Telefon 1“, z. B. „k.A.“').waitFor();

    await drop('excel-kundenliste.xlsx');
    await page.getByRole('button', { name: '1 gültig' }).waitFor();
    await page.getByRole('button', { name: '5 ausgelassen' }).waitFor();
    const guess = 'Führende Nullen ergänzt: 4 Postleitzahlen, z. B. 1067 → 01067, 1099 → 01099, 9111 → 09111';
    const zip = page.getByRole('row', { name: /Altmarkt/ }).getByRole('gridcell', { name: /1067/ });
    assert.equal(await zip.innerText(), '1067 01067');
    const chooser = page.getByRole('combobox', { name: 'Ziel von: PLZ' });
    const [room, buttons] = await chooser.evaluate((input) => [
      Number.parseFloat(getComputedStyle(input).paddingRight),
      input.nextElementSibling!.getBoundingClientRect().width,
    ]);
    assert.ok(room! >= buttons!, 'a long name ends in dots beside the buttons');
    assert.deepEqual(await findBarriers(page), []);
    await shot('guesses');
    await page.getByRole('button', { name: `Zurücknehmen: ${guess}` }).click();
    await page.getByRole('button', { name: `Anwenden: ${guess}` }).waitFor();
    assert.equal(await zip.innerText(), '1067');
    await page.getByRole('button', { name: `Anwenden: ${guess}` }).click();
    await page.getByRole('button', { name: '7 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    const { data } = (await office.get('/customers?q=Altmarkt')).json();
    assert.deepEqual([data[0].address.zipCode, data[0].phone], ['01067', '03515550100']);
    assert.deepEqual(complaints, []);
  });
});
