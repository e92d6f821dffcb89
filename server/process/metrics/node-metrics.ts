// The metrics that a node shows to Prometheus: those of its processes added up, and those of the node.
import { statfs } from 'node:fs/promises';
import type pg from 'pg';
import type { Config } from '../../config.ts';
import { openDatabase } from '../../database/database.ts';
import { listBackups } from '../../features/backup/folder.ts';
import { expected } from '../../telemetry/expected.ts';
import { version } from '../../version.ts';
import type { NodeMeasurements } from '../workers/worker-measurements.ts';
import { backgroundErrors, countFailures } from './process-metrics.ts';
import { addRuntimeMetrics } from './runtime-metrics.ts';

/** Prometheus gives up after ten seconds by default. */
const answerWithinMs = 2000;

/** The figures read a row for each tenant, however many systems ask. */
const figuresLastMs = 5000;

interface Figures {
  journalEntries: number;
  webhookQueue: number;
  webhookOldestSeconds: number;
  /** NULL before the first time. */
  upkeepAgeSeconds: number | null;
}

export interface NodeMetrics {
  /** In the text format of Prometheus. */
  read(measurements: NodeMeasurements): Promise<string>;
  contentType: string;
  close(): Promise<void>;
}

type Settings = Pick<Config, 'BACKUP_DIR' | 'DATABASE_URL' | 'DATA_DIR' | 'WORKERS'>;

/** `isReady` tells what /readyz would answer. */
export async function openNodeMetrics(
  { BACKUP_DIR, DATABASE_URL, DATA_DIR, WORKERS }: Settings,
  connection: pg.ClientConfig,
  isReady: () => Promise<boolean>,
): Promise<NodeMetrics> {
  const { Counter, Gauge, Registry } = await import('@prometheus-io/client');
  // A pool of its own: a scrape neither waits for requests nor keeps them waiting.
  const database = openDatabase(connection, { maxConnections: 1, requestDeadlineMs: answerWithinMs });
  const registry = new Registry();
  const registers = [registry];
  const stopRuntimeMetrics = WORKERS > 1 ? await addRuntimeMetrics(registry) : undefined;
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const isUp = gauge('stamm_postgres_up', 'Whether PostgreSQL answers: 1 or 0.');
  const workers = gauge('stamm_workers', 'Processes that serve requests.');
  const journal = gauge('stamm_journal_entries', 'Entries that the journals of all tenants have ever got.');
  const queue = gauge('stamm_webhook_queue', 'Changes that wait for delivery, over all endpoints.');
  const oldest = gauge('stamm_webhook_oldest_seconds', 'Age of the oldest change that waits for delivery.');
  const ready = gauge('stamm_ready', 'Whether the node would serve a request: 1 or 0.');
  gauge('stamm_start_time_seconds', 'When this node started, in seconds since 1970.').set(
    Math.round(performance.timeOrigin / 1000),
  );
  const freeBytes = new Gauge({
    name: 'stamm_disk_free_bytes',
    help: 'Free bytes on the disk of the data and on that of the backups.',
    labelNames: ['folder'],
    registers,
  });
  const backupFiles = gauge('stamm_backup_files', 'Backups in BACKUP_DIR.');
  const backupBytes = gauge('stamm_backup_bytes', 'Size of the newest backup.');
  const backupAge = gauge('stamm_backup_age_seconds', 'Age of the newest backup; +Inf where there is none.');
  const upkeepAge = gauge(
    'stamm_upkeep_age_seconds',
    'Time since all steps of the hourly upkeep last succeeded; +Inf before the first time.',
  );
  // With one worker, the application in this process counts.
  const stopCounting =
    WORKERS > 1 ? countFailures(new Counter({ ...backgroundErrors, registers })) : undefined;
  new Gauge({ name: 'stamm_info', help: 'The version of Stamm.', labelNames: ['version'], registers }).set(
    { version },
    1,
  );

  let figures: Promise<Figures> | undefined;
  function readFigures(): Promise<Figures> {
    if (figures) return figures;
    figures = database.pool
      .query<Figures>(
        `SELECT journal_entries::float8 AS "journalEntries", webhook_queue::float8 AS "webhookQueue",
           webhook_oldest_seconds AS "webhookOldestSeconds", upkeep_age_seconds() AS "upkeepAgeSeconds"
         FROM service_figures()`,
      )
      .then(({ rows }) => rows[0]!);
    const forget = () => {
      figures = undefined;
    };
    figures.then(() => setTimeout(forget, figuresLastMs).unref(), forget);
    return figures;
  }

  async function measure(): Promise<void> {
    const [found, isServing] = await Promise.all([
      readFigures().catch(expected),
      isReady(),
      measureDisk('data', DATABASE_URL === undefined ? DATA_DIR : undefined),
      measureDisk('backups', BACKUP_DIR),
      measureBackups(),
    ]);
    isUp.set(found ? 1 : 0);
    ready.set(isServing ? 1 : 0);
    if (!found) return;
    journal.set(found.journalEntries);
    queue.set(found.webhookQueue);
    oldest.set(found.webhookOldestSeconds);
    upkeepAge.set(found.upkeepAgeSeconds ?? Number.POSITIVE_INFINITY);
  }

  async function measureDisk(folder: string, place: string | undefined): Promise<void> {
    const disk = place === undefined ? undefined : await statfs(place).catch(expected);
    if (disk) freeBytes.set({ folder }, disk.bavail * disk.bsize);
    else freeBytes.remove({ folder });
  }

  /** A folder that is gone holds none. */
  async function measureBackups(): Promise<void> {
    if (BACKUP_DIR === undefined) return;
    const backups = await listBackups(BACKUP_DIR).catch(() => []);
    const newest = backups.at(-1);
    backupFiles.set(backups.length);
    backupBytes.set(newest?.bytes ?? 0);
    backupAge.set(newest ? Math.max(0, Date.now() - newest.at) / 1000 : Number.POSITIVE_INFINITY);
  }

  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    async read({ processes, ended }) {
      workers.set(processes.length);
      await measure();
      const node = await registry.getMetricsAsJSON();
      return Registry.aggregate([node, ended, ...processes]).metrics();
    },
    async close() {
      stopRuntimeMetrics?.();
      stopCounting?.();
      await database.close();
    },
  };
}
