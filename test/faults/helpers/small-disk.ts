// A file system of a limited size, which a test fills up or makes read-only. Only root can mount one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFile, chown, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cleanUpLater, endServers, makePreparedDataDir, type Prepared } from './process.ts';
import { unprivileged } from './programs.ts';

const isMountable = process.getuid?.() === 0 && process.platform === 'linux';

export const withoutMounts = isMountable
  ? false
  : 'this account may not mount a file system of a limited size';

/** The account that PostgreSQL runs as owns it. */
export async function mountDisk(mebibytes: number): Promise<string> {
  const disk = await mkdtemp(path.join(tmpdir(), 'stamm-disk-'));
  mount('-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', disk);
  cleanUpLater(async () => {
    assert.equal(spawnSync('umount', [disk]).status, 0);
    await rmdir(disk);
  });
  if (unprivileged) await chown(disk, unprivileged.uid, unprivileged.gid);
  return disk;
}

export function remountDisk(disk: string, mode: 'ro' | 'rw'): void {
  mount('-o', `remount,${mode}`, disk);
}

function mount(...words: string[]): void {
  const { status, stderr } = spawnSync('mount', words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** Returns the file that takes the room. */
export async function fillDisk(disk: string): Promise<string> {
  const file = path.join(disk, 'filler');
  // Smaller and smaller pieces, until not even a page fits.
  for (const bytes of [1024 * 1024, 4096]) {
    const piece = Buffer.alloc(bytes);
    const fill = async (): Promise<never> => {
      for (;;) await appendFile(file, piece);
    };
    await assert.rejects(fill, { code: 'ENOSPC' });
  }
  return file;
}

/** The data folder of the embedded PostgreSQL, its write-ahead log included, on a disk of its own. */
export async function makeDataDirOnDisk(mebibytes: number): Promise<Prepared & { disk: string }> {
  const { dataDir: original, ...made } = await makePreparedDataDir();
  const disk = await mountDisk(mebibytes);
  const dataDir = path.join(disk, 'data');
  assert.equal(spawnSync('cp', ['-a', original, dataDir]).status, 0);
  cleanUpLater(() => endServers(dataDir));
  return { ...made, dataDir, disk };
}
