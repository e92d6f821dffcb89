// The embedded PostgreSQL. Any number of our processes share one server. The first one starts it, the last one stops it,
// and each holds a lock.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expected } from '../../telemetry/expected.ts';
import { cut, patienceMs } from '../timeouts.ts';
import { type Cluster, port, prepareDataDir } from './data-dir.ts';
import { startLogRotation } from './log-rotation.ts';
import { type Account, defaultDataDir, EmbeddedPostgresError, type Programs } from './programs.ts';
import {
  describeLog,
  isServerProcess,
  prepareCluster,
  readServerState,
  startServer,
  stopServer,
  superuser,
} from './server.ts';

export { defaultDataDir, EmbeddedPostgresError };

export interface EmbeddedPostgres {
  /** The configuration that pg.Pool and pg.Client take. The host is the folder of the socket. */
  connection: { host: string; port: number; user: string; password: string; database: string; ssl: false };
  /** Owner of server and data if root started it. */
  account: Account;
  /** "PostgreSQL 18.4, data in /srv/stamm/data" */
  description: string;
  /** Releases the server. The last process to do so waits until it is down. */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Absolute. */
  dataDir: string;
  /** Other than the installed ones, for data of an earlier version. */
  programs?: Programs;
  /** At most one process serves from a data directory; commands run beside it, or without it. */
  purpose: 'serve' | 'command';
  /** Address of the service, shown to a second one that is refused. */
  label?: string;
  /** Connections to allow if this process starts the server. */
  connections?: number;
  /** Ends the wait for a server that starts, and that server. */
  signal?: AbortSignal;
  onEvent?: (event: { level: 'info' | 'warn' | 'error'; message: string }) => void;
}

const database = 'stamm';
const startTimeoutSeconds = 60;
const stopTimeoutSeconds = 10;
/** PostgreSQL holds the lock of a killed service until it notices the end. */
const serviceEndSeconds = 1;

/** Advisory locks: every process shares the first, the service alone has the second. */
const attachedLock = '1398030669, 1';
const servingLock = '1398030669, 2';

