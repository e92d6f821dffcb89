// The service as a process: opens everything, listens, and closes everything on a signal.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { endSetupToken, makeSetupToken } from '../access/one-time-links.ts';
import type { Config } from '../config.ts';
import { report, watchFailures } from '../database/background.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { type Database, openDatabase } from '../database/database.ts';
import type { Account } from '../database/embedded/programs.ts';
import { migrate } from '../database/migrations/migrations.ts';
import { openServiceLogin } from '../database/service-login.ts';
import { UsageError } from '../errors.ts';
import { startBackups } from '../features/backup/schedule.ts';
import { findTileFileTrouble } from '../features/map/tile-file.ts';
import { openLog } from '../http/log.ts';
import { startCommand } from '../program.ts';
import { expected } from '../telemetry/expected.ts';
import type { RunningApp } from './app.ts';
import { connectionsInAll } from './connection-count.ts';
import { moveEarlierData } from './data-upgrade.ts';
import { openMetricsServer } from './metrics/metrics-server.ts';
import { openNodeMetrics } from './metrics/node-metrics.ts';
import { becomeAccount, findServingAccount } from './serving-account.ts';
import { type Stop, watchSignals } from './signals.ts';
import { buildWeb } from './web-build.ts';
import { startWorkers } from './workers/workers.ts';

export interface Listening {
  /** The service's own address, such as http://127.0.0.1:3000. */
  origin: string;
  connection: Connection;
  database: Database;
  /** The link for the first account. Undefined once there is one. */
  setupLink: string | undefined;
  metricsUrl: string | undefined;
}

/** Completes a sentence. */
export const ownLoginAdvice =
  'give the login in DATABASE_URL the right CREATEROLE, or serve with a login that is only a member of stamm_service.';

/** Prints what `announce` answers once the service listens; what it throws stops the service again. */
export async function listenUntilStopped(
  config: Config,
  announce: (listening: Listening) => Promise<string>,
): Promise<void> {
  const drainMs = config.DRAIN_SECONDS * 1000;
  const stop = watchSignals(drainMs, () => processes.replace());
  // The operator who stops a start expects that its work ends.
  const unlessStopped = <Result>(work: Promise<Result>) =>
    work.catch((error): undefined => {
      if (!stop.signal.aborted) throw error;
    });
  const log = openLog(config.LOG_LEVEL);
  // Beside the database, which takes longer: a start costs nothing for it unless there is something to build.
  const webBuild = buildWeb(log, stop.signal);
  // Closed in the opposite order, however this function ends.
  await using open = new AsyncDisposableStack();
  const processes = open.adopt(startProcesses(config, log), (all) => all.kill());

  const connection = await unlessStopped(openData(config, log, stop.signal));
  if (!connection) return;
  open.defer(() => connection.close());
  const say = (sentence: string) => log.warn(sentence);
  await unlessStopped(migrate(connection.client, { say, signal: stop.signal }));
  if (stop.signal.aborted) return;
  const login = await openServiceLogin(connection.client);
  if (login.obstacle)
    log.warn(
      `Requests use the login of the owner, because their own cannot be used: ${login.obstacle}. To change this, ${ownLoginAdvice}`,
    );
  await webBuild;
  if (stop.signal.aborted) return;

  const { account, warning } = await findServingAccount(config, connection, login.client);
  if (warning) log.warn(warning);
  const listen = processes.listen(login.client, account).catch((error) => {
    throw listenError(error, config, 'PORT');
  });
  const app = await unlessStopped(listen);
  if (!app) return;
  open.defer(() => app.close());
  // After the port, which only root may open if it is below 1024.
  if (account) becomeAccount(account);
  await warnOfTileFile(config, log);
  const database = open.adopt(openDatabase(login.client, { maxConnections: 1 }), (pool) => pool.close());
  // With one worker the application in this process reports.
  if (config.WORKERS > 1) open.defer(watchFailures(database, log));
  open.defer(startBackups(config, connection.client, log));
  const metrics = await openMetrics(config, login.client, app, log);
  open.defer(() => metrics?.close());

  const origin = originOf(config.HOST, app.port);
  const setupToken = await makeSetupToken(database);
  // Nobody should find the link of a stopped service, in a terminal or a log, and use it later.
  if (setupToken)
    open.defer(async () => void (await report('setup_link', () => endSetupToken(database, setupToken))));
  const setupLink = setupToken && `${config.PUBLIC_URL ?? origin}/setup#${setupToken}`;
  // Apart from the log on stdout, whose lines are all JSON.
  process.stderr.write(await announce({ origin, connection, database, setupLink, metricsUrl: metrics?.url }));
  await Promise.race([serveUntilDrained(app, stop, drainMs), processes.failed]);
}

