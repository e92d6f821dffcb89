import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { de } from './de.ts';
import { en } from './en.ts';
import { isDay, parseDay } from './format.ts';

type Tree = { [key: string]: string | Tree };

function listTexts(tree: Tree, above = ''): [key: string, text: string][] {
  return Object.entries(tree).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' ? [[above + key, value]] : listTexts(value, `${above}${key}.`),
  );
}

function placeholders(tree: Tree): string[] {
  return listTexts(tree).map(
    ([key, text]) => `${key}: ${[...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort()}`,
  );
}

function countWords(text: string): number {
  const words = text.replace(/\{\{\w+\}\}/g, '').split(/\s+/);
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Keys of the texts of inputs, buttons, menus and tabs, as the components name them. */
function findLabels(): Set<string> {
  const components = globSync(path.join(import.meta.dirname, '../**/*.tsx')).map((file) =>
    readFileSync(file, 'utf8'),
  );
  const label =
    /(?<![-\w])label=\{t\('([\w.]+)'|<(?:Button|Menu\.Item|Tabs\.Tab|Anchor)\b(?:[^<>]|=>|<\w+[^<>]*\/>)*>\s*\{t\('([\w.]+)'/g;
  return new Set(
    components.flatMap((source) => [...source.matchAll(label)].map((match) => (match[1] ?? match[2])!)),
  );
}

test('both languages have the same texts with the same places for values', () => {
  assert.deepEqual(placeholders(de), placeholders(en));
});

test('a label has at most 3 words, and a sentence at most 20', () => {
  const labels = findLabels();
  assert.ok(labels.size > 100);
  for (const tree of [de, en]) {
    for (const [key, text] of listTexts(tree)) {
      if (labels.has(key.replace(/_(one|other)$/, ''))) assert.ok(countWords(text) <= 3, `${key}: ${text}`);
      for (const sentence of text.split(/(?<=[.!?:;])\s/))
        assert.ok(countWords(sentence) <= 20, `${key}: ${sentence}`);
    }
  }
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
