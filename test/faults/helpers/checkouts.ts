// Stamm with other migrations than ours, or at another commit, beside this checkout.
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkout, cleanUpLater } from './process.ts';

/** What a command needs. */
const needed = ['core', 'reference', 'server', 'migrations', 'package.json'];

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The main file of a Stamm like ours that has more migrations. */
export async function copyWithMigrations(more: Record<string, string>): Promise<string> {
  const copy = await makeFolder();
  for (const name of needed) await cp(path.join(checkout, name), path.join(copy, name), { recursive: true });
  for (const [name, sql] of Object.entries(more)) await writeFile(path.join(copy, 'migrations', name), sql);
  await symlink(path.join(checkout, 'node_modules'), path.join(copy, 'node_modules'));
  return path.join(copy, 'server/main.ts');
}

export const git = (...words: string[]) =>
  execFileSync('git', words, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** The main file of the Stamm of a commit. */
export async function checkOut(commit: string): Promise<string> {
  const copy = await makeFolder();
  const there = git('ls-tree', '--name-only', commit).split('\n');
  const archive = path.join(copy, 'stamm.tar');
  git('archive', '-o', archive, commit, ...needed.filter((name) => there.includes(name)));
  execFileSync('tar', ['-xf', archive, '-C', copy]);
  await symlink(path.join(checkout, 'node_modules'), path.join(copy, 'node_modules'));
  return path.join(copy, 'server/main.ts');
}
