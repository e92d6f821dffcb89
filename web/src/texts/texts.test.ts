import assert from 'node:assert/strict';
import { test } from 'node:test';
import { de } from './de.ts';
import { en } from './en.ts';
import { isDay, parseDay } from './format.ts';

type Tree = { [key: string]: string | Tree };

function placeholders(tree: Tree, path = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [`${path}${key}: ${[...value.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort()}`]
      : placeholders(value, `${path}${key}.`),
  );
}

test('both languages have the same texts with the same places for values', () => {
  assert.deepEqual(placeholders(de), placeholders(en));
});

test('days are understood as people type them, and only days of the calendar', () => {
  const today = new Date('2026-11-15T12:00:00Z');
  const read = {
    '1.5.2026': '2026-05-01',
    '01/05/26': '2026-05-01',
    '31.12.': '2026-12-31',
    '3-4': '2026-04-03',
    ' 2026-02-28 ': '2026-02-28',
    '29.2.2028': '2028-02-29',
  };
  for (const [typed, day] of Object.entries(read)) assert.equal(parseDay(typed, today), day, typed);
  for (const typed of ['', '30.2.2026', '1.13.2026', 'morgen', '2026-02-30', '1.5.202']) {
    assert.equal(parseDay(typed, today), undefined, typed);
  }
  assert.ok(!isDay('2026-02-30'));
});
