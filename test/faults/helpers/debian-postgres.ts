// Debian's PostgreSQL 15 in a folder of the test: a server, and a copy that follows as a standby.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { postgres15 } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { cleanUpLater, type Environment, makeDataDir, withClient } from './process.ts';
import { unprivileged } from './programs.ts';

export interface DebianPostgres {
  /** Of a superuser, over a Unix socket. */
  connection: pg.ClientConfig;
  stop(): Promise<void>;
}

/** A folder that the server's account may write to; PostgreSQL refuses root. */
export async function makeServerDir(): Promise<string> {
  const folder = await makeDataDir();
  if (unprivileged) await chown(folder, unprivileged.uid, unprivileged.gid);
  return folder;
}

export function runPostgresProgram(name: string, folder: string, words: readonly string[]): void {
  execFileSync(`${postgres15}/${name}`, words, { ...unprivileged, cwd: folder, stdio: 'ignore' });
}

/** `walDir` keeps the log apart from the data. */
export function initializePostgres(folder: string, data: string, walDir?: string): void {
  const words = ['-D', data, '-U', 'admin', '-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync'];
  runPostgresProgram('initdb', folder, walDir === undefined ? words : [...words, '-X', walDir]);
}

/** Starts the server of `data`, whose socket is in `folder`, and which listens on no address unless one is named. */
export async function startPostgres(
  folder: string,
  data: string,
  env: Environment = {},
  address = '',
): Promise<DebianPostgres> {
  const settings = ['-c', `listen_addresses=${address}`, '-c', 'fsync=off', '-k', folder];
  const options = {
    ...unprivileged,
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore' as const,
  };
  const server = spawn(`${postgres15}/postgres`, ['-D', data, ...settings], options);
  const exit = once(server, 'exit');
  async function stop(): Promise<void> {
    server.kill('SIGINT');
    await exit;
  }
  cleanUpLater(async () => {
    server.kill('SIGQUIT');
    await exit;
  });
  const connection = { host: folder, port: 5432, user: 'admin', password: '', database: 'postgres' };
  await until('PostgreSQL 15 answers', () =>
    withClient(connection, (client) => client.query('SELECT 1')).then(
      () => true,
      () => false,
    ),
  );
  return { connection, stop };
}

export async function startDebianPostgres(): Promise<DebianPostgres & { folder: string }> {
  const folder = await makeServerDir();
  const data = path.join(folder, 'data');
  initializePostgres(folder, data);
  return { ...(await startPostgres(folder, data)), folder };
}
