// The server process of a cluster. Any of our processes may have started it.
import { execFile, spawn } from 'node:child_process';
import { constants, existsSync, readFileSync } from 'node:fs';
import { chown, mkdir, open, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expected } from '../../telemetry/expected.ts';
import { type Cluster, port } from './data-dir.ts';
import { rotateLog } from './log-rotation.ts';
import { buildFolder, EmbeddedPostgresError, prepareRunnablePrograms, spawnOptions } from './programs.ts';

const run = promisify(execFile);

export const superuser = 'stamm';

const initialiseTimeoutSeconds = 120;

export interface ServerState {
  pid: number;
  isReady: boolean;
}

/** PostgreSQL's lock file, which may be stale. */
export async function readServerState(cluster: Cluster): Promise<ServerState | undefined> {
  const lines = await readFile(join(cluster.folder, 'postmaster.pid'), 'utf8').catch(expected);
  if (lines === undefined) return undefined;
  const [pid, , , , , , , status] = lines.split('\n');
  return { pid: Number(pid), isReady: status?.trim() === 'ready' };
}

/** Whether the process is the server of this cluster, and not another one that reuses its pid. */
export async function isServerProcess(cluster: Cluster, pid: number): Promise<boolean> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(cluster.folder);
    }
    return (await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout.includes(cluster.folder);
  } catch {
    return false;
  }
}

/** Creates the cluster if there is none, and returns the folder of its programs. */
export async function prepareCluster(cluster: Cluster): Promise<string> {
  const programs = await prepareRunnablePrograms(cluster.programs, cluster.dataDir, cluster.account);
  await buildFolder(cluster.folder, (target, workFolder) =>
    initialise(cluster, programs, target, workFolder),
  );
  return programs;
}

/**
 * Starts the server and waits until it is ready. Also returns if another process was faster, or if a killed server is
 * still ending. The caller checks again.
 */
export async function startServer(
  cluster: Cluster,
  deadline: number,
  connections = 0,
  signal?: AbortSignal,
): Promise<void> {
  const programs = await prepareCluster(cluster);
  await removeForeignLocks(cluster);
  const log = await openLog(cluster);
  const server = spawn(
    join(programs, 'bin/postgres'),
    ['-D', cluster.folder, ...listSettings(cluster, connections)],
    {
      ...spawnOptions(cluster.account),
      detached: true,
      stdio: ['ignore', log.handle.fd, log.handle.fd],
    },
  );
  server.unref();
  let failure: string | undefined;
  server.once('error', (error) => {
    failure = error.message;
  });
  server.once('exit', (code, signal) => {
    failure = `it ended with ${signal ?? `code ${code}`}`;
  });
  await log.handle.close();
  while (performance.now() < deadline) {
    const state = await readServerState(cluster);
    if (state?.isReady && state.pid === server.pid) return;
    if (failure) {
      const messages = (await readFile(cluster.logFile)).subarray(log.sizeInBytes).toString();
      if (/lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(messages)) {
        await sleep(100);
        return;
      }
      throw new EmbeddedPostgresError(
        `PostgreSQL could not be started on ${cluster.folder}: ${failure}. ${await describeDisk(cluster)}${describeLog(cluster, messages)}`,
      );
    }
    // Nobody has attached to a server that is not ready yet.
    if (signal?.aborted) server.kill('SIGINT');
    await sleep(10);
  }
}

