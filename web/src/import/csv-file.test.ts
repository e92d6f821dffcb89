import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CsvFileError, inspectFile } from './csv-file.ts';

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

test('a file that is a workbook, empty, or never closes a quotation mark is refused by what it is', async () => {
  const hasCode = (code: string) => (error: unknown) => (error as CsvFileError).code === code;
  await assert.rejects(inspectFile(new Blob(['PK\u0003\u0004…'])), hasCode('spreadsheet'));
  await assert.rejects(inspectFile(new Blob([''])), hasCode('empty'));
  await assert.rejects(inspectFile(new Blob(['a\0b'])), hasCode('binary'));
  await assert.rejects(inspectFile(new Blob(['Firma;Ort\n"Grün & Gut;Köln\n'])), hasCode('open_quote'));
});
