// Several processes on one port. This one owns the port, hands connections out in turn and replaces workers that die.
// Nothing that an answer relied on dies with it.

import cluster, { type Worker } from 'node:cluster';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { buildFailureCounter } from '../auth/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Account } from '../database/embedded/programs.ts';
import { UsageError } from '../errors.ts';
import type { RunningApp } from './app.ts';
import type { Measurements } from './process-metrics.ts';
import { WorkerMeasurements } from './worker-measurements.ts';

/** Orders to a worker: to start, to end in one way or another, to measure, or the count that it asked for. */
export type Order =
  | { kind: 'start'; config: Config; connection: pg.ClientConfig; account: Account; sendsWebhooks: boolean }
  | { kind: 'drain' }
  | { kind: 'stop' }
  | { kind: 'measure' }
  | { kind: 'retire'; timeoutMs: number }
  | { kind: 'counted'; id: number; requests: number; windowEndsInMs: number };

/** What a worker tells: that it listens or cannot, its metrics, or that an address failed to authenticate. */
export type Report =
  | { kind: 'listening'; port: number }
  | { kind: 'failed'; message: string; code: string | undefined }
  | { kind: 'measured'; measurements: Measurements }
  | { kind: 'failure'; id: number; address: string; addition: 0 | 1 };

/** A worker that dies as soon as it starts is not started again without a pause. */
const restartAfterMs = 1000;

/** How long clients have to leave the connections of a worker that is replaced. */
const shortestRetirementMs = 5000;

/** A worker that has not ended so long after its retirement hangs. */
const retirementGraceMs = 20_000;

export interface Workers {
  /** Resolves once all of them listen; rejects with what keeps one of them from it. */
  listen(connection: pg.ClientConfig, account: Account): Promise<RunningApp>;
  /** Rejects where no worker is left and none can open the port again. */
  failed: Promise<never>;
  /** Starts a new worker for each, and ends the old one once the new one listens. */
  replace(): void;
  /** Kills them. */
  kill(): void;
}

