import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import writeWorkbook from 'write-excel-file/node';
import { readWorkbook } from '../../../core/table/workbook.ts';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { findBarriers, type Office, openOffice, type Visit } from '../helpers/office.ts';

/** As an older German spreadsheet writes it. */
function spreadsheet(lines: readonly string[]): { name: string; mimeType: string; buffer: Buffer } {
  return {
    name: 'kunden.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`${lines.join('\r\n')}\r\n;;;;;;\r\n`, 'latin1'),
  };
}

describe('import of a file', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    visit = await office.enter(email);
  });

  test('marks errors in the cells, imports the rest, and hands back a workbook of the invalid rows, corrected in place', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/import`);
    await page
      .locator('input[type=file]')
      .setInputFiles(
        spreadsheet([
          'Kd-Nr;Firma;Str.;Hausnr.;PLZ;Ort;Kontakt',
          'K-1;Bäckerei Möller;Große Straße;1;20095;Hamburg;a@b.example',
          'K-2;"Kanzlei ""Süd""; Lüders";Weg;2;;Hamburg;kein-at',
          'K-3;=Formel AG;Weg;3;20097;Hamburg;',
        ]),
      );
    // Guessed from the titles, but for one, which is chosen by hand.
    await page.getByText('3 Zeilen · 7 Spalten').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Inhalt der Datei' }).inputValue(), 'Kunden');
    assert.equal(await page.getByRole('combobox', { name: 'Ziel von: Str.' }).inputValue(), 'Adresse Straße');
    await page.getByRole('combobox', { name: 'Ziel von: Kontakt' }).click();
    await page.getByRole('option', { name: 'E-Mail' }).click();

    await page.getByRole('button', { name: '1 fehlerhaft' }).waitFor();
    const invalid = page.getByRole('row', { name: /^3 fehlerhaft K-2/ }).locator('[data-invalid]');
    await invalid.first().waitFor();
    assert.deepEqual(await invalid.allInnerTexts(), ['leer\nBitte ausfüllen.']);
    await page
      .getByText('Nicht lesbar, steht in der Bemerkung: 1 Zelle in „Kontakt“, z. B. „kein-at“')
      .waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.equal((await office.get('/customers?count=true')).json().total, 0);

    await page.getByRole('button', { name: '2 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    assert.match(await page.locator('dl').innerText(), /angelegt\s+2\s[\s\S]*fehlerhaft\s+1/);
    assert.deepEqual(await findBarriers(page), []);
    const { data } = (await office.get('/customers?sort=name')).json();
    assert.deepEqual(
      data.map(({ companyName }: { companyName: string }) => companyName),
      ['=Formel AG', 'Bäckerei Möller'],
    );

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Fehlerhafte Zeilen laden (1)' }).click();
    const report = await download;
    assert.equal(report.suggestedFilename(), 'kunden-Fehler.xlsx');
    const buffer = await readFile(await report.path());
    const [sheet] = await readWorkbook(new Blob([buffer]));
    assert.deepEqual(
      sheet!.rows.map(({ cells }) => cells),
      [
        ['Kd-Nr', 'Firma', 'Str.', 'Hausnr.', 'PLZ', 'Ort', 'Kontakt', 'Fehler'],
        [
          ...['K-2', 'Kanzlei "Süd"; Lüders', 'Weg', '2', null, 'Hamburg', 'kein-at'],
          'Adresse PLZ: Bitte ausfüllen.',
        ],
      ],
    );

    // Dropped again, the report has the columns that were chosen. The empty cell is filled by keyboard alone.
    await page.getByRole('button', { name: 'Weitere Datei importieren' }).click();
    await page.locator('input[type=file]').setInputFiles({
      name: report.suggestedFilename(),
      mimeType: 'application/octet-stream',
      buffer,
    });
    await page.getByText('Spalten wie beim letzten Mal.').waitFor();
    await page.getByRole('button', { name: '1 fehlerhaft' }).waitFor();
    await page.getByRole('gridcell', { name: 'K-2' }).focus();
    // Keys that come faster than frames count, too.
    await page.evaluate(() => {
      for (let step = 0; step < 4; step++) {
        const key = new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true });
        document.activeElement!.dispatchEvent(key);
      }
    });
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'PLZ, Zeile 2' }).waitFor();
    await page.keyboard.type('01067');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: '0 fehlerhaft' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('lueders@sued.example');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: '1 gültig' }).waitFor();
    await page.getByRole('button', { name: '1 Zeile importieren' }).click();
    await page.getByRole('link', { name: 'Kunden anzeigen' }).click();
    await page.getByRole('link', { name: 'Kanzlei "Süd"; Lüders' }).waitFor();
    const [lueders] = (await office.get('/customers?q=Lüders')).json().data;
    assert.deepEqual([lueders.address.zipCode, lueders.email], ['01067', 'lueders@sued.example']);

    // A colleague begins with the same choices.
    const colleague = await office.enter((await createPerson(office)).email);
    await colleague.page.goto(`${office.origin}/import`);
    await colleague.page
      .locator('input[type=file]')
      .setInputFiles(
        spreadsheet([
          'Kd-Nr;Firma;Str.;Hausnr.;PLZ;Ort;Kontakt',
          'K-9;Neu;Weg;1;20095;Hamburg;neu@b.example',
        ]),
      );
    await colleague.page.getByText('Spalten wie beim letzten Mal.').waitFor();
    const target = colleague.page.getByRole('combobox', { name: 'Ziel von: Kontakt' });
    assert.equal(await target.inputValue(), 'E-Mail');
    assert.deepEqual(colleague.complaints, []);
    await colleague.page.close();
    assert.deepEqual(complaints, []);
  });

  test('sends a file of many rows in parts, and stops between two of them', async () => {
    const { page, complaints } = visit;
    const rows = Array.from({ length: 5000 }, (_, index) => `G-${index};Teil ${index};Weg;1;20095;Hamburg`);
    await page.goto(`${office.origin}/import`);
    let parts = 0;
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route('**/app/import', async (route) => {
      parts += 1;
      // The answer to a stored part is lost once, and the part is sent again under the same key.
      if (parts === 2) {
        await route.fetch();
        await route.abort();
        return;
      }
      if (parts === 4) {
        arrived.resolve();
        await held.promise;
      }
      await route.continue();
    });
    await page
      .locator('input[type=file]')
      .setInputFiles(spreadsheet(['Kundennummer;Firma;Straße;Hausnummer;PLZ;Ort', ...rows]));
    await page.getByRole('button', { name: '5.000 Zeilen importieren' }).click();
    await page.getByText('2.000 von 5.000 Zeilen').waitFor();
    await arrived.promise;
    await page.getByRole('button', { name: 'Abbrechen' }).click();
    held.resolve();
    await page.getByRole('heading', { name: 'Abgebrochen' }).waitFor();
    assert.match(await page.locator('dl').innerText(), /angelegt\s+3\.000\s/);
    const { rows: stored } = await office.owner.query(
      "SELECT FROM customer WHERE company_name LIKE 'Teil %'",
    );
    assert.equal(stored.length, 3000);
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes('ERR_FAILED')),
      [],
    );
    await page.unroute('**/app/import');
  });

  test('reads a workbook of Excel with its sheets, and cells from the clipboard', async () => {
    const { page, complaints } = visit;
    // Of the test before, which cuts a connection.
    complaints.length = 0;
    const buffer = await writeWorkbook([
      { sheet: 'Notizen', data: [[{ value: 'Nur Text' }]] },
      {
        sheet: 'Adressen',
        data: [
          [{ value: 'Adressen, Stand März' }],
          [],
          ['Firma', 'Straße', 'Hausnummer', 'PLZ', 'Ort', 'Bemerkung', 'Erfasst'].map((value) => ({
            value,
          })),
          [
            { value: 'Mappe GmbH' },
            { value: 'Weg' },
            { value: 7 },
            { value: '01067' },
            { value: 'Dresden' },
            { value: new Date(Date.UTC(2026, 2, 1)), format: 'dd.mm.yyyy' },
            { value: new Date(Date.UTC(2026, 2, 1)), format: 'dd.mm.yyyy' },
          ],
          // More than the 512 kB from which the library would unpack in a worker of its own.
          ...Array.from({ length: 3000 }, (_, index) =>
            [`Teilmappe ${index}`, `Weg ${'x'.repeat(60)}`, '1', '20095', 'Hamburg', ''].map((value) => ({
              value,
            })),
          ),
        ],
      },
    ]).toBuffer();
    await page.goto(`${office.origin}/import`);
    await page.locator('input[type=file]').setInputFiles({ name: 'mappe.xlsx', mimeType: '', buffer });
    // The sheet and the row that have titles are found.
    await page.getByText('3.001 Zeilen · 7 Spalten').waitFor();
    const sheet = page.getByRole('combobox', { name: 'Tabellenblatt' });
    const titleRow = page.getByRole('combobox', { name: 'Titelzeile' });
    assert.equal(await sheet.inputValue(), 'Adressen');
    assert.match(await titleRow.inputValue(), /^3: Firma, Straße/);
    const [comment, ignored] = [6, 7].map((column) => page.locator(`[data-place="0 ${column - 1}"]`));
    await page.getByText('01.03.2026').waitFor();
    assert.deepEqual(
      [await comment!.innerText(), await ignored!.innerText(), await ignored!.getAttribute('data-ignored')],
      ['2026-03-01', '01.03.2026', 'true'],
    );
    await sheet.click();
    await page.getByRole('option', { name: 'Notizen' }).click();
    await page.getByText('Die Datei hat Titel, aber keine Zeilen').waitFor();
    await sheet.click();
    await page.getByRole('option', { name: 'Adressen' }).click();
    await titleRow.click();
    await page.getByRole('option', { name: 'Keine Titel' }).click();
    await page.getByText('3.003 Zeilen · 7 Spalten').waitFor();
    await titleRow.click();
    await page.getByRole('option', { name: '3: Firma, Straße' }).click();
    await page.getByRole('button', { name: '1.000 gültig' }).waitFor();
    await page.getByRole('button', { name: '2.001 noch nicht geprüft' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Alles prüfen' }).click();
    await page.getByRole('button', { name: '3.001 gültig' }).waitFor();
    await page.getByRole('button', { name: '3.001 Zeilen importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    const { data } = (await office.get('/customers?q=Mappe+GmbH')).json();
    assert.deepEqual(
      [data[0].address.houseNumber, data[0].address.zipCode, data[0].comment],
      ['7', '01067', '2026-03-01'],
    );

    await page.getByRole('button', { name: 'Weitere Datei importieren' }).click();
    await page.getByText('Kopierte Zellen fügen Sie mit Strg+V ein.').waitFor();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'Firma\\tStraße\\tHausnummer\\tPLZ\\tOrt\\r\\nKopiert AG\\t"Am ""Eck"""\\t1\\t20095\\tHamburg\\r\\n');
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    }`);
    await page.getByText('Zwischenablage').waitFor();
    await page.getByRole('button', { name: '1 Zeile importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    const pasted = (await office.get('/customers?q=Kopiert')).json().data;
    assert.deepEqual(
      pasted.map(({ address }: { address: { streetName: string } }) => address.streetName),
      ['Am "Eck"'],
    );
    assert.deepEqual(complaints, []);
  });

  test('begins where a business without customers has its overview', async () => {
    const { tenantId } = await office.createTenant('Neu GmbH');
    const { page, complaints } = await office.enter((await createPerson(office, { tenantId })).email);
    await page.goto(office.origin);
    await page.getByText('Ihre Kundenliste hierher ziehen').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page
      .locator('input[type=file]')
      .setInputFiles(spreadsheet(['Firma;Straße;PLZ;Ort', 'Hotel;Weg 1;20095;Hamburg']));
    await page.getByRole('button', { name: '1 Zeile importieren' }).click();
    await page.getByRole('heading', { name: 'Importiert' }).waitFor();
    await page.getByRole('link', { name: 'Übersicht' }).first().click();
    await page.getByRole('link', { name: '1 Kunde', exact: true }).waitFor();
    assert.equal(await page.getByText('Ihre Kundenliste hierher ziehen').count(), 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('names the error of a file in English, and offers templates', async () => {
    const { page, complaints } = await office.enter(email, { locale: 'en-GB' });
    await page.goto(`${office.origin}/import`);
    const choose = (name: string, buffer: Buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
    await choose('a.xls', Buffer.from('d0cf11e0', 'hex'));
    await page.getByText('This is an old or encrypted workbook.').waitFor();
    await choose('a.xlsx', Buffer.from('PK\u0003\u0004'));
    await page.getByText('The file could not be read.').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('main').getByRole('button', { name: 'Sites' }).click();
    const template = await readFile(await (await download).path(), 'utf8');
    assert.match(template, /^\ufeff(External id;)?Customer id;Customer external id;/);

    await page.locator('input[type=file]').setInputFiles({
      name: 'sites.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Name,Street,City,Call-out fee\nLobby,Weg,Hamburg,12\n'),
    });
    await page.getByText(/Required, but no column has it: .*Customer id \/ Customer external id/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Import 1 row' }).isDisabled());
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
