import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  buildCsvParser,
  type Cell,
  type CsvErrorCode,
  CsvFormatError,
  guardText,
  guessSeparator,
  type Separator,
  separators,
  toCsvLine,
  unguardText,
} from './csv.ts';

function read(pieces: readonly string[], separator: Separator = ';'): Cell[][] {
  const parser = buildCsvParser(separator);
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

function hasCode(code: CsvErrorCode) {
  return (error: unknown) => error instanceof CsvFormatError && error.code === code;
}

/** Files as spreadsheets and people write them. */
const files: Record<string, Cell[][]> = {
  'a;b\n': [['a', 'b']],
  'a;\n;b': [
    ['a', null],
    [null, 'b'],
  ],
  '"";\n': [['', null]],
  '"a;b";"c"\n': [['a;b', 'c']],
  '"a""b"\n': [['a"b']],
  '""""\n': [['"']],
  '"""a"\n': [['"a']],
  '"a\nb";c': [['a\nb', 'c']],
  '5" Topf;x\n': [['5" Topf', 'x']],
  'x"y";z\n': [['x"y"', 'z']],
  '"Rose" Hof;x\n': [['"Rose" Hof', 'x']],
  '"a"b"c";d\n': [['"a"b"c"', 'd']],
  ' "a";b\n': [[' "a"', 'b']],
  '"a" ;b\n': [['"a" ', 'b']],
  'a;b;c\nd\n': [['a', 'b', 'c'], ['d']],
  'a\n\nb\n': [['a'], [null], ['b']],
  '': [],
};

describe('the rows of a CSV', () => {
  for (const [text, rows] of Object.entries(files)) {
    test(`of ${JSON.stringify(text)} are understood`, () => assert.deepEqual(read([text]), rows));
  }

  test('are the same wherever the file is cut into pieces', () => {
    const parts = fc.constantFrom('a', 'ß', ' ', '"', '""', ';', '\n', '\r\n', '\r', 'x"y', '";"', '5" Topf');
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 14 }), fc.nat(20), fc.nat(20), (some, one, other) => {
        const text = some.join('');
        const [first, second] = [Math.min(one, other), Math.max(one, other)];
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        let whole: Cell[][];
        try {
          whole = read([text]);
        } catch (error) {
          assert.ok(hasCode('open_quote')(error));
          assert.throws(() => read(pieces), hasCode('open_quote'));
          return;
        }
        assert.deepEqual(read(pieces), whole);
      }),
      { numRuns: 3000 },
    );
  });

  test('end with the line breaks of every system, also where one is cut in two', () => {
    assert.deepEqual(read(['a;b\r', '\nc;"d\r\ne"\rf\n']), [['a', 'b'], ['c', 'd\r\ne'], ['f']]);
  });

  test('are read as they were written', () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.constantFrom(';', ',', '\t', '"', '\r', '', ' '),
    );
    const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1 });
    fc.assert(
      fc.property(rows, fc.constantFrom(...separators), (written, separator) => {
        const text = written.map((cells) => toCsvLine(cells, separator)).join('');
        assert.deepEqual(read([text], separator), written);
      }),
    );
  });

  test('need a closed quotation mark', () => {
    assert.throws(() => read(['a;b\n"c;d\n', 'e;f\n']), hasCode('open_quote'));
  });

  test('are refused rather than kept in memory where one does not end', () => {
    const parser = buildCsvParser(';');
    const piece = 'x'.repeat(1024 * 1024);
    assert.deepEqual(parser.push(`a;b\n"${piece}`), [['a', 'b']]);
    assert.throws(() => {
      for (let count = 0; count < 20; count++) parser.push(piece);
    }, hasCode('row_too_long'));
    const short = buildCsvParser(';');
    for (let count = 0; count < 20; count++) assert.equal(short.push(`${piece}\n`).length, 1);
  });
});

describe('the lines of a CSV', () => {
  test('quote every cell that any spreadsheet could cut in two', () => {
    assert.equal(
      toCsvLine(['a,b', 'c;d', 'e\tf', 'g"h', 'i\nj', ' k', '', null, 'l m'], ';'),
      '"a,b";"c;d";"e\tf";"g""h";"i\nj";" k";"";;l m\r\n',
    );
  });

  test('keep texts that look like formulas texts, and give them back', () => {
    assert.equal(guardText('=1+1'), "'=1+1");
    assert.equal(guardText("'=1+1"), "''=1+1");
    assert.equal(guardText('＝1'), "'＝1");
    assert.equal(guardText("'t Hoekje"), "'t Hoekje");
    assert.equal(guardText('a;=1'), "a;'=1");
    const part = fc.constantFrom('', "'", '=', '-', '@', '\t', '\r\n', '＋', ';', ',', 'a');
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string())), (parts) => {
        const text = parts.join('');
        const guarded = guardText(text);
        assert.equal(unguardText(guarded), text);
        for (const start of guarded.split(/[,;\t\r\n]/)) assert.doesNotMatch(start, /^[=+\-@＝＋－＠]/);
      }),
      { numRuns: 2000 },
    );
  });
});

test('a file has the separator that splits most of its first rows alike', () => {
  assert.equal(guessSeparator('Kundenliste 2026\nFirma,PLZ,Ort\nA,20095,Hamburg'), ',');
  assert.equal(guessSeparator('Kundenliste 2026\nFirma\tPLZ\tOrt\nA\t20095\tHamburg'), '\t');
  assert.equal(guessSeparator('Kundenliste, Stand 2026\n\nFirma;PLZ;Ort\nA, B und C;20095;Hamburg'), ';');
  assert.equal(guessSeparator('Artikel;Preis;Menge\nA;1,50;2,5\nB;2,50;1,0'), ';');
  assert.equal(guessSeparator('"Firma, Name";Ort;PLZ\na, b, c, d, e;f;g'), ';');
  assert.equal(guessSeparator('Firma,Ort'), ',');
  assert.equal(guessSeparator('Firma\tOrt'), '\t');
});

test('a cell that another program guards against a spreadsheet is read as its text', () => {
  assert.equal(unguardText('="01067"'), '01067');
  assert.equal(unguardText('="Topf 5"" hoch"'), 'Topf 5" hoch');
  assert.equal(unguardText("'03514567890"), '03514567890');
  assert.equal(unguardText("'+49 351 4567890"), '+49 351 4567890');
  for (const text of ['="01067"', "'68er Kneipe", "''5", '=1+1'])
    assert.equal(unguardText(guardText(text)), text);
});
