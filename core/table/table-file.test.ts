import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import writeWorkbook from 'write-excel-file/node';
import { openTable, type TableFileError } from './table-file.ts';

const inspectFile = async (file: Blob) => (await openTable(file)).table;

test('a file is understood in the encodings of Windows, with and without a byte order mark', async () => {
  const windows = new Uint8Array([...Buffer.from('Stra'), 0xdf, ...Buffer.from('e;Ort\r\n;'), 0x80]);
  const { encoding, titles, head, rowCount } = await inspectFile(new Blob([windows]));
  assert.deepEqual([encoding, titles, rowCount], ['windows-1252', ['Straße', 'Ort'], 1]);
  assert.deepEqual(head, [{ number: 2, cells: [null, '€'] }]);
  const marked = await inspectFile(new Blob(['\ufeffStraße;Ort\n\n ;\nx;y\n']));
  assert.deepEqual([marked.encoding, marked.titles[0], marked.rowCount], ['utf-8', 'Straße', 1]);
  assert.equal(marked.head[0]?.number, 4);
  const wide = Buffer.from('\ufeffStraße\tOrt\r\nx\ty', 'utf16le');
  assert.deepEqual((await inspectFile(new Blob([wide]))).titles, ['Straße', 'Ort']);
});

test('a file that is an old workbook, empty, or never closes a quotation mark is refused by what it is', async () => {
  const hasCode = (code: string) => (error: unknown) => (error as TableFileError).code === code;
  await assert.rejects(inspectFile(new Blob([Buffer.from('d0cf11e0', 'hex')])), hasCode('oldWorkbook'));
  await assert.rejects(inspectFile(new Blob([''])), hasCode('empty'));
  await assert.rejects(inspectFile(new Blob(['a\0b'])), hasCode('binary'));
  await assert.rejects(inspectFile(new Blob(['Firma;Ort\n"Grün & Gut;Köln\n'])), hasCode('open_quote'));
});

async function workbook(...sheets: { sheet: string; data: unknown[][] }[]): Promise<Blob> {
  const data = sheets.map(({ sheet, data }) => ({
    sheet,
    data: data.map((row) => row.map((value) => toCell(value))),
  }));
  return new Blob([new Uint8Array(await writeWorkbook(data as never).toBuffer())]);
}

function toCell(value: unknown) {
  if (value === null) return null;
  return value instanceof Date ? { value, format: 'dd.mm.yyyy' } : { value };
}

test('a workbook is read with all its sheets, its cells as typed', async () => {
  const day = new Date(Date.UTC(2026, 2, 1));
  const opened = await openTable(
    await workbook(
      { sheet: 'Kunden', data: [[null], ['Firma', 'Seit', 'Preis', 'Aktiv'], ["'=A & B", day, 1.234, true]] },
      { sheet: 'Leer', data: [] },
      { sheet: 'Orte', data: [['Ort'], [' Köln '], [null], [12345]] },
    ),
  );
  assert.deepEqual(opened.table.sheets, ['Kunden', 'Orte']);
  assert.deepEqual([opened.table.titles, opened.table.titleRow], [['Firma', 'Seit', 'Preis', 'Aktiv'], 2]);
  // An apostrophe guards the text, as in a CSV; a single mark is no mark of thousands.
  assert.deepEqual(opened.table.head, [{ number: 3, cells: ["''=A & B", '2026-03-01', '1.234', 'true'] }]);
  assert.equal(opened.table.thousandsMark, undefined);
  const { table } = await opened.chooseSheet!('Orte');
  assert.deepEqual(
    table.head.map(({ number, cells }) => [number, cells[0]]),
    [
      [2, ' Köln '],
      [4, '12345'],
    ],
  );
});

const knownTitles = new Set(['objekt', 'kunde', 'strasse', 'ort', 'schluessel']);

test('titles are found below a heading, on the sheet that has them, and in a merged head', async () => {
  const opened = await openTable(
    await workbook(
      { sheet: 'Deckblatt', data: [['Objektliste'], ['Stand', 'November']] },
      {
        sheet: 'Objekte',
        data: [
          ['Alle Objekte, Stand November'],
          [null],
          ['Objekt', 'Kunde', 'Adresse', null, 'Etage'],
          [null, null, 'Straße', 'Ort'],
          ['Foyer', 'Hotel', 'Weg 1', 'Kiel', '2'],
        ],
      },
    ),
    { knownTitles },
  );
  const { table } = opened;
  assert.deepEqual([table.sheet, table.titleRow, table.rowCount], ['Objekte', 4, 1]);
  assert.deepEqual(table.titles, ['Objekt', 'Kunde', 'Straße', 'Ort', 'Etage']);
  const upper = (await opened.chooseTitleRow(3)).table;
  assert.deepEqual([upper.titles[2], upper.rowCount], ['Adresse', 2]);
  const unknown = await inspectFile(new Blob(['Bericht\nA;B\n1;2\n']));
  assert.deepEqual([unknown.titles, unknown.titleRow], [['A', 'B'], 2]);
});

