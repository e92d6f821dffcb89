// Backups that the running service makes by itself, and removes when they are old.
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import type { Config } from '../../config.ts';
import { reportFailure } from '../../database/background.ts';
import { asDatabaseOwner } from '../../database/connection.ts';
import { makeBackup } from './backup.ts';

type Settings = Pick<Config, 'BACKUP_DIR' | 'BACKUP_EVERY' | 'BACKUP_KEEP' | 'BACKUP_PASSPHRASE'>;

interface Log {
  info(message: string): void;
  error(message: string): void;
}

const checkIntervalMs = 60_000;

/** Any number that nothing else locks: of several nodes one makes a backup at a time. */
const backupLock = 7_882_002;

const namePattern = /^stamm-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

/** The backups of a folder, the newest last. Those of a clock that was ahead come first, as if they were old. */
export async function listBackups(folder: string): Promise<{ path: string; at: number }[]> {
  const now = Date.now();
  const found = (await readdir(folder)).sort().flatMap((name) => {
    const match = namePattern.exec(name);
    if (!match) return [];
    const [year, month, day, hour, minute, second] = match.slice(1);
    const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    return [{ path: path.join(folder, name), at }];
  });
  const [past, ahead] = [found.filter(({ at }) => at <= now), found.filter(({ at }) => at > now)];
  return [...ahead, ...past];
}

/** Answers with a function that stops it. A backup under way is cut off, and leaves no file. */
export function startBackups(settings: Settings, connection: pg.ClientConfig, log: Log): () => Promise<void> {
  const { BACKUP_DIR: folder } = settings;
  if (folder === undefined) return async () => {};
  const stopping = new AbortController();
  let current = Promise.resolve();
  let isBusy = false;
  const look = () => {
    if (isBusy) return;
    isBusy = true;
    current = backUpIfDue({ ...settings, folder }, connection, log, stopping.signal)
      .catch((error) => {
        if (stopping.signal.aborted) return;
        log.error(`The backup failed: ${error.message}`);
        reportFailure('backup', error);
      })
      .finally(() => {
        isBusy = false;
      });
  };
  look();
  const timer = setInterval(look, checkIntervalMs).unref();
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await current;
  };
}

/** Makes a backup where the newest is old enough, and removes those beyond the number to keep. */
export async function backUpIfDue(
  { folder, BACKUP_EVERY, BACKUP_KEEP, BACKUP_PASSPHRASE }: Settings & { folder: string },
  connection: pg.ClientConfig,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const newest = (await listBackups(folder)).at(-1);
  const ageMs = newest ? Date.now() - newest.at : Number.POSITIVE_INFINITY;
  if (ageMs >= 0 && ageMs < BACKUP_EVERY * 3_600_000) return;
  const makeOne = async (client: pg.Client) => {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [backupLock]);
    if (!rows[0].isOurs) return false;
    const name = `stamm-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
    const target = path.join(folder, name);
    await removePartial(folder);
    const { rows: count } = await makeBackup(client, { path: target, passphrase: BACKUP_PASSPHRASE });
    log.info(`Backed up ${count} rows to ${target}.`);
    return true;
  };
  if (!(await asDatabaseOwner(connection, makeOne, signal))) return;
  for (const old of (await listBackups(folder)).slice(0, -BACKUP_KEEP)) await rm(old.path);
}

/** Removes the files of killed processes. */
async function removePartial(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const isPartial = name.endsWith('.partial') && namePattern.test(name.slice(0, -'.partial'.length));
    if (isPartial) await rm(path.join(folder, name));
  }
}
