// Builds the guide into web/guide/dist: the pages, one style sheet, one script and the client's package. Quick, so it has its own
// fingerprint: a new line in the changelog does not build the web app again.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const folder = import.meta.dirname;
const root = path.resolve(folder, '../..');
const target = path.join(folder, 'dist');
const fingerprintFile = path.join(target, 'fingerprint');

function fingerprintSources(): string {
  const hash = createHash('sha256');
  const patterns = [
    'docs/guide/*',
    'docs/examples/*/*',
    'client/{src,bin}/*',
    'client/*.{ts,json,md}',
    'web/guide/*.{ts,css,js}',
    'CHANGELOG.md',
    'package.json',
    'package-lock.json',
  ];
  for (const file of globSync(patterns, { cwd: root }).sort()) {
    const content = readFileSync(path.join(root, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Built beside the place and moved into it: other processes may build or read at the same time. */
export async function buildGuide(): Promise<void> {
  const fingerprint = fingerprintSources();
  const isBuilt = async () =>
    existsSync(fingerprintFile) && (await readFile(fingerprintFile, 'utf8')) === fingerprint;
  if (await isBuilt()) return;
  const fresh = `${target}.${process.pid}`;
  const old = `${target}.old.${process.pid}`;
  try {
    await mkdir(fresh, { recursive: true });
    const { makeFiles } = await import('./pages.ts');
    for (const [name, content] of makeFiles()) await writeFile(path.join(fresh, name), content);
    await copyFile(path.join(root, 'docs/guide/redocly.yaml'), path.join(fresh, 'redocly.yaml'));
    const { packClient } = await import('../../client/pack.ts');
    await writeFile(path.join(fresh, 'stamm-client.tgz'), await packClient());
    await writeFile(path.join(fresh, 'fingerprint'), fingerprint);
    if (existsSync(target)) await rename(target, old);
    await rename(fresh, target);
  } catch (error) {
    if (!(await isBuilt())) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}
