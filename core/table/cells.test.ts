import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CellField, isNumberCell, type ThousandsMark, toFieldValue } from './cells.ts';
import type { Cell } from './csv/csv.ts';

/** The JSON that a cell becomes; undefined where the field is not sent. */
function sent(field: Partial<CellField>, cell: Cell, mark: ThousandsMark = '.'): string | undefined {
  return JSON.stringify(toFieldValue({ kind: 'text', isRequired: false, ...field }, cell, mark));
}

test('a cell without a value is not sent, unless the text is required and may be empty', () => {
  for (const kind of [
    'text',
    'choice',
    'flag',
    'integer',
    'decimal',
    'double',
    'date',
    'uuid',
    'list',
  ] as const) {
    assert.equal(sent({ kind }, null), undefined, kind);
    assert.equal(sent({ kind, isRequired: true }, null), undefined, kind);
  }
  assert.equal(sent({ isRequired: true, isBlankAllowed: true }, null), '""');
  assert.equal(sent({ kind: 'date' }, ' '), undefined);
  assert.equal(sent({ isBlankAllowed: true }, ''), '""');
});

test('a quoted empty cell is empty where the field cannot be', () => {
  assert.equal(sent({ kind: 'choice' }, ''), undefined);
  assert.equal(sent({ isBlankAllowed: true, format: 'email' }, ''), undefined);
  assert.equal(sent({ isRequired: true, isBlankAllowed: false }, ' '), undefined);
});

test('texts stay as they are, but for the apostrophe that guards a formula', () => {
  assert.deepEqual(
    [sent({}, ' x '), sent({}, "'=1+1"), sent({}, "'t Hoekje"), sent({}, '007')],
    ['" x "', '"=1+1"', '"\'t Hoekje"', '"007"'],
  );
});

test('flags and choices are understood in both languages', () => {
  for (const word of ['ja', 'Yes', 'WAHR', '1', 'x', 'vorhanden'])
    assert.equal(sent({ kind: 'flag' }, word), 'true', word);
  for (const word of ['Nein', 'no', 'falsch', '0']) assert.equal(sent({ kind: 'flag' }, word), 'false', word);
  assert.equal(sent({ kind: 'flag' }, 'vielleicht'), '"vielleicht"');
  const choice = {
    kind: 'choice',
    choices: [{ value: 'ACTIVE', title: { de: 'Aktiv', en: 'Active' } }],
  } as const;
  for (const word of ['ACTIVE', ' aktiv ', 'active']) assert.equal(sent(choice, word), '"ACTIVE"', word);
  assert.equal(sent(choice, 'neu'), '"neu"');
});

const numbers: [cell: string, withPoint: string, withComma: string][] = [
  ['12', '12', '12'],
  ['-3', '-3', '-3'],
  ['+4', '4', '4'],
  ['007', '7', '7'],
  ['1,5', '1.5', '1.5'],
  ['1.5', '1.5', '1.5'],
  // The thousands mark decides only about these two cells.
  ['1.234', '1234', '1.234'],
  ['1,234', '1.234', '1234'],
  ['1.234,50', '1234.50', '1234.50'],
  ['1,234.50', '1234.50', '1234.50'],
  ['12.345.678', '12345678', '12345678'],
  ['1e3', '1e3', '1e3'],
  ['0.10000000000000000001', '0.10000000000000000001', '0.10000000000000000001'],
  ['1,', '"1,"', '"1,"'],
  ['.5', '".5"', '".5"'],
  ['5 %', '"5 %"', '"5 %"'],
  ['12,50 €', '12.50', '12.50'],
  ['€ 12.50', '12.50', '12.50'],
  ['12,-- €', '12', '12'],
  ['CHF 12.50', '"CHF 12.50"', '"CHF 12.50"'],
  ['1.234,50\u00a0EUR', '1234.50', '1234.50'],
  ['1 234,5', '1234.5', '1234.5'],
  ['12,-', '12', '12'],
  ['12 34', '"12 34"', '"12 34"'],
  ['€', '"€"', '"€"'],
];

