import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { Cell } from './cells.ts';
import { buildCsvParser, guessSeparator, toCsvLine } from './csv.ts';
import { type CsvFileError, inspectFile } from './csv-file.ts';

function read(pieces: readonly string[], separator = ';'): Cell[][] {
  const parser = buildCsvParser(separator);
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

/** As the command line reads it. */
function readAtServer(text: string, separator = ';'): Cell[][] {
  return parse(text, {
    delimiter: separator,
    relax_quotes: true,
    relax_column_count: true,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  }) as Cell[][];
}

describe('the rows of a CSV', () => {
  test('are those that the command line reads, wherever the file is cut into pieces', () => {
    const characters = fc.constantFrom('a', 'ß', ' ', '"', '""', ';', '\n', 'x"y', '";"', '5" Topf');
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 14 }), fc.nat(20), (parts, cut) => {
        const text = parts.join('');
        // A quotation mark that is never closed is refused there, and here the cell goes on to the end of the file.
        let expected: Cell[][];
        try {
          expected = readAtServer(text);
        } catch {
          return;
        }
        assert.deepEqual(read([text]), expected, JSON.stringify(text));
        assert.deepEqual(read([text.slice(0, cut), text.slice(cut)]), expected, JSON.stringify([text, cut]));
      }),
      { numRuns: 3000 },
    );
  });

  test('end with the line breaks of every system, also where one is cut in two', () => {
    assert.deepEqual(read(['a;b\r', '\nc;"d\r\ne"\rf\n']), [['a', 'b'], ['c', 'd\r\ne'], ['f']]);
  });

  test('are read as they were written', () => {
    const cell = fc.oneof(fc.constant(null), fc.string());
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1 }), (rows) => {
        assert.deepEqual(read([rows.map((cells) => toCsvLine(cells, ',')).join('')], ','), rows);
      }),
    );
  });
});

describe('a file', () => {
  test('has the separator that stands most often between its titles', () => {
    assert.equal(guessSeparator('"Firma; Name";Ort;PLZ\na,b,c,d,e'), ';');
    assert.equal(guessSeparator('Firma,Ort'), ',');
    assert.equal(guessSeparator('Firma\tOrt'), '\t');
  });

  test('is understood in the encodings of Windows, with and without a byte order mark', async () => {
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

  test('that is a workbook, or empty, is told apart', async () => {
    const isFault = (fault: string) => (error: unknown) => (error as CsvFileError).fault === fault;
    await assert.rejects(inspectFile(new Blob(['PK\u0003\u0004…'])), isFault('spreadsheet'));
    await assert.rejects(inspectFile(new Blob([''])), isFault('empty'));
    await assert.rejects(inspectFile(new Blob(['a\0b'])), isFault('binary'));
  });
});