test('rows without titles are columns without titles', async () => {
  const opened = await openTable(new Blob(['Foyer\tKiel\nLobby\tBonn\tx\n']), { knownTitles });
  const { table } = await opened.chooseTitleRow(0);
  assert.deepEqual([table.titles, table.rowCount], [['', '', ''], 2]);
  assert.equal(table.head[0]?.cells[0], 'Foyer');
});

test('a column whose filled cells all say yes is known as one', async () => {
  const { onlyYes } = await inspectFile(new Blob(['A;B;C;D\nx;x;;1\n;nein;;Ja\n']));
  assert.deepEqual(onlyYes, [true, false, false, true]);
});

test('a sheet that holds nothing but spaces does not hide the others', async () => {
  const blank = { sheet: 'Tabelle2', data: [[' ']] };
  const objects = { sheet: 'Objekte', data: [['Objekt'], ['Foyer']] };
  const { sheet, sheets } = await inspectFile(await workbook(objects, blank));
  assert.deepEqual([sheet, sheets], ['Objekte', ['Objekte']]);
  await assert.rejects(inspectFile(await workbook(blank)), { code: 'empty' });
});

test('a workbook that would fill the memory is refused before it is read', async () => {
  const tooLarge = (error: unknown) => (error as TableFileError).code === 'tooLarge';
  const forged = Buffer.from(zipSync({ 'xl/worksheets/sheet1.xml': new Uint8Array(1000) }));
  // The directory of the archive says how much it unpacks to.
  forged.writeUInt32LE(51 * 1024 * 1024, forged.indexOf('PK\u0001\u0002') + 24);
  await assert.rejects(openTable(new Blob([forged])), tooLarge);
  const blanks = zipSync(
    { 'xl/worksheets/sheet1.xml': new Uint8Array(51 * 1024 * 1024).fill(32) },
    { level: 0 },
  );
  await assert.rejects(openTable(new Blob([new Uint8Array(blanks)])), tooLarge, 'blanks');
  const fewer = zipSync({ 'xl/sharedStrings.xml': new Uint8Array(1024 * 1024).fill(32) });
  await assert.rejects(openTable(new Blob([new Uint8Array(fewer)])), tooLarge, 'a megabyte of blanks');
  const sheet = (cells: string) =>
    new Blob([new Uint8Array(zipSync({ 'xl/worksheets/sheet1.xml': strToU8(`<row>${cells}</row>`) }))]);
  for (const place of ['A99999999', 'ABCDE1', 'XFD1048576', 'XFD306'])
    await assert.rejects(openTable(sheet(`<c r="${place}"><v>1</v></c>`)), tooLarge, place);
  const apart = '<c r="XFD1"><v>1</v></c><c r="A1048576"><v>1</v></c>';
  await assert.rejects(openTable(sheet(apart)), tooLarge, 'two cells');
});

test('formats down to the last cell of a sheet do not make a workbook large', async () => {
  const parts = unzipSync(
    new Uint8Array(await (await workbook({ sheet: 'A', data: [['Ort'], ['Kiel']] })).arrayBuffer()),
  );
  const name = 'xl/worksheets/sheet1.xml';
  const formats = '<row r="1048576"><c r="A1048576" s="1"/><c r="XFD1048576" s="1"/></row></sheetData>';
  parts[name] = strToU8(strFromU8(parts[name]!).replace('</sheetData>', formats));
  const { head } = await inspectFile(new Blob([new Uint8Array(zipSync(parts))]));
  assert.deepEqual(head, [{ number: 2, cells: ['Kiel'] }]);
});

test('a part full of beginnings that never end is read once', async () => {
  const parts = {
    'xl/worksheets/sheet1.xml': '<c <c r="A1">'.repeat(300_000),
    'xl/styles.xml': '<cellXfs <numFmt '.repeat(100_000),
  };
  const file = zipSync(
    Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])),
  );
  await assert.rejects(openTable(new Blob([new Uint8Array(file)])));
});