async function initialise(
  { password, account, folder }: Cluster,
  programs: string,
  target: string,
  workFolder: string,
): Promise<void> {
  const passwordFile = join(workFolder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await mkdir(target, { mode: 0o700 });
  if (account) for (const path of [passwordFile, target]) await chown(path, account.uid, account.gid);
  const options = [
    ['--pgdata', target],
    ['--username', superuser],
    ['--pwfile', passwordFile],
    ['--auth', 'scram-sha-256'],
    ['--encoding', 'UTF8'],
    ['--locale', 'C'],
    ['--locale-provider', 'builtin'],
    ['--builtin-locale', 'C.UTF-8'],
  ];
  try {
    const timeout = initialiseTimeoutSeconds * 1000;
    await run(join(programs, 'bin/initdb'), [...options.flat(), '--data-checksums'], {
      ...spawnOptions(account),
      timeout,
    });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new EmbeddedPostgresError(
      `PostgreSQL could not set up its data in ${folder}: ${stderr?.trim() || message}\n` +
        'Make room or choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
  await rm(passwordFile);
}

/** PostgreSQL's own default: each connection slot costs memory. */
const fewestConnections = 100;

/** PostgreSQL's default, and less in a small container. With 256 MB for everything, 128 MB leave an import too few. */
function sharedBuffersInMB(): number {
  // Without a limit it is 0, or on some kernels more than there is.
  const limit = Math.min(process.constrainedMemory() || totalmem(), totalmem());
  return Math.min(128, Math.floor(limit / 8 / 1024 ** 2));
}

/** Passed at every start: a newer Stamm can change them. Durability keeps PostgreSQL's safe defaults. */
function listSettings({ socketDir }: Cluster, connections: number): string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    port,
    max_connections: Math.max(fewestConnections, connections),
    shared_buffers: `${sharedBuffersInMB()}MB`,
    max_wal_size: '2GB',
    password_encryption: 'scram-sha-256',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    // Error details quote values of the row, which may be personal data.
    log_error_verbosity: 'terse',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * PostgreSQL believes a lock file if any process of its user has the pid in it. After a restart of a container or machine
 * that may be another program. A file with a dead pid stays: PostgreSQL uses it to find children of a killed server.
 */
async function removeForeignLocks(cluster: Cluster): Promise<void> {
  const socketLock = join(cluster.socketDir, `.s.PGSQL.${port}.lock`);
  for (const file of [join(cluster.folder, 'postmaster.pid'), socketLock]) {
    const content = await readFile(file, 'utf8').catch(expected);
    if (content === undefined) continue;
    const pid = Number.parseInt(content, 10);
    // A starting server has created its file but not filled it. A full disk may leave it empty.
    const isForeign = pid
      ? isRunning(pid) && !(await isServerProcess(cluster, pid))
      : Date.now() - (await stat(file)).mtimeMs > 5000;
    // Check twice: another process may have started a server meanwhile.
    if (isForeign && (await readFile(file, 'utf8')) === content) await rm(file, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function openLog({ logFile, account }: Cluster) {
  rotateLog(logFile);
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  const handle = await open(logFile, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  if (account) await handle.chown(account.uid, account.gid);
  return { handle, sizeInBytes: (await handle.stat()).size };
}

/** A full disk also keeps the server from writing why it ended. */
const fullDiskBytes = 1024 ** 2;

async function describeDisk({ dataDir }: Cluster): Promise<string> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize < fullDiskBytes ? 'The disk is full: make room. ' : '';
}

export function describeLog({ logFile }: Cluster, messages?: string): string {
  const text = messages ?? (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
  const lines = text.trim().split('\n').slice(-5).join('\n');
  return lines ? `The end of ${logFile}:\n${lines}` : `${logFile} says nothing about it.`;
}

/** Fast shutdown. False if the server is not down in time; it continues to shut down. */
export async function stopServer(cluster: Cluster, timeoutSeconds: number): Promise<boolean> {
  const server = await readServerState(cluster);
  if (!server) return true;
  if (!(await isServerProcess(cluster, server.pid))) return false;
  process.kill(server.pid, 'SIGINT');
  const deadline = performance.now() + timeoutSeconds * 1000;
  // A server removes its lock file last, shortly before it ends. A zombie may remain, which has no command line.
  while (existsSync(join(cluster.folder, 'postmaster.pid')) || (await isServerProcess(cluster, server.pid))) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}
