// Imports run one way: a file's folder says what it may know.
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
  for await (const file of glob(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })) {
    const source = readFileSync(path.join(root, file), 'utf8');
    const add = (specifier: string, isTypeOnly: boolean) => {
      const to = path.relative(root, path.resolve(root, path.dirname(file), specifier));
      imports.push({ from: file, to: to.startsWith('..') ? specifier : to, isTypeOnly });
    };
    for (const match of source.matchAll(/^(?:import|export)( type)? [^'"]*?from '([^']+)'/gms))
      if (match[2]!.startsWith('.')) add(match[2]!, match[1] !== undefined);
    for (const match of source.matchAll(/\bimport\('(\.[^']+)'\)/g)) add(match[1]!, false);
  }
  return imports;
}

/** A file imports from its own line or from lines below it. */
const layers = [
  ['server/main.ts'],
  ['server/commands'],
  ['server/process'],
  ['server/app'],
  ['server/features'],
  ['server/resources'],
  ['server/mail', 'server/access', 'server/engine'],
  ['server/http'],
  ['server/database'],
  ['server/telemetry'],
  ['server/errors.ts', 'server/messages.ts', 'server/version.ts', 'server/program.ts'],
  ['core'],
];

function layerOf(file: string): number {
  return layers.findIndex((places) => places.some((place) => file === place || file.startsWith(`${place}/`)));
}

const serverImports = await findImports('server/**/*.ts');
const coreImports = await findImports('core/**/*.ts');
const webImports = await findImports('web/**/*.{ts,tsx}');

test('no file of the server imports from a layer above its own', () => {
  assert.ok(serverImports.length > 50);
  const upward = serverImports
    // Settings are passed in; only their type may be named.
    .filter(({ from, to }) => from !== 'server/config.ts' && to !== 'server/config.ts')
    .filter(({ from, to }) => layerOf(from) === -1 || layerOf(to) < layerOf(from))
    .map(({ from, to }) => `${from} -> ${to}`);
  assert.deepEqual(upward, []);
});

test('a feature imports no other feature', () => {
  const folderOf = (file: string) => file.split('/').slice(0, 3).join('/');
  const foreign = serverImports
    .filter(({ from, to }) => from.startsWith('server/features/') && to.startsWith('server/features/'))
    .filter(({ from, to }) => folderOf(from) !== folderOf(to))
    .map(({ from, to }) => `${from} -> ${to}`);
  assert.deepEqual(foreign, []);
});

test('no files import each other in a circle, types included', () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of [...serverImports, ...coreImports, ...webImports])
    next.set(from, [...(next.get(from) ?? []), to]);
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (file: string, way: string[]) => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
      return;
    }
    state.set(file, 'open');
    for (const to of next.get(file) ?? []) visit(to, [...way, file]);
    state.set(file, 'done');
  };
  for (const file of next.keys()) visit(file, []);
  assert.deepEqual(circles, []);
});

test('the file that builds the application imports at most 16 others', () => {
  const source = readFileSync(path.join(root, 'server/app/app.ts'), 'utf8');
  const count = source.match(/^import /gm)!.length;
  assert.ok(count <= 16, `${count} imports`);
});

test('settings are passed in, not imported', () => {
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

test('the engine knows no resource, and a resource knows only definitions', () => {
  const shared = ['server/resources/address.ts', 'server/resources/site-plan.ts'];
  for (const { from, to } of serverImports) {
    if (from.startsWith('server/engine/')) assert.doesNotMatch(to, /^server\/resources\//, from);
    if (from.startsWith('server/resources/') && from !== 'server/resources/index.ts') {
      const isAllowed =
        to.startsWith('server/engine/definition/') || to.startsWith('core/') || shared.includes(to);
      assert.ok(isAllowed, `${from} imports ${to}`);
    }
  }
});

/** Workbooks are read by packages, in the browser and at the command line. */
const packagesOfCore: Readonly<Record<string, readonly string[]>> = {
  'core/table/workbook.ts': ['fflate', 'read-excel-file/universal'],
  'core/table/workbook-parts.ts': ['fflate'],
};

test('core imports nothing but itself, and what reads a workbook', async () => {
  const sources: string[] = [];
  for await (const file of glob('core/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] })) sources.push(file);
  assert.ok(sources.length > 0);
  for (const file of sources) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, specifier] of source.matchAll(/^(?:import|export) [^'"]*?from '([^']+)'/gms))
      if (!packagesOfCore[file]?.includes(specifier!))
        assert.match(
          path.join(path.dirname(file), specifier!),
          /^(core|reference)\//,
          `${file} imports ${specifier}`,
        );
  }
});

test('the web app imports only core, and the types of the API; the guide packs the client', () => {
  for (const { from, to, isTypeOnly } of webImports) {
    if (to === 'client/src/api-types.ts') assert.ok(isTypeOnly, from);
    else
      assert.match(to, from === 'web/guide/build.ts' ? /^(web\/|client\/pack\.ts$)/ : /^(web|core)\//, from);
  }
});

test('the client imports only core and itself, and no package', async () => {
  let count = 0;
  for await (const file of glob('client/src/**/*.ts', { cwd: root })) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, specifier] of source.matchAll(/^(?:import|export) [^'"]*?from '([^']+)'/gms)) {
      const to = path.join(path.dirname(file), specifier!);
      assert.match(to, /^(client\/src|core)\//, `${file} imports ${specifier}`);
      assert.match(specifier!, /^\.{1,2}\//, `${file} imports ${specifier}`);
      count += 1;
    }
  }
  assert.ok(count > 5);
});

/** Pages and files of data that nobody looks through: an index or a test leads to each. */
const collections = ['docs/decisions', 'test/office-files'];

test('no folder has more than 25 files beside its sub-folders', async () => {
  const counts = new Map<string, number>();
  const folders = '{bench,client,core,docs,packaging,server,test,tools,web}/**/*.*';
  for await (const file of glob(folders, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })) {
    const folder = path.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  assert.ok(counts.size > 50);
  const full = [...counts].filter(([folder, count]) => count > 25 && !collections.includes(folder));
  assert.deepEqual(full, []);
});
