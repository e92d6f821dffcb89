// The application in a process: with its connections, on its port.
import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type pg from 'pg';
import type { CountFailures } from '../access/rate-limit.ts';
import { buildApp } from '../app/app.ts';
import type { Config } from '../config.ts';
import { watchFailures } from '../database/background.ts';
import { openDatabase } from '../database/database.ts';
import { importPlaces } from '../features/import/session/limits.ts';
import { openLog } from '../http/log.ts';
import { connectionsOfWorker } from './connection-count.ts';
import { startGeocoding } from './geocoding.ts';
import { openProcessMetrics } from './metrics/process-metrics.ts';
import { startTraces } from './metrics/traces.ts';
import { startTestBusinesses } from './test-businesses.ts';
import { startUpkeep } from './upkeep.ts';
import { startWebhooks } from './webhooks.ts';
import type { NodeMeasurements } from './workers/worker-measurements.ts';

/** How long a stop waits for requests. Those that have arrived are answered sooner; a half-sent one may never end. */
const requestsEndAfterMs = 5000;

/** Connections that the kernel keeps until they are accepted. One that finds no room tries again after a second. */
const waitingConnections = 4096;

/**
 * How much garbage the heap may hold beside live data before it is collected, in percent. By itself V8 lets a small
 * heap become several times as large, and a long import makes it so.
 */
const mostGarbagePercent = 100;

export interface RunningApp {
  port: number;
  /** Nothing without METRICS_PORT. */
  measure(): Promise<NodeMeasurements>;
  /** From now on it is not ready, and its answers close their connections. It still serves. */
  drain(): void;
  /** Answers what has arrived, and closes everything. */
  close(): Promise<void>;
  /** Ends the connections that close() waits for. */
  cut(): void;
}

/** One of several processes on a port. */
export interface RunningWorker extends RunningApp {
  /** Leaves new connections to the others, and closes once clients have left its own, or after this time. */
  retire(timeoutMs: number): Promise<void>;
}

/** Throws Node's own error where it cannot listen. */
export async function runApp(
  config: Config,
  connection: pg.ClientConfig,
  { countFailures, sendsWebhooks }: { countFailures?: CountFailures; sendsWebhooks: boolean },
): Promise<RunningWorker> {
  setFlagsFromString(`--heap-growing-percent=${mostGarbagePercent}`);
  const log = openLog(config.LOG_LEVEL);
  const database = openDatabase(connection, {
    maxConnections: connectionsOfWorker(config),
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
    statementLog: config.LOG_LEVEL === 'debug' ? log : undefined,
  });
  const stopLogging = watchFailures(database, log);
  const stopTracing = await startTraces(config);
  const metrics = config.METRICS_PORT === undefined ? undefined : await openProcessMetrics(config, database);
  const importLimits = { places: importPlaces(config.WORKERS) };
  const app = await buildApp({ ...config, importLimits }, database, log, countFailures);
  const stopUpkeep = startUpkeep(config, database);
  const stopGeocoding = sendsWebhooks ? startGeocoding(config, connection, log) : undefined;
  const stopWebhooks = sendsWebhooks ? await startWebhooks(config, connection, log) : undefined;
  const stopTestBusinesses = sendsWebhooks ? startTestBusinesses(config, connection) : undefined;
  let closing: Promise<void> | undefined;
  async function closeAll() {
    stopUpkeep();
    await stopTestBusinesses?.();
    await stopGeocoding?.();
    await stopWebhooks?.();
    await app.close();
    await database.close();
    metrics?.close();
    stopLogging();
    await stopTracing();
  }
  const close = () => {
    closing ??= closeAll();
    return closing;
  };
  try {
    await app.listen({ host: config.HOST, port: config.PORT, backlog: waitingConnections });
  } catch (error) {
    await close();
    throw error;
  }
  const address = app.server.address();
  const cut = () => app.server.closeAllConnections();
  async function answerAndClose() {
    setTimeout(cut, requestsEndAfterMs).unref();
    await close();
  }
  return {
    port: typeof address === 'object' && address ? address.port : config.PORT,
    measure: async () => ({ processes: metrics ? [await metrics.read()] : [], ended: [] }),
    drain: () => app.drain.begin(),
    close: answerAndClose,
    cut,
    async retire(timeoutMs) {
      app.drain.begin();
      const left = once(app.server, 'close');
      // That of an HTTP server also closes idle connections, on which a client may be sending just now.
      Server.prototype.close.call(app.server);
      await Promise.race([left, sleep(timeoutMs, undefined, { ref: false })]);
      await answerAndClose();
    },
  };
}
