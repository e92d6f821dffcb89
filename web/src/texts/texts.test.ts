import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { de } from './de.ts';
import { en } from './en.ts';
import { isDay, parseDay } from './format.ts';

const source = path.join(import.meta.dirname, '..');

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

test('quotation marks are those of the language', () => {
  for (const file of globSync(path.join(source, '**/*.tsx')))
    assert.doesNotMatch(readFileSync(file, 'utf8'), /[„“”]/, file);
  for (const [key, text] of listTexts(en)) assert.doesNotMatch(text, /„/, key);
  for (const [key, text] of listTexts(de)) assert.doesNotMatch(text, /”/, key);
});

/** The part of the texts that a section is in, by its name. */
async function findParts(): Promise<Map<string, string>> {
  const parts = globSync(path.join(import.meta.dirname, 'en/*.ts'));
  const found = parts.map(async (file): Promise<[string, string][]> => {
    const { texts }: { texts: Tree } = await import(file);
    return Object.keys(texts).map((section) => [section, path.basename(file, '.ts')]);
  });
  return new Map((await Promise.all(found)).flat());
}

interface Loaded {
  file: string;
  parts: readonly string[];
}

/** Modules that a module brings along, with the texts that are there by then. */
function listImports(file: string, parts: readonly string[], code: string): Loaded[] {
  const at = (name: string) => path.resolve(path.dirname(file), name);
  const together = code.matchAll(/^(?:import|export) (?!type )(?:[^'"]*? from )?'(\.[^']+)';$/gm);
  const later = code.matchAll(
    /(?:withTexts\(\s*\[([^\]]*)\],\s*\(\) =>\s*)?\bimport\(\s*'(\.[^']+)'\s*,?\)/g,
  );
  return [
    ...[...together].map(([, name]) => ({ file: at(name!), parts })),
    ...[...later].map(([, added = '', name]) => ({
      file: at(name!),
      parts: [...new Set([...parts, ...[...added.matchAll(/\w+/g)].map(String)])].sort(),
    })),
  ];
}

test('a page is loaded with the texts that it shows', async () => {
  const partOf = await findParts();
  const key = new RegExp(`['\`](${[...partOf.keys()].join('|')})\\.`, 'g');
  const seen = new Set<string>();
  const missing = new Set<string>();
  const waiting: Loaded[] = [{ file: path.join(source, 'main.tsx'), parts: ['common'] }];
  for (const { file, parts } of waiting) {
    const id = `${file} ${parts}`;
    if (seen.has(id) || !/\/web\/src\/.*\.tsx?$/.test(file) || file.startsWith(import.meta.dirname)) continue;
    seen.add(id);
    const code = readFileSync(file, 'utf8');
    for (const [, section] of code.matchAll(key)) {
      const part = partOf.get(section!)!;
      if (!parts.includes(part))
        missing.add(`${path.relative(source, file)} shows ${section} without the part ${part}`);
    }
    waiting.push(...listImports(file, parts, code));
  }
  assert.ok(seen.size > 200, `${seen.size} modules`);
  assert.deepEqual([...missing], []);
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