test('a total and notes below a table are left out, and never a row that may be data', async () => {
  const titles = 'Firma;Straße;Ort;Umsatz;Pflege';
  const data = ['Hotel;Ring 1;Köln;10,50;x', 'Total;Weg 2;Bonn;;x', 'Müller;Gasse 3;Ulm;20;'];
  const endOf = async (...lines: string[]) => {
    const { leftOut, rowCount, onlyYes } = await inspectFile(
      new Blob([[titles, ...data, ...lines].join('\n')]),
    );
    const end = leftOut.notData;
    assert.equal(rowCount + end.length, data.length + lines.filter((line) => /[^;]/.test(line)).length);
    return [end.map(({ number }) => number), onlyYes[4]];
  };
  assert.deepEqual(await endOf('Summe;;;30,50 €;2'), [[5], true]);
  assert.deepEqual(await endOf("Total;;;1'030.50;CHF"), [[5], true]);
  assert.deepEqual(await endOf(';;Gesamt:;1.030,50;'), [[5], true]);
  assert.deepEqual(await endOf('', 'Summe;;;30,50;', '', 'Stand: 17.11.2026;;;;', '* ohne Filialen'), [
    [6, 8, 9],
    true,
  ]);
  assert.deepEqual(await endOf('Anzahl: 3;;;;'), [[5], true]);
  assert.deepEqual(await endOf('Gesamt: 3 Kunden;;;;'), [[5], true]);
  assert.deepEqual(await endOf('Total 24 GmbH;;;;'), [[], true]);
  assert.deepEqual(await endOf(';;;;', 'Hinweis: nur aktive Kunden'), [[6], true]);
  assert.deepEqual(await endOf('Zwischensumme Nord;;;30,50;', 'Ende;Weg 4;Trier;;'), [[5], true]);
  assert.deepEqual(await endOf('', 'Filialen Nord;;;;', 'Ende;Weg 4;Trier;;'), [[6], true]);
  assert.deepEqual(await endOf('-----;----;---;---;', '3 Kunden;;;;', 'Ende;Weg 4;Trier;;'), [[5, 6], true]);
  // Keep rows directly below the data, company names, unknown notes, and rows with most fields filled.
  assert.deepEqual(await endOf('Filialen Nord;;;;', 'Ende;Weg 4;Trier;;'), [[], true]);
  assert.deepEqual(await endOf('Standard AG;;;;'), [[], true]);
  assert.deepEqual(await endOf('Stand: heute;;;;'), [[], true]);
  assert.deepEqual(await endOf('', 'Quelle GmbH;;;;'), [[], true]);
  assert.deepEqual(await endOf('', 'Hotel Stand;;;;'), [[], true]);
  assert.deepEqual(await endOf('Total;Weg 5;;12;'), [[], true]);
  assert.deepEqual(await endOf('Total;;Bonn;12;'), [[], true]);
  // A table with too few columns or rows keeps all rows.
  const names = await inspectFile(new Blob(['Firma;Ort\nHotel;Köln\nMüller;Ulm\nTotal;\n']));
  assert.deepEqual([names.leftOut.notData, names.rowCount], [[], 3]);
  const single = await inspectFile(new Blob([`${titles}\n${data[0]}\nSumme;;;10,50;\n`]));
  assert.deepEqual([single.leftOut.notData, single.rowCount], [[], 2]);
});

test('titles that a printed list repeats on each page are left out with their heading', async () => {
  const titles = 'Firma;Straße;Ort;Pflege';
  const repeatedIn = async (...lines: string[]) => {
    const { leftOut, rowCount, onlyYes, titles } = await inspectFile(new Blob([lines.join('\n')]));
    assert.deepEqual([leftOut.notData, onlyYes[3], titles[0]], [[], true, 'Firma']);
    return [leftOut.repeatedHead, rowCount];
  };
  const page = ['Hotel;Ring 1;Köln;x', 'Müller;Gasse 3;Ulm;', 'Maier;Weg 5;Bonn;x'];
  assert.deepEqual(await repeatedIn(titles, ...page, ' Firma;Straße;Ort;Pflege ;', ...page), [[5], 6]);
  assert.deepEqual(await repeatedIn(titles, ...page, titles, ...page, '', titles), [[5, 10], 6]);
  const heading = ['Kunden 2026;;;', '', titles];
  assert.deepEqual(await repeatedIn(...heading, ...page, '', ...heading, ...page), [[8, 10], 6]);
  // A longer page than the rows that wait for the end.
  const pages = [...page, ...page, ...page, ...page];
  assert.deepEqual(await repeatedIn(titles, ...pages, titles, ...pages), [[14], 24]);
  // One cell more, less or different is data, and so is a heading without titles below it.
  for (const row of ['Firma;Straße;Ort;', 'Firma;Straße;Ort;Pflege;x', 'Firma;Straße;ort;Pflege'])
    assert.deepEqual((await inspectFile(new Blob([[titles, ...page, row].join('\n')]))).rowCount, 4, row);
  assert.deepEqual(await repeatedIn(...heading, ...page, 'Kunden 2026;;;', ...page), [[], 7]);
  const single = await inspectFile(new Blob(['Firma\nHotel\nFirma\n']));
  assert.deepEqual([single.leftOut.repeatedHead, single.rowCount], [[], 2]);
});

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A workbook as other programs write it. `sheets`: attributes, kind and rows of each. */
function foreignWorkbook(sheets: [attributes: string, kind: string, rows: string][], formats = ''): Blob {
  const relation = (id: number, kind: string, target: string) =>
    `<Relationship Id="r${id}" Type="${office}/${kind}" Target="${target}"/>`;
  const tags = sheets.map(([attributes], id) => `<sheet ${attributes} sheetId="${id + 1}" r:id="r${id}"/>`);
  const relations = sheets.map(([, kind], id) => relation(id, kind, `${kind}s/sheet${id}.xml`));
  const parts = {
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${office}"><sheets>${tags.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${relations.join('')}${relation(99, 'styles', 'styles.xml')}</Relationships>`,
    'xl/styles.xml': `<styleSheet ${main}>${formats}</styleSheet>`,
    ...Object.fromEntries(
      sheets.map(([, kind, rows], id) => [
        `xl/${kind}s/sheet${id}.xml`,
        `<${kind} ${main}><sheetData>${rows}</sheetData></${kind}>`,
      ]),
    ),
  };
  const packed = zipSync(
    Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])),
  );
  return new Blob([new Uint8Array(packed)]);
}

