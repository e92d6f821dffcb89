import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cornerOf, fillSheets, labelSheets, placesOf } from './label-sheets.ts';

test('no label leaves the sheet or overlaps another', () => {
  for (const sheet of labelSheets) {
    const corners = Array.from({ length: placesOf(sheet) }, (_, place) => cornerOf(sheet, place));
    for (const [place, { left, top }] of corners.entries()) {
      assert.ok(left >= -0.01 && left + sheet.width <= 210.01, `${sheet.id} at ${place}: ${left}`);
      assert.ok(top >= -0.01 && top + sheet.height <= 297.01, `${sheet.id} at ${place}: ${top}`);
      const right = corners[place + 1];
      if (right && right.top === top) assert.ok(right.left - left >= sheet.width - 0.01);
    }
  }
});

test('labels begin at the chosen place and go on at the top of the next sheet', () => {
  const sheet = labelSheets[0]!;
  const sheets = fillSheets(sheet, ['a', 'b', 'c'], placesOf(sheet) - 1);
  assert.deepEqual(sheets, [
    [{ place: 23, label: 'a' }],
    [
      { place: 0, label: 'b' },
      { place: 1, label: 'c' },
    ],
  ]);
  assert.deepEqual(fillSheets(sheet, [], 0), []);
});
