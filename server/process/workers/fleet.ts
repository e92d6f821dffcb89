// The worker processes that run, and the messages that reach all of them.
import cluster, { type Worker } from 'node:cluster';
import { buildFailureCounter } from '../../access/rate-limit.ts';
import { WorkerMeasurements } from './worker-measurements.ts';
import { type Report, tell } from './worker-messages.ts';

export class Fleet {
  readonly workers = new Set<Worker>();
  isStopping = false;
  /** The workers that have opened the port. */
  readonly #open = new Set<Worker>();
  readonly #measurements = new WorkerMeasurements();
  readonly #countFailures = buildFailureCounter();
  #sender: Worker | undefined;

  fork(): Worker {
    const worker = cluster.fork();
    this.workers.add(worker);
    worker.on('message', (report: Report) => {
      if (report.kind === 'listening') this.#open.add(worker);
      if (report.kind === 'measured') this.#measurements.note(worker, report.measurements);
      if (report.kind !== 'failure') return;
      const counted = this.#countFailures(report.address, report.addition);
      tell(worker, { kind: 'counted', id: report.id, ...counted });
    });
    // A message to a worker that has just ended fails. Its `exit` event reports the end.
    worker.on('error', () => {});
    worker.on('exit', () => {
      this.workers.delete(worker);
      this.#open.delete(worker);
      void this.#measurements.noteEnd(worker);
    });
    return worker;
  }

  /** One worker of a node sends them; once it is dead, the next that starts. */
  sendsWebhooks(worker: Worker): boolean {
    if (!this.#sender || this.#sender.isDead()) this.#sender = worker;
    return this.#sender === worker;
  }

  handOver(old: Worker, next: Worker): void {
    if (this.#sender === old) this.#sender = next;
  }

  measure() {
    return this.#measurements.gather(this.workers, (worker) => tell(worker, { kind: 'measure' }));
  }

  drain(): void {
    this.isStopping = true;
    for (const worker of this.workers) tell(worker, { kind: 'drain' });
  }

  async close(): Promise<void> {
    this.isStopping = true;
    const ends = [...this.workers].map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of this.workers) {
      if (this.#open.has(worker)) tell(worker, { kind: 'stop' });
      // A worker that is still loading has nothing to answer, and would open the port again behind the others.
      else worker.process.kill('SIGKILL');
    }
    await Promise.all(ends);
  }

  kill(): void {
    this.isStopping = true;
    for (const worker of this.workers) worker.process.kill('SIGKILL');
  }
}
