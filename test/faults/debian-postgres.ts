// Servers from Debian's PostgreSQL, which brings what the embedded one lacks: pg_basebackup and promotion.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { findAccount } from '../../server/database/embedded/programs.ts';
import { cleanUpLater } from './process.ts';

const programs = '/usr/lib/postgresql/15/bin';

export const hasDebianPostgres = existsSync(path.join(programs, 'pg_basebackup'));

export interface DebianPostgres {
  folder: string;
  connection: pg.ClientConfig;
  /** Runs pg_ctl on this server. */
  control(...words: string[]): void;
}

/** PostgreSQL refuses to run as root. */
function run(program: string, words: readonly string[]): void {
  const account = process.getuid?.() === 0 ? findAccount('postgres', 'nobody') : undefined;
  execFileSync(path.join(programs, program), words, { cwd: tmpdir(), stdio: 'ignore', ...account });
}

export async function makeServerFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-postgres-'));
  const account = process.getuid?.() === 0 ? findAccount('postgres', 'nobody') : undefined;
  if (account) chownSync(folder, account.uid, account.gid);
  cleanUpLater(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Its socket is in its folder, and it trusts whoever reaches that. */
function serverIn(folder: string, settings: readonly string[]): DebianPostgres {
  const data = path.join(folder, 'data');
  const options = ['listen_addresses=', `unix_socket_directories=${folder}`, 'fsync=off', ...settings];
  const control = (...words: string[]) => run('pg_ctl', ['-D', data, '-w', '-t', '120', ...words]);
  control('start', '-l', path.join(folder, 'log'), '-o', options.map((option) => `-c ${option}`).join(' '));
  cleanUpLater(async () => {
    try {
      control('stop', '-m', 'immediate');
    } catch {
      // It has been stopped.
    }
  });
  return {
    folder,
    connection: { host: folder, port: 5432, user: 'stamm', password: 'unused', database: 'postgres' },
    control,
  };
}

export async function startPrimary(
  folder?: string,
  settings: readonly string[] = [],
): Promise<DebianPostgres> {
  const place = folder ?? (await makeServerFolder());
  const data = path.join(place, 'data');
  run('initdb', ['-D', data, '-U', 'stamm', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']);
  return serverIn(place, settings);
}

export async function startStandby(primary: DebianPostgres): Promise<DebianPostgres> {
  const folder = await makeServerFolder();
  const data = path.join(folder, 'data');
  run('pg_basebackup', ['-h', primary.folder, '-U', 'stamm', '-D', data, '-R', '-c', 'fast', '--no-sync']);
  return serverIn(folder, []);
}
