// Gathers the metrics of all workers. Counters never go down: what an ended worker counted stays in the sum.
import type { Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurements } from '../metrics/process-metrics.ts';

/** A worker that is too busy to answer is shown with its last numbers. */
const patienceMs = 1000;

export interface NodeMeasurements {
  /** Measurements of each process that has answered, now or before. */
  processes: Measurements[];
  /** Counters of processes that have ended. */
  ended: Measurements;
}

export class WorkerMeasurements {
  readonly #latest = new Map<Worker, Measurements>();
  readonly #asked = new Map<Worker, () => void>();
  #ended: Measurements = [];

  note(worker: Worker, measurements: Measurements): void {
    this.#latest.set(worker, measurements);
    this.#asked.get(worker)?.();
  }

  async noteEnd(worker: Worker): Promise<void> {
    const last = this.#latest.get(worker);
    this.#latest.delete(worker);
    this.#asked.get(worker)?.();
    if (!last) return;
    const { Registry } = await import('@prometheus-io/client');
    const counted = last.filter(({ type }) => type === 'counter' || type === 'histogram');
    this.#ended = await Registry.aggregate([this.#ended, counted]).getMetricsAsJSON();
  }

  async gather(workers: Iterable<Worker>, ask: (worker: Worker) => void): Promise<NodeMeasurements> {
    const answers = [...workers].map((worker) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#asked.set(worker, resolve);
      ask(worker);
      return promise.finally(() => this.#asked.delete(worker));
    });
    await Promise.race([Promise.all(answers), sleep(patienceMs, undefined, { ref: false })]);
    return { processes: [...this.#latest.values()], ended: this.#ended };
  }
}
