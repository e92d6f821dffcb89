// A Stamm with a newer PostgreSQL finds data of an earlier one, and moves it over by backup and restore.
import { existsSync } from 'node:fs';
import { chown, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import { asDatabaseOwner } from '../database/connection.ts';
import { listClusterVersions, majorOf, prepareDataDir } from '../database/embedded/data-dir.ts';
import { openEmbeddedPostgres } from '../database/embedded/postgres.ts';
import {
  EmbeddedPostgresError,
  findEarlierPrograms,
  findInstalledPrograms,
  type Programs,
  syncToDisk,
} from '../database/embedded/programs.ts';
import { stopServer } from '../database/embedded/server.ts';
import { makeBackup } from '../features/backup/backup.ts';
import { restoreBackup } from '../features/backup/restore.ts';

type Say = (sentence: string) => void;

/**
 * A start that is killed at any point can be repeated: one rename switches to the new data. The old folder then gets a
 * name that no earlier Stamm opens by mistake.
 */
export async function moveEarlierData(
  { DATABASE_URL, DATA_DIR, EARLIER_POSTGRES: named }: Config,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  if (DATABASE_URL !== undefined) return;
  const major = majorOf(findInstalledPrograms());
  const earlier = listClusterVersions(DATA_DIR).filter((version) => version < major);
  if (earlier.length === 0) return;
  const from = earlier.at(-1)!;
  const inDataDir = (name: string) => path.join(DATA_DIR, name);
  const folders: Folders = {
    source: inDataDir(`postgres-${from}`),
    target: inDataDir(`postgres-${major}`),
    old: inDataDir(`postgres-${from}.old`),
    work: inDataDir(`upgrade-${major}`),
  };
  if (!existsSync(folders.target)) {
    const programs = findPrograms(folders, from, major, named);
    say(
      `The data was made by PostgreSQL ${from}. Stamm moves it to PostgreSQL ${major}: this takes as long as a backup and a restore.`,
    );
    try {
      await copyData(folders, programs, say, signal);
    } catch (error) {
      // This holds on a full disk, too.
      await rm(folders.work, { recursive: true, force: true });
      throw error;
    }
  }
  await rm(folders.work, { recursive: true, force: true });
  await rename(folders.source, folders.old);
  say(
    `The data is moved to PostgreSQL ${major}. The old data stays in ${folders.old}; remove it when you no longer need it.`,
  );
}

interface Folders {
  source: string;
  target: string;
  old: string;
  /** A data folder of its own, in which the new data is made. */
  work: string;
}

function findPrograms(
  { source, old }: Folders,
  from: number,
  to: number,
  named: string | undefined,
): Programs {
  const programs = findEarlierPrograms(from, named);
  if (!programs) {
    throw new EmbeddedPostgresError(
      `The data in ${source} was made by PostgreSQL ${from}, and this Stamm brings ${to}. To move it over, Stamm needs the programs of ${from} once: ` +
        `install them (Debian: apt-get install postgresql-${from}), or set EARLIER_POSTGRES to their folder.`,
    );
  }
  if (existsSync(old)) {
    throw new EmbeddedPostgresError(`${old} is left of an earlier upgrade. Remove it, or move it elsewhere.`);
  }
  return programs;
}

async function copyData(
  { source, target, work }: Folders,
  programs: Programs,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  const dataDir = path.dirname(source);
  await stopLeftServer(work);
  await rm(work, { recursive: true, force: true });
  const open = { purpose: 'serve', label: 'upgrade', signal } as const;
  // Served as if by us until the end: nobody else can write to data that is already copied.
  const before = await openEmbeddedPostgres({ ...open, dataDir, programs });
  try {
    await mkdir(work, { mode: 0o700 });
    const password = path.join(work, 'database-password');
    await copyFile(path.join(dataDir, 'database-password'), password);
    if (before.account)
      for (const file of [work, password]) await chown(file, before.account.uid, before.account.gid);
    const backup = { path: path.join(work, 'everything.backup'), passphrase: undefined };
    const { rows } = await asDatabaseOwner(before.connection, (client) => makeBackup(client, backup), signal);
    say(`Read ${rows.toLocaleString('en')} rows from PostgreSQL ${programs.version}.`);
    const after = await openEmbeddedPostgres({ ...open, dataDir: work });
    try {
      await restoreBackup(after.connection, { ...backup, signal });
    } finally {
      await after.close();
    }
    await rename(path.join(work, path.basename(target)), target);
    await syncToDisk(dataDir);
  } finally {
    await before.close();
  }
}

const stopTimeoutSeconds = 60;

/** A start that was killed left its new server behind, on data that is made again. */
async function stopLeftServer(work: string): Promise<void> {
  if (existsSync(path.join(work, 'database-password'))) {
    await stopServer(await prepareDataDir(work), stopTimeoutSeconds);
  }
}