test('numbers are exact, with the decimal mark of either language', () => {
  for (const [cell, withPoint, withComma] of numbers) {
    assert.equal(sent({ kind: 'decimal' }, cell, '.'), withPoint, cell);
    assert.equal(sent({ kind: 'decimal' }, cell, ','), withComma, cell);
  }
  assert.equal(sent({ kind: 'double' }, '9.992', '.'), '9.992', 'a measure has no thousands');
  const field = { kind: 'integer', isRequired: false } as const;
  assert.deepEqual([isNumberCell(field, '-3', '.'), isNumberCell(field, '-x', '.')], [true, false]);
});

test('German days become ISO days', () => {
  assert.equal(sent({ kind: 'date' }, '31.12.2026'), '"2026-12-31"');
  assert.equal(sent({ kind: 'date' }, ' 1.2.2026'), '"2026-02-01"');
  assert.equal(sent({ kind: 'date' }, '01.03.26'), '"2026-03-01"');
  assert.equal(sent({ kind: 'date' }, '1/3/2026'), '"2026-03-01"');
  assert.equal(sent({ kind: 'date' }, '1.3/26'), '"1.3/26"');
});

test('days with the name of the month, and with the midnight of a database, become ISO days', () => {
  for (const cell of [
    '1. März 2026',
    '01. mrz. 26',
    '1 March 2026',
    'March 1st, 2026',
    'Mar 1, 2026',
    '01.03.2026 00:00:00',
    '2026-03-01T00:00:00.000Z',
  ])
    assert.equal(sent({ kind: 'date' }, cell), '"2026-03-01"', cell);
  for (const cell of ['30. Februar 2026', '1. Mond 2026', 'März 2026', '01.03.2026 14:30'])
    assert.equal(sent({ kind: 'date' }, cell), JSON.stringify(cell), cell);
});

test('lists are JSON, with numbers as they were written', () => {
  assert.equal(sent({ kind: 'list' }, '[{"a":1.10}]'), '[{"a":1.10}]');
  assert.equal(sent({ kind: 'list' }, '[1'), '"[1"');
  const hours = '[{"dayOfWeek":"MONDAY","opens":"08:00","closes":"12:00"}]';
  assert.equal(sent({ kind: 'list', knownItem: 'OpeningHours' }, 'Mo 8–12'), hours);
  const tooDeep = '['.repeat(100_000) + ']'.repeat(100_000);
  assert.equal(sent({ kind: 'list' }, tooDeep), JSON.stringify(tooDeep));
});

test('every number that JSON can write is read back as it was written', () => {
  const written = fc.oneof(
    fc.integer().map(String),
    fc.tuple(fc.integer(), fc.stringMatching(/^\d{1,30}$/)).map(([whole, digits]) => `${whole}.${digits}`),
  );
  fc.assert(
    fc.property(written, (text) => {
      assert.equal(sent({ kind: 'decimal' }, text, ','), text);
      assert.equal(sent({ kind: 'decimal' }, text.replace('.', ','), '.'), text);
    }),
  );
});

test('percents are numbers where the field is one, and errors of a spreadsheet are no texts', () => {
  const rate = { kind: 'decimal', maximum: 100 } as const;
  assert.deepEqual(
    ['19%', '7,5 %', '19', '%'].map((cell) => sent(rate, cell)),
    ['19', '7.5', '19', '"%"'],
  );
  assert.equal(sent({ kind: 'decimal' }, '19%'), '"19%"');
  for (const cell of ['#NV', ' #N/A', '#BEZUG!', '#######'])
    assert.equal(sent({}, cell), JSON.stringify({ error: cell.trim() }));
  assert.deepEqual([sent({}, '#12'), sent({}, 'Haus #NV'), sent({}, '#')], ['"#12"', '"Haus #NV"', '"#"']);
});
