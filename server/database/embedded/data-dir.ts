// The data folder of the embedded PostgreSQL, with the owners and permissions that PostgreSQL requires.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import {
  chmod,
  lchown,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  type Account,
  EmbeddedPostgresError,
  findClosedFolder,
  findInstalledPrograms,
  findServerAccount,
  type Programs,
  syncToDisk,
} from './programs.ts';

/** Part of the socket's name; nothing listens on the network. */
export const port = 5432;

/** The kernel takes 107 bytes (Linux) or 103 (macOS) for the path of a socket. */
const longestSocketPath = 99;

export interface Cluster {
  dataDir: string;
  folder: string;
  socketDir: string;
  logFile: string;
  password: string;
  account: Account;
  programs: Programs;
}

/** The folder of backups until the operator names another disk. */
export function backupsIn(dataDir: string): string {
  return join(dataDir, 'backups');
}

const clusterName = /^postgres-(\d+)$/;

/** Whether a PostgreSQL of any version has data there. A folder that cannot be read counts as one that has. */
export function hasCluster(dataDir: string): boolean {
  try {
    return readdirSync(dataDir).some((name) => clusterName.test(name));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** The major versions of PostgreSQL that have data there, lowest first. */
export function listClusterVersions(dataDir: string): number[] {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  return names
    .flatMap((name) => clusterName.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

export const majorOf = ({ version }: Programs): number => Number.parseInt(version, 10);

/** Creates everything except PostgreSQL's own files, which the first start creates. */
export async function prepareDataDir(
  wantedDataDir: string,
  programs = findInstalledPrograms(),
): Promise<Cluster> {
  await mkdir(wantedDataDir, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    // Node says so of a read-only disk too; without "recursive" it names the reason.
    if (error.code !== 'ENOENT') throw error;
    return mkdir(wantedDataDir, { mode: 0o700 });
  });
  const dataDir = await realpath(wantedDataDir);
  const folder = join(dataDir, `postgres-${majorOf(programs)}`);
  checkCluster(dataDir, folder);
  const account = findServerAccount(dataDir, folder);
  if (account) await openToAccount(dataDir, account);
  const password = await readOrMakePassword(dataDir, folder, account);
  const socketDir = await makeSocketDir(dataDir, account);
  return { dataDir, folder, socketDir, logFile: join(dataDir, 'postgres.log'), password, account, programs };
}

function checkCluster(dataDir: string, folder: string): void {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
  if (owner === undefined) {
    const [other] = listClusterVersions(dataDir);
    if (other === undefined) return;
    throw new EmbeddedPostgresError(
      `The data in ${dataDir} was made by PostgreSQL ${other}, and this Stamm brings another version. ` +
        'If that is a newer one, start the service: it moves the data over. Otherwise use the Stamm that made it.',
    );
  }
  const ourUser = process.getuid?.();
  if (ourUser !== 0 && owner !== ourUser) {
    throw new EmbeddedPostgresError(
      `The data in ${folder} belongs to another user (uid ${owner}). Run Stamm as that user or as root, or choose another DATA_DIR.`,
    );
  }
  if (owner === 0) {
    throw new EmbeddedPostgresError(
      `The data in ${folder} belongs to root, as whom PostgreSQL does not run. Give it to an unprivileged user: chown -R nobody ${folder}`,
    );
  }
  const versionFile = join(folder, 'PG_VERSION');
  const version = existsSync(versionFile) ? readFileSync(versionFile, 'utf8').trim() : 'none';
  if (!folder.endsWith(`-${version}`)) {
    throw new EmbeddedPostgresError(
      `${folder} is not whole: its PG_VERSION is ${version}. Restore a backup, or choose another DATA_DIR.`,
    );
  }
}

/**
 * Gives a data directory that root made to the account, which can then start PostgreSQL without root. A directory with
 * other content stays root's and only becomes passable. Parent directories stay unchanged.
 */
async function openToAccount(dataDir: string, account: NonNullable<Account>): Promise<void> {
  const closed = findClosedFolder(dataDir, account);
  if (closed && closed !== dataDir) {
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot run as root, and the user it runs as (uid ${account.uid}) may not enter ${closed}, ` +
        `so the data cannot be in ${dataDir}. Set DATA_DIR=/var/lib/stamm, for instance.`,
    );
  }
  const { uid, mode } = await stat(dataDir);
  if (uid !== 0) return;
  if (readdirSync(dataDir).every((name) => ownNames.test(name))) {
    await lchown(dataDir, account.uid, account.gid);
  } else if (closed) await chmod(dataDir, (mode & 0o777) | 0o011);
}

/** Our own entries of a data directory. A separate disk brings lost+found. */
const ownNames =
  /^(database-password|postgres-\d+|programs-[^/]*|upgrade-\d+)(\.new-[0-9a-f]+)?$|^(postgres\.log(\.\d|\.new)?|postgres-\d+\.old|upgrade-\d+\.backup|run|lost\+found)$/;

async function readOrMakePassword(dataDir: string, folder: string, account: Account): Promise<string> {
  const file = join(dataDir, 'database-password');
  if (!existsSync(file)) {
    if (existsSync(folder)) {
      throw new EmbeddedPostgresError(
        `${file} is missing, without which the data in ${folder} cannot be opened. Restore the file from a backup.`,
      );
    }
    const draft = `${file}.new-${randomBytes(6).toString('hex')}`;
    await writeFile(draft, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx', flush: true });
    // Unlike a rename, a link never replaces the password of a faster process.
    await link(draft, file).catch((error) => {
      if (!existsSync(file)) throw error;
    });
    await rm(draft, { force: true });
    await syncToDisk(dataDir);
  }
  await removeDrafts(file);
  // The account can read it and start Stamm later.
  if (account && (await lstat(file)).uid === 0) await lchown(file, account.uid, account.gid);
  return (await readFile(file, 'utf8')).trim();
}

/** A start that was killed left its draft. One that runs now needs none, because the password is there. */
async function removeDrafts(file: string): Promise<void> {
  const drafts = (await readdir(dirname(file))).filter((name) => name.startsWith(`${basename(file)}.new-`));
  for (const draft of drafts) await rm(join(dirname(file), draft), { force: true });
}

/** In /tmp if the path is too long for a socket. Not in $TMPDIR: every process must find the same folder. */
async function makeSocketDir(dataDir: string, account: Account): Promise<string> {
  const beside = join(dataDir, 'run');
  const isTooLong = Buffer.byteLength(join(beside, `.s.PGSQL.${port}`)) > longestSocketPath;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const socketDir = isTooLong ? `/tmp/stamm-${hash}` : beside;
  await mkdir(socketDir, { mode: 0o700 }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(socketDir);
  if (found.isDirectory() && account && found.uid === 0) await lchown(socketDir, account.uid, account.gid);
  else if (!found.isDirectory() || found.uid !== (account?.uid ?? process.getuid?.())) {
    throw new EmbeddedPostgresError(
      `${socketDir} is not a folder of the user that runs PostgreSQL. Remove it.`,
    );
  }
  return socketDir;
}
