// The metrics of one process. The process that owns the port adds those of all workers up.
import type { MetricObjectWithValues, MetricValue } from '@prometheus-io/client';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { topics } from '../../telemetry/topics.ts';
import { addRuntimeMetrics } from './runtime-metrics.ts';

/** A form that fits into a message between processes. */
export type Measurements = MetricObjectWithValues<MetricValue<string>>[];

export interface ProcessMetrics {
  read(): Promise<Measurements>;
  close(): void;
}

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const waitSeconds = [0.001, 0.005, 0.025, 0.1, 0.5, 2];
const batchItems = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const delaySeconds = [0.5, 1, 2.5, 5, 15, 60, 300, 3600, 86_400];

type Prometheus = typeof import('@prometheus-io/client');
type Registries = InstanceType<Prometheus['Registry']>[];

export const backgroundErrors = {
  name: 'stamm_background_errors_total',
  help: 'Failures of work that no request waits for, by the kind of work.',
  labelNames: ['work'],
} as const;

/** Returns a function that ends the subscription. */
export function countFailures(counter: { inc(labels: { work: string }): void }): () => void {
  return topics.backgroundError.subscribe(({ work }) => counter.inc({ work }));
}

export async function openProcessMetrics(
  { REDIS_URL }: Pick<Config, 'REDIS_URL'>,
  database: Database,
): Promise<ProcessMetrics> {
  const prometheus = await import('@prometheus-io/client');
  const registry = new prometheus.Registry();
  const stopRuntimeMetrics = await addRuntimeMetrics(registry);
  const unsubscribe = [
    ...countWork(defineMetrics(prometheus, [registry])),
    ...(REDIS_URL === undefined ? [] : [showRedis(prometheus, [registry])]),
  ];
  showConnections(prometheus, [registry], database);
  return {
    read: () => registry.getMetricsAsJSON(),
    close() {
      for (const end of unsubscribe) end();
      stopRuntimeMetrics();
    },
  };
}

type WorkMetrics = ReturnType<typeof defineMetrics>;

function defineMetrics({ Counter, Gauge, Histogram }: Prometheus, registers: Registries) {
  return {
    requests: new Histogram({
      name: 'stamm_request_duration_seconds',
      help: 'Requests by method, route and status, with the time until their answer was sent.',
      labelNames: ['method', 'route', 'status'],
      buckets: requestSeconds,
      registers,
    }),
    refusals: new Counter({
      name: 'stamm_refusals_total',
      help: 'Rejected and failed requests, by error code.',
      labelNames: ['code'],
      registers,
    }),
    batches: new Histogram({
      name: 'stamm_batch_items',
      help: 'Batches by kind, with the number of requests that each of them served.',
      labelNames: ['kind'],
      buckets: batchItems,
      registers,
    }),
    batchTimes: new Counter({
      name: 'stamm_batch_seconds_total',
      help: 'Time that batches took, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    waits: new Histogram({
      name: 'stamm_connection_wait_seconds',
      help: 'How long work waited for a connection to the database.',
      buckets: waitSeconds,
      registers,
    }),
    lines: new Counter({ name: 'stamm_import_lines_total', help: 'Lines of imports.', registers }),
    running: new Gauge({ name: 'stamm_imports_running', help: 'Imports under way.', registers }),
    backgroundErrors: new Counter({ ...backgroundErrors, registers }),
    recordErrors: new Counter({
      name: 'stamm_record_errors_total',
      help: 'Records that a list, file or calendar marks because work on them failed, by the kind of work.',
      labelNames: ['work'],
      registers,
    }),
    deliveries: new Histogram({
      name: 'stamm_webhook_delay_seconds',
      help: 'Time from a change to the end of an attempt to deliver it, by outcome.',
      labelNames: ['outcome'],
      buckets: delaySeconds,
      registers,
    }),
  };
}

function showConnections({ Gauge }: Prometheus, registers: Registries, database: Database): void {
  new Gauge({
    name: 'stamm_connections',
    help: 'Connections to the database by state, and work that waits for one.',
    labelNames: ['state'],
    registers,
    collect() {
      const { inUse, idle, waiting } = database.use;
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}

/** Returns a function that ends the subscription. */
function showRedis({ Gauge }: Prometheus, registers: Registries): () => void {
  let isUp = true;
  new Gauge({
    name: 'stamm_redis_up',
    help: 'Whether Redis answers: 1 or 0.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(isUp ? 1 : 0);
    },
  });
  return topics.redis.subscribe((event) => {
    isUp = event.isUp;
  });
}

/** Returns functions that end the subscriptions. */
function countWork(metrics: WorkMetrics): (() => void)[] {
  const { requests, refusals, batches, batchTimes } = metrics;
  /** Resolving labels costs more than counting. Routes, methods and statuses are few. */
  const known = new Map<string, ReturnType<typeof requests.labels>>();
  return [
    topics.request.subscribe(({ method, route = 'unknown', status, code, seconds }) => {
      const name = `${method} ${status} ${route}`;
      const series = known.get(name) ?? requests.labels(method, route, String(status));
      known.set(name, series);
      series.observe(seconds);
      if (code !== undefined) refusals.inc({ code });
    }),
    topics.batch.subscribe(({ kind, items, seconds }) => {
      batches.observe({ kind }, items);
      batchTimes.inc({ kind }, seconds);
    }),
    topics.connectionWait.subscribe(({ seconds }) => metrics.waits.observe(seconds)),
    topics.importLines.subscribe((event) => metrics.lines.inc(event.lines)),
    topics.runningImports.subscribe(({ change }) => metrics.running.inc(change)),
    countFailures(metrics.backgroundErrors),
    topics.recordError.subscribe(({ work }) => metrics.recordErrors.inc({ work })),
    topics.delivery.subscribe((event) =>
      metrics.deliveries.observe({ outcome: event.isDelivered ? 'delivered' : 'failed' }, event.delaySeconds),
    ),
  ];
}
