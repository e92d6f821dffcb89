// Imports run one way, so that a reader can tell from a file's place what it may know.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');

interface Import {
  from: string;
  to: string;
  isTypeOnly: boolean;
}

async function findImports(pattern: string): Promise<Import[]> {
  const imports: Import[] = [];
  for await (const file of glob(pattern, { cwd: root, exclude: ['**/node_modules/**'] })) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const match of source.matchAll(/^(import|export)( type)? [^'"]*?from '(\.[^']+)'/gms)) {
      const to = path.relative(root, path.resolve(root, path.dirname(file), match[3]!));
      imports.push({ from: file, to, isTypeOnly: match[2] !== undefined });
    }
  }
  return imports;
}

/** Each place may import from places below its own line, and from its own. */
const layers = [
  ['server/main.ts', 'server/worker.ts'],
  ['server/commands'],
  ['server/app.ts'],
  ['server/api.ts', 'server/office.ts'],
  ['server/master-data.ts'],
  ['server/features', 'server/routes', 'server/import'],
  ['server/resources', 'server/journal'],
  ['server/crud', 'server/auth'],
  ['server/http'],
  ['server/database'],
  ['server/errors.ts', 'server/messages.ts'],
  ['core'],
];

function layerOf(file: string): number {
  return layers.findIndex((places) => places.some((place) => file === place || file.startsWith(`${place}/`)));
}

function isBelow(folder: string, file: string): boolean {
  return file.startsWith(`${folder}/`);
}

const serverImports = await findImports('server/**/*.ts');

test('no file of the server imports from a layer above its own', () => {
  assert.ok(serverImports.length > 50);
  const upward = serverImports
    // The settings are passed in; only their type may be named, and they know where data is kept by default.
    .filter(({ from, to }) => from !== 'server/config.ts' && to !== 'server/config.ts')
    .filter(({ from, to }) => layerOf(from) === -1 || layerOf(to) < layerOf(from));
  assert.deepEqual(upward, []);
});

test('the settings are passed in, and not imported', () => {
  const readers = serverImports.filter(({ to, isTypeOnly }) => to === 'server/config.ts' && !isTypeOnly);
  assert.deepEqual(
    readers.map(({ from }) => from),
    ['server/main.ts'],
  );
});

test('only the settings read the environment', async () => {
  for await (const file of glob('server/**/*.ts', { cwd: root })) {
    if (file === 'server/config.ts' || file === 'server/main.ts') continue;
    assert.doesNotMatch(readFileSync(path.join(root, file), 'utf8'), /process\.env\b/, file);
  }
});

test('the engine knows no resource, and a resource knows no other', () => {
  const shared = ['server/resources/address.ts'];
  for (const { from, to } of serverImports) {
    if (from.startsWith('server/crud/')) assert.doesNotMatch(to, /^server\/resources\//, from);
    if (from.startsWith('server/resources/') && from !== 'server/resources/index.ts') {
      const isDefinition = ['server/crud/definition.ts', 'server/crud/fields.ts'].includes(to);
      assert.ok(isDefinition || shared.includes(to) || isBelow('core', to), `${from} imports ${to}`);
    }
  }
});

test('the web app and the client import nothing but the rules that they share with the server', async () => {
  const webImports = await findImports('web/**/*.{ts,tsx}');
  assert.ok(webImports.some(({ to }) => isBelow('core', to)));
  for (const { from, to } of [...webImports, ...(await findImports('client/**/*.ts'))]) {
    const [own = ''] = from.split('/');
    assert.ok(isBelow(own, to) || isBelow('core', to), `${from} imports ${to}`);
  }
});

test('the shared rules import nothing but each other, no package and no part of Node', async () => {
  const files = await Array.fromAsync(glob('core/**/*.ts', { cwd: root }));
  const rules = files.filter((file) => !file.endsWith('.test.ts'));
  assert.ok(rules.length > 3);
  for (const file of rules) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, name = ''] of source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)) {
      const to = path.relative(root, path.resolve(root, path.dirname(file), name));
      assert.ok(name.startsWith('.') && isBelow('core', to), `${file} imports ${name}`);
    }
    assert.doesNotMatch(source, /\b(?:process|Buffer|document|window|require)\b[.(]/, file);
  }
});
