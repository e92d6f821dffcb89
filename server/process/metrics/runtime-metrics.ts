// Metrics of the Node process. The library's default metrics sum up quantiles, so these are our own.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Registry } from '@prometheus-io/client';

const nanoseconds = 1e9;
const resolutionMs = 20;

/** Returns a function that stops them. */
export async function addRuntimeMetrics(registry: Registry): Promise<() => void> {
  const { Counter, Gauge } = await import('@prometheus-io/client');
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  new Gauge({
    name: 'stamm_event_loop_delay_seconds',
    help: 'How late timers fire since the last scrape, in the worst process.',
    labelNames: ['percentile'],
    aggregator: 'max',
    registers,
    collect() {
      const lateness = (value: number) => Math.max(0, value / nanoseconds - resolutionMs / 1000);
      this.set({ percentile: '50' }, lateness(delay.percentile(50)));
      this.set({ percentile: '99' }, lateness(delay.percentile(99)));
      this.set({ percentile: '100' }, lateness(delay.max));
      delay.reset();
    },
  });
  new Gauge({
    name: 'stamm_memory_bytes',
    help: 'Memory of all processes of the node, without PostgreSQL.',
    labelNames: ['kind'],
    registers,
    collect() {
      const { rss, heapUsed, external } = process.memoryUsage();
      this.set({ kind: 'resident' }, rss);
      this.set({ kind: 'heap' }, heapUsed);
      this.set({ kind: 'external' }, external);
    },
  });
  new Counter({
    name: 'stamm_cpu_seconds_total',
    help: 'Processor time of all processes of the node, without PostgreSQL.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  return () => void delay.disable();
}
