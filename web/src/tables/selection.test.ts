import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countSelected, isSelected, rangeOf, type Selection, withTicks } from './selection.ts';

const none: Selection = { isAll: false, ids: new Set() };
const all: Selection = { isAll: true, ids: new Set() };

test('ticks are kept one by one, or as exceptions from all', () => {
  const some = withTicks(none, ['a', 'b'], true);
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => isSelected(some, id)),
    [true, true, false],
  );
  assert.equal(countSelected(withTicks(some, ['a'], false), 10), 1);
  const most = withTicks(all, ['a', 'b'], false);
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => isSelected(most, id)),
    [false, false, true],
  );
  assert.equal(countSelected(most, 10), 8);
  assert.equal(countSelected(withTicks(most, ['a'], true), 10), 9);
});

test('a range leads in either direction, and is one row if its beginning is gone', () => {
  const shown = ['a', 'b', 'c', 'd'];
  assert.deepEqual(rangeOf(shown, 'b', 'd'), ['b', 'c', 'd']);
  assert.deepEqual(rangeOf(shown, 'd', 'b'), ['b', 'c', 'd']);
  assert.deepEqual(rangeOf(shown, 'x', 'c'), ['c']);
});
