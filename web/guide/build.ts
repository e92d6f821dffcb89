// Builds the guide into web/guide/dist: the pages, one style sheet, one script, the client's package and the script of
// the reference. Quick, so it has its own fingerprint: a new line in the changelog does not build the web app again.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { runInThisContext } from 'node:vm';
import { gzip } from 'node:zlib';

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
    await writeFile(path.join(fresh, 'scalar.js.gz'), await readReference());
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

/** Scalar publishes its browser bundle in a small package only as a string inside its Fastify plugin. */
async function readReference(): Promise<Buffer> {
  const plugin = await readFile(new URL(import.meta.resolve('@scalar/fastify-api-reference')), 'utf8');
  const literal = /^var standalone_default = (".*");$/m.exec(plugin)?.[1];
  if (!literal) throw new Error('@scalar/fastify-api-reference does not hold its bundle where it used to');
  const script: string = runInThisContext(literal);
  return promisify(gzip)(script, { level: 9 });
}
