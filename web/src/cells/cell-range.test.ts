import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInRange, moveBy, rangeBetween, sizeOf, spread, within } from './cell-range.ts';

test('a range holds every cell between two corners, in whichever order they were chosen', () => {
  const range = rangeBetween({ row: 4, column: 3 }, { row: 2, column: 5 });
  assert.equal(sizeOf(range), 9);
  assert.ok(isInRange(range, { row: 3, column: 4 }));
  assert.ok(!isInRange(range, { row: 5, column: 4 }));
});

test('keys lead no further than the edges of the table', () => {
  const last = { row: 9, column: 2 };
  const lead = (key: string, isToEdge: boolean) =>
    within(moveBy(key, isToEdge, { row: 9, column: 1 }, last)!, last);
  assert.deepEqual(lead('ArrowDown', false), { row: 9, column: 1 });
  assert.deepEqual(lead('ArrowUp', true), { row: 0, column: 1 });
  assert.deepEqual(lead('End', false), { row: 9, column: 2 });
  assert.deepEqual(lead('Home', true), { row: 0, column: 0 });
});

test('one copied cell fills the selected range, and rows are repeated where they fit several times', () => {
  const range = rangeBetween({ row: 0, column: 0 }, { row: 3, column: 1 });
  assert.deepEqual(spread([['a']], range), [
    ['a', 'a'],
    ['a', 'a'],
    ['a', 'a'],
    ['a', 'a'],
  ]);
  assert.deepEqual(
    spread(
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      range,
    ),
    [
      ['a', 'b'],
      ['c', 'd'],
      ['a', 'b'],
      ['c', 'd'],
    ],
  );
  assert.deepEqual(spread([['a'], ['b'], ['c']], range), [
    ['a', 'a'],
    ['b', 'b'],
    ['c', 'c'],
  ]);
});
