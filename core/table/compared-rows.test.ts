import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRepeatedRows } from './compared-rows.ts';

test('rows of one company are found by its name, or by its e-mail address in the same town', () => {
  const zipCode = '26122';
  const rows = [
    { row: 2, name: 'Bäckerei & Café Müßig e. K.', zipCode, email: 'Info@Muessig.example' },
    { row: 3, name: 'Bäckerei und Cafe Müssig', zipCode, email: 'info@muessig.example' },
    { row: 4, name: 'BAECKEREI & CAFÉ MÜSSIG E. K.', zipCode },
    { row: 5, name: 'Filiale Müßig', zipCode: '28195', email: 'info@muessig.example' },
  ];
  assert.deepEqual(
    [...findRepeatedRows(rows)],
    [
      [3, { row: 2, reason: 'email' }],
      [4, { row: 2, reason: 'repeated' }],
    ],
  );
});

test('people of one customer may share an e-mail address', () => {
  const person = {
    ownerId: '0198c0de-0000-7000-8000-000000000001',
    zipCode: '26122',
    email: 'info@a.example',
  };
  const rows = [
    { row: 2, name: 'Harms', ...person },
    { row: 3, name: 'Petersen', ...person },
  ];
  assert.equal(findRepeatedRows(rows).size, 0);
});