async function openData(config: Config, log: FastifyBaseLogger, signal: AbortSignal): Promise<Connection> {
  await moveEarlierData(config, (sentence) => log.warn(sentence), signal);
  return openConnection(config, {
    purpose: 'serve',
    mayCreate: true,
    label: originOf(config.HOST, config.PORT),
    connections: connectionsInAll(config),
    onEvent: ({ level, message }) => log[level](message),
    signal,
  });
}

/** The service is of use without it. */
async function warnOfTileFile({ MAP_TILES_FILE }: Config, log: FastifyBaseLogger): Promise<void> {
  const trouble = MAP_TILES_FILE === undefined ? undefined : await findTileFileTrouble(MAP_TILES_FILE);
  if (trouble) log.warn(`The map shows outlines, because MAP_TILES_FILE ${trouble}.`);
}

/** Proxies notice by /readyz that the service is about to end; Ctrl-C comes from a terminal, which has none. */
async function serveUntilDrained(app: RunningApp, stop: Stop, drainMs: number): Promise<void> {
  const reason = await stop.asked;
  stop.urgent.addEventListener('abort', () => app.cut());
  if (reason !== 'SIGTERM') return;
  app.drain();
  await sleep(drainMs, undefined, { signal: stop.urgent }).catch(expected);
}

interface Processes {
  listen(connection: pg.ClientConfig, account: Account): Promise<RunningApp>;
  /** Rejects where it cannot go on by itself. */
  failed: Promise<never>;
  replace(): void;
  kill(): void;
}

/** One worker needs no process beside the one that there is. */
function startProcesses(config: Config, log: FastifyBaseLogger): Processes {
  if (config.WORKERS > 1) return startWorkers(config, log);
  // Loaded only here, because with workers this process has no use for it, and it is most of the program.
  const program = import('./app.ts');
  return {
    async listen(connection) {
      const { runApp } = await program;
      return runApp(config, connection, { sendsWebhooks: true });
    },
    failed: new Promise(() => {}),
    replace: () =>
      log.warn('SIGHUP replaces workers in turn and needs WORKERS above 1. Restart the service instead.'),
    kill() {},
  };
}

/** The addresses, and under them the next steps. */
export function startBlock({ origin, connection, metricsUrl }: Listening, next: string): string {
  const metrics = metricsUrl ? `\n  Metrics     ${metricsUrl}` : '';
  return `
Stamm is running.

  Web app     ${origin}/
  API base    ${origin}/api/v1
  API guide   ${origin}/docs
  Database    ${connection.description}${metrics}

${next}

Stop with Ctrl-C or SIGTERM.

`;
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const readyWithinMs = 2000;

interface Metrics {
  url: string;
  close(): Promise<void>;
}

async function openMetrics(
  config: Config,
  connection: pg.ClientConfig,
  app: RunningApp,
  log: FastifyBaseLogger,
): Promise<Metrics | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  if (port === undefined) return undefined;
  const isReady = () =>
    fetch(`${originOf(config.HOST, app.port)}/readyz`, { signal: AbortSignal.timeout(readyWithinMs) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const node = await openNodeMetrics(config, connection, isReady);
  const read = async () => node.read(await app.measure());
  const source = { contentType: node.contentType, read };
  const server = await openMetricsServer({ host, port }, source, log).catch(async (error) => {
    await node.close();
    throw listenError(error, config, 'METRICS_PORT');
  });
  return {
    url: `${originOf(host, server.port)}/metrics`,
    async close() {
      await server.close();
      await node.close();
    },
  };
}

function listenError(error: NodeJS.ErrnoException, config: Config, setting: 'PORT' | 'METRICS_PORT'): Error {
  const host = setting === 'PORT' ? config.HOST : config.METRICS_HOST;
  const { [setting]: port = 0 } = config;
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError(
        `Port ${port} on ${host} is taken by another program. Stop it, or choose another port: ${setting}=${portBeside(port, config)} ${startCommand}`,
      );
    case 'EACCES':
      return new UsageError(
        `Port ${port} may not be used by this user. Choose one above 1023: ${setting}=3000 ${startCommand}`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError(
        `${setting.replace('PORT', 'HOST')} ${host} is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all of them.`,
      );
    default:
      return error;
  }
}

/** A port that Stamm itself does not use. */
function portBeside(port: number, { PORT, METRICS_PORT }: Config): number {
  const near = [port + 1, port + 2, port - 1, port - 2];
  return near.find((other) => other <= 65_535 && other !== PORT && other !== METRICS_PORT)!;
}