/** Starts the processes immediately: they load the program while the database opens. */
export function startWorkers(config: Config, log: FastifyBaseLogger): Workers {
  cluster.setupPrimary({ exec: path.join(import.meta.dirname, './worker.ts'), args: [] });
  const countFailures = buildFailureCounter();
  const workers = new Set<Worker>();
  /** Those of them that have opened the port. */
  const open = new Set<Worker>();
  const measurements = new WorkerMeasurements();
  const retiring = new Set<Worker>();
  let serve: ((worker: Worker) => Promise<void>) | undefined;
  let rounds = 0;
  let isStopping = false;
  let settled = config;
  const failure = Promise.withResolvers<never>();
  // It is waited for only once the service runs.
  failure.promise.catch(() => {});
  // Also where a stop took too long: a worker that hangs would not notice that nobody is there any more.
  process.once('exit', kill);

  function kill(): void {
    isStopping = true;
    for (const worker of workers) worker.process.kill('SIGKILL');
  }

  function fork(): Worker {
    const worker = cluster.fork();
    workers.add(worker);
    worker.on('message', (report: Report) => {
      if (report.kind === 'listening') open.add(worker);
      if (report.kind === 'measured') measurements.note(worker, report.measurements);
      if (report.kind !== 'failure') return;
      const counted = countFailures(report.address, report.addition);
      tell(worker, { kind: 'counted', id: report.id, ...counted });
    });
    // A message to a worker that has just ended fails. Its `exit` event reports the end.
    worker.on('error', () => {});
    worker.on('exit', () => {
      workers.delete(worker);
      open.delete(worker);
      void measurements.noteEnd(worker);
    });
    return worker;
  }

  /** One worker of a node sends them; once it is dead, the next that starts. */
  let sender: Worker | undefined;
  function sendsWebhooks(worker: Worker): boolean {
    if (!sender || sender.isDead()) sender = worker;
    return sender === worker;
  }

  function replaceWhenItDies(worker: Worker, serving: Serving, port: number): void {
    worker.on('exit', (code, signal) => {
      if (isStopping || retiring.delete(worker)) return;
      log.error(`Worker ${worker.process.pid} ended (${signal ?? `exit code ${code}`}) and is replaced.`);
      setTimeout(() => {
        if (isStopping) return;
        // A free port that was picked is free again once nobody has it; the next ones must not pick another.
        if (workers.size === 0) settled = { ...config, PORT: port };
        const next = fork();
        replaceWhenItDies(next, serving, port);
        // One that cannot start ends by itself, and is replaced in its turn.
        listening(next, settled, { ...serving, sendsWebhooks: sendsWebhooks(next) }).catch((error) => {
          if (isStopping) return;
          log.error(error);
          if (error.code === 'EACCES') failure.reject(portLost(port));
        });
      }, restartAfterMs);
    });
  }

  /** One that has listened is replaced from then on, also while others are still starting. */
  async function startFirst(worker: Worker, serving: Serving): Promise<number> {
    const port = await listening(worker, config, { ...serving, sendsWebhooks: sendsWebhooks(worker) });
    replaceWhenItDies(worker, serving, port);
    return port;
  }

  async function replaceInRounds(): Promise<void> {
    for (; rounds > 0; rounds--) await replaceEach();
  }

  async function replaceEach(): Promise<void> {
    if (!serve) return;
    for (const old of [...workers]) {
      if (isStopping) return;
      const next = fork();
      if (sender === old) sender = next;
      try {
        await serve(next);
      } catch (error) {
        if (isStopping) return;
        next.process.kill('SIGKILL');
        log.error(`Workers are not replaced, because a new one cannot start: ${(error as Error).message}`);
        return;
      }
      if (isStopping) return;
      await retire(old);
    }
    log.info('All workers are replaced.');
  }

  async function retire(worker: Worker): Promise<void> {
    if (worker.isDead()) return;
    retiring.add(worker);
    const timeoutMs = Math.max(shortestRetirementMs, config.DRAIN_SECONDS * 1000);
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), timeoutMs + retirementGraceMs);
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    tell(worker, { kind: 'retire', timeoutMs });
    await ended;
    clearTimeout(timer);
  }

  const first = Array.from({ length: config.WORKERS }, fork);
  return {
    async listen(connection, account) {
      const serving = { connection, account };
      const [port] = await Promise.all(first.map((worker) => startFirst(worker, serving)));
      serve = async (worker) => {
        await listening(worker, settled, { ...serving, sendsWebhooks: sendsWebhooks(worker) });
        replaceWhenItDies(worker, serving, port!);
      };
      return {
        port: port!,
        measure: () => measurements.gather(workers, (worker) => tell(worker, { kind: 'measure' })),
        drain() {
          isStopping = true;
          for (const worker of workers) tell(worker, { kind: 'drain' });
        },
        cut: kill,
        async close() {
          isStopping = true;
          const ends = [...workers].map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
          for (const worker of workers) {
            if (open.has(worker)) tell(worker, { kind: 'stop' });
            // One that is still loading has nothing to answer, and would open the port again behind the others.
            else worker.process.kill('SIGKILL');
          }
          await Promise.all(ends);
        },
      };
    },
    failed: failure.promise,
    replace() {
      // One more round for all that is asked for meanwhile.
      rounds = Math.min(rounds + 1, 2);
      if (rounds === 1) void replaceInRounds();
    },
    kill,
  };
}

/** A port below 1024 that all workers have left stays closed, since nobody is root any more. */
function portLost(port: number): Error {
  return new UsageError(`All workers ended, and only root may open port ${port} again. Start Stamm again.`);
}

function tell(worker: Worker, order: Order): void {
  if (worker.isConnected()) worker.send(order);
}

interface Serving {
  connection: pg.ClientConfig;
  account: Account;
}

function listening(
  worker: Worker,
  config: Config,
  serving: Serving & { sendsWebhooks: boolean },
): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      if (report.kind === 'listening') resolve(report.port);
      if (report.kind === 'failed') reject(Object.assign(new Error(report.message), { code: report.code }));
    });
    const refuse = (code: number | null, signal: string | null) =>
      reject(new Error(`A worker ended at its start: ${signal ?? `exit code ${code}`}.`));
    worker.once('exit', refuse);
    // It may have ended while nobody waited for it.
    if (worker.isDead()) refuse(worker.process.exitCode, worker.process.signalCode);
    tell(worker, { kind: 'start', config, ...serving });
  });
}