export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, onEvent = () => {} } = options;
  const refuse = (error: NodeJS.ErrnoException) => refuseDataDir(dataDir, error);
  const cluster = await prepareDataDir(dataDir, options.programs).catch(refuse);
  if (!existsSync(cluster.folder)) await prepareCluster(cluster).catch(refuse);
  const closing = new AbortController();
  let hold: pg.Client | undefined;
  let version = '';
  let recovery: Promise<void> | undefined;

  async function takeHold(): Promise<void> {
    const client = await attach(cluster, options, closing.signal).catch(refuse);
    try {
      const { rows } = await client.query('show server_version');
      version = rows[0].server_version;
    } catch (error) {
      // A connection that stays open keeps the locks, and the next attempt waits for them in vain.
      cut(client);
      throw error;
    }
    hold = client;
    client.once('end', () => {
      hold = undefined;
      if (!closing.signal.aborted) recovery = recover();
    });
  }

  async function recover(): Promise<void> {
    onEvent({
      level: 'warn',
      message: 'The connection to PostgreSQL is lost; it is started again if need be.',
    });
    for (let delay = 100; !closing.signal.aborted; delay = Math.min(delay * 2, 5000)) {
      try {
        await takeHold();
        onEvent({ level: 'info', message: 'PostgreSQL is back.' });
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        onEvent({ level: 'error', message: (error as Error).message });
        await sleep(delay, undefined, { signal: closing.signal }).catch(expected);
      }
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    stopRotation?.();
    await recovery;
    if (hold && !(await release(cluster, hold))) {
      onEvent({
        level: 'warn',
        message: `PostgreSQL is not down after ${stopTimeoutSeconds} s; it goes on ending.`,
      });
    }
  }

  await takeHold();
  const stopRotation =
    options.purpose === 'serve'
      ? startLogRotation(cluster.logFile, ({ message }) => onEvent({ level: 'warn', message }))
      : undefined;
  let closed: Promise<void> | undefined;
  return {
    connection: connectionTo(cluster),
    account: cluster.account,
    description: `PostgreSQL ${version}, data in ${cluster.dataDir}`,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Errors of the operating system on the data directory (permission, space) are for its user. */
function refuseDataDir(dataDir: string, error: NodeJS.ErrnoException): never {
  if (error instanceof EmbeddedPostgresError || !error.syscall) throw error;
  throw new EmbeddedPostgresError(
    `The data directory ${dataDir} cannot be used: ${error.message}. Correct this, or choose another DATA_DIR.`,
  );
}

function connectionTo(cluster: Cluster): EmbeddedPostgres['connection'] {
  return { host: cluster.socketDir, port, user: superuser, password: cluster.password, database, ssl: false };
}

/** Connects to the server, starts it if there is none, and takes the locks. After `closing` it starts none. */
async function attach(
  cluster: Cluster,
  { purpose, label, connections, signal }: EmbeddedPostgresOptions,
  closing: AbortSignal,
): Promise<pg.Client> {
  const deadline = performance.now() + startTimeoutSeconds * 1000;
  const pid = `pid=${process.pid}`;
  // PostgreSQL cuts the name after 63 bytes; the number at its end matters most.
  const applicationName = `stamm ${purpose} ${label ?? ''}`
    .trim()
    .slice(0, 62 - pid.length)
    .concat(' ', pid);
  let obstacle = 'it does not answer';
  while (performance.now() < deadline) {
    const server = await readServerState(cluster);
    let isAnswering = false;
    if (server?.isReady) {
      let client: pg.Client | undefined;
      try {
        client = await connect(cluster, applicationName);
        if (await takeLocks(cluster, client, purpose)) return client;
        isAnswering = true;
      } catch (error) {
        if (error instanceof EmbeddedPostgresError) throw error;
        isAnswering = error instanceof pg.DatabaseError;
        obstacle = (error as Error).message;
      }
      await client?.end();
    }
    // Not sooner: only an attached process ends the server that it has just started.
    if (signal?.aborted) throw new EmbeddedPostgresError('The start was stopped.');
    if (isAnswering || (server && (await isServerProcess(cluster, server.pid)))) await sleep(20);
    else if (closing.aborted) break;
    else await startServer(cluster, deadline, connections, signal);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL on ${cluster.folder} is not ready after ${startTimeoutSeconds} s: ${obstacle}. ` +
      `Try again if it is still recovering from a crash. ${describeLog(cluster)}`,
  );
}

async function connect(cluster: Cluster, applicationName: string, name = database): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionTo(cluster),
    database: name,
    application_name: applicationName,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  // A lost connection also ends the client, and that is what its holder listens to.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === '28P01') {
      throw new EmbeddedPostgresError(
        `PostgreSQL refuses the password in ${cluster.dataDir}/database-password. Restore that file from a backup.`,
      );
    }
    if (code !== '3D000' || name !== database) throw error;
  }
  const maintenance = await connect(cluster, applicationName, 'postgres');
  try {
    await maintenance.query(`create database ${database}`);
  } catch (error) {
    const isMadeByAnother = ['42P04', '23505'].includes((error as pg.DatabaseError).code ?? '');
    if (!isMadeByAnother) throw error;
  } finally {
    await maintenance.end();
  }
  return connect(cluster, applicationName);
}

/** False if another process is stopping the server. */
async function takeLocks(cluster: Cluster, client: pg.Client, purpose: string): Promise<boolean> {
  if (!(await isGranted(client, `pg_try_advisory_lock_shared(${attachedLock})`))) return false;
  if (purpose !== 'serve') return true;
  const deadline = performance.now() + serviceEndSeconds * 1000;
  while (!(await isGranted(client, `pg_try_advisory_lock(${servingLock})`))) {
    if (performance.now() > deadline) {
      const holder = await findService(client);
      await release(cluster, client);
      throw alreadyRunning(cluster, holder);
    }
    await sleep(20);
  }
  return true;
}

async function isGranted(client: pg.Client, call: string): Promise<boolean> {
  return (await client.query(`select ${call} as granted`)).rows[0].granted;
}

async function findService(client: pg.Client): Promise<string> {
  const found = await client.query(
    `select application_name from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and (classid, objid) = (${servingLock}) and mode = 'ExclusiveLock' and granted`,
  );
  return found.rows[0]?.application_name ?? '';
}

function alreadyRunning(cluster: Cluster, applicationName: string): EmbeddedPostgresError {
  const [, label, pid] = /^stamm serve(?: (.*))? pid=(\d+)$/.exec(applicationName) ?? [];
  const who = [label, pid && `process ${pid}`].filter(Boolean).join(', ');
  return new EmbeddedPostgresError(
    `Stamm is already running on this data directory (${cluster.dataDir})${who && `: ${who}`}. ` +
      'Stop it first, or choose another DATA_DIR.',
  );
}

/** False if the server should be down but is not. */
async function release(cluster: Cluster, client: pg.Client): Promise<boolean> {
  try {
    await client.query(`select pg_advisory_unlock_shared(${attachedLock})`);
    // While we have this lock nobody else can attach, so the client ends after the server.
    if (!(await isGranted(client, `pg_try_advisory_lock(${attachedLock})`))) return true;
    return await stopServer(cluster, stopTimeoutSeconds);
  } catch {
    // The server went away by itself.
    return true;
  } finally {
    await client.end();
  }
}
