// Backups that the running service makes by itself, and removes when they are old.
import type pg from 'pg';
import type { Config } from '../../config.ts';
import { reportFailure } from '../../database/background.ts';
import { asDatabaseOwner } from '../../database/connection.ts';
import { backupsIn } from '../../database/embedded/data-dir.ts';
import { UsageError } from '../../errors.ts';
import { NoRoomError } from './file.ts';
import { addBackup, hasHeldBackups, listKnownBackups, vanished } from './folder.ts';

type Settings = Pick<Config, 'BACKUP_DIR' | 'BACKUP_EVERY' | 'BACKUP_KEEP' | 'BACKUP_PASSPHRASE'>;

interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const checkIntervalMs = 60_000;

/** A first look around, a test or a demo is over before. */
export const firstBesideDataMs = 600_000;

/** Whether backups lie on the disk of the data because nobody chose another folder. */
export function isBesideData({ BACKUP_DIR, DATA_DIR }: Pick<Config, 'BACKUP_DIR' | 'DATA_DIR'>): boolean {
  return BACKUP_DIR === backupsIn(DATA_DIR);
}

/** Returns a function that stops it. A backup under way is cut off, and leaves no file. */
export function startBackups(
  settings: Settings & Pick<Config, 'DATA_DIR'>,
  connection: pg.ClientConfig,
  log: Log,
): () => Promise<void> {
  const { BACKUP_DIR: folder } = settings;
  if (folder === undefined) return async () => {};
  const stopping = new AbortController();
  let current = Promise.resolve();
  let isBusy = false;
  let leastBytes = 0;
  const look = () => {
    if (isBusy) return;
    isBusy = true;
    current = backUpIfDue({ ...settings, folder, leastBytes }, connection, log, stopping.signal)
      .catch((error) => {
        if (stopping.signal.aborted) return;
        if (error instanceof NoRoomError) leastBytes = error.needed;
        log.error(`The backup failed: ${error.message}`);
        reportFailure('backup', error);
      })
      .finally(() => {
        isBusy = false;
      });
  };
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    look();
    timer = setInterval(look, checkIntervalMs).unref();
  };
  const first = setTimeout(begin, isBesideData(settings) ? firstBesideDataMs : 0).unref();
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    stopping.abort();
    await current;
  };
}

/** Makes a backup where the newest is old enough. */
export async function backUpIfDue(
  settings: Settings & { folder: string; leastBytes?: number },
  connection: pg.ClientConfig,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { folder, leastBytes, BACKUP_EVERY, BACKUP_KEEP: keep, BACKUP_PASSPHRASE: passphrase } = settings;
  const newest = (await listKnownBackups(folder)).at(-1);
  const ageMs = newest ? Date.now() - newest.at : Number.POSITIVE_INFINITY;
  if (ageMs >= 0 && ageMs < BACKUP_EVERY * 3_600_000) return;
  await asDatabaseOwner(
    connection,
    async (client) => {
      if (!newest && (await hasHeldBackups(client, folder))) throw new UsageError(`${folder} ${vanished}`);
      await addBackup(client, { folder, keep, passphrase, leastBytes }, log);
    },
    signal,
  );
}