const text = (words: string) => `<c t="inlineStr"><is><t>${words}</t></is></c>`;
const titleCells = `<row>${text('Firma')}${text('Ort')}${text('Straße')}</row>`;

test('cells without a place are read in their order, and an error stays one', async () => {
  const rows = `${titleCells}<row>${text('A')}<c/>${text('Weg')}</row>
    <row r="5"><c r="B5" t="e"><f>X</f><v>#N/A</v></c>${text('Ring')}</row>`;
  const { head } = await inspectFile(foreignWorkbook([['name="Liste"', 'worksheet', rows]]));
  assert.deepEqual(head, [
    { number: 2, cells: ['A', null, 'Weg'] },
    { number: 5, cells: [null, '#N/A', 'Ring'] },
  ]);
  const wide = `<row>${Array.from({ length: 703 }, (_, index) => text(`T${index}`)).join('')}</row>`;
  const { titles } = await inspectFile(foreignWorkbook([['name="Breit"', 'worksheet', wide]]));
  assert.deepEqual([titles.length, titles[26], titles[702]], [703, 'T26', 'T702']);
});

test('a diagram is no sheet to choose, and a hidden sheet is not the first choice', async () => {
  const old = `<row>${text('Objekt')}${text('Kunde')}${text('Straße')}${text('Ort')}</row><row>${text('alt')}</row>`;
  const current = `<row>${text('Objekt')}${text('Ort')}</row><row>${text('neu')}${text('Köln')}</row>`;
  const file = foreignWorkbook([
    ['name="Diagramm"', 'chartsheet', ''],
    ['name="2019" state="hidden"', 'worksheet', old],
    ['name="2026"', 'worksheet', current],
  ]);
  const opened = await openTable(file, { knownTitles });
  assert.deepEqual([opened.table.sheets, opened.table.sheet], [['2019', '2026'], '2026']);
  assert.equal((await opened.chooseSheet!('2019')).table.head[0]?.cells[0], 'alt');
});

test('a number that a workbook shows in percent or with zeros is read as shown', async () => {
  const formats = `<numFmts><numFmt numFmtId="170" formatCode="0.0\\ %"/><numFmt numFmtId="171" formatCode="0&quot;%&quot;"/><numFmt numFmtId="172" formatCode="00000"/></numFmts>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="170"><alignment/></xf><xf numFmtId="171"/><xf numFmtId="172"/></cellXfs>`;
  const rows = `${titleCells}<row><c s="1"><v>0.07</v></c><c t="n" s="2"><f>1</f><v>0.19</v></c><c s="3"><v>19</v></c></row>
    <row><c s="0"><v>0.5</v></c><c s="1"/><c s="1" t="str"><v>frei</v></c></row>
    <row><c s="4"><v>1067</v></c><c s="4"><v>10.5</v></c><c s="4"><v>101067</v></c></row>`;
  const { head } = await inspectFile(foreignWorkbook([['name="Preise"', 'worksheet', rows]], formats));
  assert.deepEqual(
    head.map(({ cells }) => cells),
    [
      ['7%', '19%', '19'],
      ['0.5', null, 'frei'],
      ['01067', '10.5', '101067'],
    ],
  );
});
