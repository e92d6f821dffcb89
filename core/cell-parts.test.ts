import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Parts, splitCell } from './cell-parts.ts';

function split(kind: Parts['kind'], cell: string) {
  return splitCell({ kind, paths: ['a', 'b'] }, cell);
}

test('a postcode and its town are separated', () => {
  assert.deepEqual(split('town', '26122 Oldenburg'), ['26122', 'Oldenburg']);
  assert.deepEqual(split('town', ' D-26122  Bad Zwischenahn '), ['26122', 'Bad Zwischenahn']);
  assert.deepEqual(split('town', '1010, Wien'), ['1010', 'Wien']);
  assert.deepEqual(split('town', 'Oldenburg'), [undefined, 'Oldenburg']);
  assert.deepEqual(split('town', ' '), [undefined, undefined]);
});

test('a street and its number are separated', () => {
  assert.deepEqual(split('street', 'Lange Straße 5a'), ['Lange Straße', '5a']);
  assert.deepEqual(split('street', 'Straße des 17. Juni 135'), ['Straße des 17. Juni', '135']);
  assert.deepEqual(split('street', 'Hauptstr.12-14'), ['Hauptstr.', '12-14']);
  assert.deepEqual(split('street', 'Weg 3 b'), ['Weg', '3 b']);
  assert.deepEqual(split('street', 'Am Markt'), ['Am Markt', '']);
});

test('first and last names are separated', () => {
  assert.deepEqual(split('person', 'Frau Anke Petersen'), ['Anke', 'Petersen']);
  assert.deepEqual(split('person', 'Harms, Jonas'), ['Jonas', 'Harms']);
  assert.deepEqual(split('person', 'Jan Peter von der Heide'), ['Jan Peter', 'von der Heide']);
  assert.deepEqual(split('person', 'Herr Meier'), [undefined, 'Meier']);
});
