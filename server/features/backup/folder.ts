// A folder of backups: what is in it, how much room there is, and whether it is still the one that held backups before.
import { type StatsFs, statSync } from 'node:fs';
import { chown, mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { report } from '../../database/background.ts';
import type { Account } from '../../database/embedded/programs.ts';
import { program } from '../../program.ts';
import { type BackupOptions, makeBackup } from './backup.ts';
import { NoRoomError } from './file.ts';

export interface BackupFile {
  path: string;
  at: number;
  bytes: number;
}

const namePattern = /^stamm-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

/** The backups of a folder, the newest last. Those of a clock that was ahead come first, as if they were old. */
export async function listBackups(folder: string): Promise<BackupFile[]> {
  const now = Date.now();
  const found = (await readdir(folder)).sort().flatMap((name) => {
    const match = namePattern.exec(name);
    if (!match) return [];
    const [year, month, day, hour, minute, second] = match.slice(1);
    const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    const file = path.join(folder, name);
    const bytes = statSync(file, { throwIfNoEntry: false })?.size;
    return bytes === undefined ? [] : [{ path: file, at, bytes }];
  });
  const [past, ahead] = [found.filter(({ at }) => at <= now), found.filter(({ at }) => at > now)];
  return [...ahead, ...past];
}

/** None in a folder that is not there. */
export async function listKnownBackups(folder: string): Promise<BackupFile[]> {
  return listBackups(folder).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

export async function hasHeldBackups(client: pg.ClientBase, folder: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM backup_folder WHERE folder = $1', [folder]);
  return rowCount !== 0;
}

/** Completes a sentence that begins with the folder. */
export const vanished = `held backups, and there are none now: mount its disk. To begin again, run: ${program} backup`;

const gibibyte = 1024 ** 3;

/** Space that backups leave to everything else on their disk. */
function reserveOf({ blocks, bsize }: StatsFs): number {
  return Math.min(gibibyte, (blocks * bsize) / 10);
}

/** How many bytes backups can take on that disk. */
export async function measureRoom(folder: string): Promise<number> {
  const disk = await statfs(folder);
  return disk.bavail * disk.bsize - reserveOf(disk);
}

/** How much a next backup needs if the data grows as it usually does. */
export function expectedBytes(backups: readonly BackupFile[]): number {
  return Math.ceil((backups.at(-1)?.bytes ?? 0) * 1.25);
}

interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** Removes the oldest until the next backup fits, but never the newest. Returns the bytes that it can take. */
async function makeRoom(folder: string, leastBytes: number, log: Log): Promise<number> {
  const backups = await listBackups(folder);
  const needed = Math.max(1, leastBytes, expectedBytes(backups));
  for (;;) {
    const room = await measureRoom(folder);
    if (room >= needed) return room;
    if (backups.length < 2) throw new NoRoomError(folder, needed);
    const { path: oldest } = backups.shift()!;
    await rm(oldest);
    log.warn(`Removed ${oldest}, because the next backup needs its room. ${backups.length} are left.`);
  }
}

interface NextBackup extends Omit<BackupOptions, 'path' | 'mostBytes'> {
  folder: string;
  keep: number;
  /** Space that an earlier try needed at least. */
  leastBytes?: number;
  /** The owner of what is made, if root makes it. */
  account?: Account;
}

/** Any number that nothing else locks: a second one would remove the unfinished file of the first. */
const backupLock = 7_882_002;

/** Makes a backup in the folder, and removes those beyond the number to keep. Undefined while another process makes one. */
export async function addBackup(
  client: pg.ClientBase,
  { folder, keep, leastBytes = 0, account, ...options }: NextBackup,
  log: Log,
): Promise<{ path: string; rows: number; bytes: number } | undefined> {
  const { rows: lock } = await client.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [backupLock]);
  if (!lock[0].isOurs) return undefined;
  const isNew = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isNew !== undefined && account) await chown(folder, account.uid, account.gid);
  await removePartial(folder);
  const target = path.join(folder, `stamm-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.backup`);
  const mostBytes = await makeRoom(folder, leastBytes, log);
  const { rows } = await makeBackup(client, { ...options, path: target, mostBytes });
  if (account) await chown(target, account.uid, account.gid);
  const { bytes } = await noteBackup(client, target);
  log.info(`Backed up ${rows} rows to ${target}.`);
  for (const old of (await listBackups(folder)).slice(0, -keep)) await rm(old.path);
  return { path: target, rows, bytes };
}

/** The web app and `doctor` read it. A standby can be backed up, and takes no note. */
export async function noteBackup(client: pg.ClientBase, file: string): Promise<{ bytes: number }> {
  const { size: bytes } = await stat(file);
  await report('backup_note', () =>
    client.query(
      `INSERT INTO backup_folder (folder, made_at, bytes) VALUES ($1, now(), $2)
       ON CONFLICT (folder) DO UPDATE SET made_at = excluded.made_at, bytes = excluded.bytes`,
      [path.dirname(path.resolve(file)), bytes],
    ),
  );
  return { bytes };
}

/** Removes the files of killed processes. */
async function removePartial(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const isPartial = name.endsWith('.partial') && namePattern.test(name.slice(0, -'.partial'.length));
    if (isPartial) await rm(path.join(folder, name));
  }
}
