// The service as a process: opens everything, listens, and closes everything on a signal.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { endSetupToken, makeSetupToken } from '../auth/one-time-links.ts';
import type { Config } from '../config.ts';
import { report, watchFailures } from '../database/background.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { type Database, openDatabase } from '../database/database.ts';
import type { Account } from '../database/embedded/programs.ts';
import { migrate } from '../database/migrations.ts';
import { openServiceLogin } from '../database/service-login.ts';
import { UsageError } from '../errors.ts';
import { startBackups } from '../features/backup/schedule.ts';
import { openLog } from '../http/log.ts';
import { startCommand } from '../program.ts';
import { expected } from '../telemetry/expected.ts';
import type { RunningApp } from './app.ts';
import { connectionsInAll } from './connection-count.ts';
import { moveEarlierData } from './data-upgrade.ts';
import { openMetricsServer } from './metrics-server.ts';
import { openNodeMetrics } from './node-metrics.ts';
import { becomeAccount, findServingAccount } from './serving-account.ts';
import { type Stop, watchSignals } from './signals.ts';
import { buildWeb } from './web-build.ts';
import { startWorkers } from './workers.ts';

export interface Listening {
  /** Where it answers, such as http://127.0.0.1:3000. */
  origin: string;
  connection: Connection;
  database: Database;
  /** Where the first person begins; undefined where there is somebody already. */
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
  const log = openLog(config.LOG_LEVEL);
  // Beside the database, which takes longer: a start costs nothing for it unless there is something to build.
  const webBuild = buildWeb(log, stop.signal);
  const processes = startProcesses(config, log);
  try {
    const connection = await openData(config, log, stop.signal).catch((error) => {
      if (stop.signal.aborted) return undefined;
      throw error;
    });
    if (!connection) return;
    try {
      await migrate(connection.client, { say: (sentence) => log.warn(sentence), signal: stop.signal }).catch(
        (error) => {
          if (!stop.signal.aborted) throw error;
        },
      );
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
      const app = await processes.listen(login.client, account).catch((error) => {
        // Ctrl-C also ends workers that are still loading. The operator who stops a start expects that.
        if (stop.signal.aborted) return undefined;
        throw listenError(error, { setting: 'PORT', host: config.HOST, port: config.PORT });
      });
      if (!app) return;
      // After the port, which only root may open if it is below 1024.
      if (account) becomeAccount(account);
      const database = openDatabase(login.client, { maxConnections: 1 });
      // With one worker the application in this process reports.
      const stopWatching = config.WORKERS > 1 ? watchFailures(database, log) : undefined;
      const stopBackups = startBackups(config, connection.client, log);
      let metrics: Metrics | undefined;
      try {
        if (config.METRICS_PORT !== undefined) metrics = await openMetrics(config, login.client, app, log);
        const origin = originOf(config.HOST, app.port);
        const setupToken = await makeSetupToken(database);
        const setupLink = setupToken && `${config.PUBLIC_URL ?? origin}/setup#${setupToken}`;
        try {
          const listening = { origin, connection, database, setupLink, metricsUrl: metrics?.url };
          // Apart from the log on stdout, whose lines are all JSON.
          process.stderr.write(await announce(listening));
          await Promise.race([serveUntilDrained(app, stop, drainMs), processes.failed]);
        } finally {
          // Nobody should find the link of a stopped service, in a terminal or a log, and use it later.
          if (setupToken) await report('setup_link', () => endSetupToken(database, setupToken));
        }
      } finally {
        await metrics?.close();
        await stopBackups();
        stopWatching?.();
        await database.close();
        await app.close();
      }
    } finally {
      await connection.close();
    }
  } finally {
    processes.kill();
  }
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

Stop with Ctrl-C.

`;
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

interface Metrics {
  url: string;
  close(): Promise<void>;
}

async function openMetrics(
  config: Config,
  connection: pg.ClientConfig,
  app: RunningApp,
  log: FastifyBaseLogger,
): Promise<Metrics> {
  const { METRICS_HOST: host, METRICS_PORT: port = 0 } = config;
  const node = await openNodeMetrics(config, connection);
  const read = async () => node.read(await app.measure());
  const source = { contentType: node.contentType, read };
  const server = await openMetricsServer({ host, port }, source, log).catch(async (error) => {
    await node.close();
    throw listenError(error, { setting: 'METRICS_PORT', host, port });
  });
  return {
    url: `${originOf(host, server.port)}/metrics`,
    async close() {
      await server.close();
      await node.close();
    },
  };
}

interface Place {
  /** The one that names the port. */
  setting: 'PORT' | 'METRICS_PORT';
  host: string;
  port: number;
}

function listenError(error: NodeJS.ErrnoException, { setting, host, port }: Place): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError(
        `Port ${port} on ${host} is taken by another program. Stop it, or choose another port: ${setting}=${port + 1} ${startCommand}`,
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
