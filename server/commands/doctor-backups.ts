// Checks backups: the folder as the service sees it, and what the database remembers.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import type { Config } from '../config.ts';
import type { Account } from '../database/embedded/programs.ts';
import { formatBytes } from '../features/backup/file.ts';
import {
  expectedBytes,
  hasHeldBackups,
  listKnownBackups,
  measureRoom,
  vanished,
} from '../features/backup/folder.ts';
import { isBesideData } from '../features/backup/schedule.ts';
import { findClosure } from '../process/serving-account.ts';
import type { Finding } from './doctor-trouble.ts';

export interface BackupMemory {
  /** Whom the service runs as, if `doctor` knows: root itself can write everywhere. */
  account?: Account;
  hasHeldBackups?: boolean;
  /** The newest backup of all, in any folder. */
  last?: { folder: string; at: Date; bytes: number } | undefined;
  /** The newest failure, if no backup was made since. */
  failure?: string | undefined;
}

export async function readBackupMemory(
  client: pg.Client,
  { BACKUP_DIR }: Config,
  account: Account,
): Promise<BackupMemory> {
  const { rows: last } = await client.query<{ folder: string; at: Date; bytes: number }>(
    'SELECT folder, made_at AS at, bytes::float8 AS bytes FROM backup_folder ORDER BY made_at DESC LIMIT 1',
  );
  const { rows: failures } = await client.query<{ error: string }>(
    `SELECT error FROM background_work WHERE work = 'backup' AND failed_at > coalesce($1::timestamptz, '-infinity')`,
    [last[0]?.at],
  );
  return {
    account,
    hasHeldBackups: BACKUP_DIR !== undefined && (await hasHeldBackups(client, BACKUP_DIR)),
    last: last[0],
    failure: failures[0]?.error,
  };
}

const check = 'backup';

function warn(code: string, message: string): Finding {
  return { check, status: 'warning', message, code };
}

function fail(code: string, message: string): Finding {
  return { check, status: 'failed', message, code };
}

export async function checkBackups(config: Config, memory: BackupMemory): Promise<Finding> {
  const { BACKUP_DIR: folder, BACKUP_EVERY } = config;
  if (folder === undefined) return checkOtherMeans(memory);
  const closed = await findClosed(folder, memory.account);
  if (closed)
    return fail(
      'backup_folder_closed',
      `${folder} ${closed}: correct this, or set BACKUP_DIR to another folder`,
    );
  const backups = await listKnownBackups(folder);
  const newest = backups.at(-1);
  if (!newest && memory.hasHeldBackups) return fail('backup_folder_vanished', `${folder} ${vanished}`);
  if (memory.failure !== undefined)
    return fail('backup_failing', `the last try failed: ${memory.failure}. The log has each one`);
  const beside = 'on the disk of the data: set BACKUP_DIR to a folder on another disk';
  if (!newest) {
    const first = isBesideData(config)
      ? `after 10 minutes, ${beside}`
      : 'within a minute; if not, see its log';
    return warn('backup_missing', `none in ${folder} yet: the running service makes the first ${first}`);
  }
  const hours = Math.floor((Date.now() - newest.at) / 3_600_000);
  const message = `the newest of ${backups.length} is ${newest.path}, ${formatBytes(newest.bytes)}, ${hours} hours old`;
  if (hours >= 2 * BACKUP_EVERY) return warn('backup_old', `${message}: see the log for the reason`);
  if ((await measureRoom(folder)) < expectedBytes(backups))
    return warn('backup_room', `${message}. The next needs the room of older ones: make room there`);
  return isBesideData(config)
    ? warn('backup_beside_data', `${message}, ${beside}`)
    : { check, status: 'ok', message };
}

const oldAfterHours = 48;

/** A job of Kubernetes or cron may make them. */
function checkOtherMeans({ last }: BackupMemory): Finding {
  const advice = 'set BACKUP_DIR, or run "backup" every day by other means';
  if (!last) return warn('backup_off', `there is none, and the service makes none: ${advice}`);
  const hours = Math.floor((Date.now() - last.at.getTime()) / 3_600_000);
  const message = `"backup" wrote ${formatBytes(last.bytes)} to ${last.folder} ${hours} hours ago`;
  return hours >= oldAfterHours
    ? warn('backup_old', `${message}, and the service makes none: ${advice}`)
    : { check, status: 'ok', message };
}

/** The service makes a folder that is missing, if it can write to the nearest one above it. */
async function findClosed(folder: string, account: Account): Promise<string | undefined> {
  let nearest = folder;
  while (!existsSync(nearest) && nearest !== path.dirname(nearest)) nearest = path.dirname(nearest);
  const found = await stat(nearest);
  if (!found.isDirectory()) return 'is no folder';
  const reason = await findClosure(nearest, account);
  if (!reason) return undefined;
  return nearest === folder ? `cannot be written to (${reason})` : `cannot be made (${reason})`;
}
