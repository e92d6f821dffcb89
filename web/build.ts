// Builds the web app into web/dist and the guide, unless they were built from the same sources before. Run by `npm ci`, and
// by the service at its start: a changed checkout is served as it is now.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildGuide } from './guide/build.ts';

const root = import.meta.dirname;
const target = path.join(root, 'dist');
/** Its first line says what was built, the others name the files: a reader knows that none is missing. */
const listName = 'fingerprint';

/** Of everything that the built files follow from. Content and not time: a checkout has the time at which it was made. */
function fingerprintSources(): string {
  const hash = createHash('sha256');
  const sources = globSync('{src,public,../core,../reference}/**/*', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of [
    ...sources.sort(),
    ...[
      'index.html',
      'vite.config.ts',
      'notices.ts',
      'offline.ts',
      'service-worker.js',
      'outline.ts',
      'places.ts',
      'build.ts',
      '../package-lock.json',
    ].map((name) => path.join(root, name)),
  ]) {
    const content = readFileSync(file);
    hash.update(`${path.relative(root, file)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

async function isBuilt(fingerprint: string): Promise<boolean> {
  const file = path.join(target, listName);
  return existsSync(file) && (await readFile(file, 'utf8')).startsWith(`${fingerprint}\n`);
}

/** Built beside the place and moved into it, since other processes may be building or reading at the same time. */
async function buildApp(fingerprint: string): Promise<void> {
  const { build } = await import('vite');
  const fresh = `${target}.${process.pid}`;
  const old = `${target}.old.${process.pid}`;
  try {
    await build({
      configFile: path.join(root, 'vite.config.ts'),
      logLevel: 'error',
      build: { outDir: fresh, emptyOutDir: true },
    });
    await compressFiles(fresh);
    await writeFile(path.join(fresh, listName), [fingerprint, ...(await listFiles(fresh))].join('\n'));
    if (existsSync(target)) await rename(target, old);
    await rename(fresh, target);
  } catch (error) {
    // A faster build may have moved the same files here.
    if (!(await isBuilt(fingerprint))) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}

async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(directory, path.join(parentPath, name)));
}

/** Once here: no answer waits for it. */
async function compressFiles(directory: string): Promise<void> {
  for (const name of await listFiles(directory)) {
    if (!/\.(m?js|css|svg|json|txt|webmanifest)$/.test(name)) continue;
    const file = path.join(directory, name);
    const content = await readFile(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
  }
}

try {
  const fingerprint = fingerprintSources();
  if (!(await isBuilt(fingerprint))) await buildApp(fingerprint);
  await buildGuide();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const message =
    'The web app needs packages for its build. Run "npm ci" first, then "npm prune --omit=dev".';
  throw new Error(message, { cause: error });
}
