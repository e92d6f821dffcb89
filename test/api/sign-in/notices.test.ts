// The licences of others travel with what browsers get, and the bill of materials names what the service runs with.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { buildBillOfMaterials } from '../../../tools/bill-of-materials.ts';
import { startService } from '../../helpers/service.ts';

const root = path.resolve(import.meta.dirname, '../../..');
let notices: string;

before(async () => {
  await promisify(execFile)(process.execPath, [path.join(root, 'web/build.ts')]);
  const { app } = await startService();
  const response = await app.inject({ url: '/third-party-notices.txt' });
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
  notices = response.body;
});

/** Packages that sources of the web app import for more than types. */
async function findImportedPackages(): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const file of glob('web/src/**/*.{ts,tsx,css}', { cwd: root, exclude: ['**/*.test.ts'] })) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, name] of source.matchAll(
      /^(?:import (?!type)[^'"]*?|@import )['"]((?:@[\w-]+\/)?[\w-]+)/gm,
    )) {
      if (name && !name.startsWith('node')) names.add(name);
    }
  }
  return names;
}

test('every package that the web app imports is named with the text of its licence', async () => {
  const imported = await findImportedPackages();
  assert.ok(imported.has('react') && imported.has('@mantine/core'), [...imported].join(' '));
  const named = [...notices.matchAll(/^-{80}\n(\S+) [^\n]*\([^\n]+\)\n-{80}\n\n\S/gm)].map(
    ([, name]) => name,
  );
  for (const name of imported) assert.ok(named.includes(name), name);
  // Brought by others, and by ways that are no import.
  for (const name of ['react-dom', 'scheduler', '@floating-ui/dom', 'world-atlas', 'Tabler']) {
    assert.ok(named.includes(name), name);
  }
  assert.doesNotMatch(notices, /brings no licence text|undefined/);
});

test('the licence of the font is there, whole', () => {
  const font = notices.split('@fontsource-variable/inter')[1]!;
  assert.match(font, /The Inter Project Authors[\s\S]*SIL OPEN FONT LICENSE Version 1\.1[\s\S]*TERMINATION/);
});

test('the bill of materials names each package that the service or a browser runs, and no place', async () => {
  const text = await buildBillOfMaterials();
  const lockfile = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const packages: [string, { dev?: boolean; link?: boolean; version: string }][] = Object.entries(
    lockfile.packages,
  );
  const name = (place: string) => place.split('node_modules/').at(-1)!;
  const wanted = packages
    .filter(([place, { dev, link }]) => place.includes('node_modules/') && !dev && !link)
    .map(([place, { version }]) => `${name(place)}@${version}`);
  const { components }: { components: { name: string; version: string; hashes: object[] }[] } =
    JSON.parse(text);
  const found = new Set(components.map(({ name, version }) => `${name}@${version}`));
  for (const { name, hashes } of components) assert.equal(hashes.length, 1, name);
  assert.deepEqual(
    wanted.filter((one) => !found.has(one)),
    [],
  );
  const names = new Set(components.map((component) => component.name));
  for (const one of await findImportedPackages()) assert.ok(names.has(one), one);
  for (const one of ['react-dom', 'scheduler', '@floating-ui/dom', 'world-atlas'])
    assert.ok(names.has(one), one);
  for (const one of ['vite', 'typescript', 'playwright-core']) assert.ok(!names.has(one), one);
  assert.doesNotMatch(text, /"timestamp"|serialNumber|registry|file:\/\//);
  assert.ok(!text.includes(root));
});
