// Several processes on one port. This one owns the port, hands connections out in turn and replaces workers that die.
// Nothing that an answer relied on dies with it.

import cluster, { type Worker } from 'node:cluster';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Config } from '../../config.ts';
import type { Account } from '../../database/embedded/programs.ts';
import { UsageError } from '../../errors.ts';
import { expected } from '../../telemetry/expected.ts';
import type { RunningApp } from '../app.ts';
import { Fleet } from './fleet.ts';
import { type Report, tell } from './worker-messages.ts';

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
  const fleet = new Fleet();
  const retiring = new Set<Worker>();
  let start: ((worker: Worker) => Promise<number>) | undefined;
  let rounds = 0;
  let settled = config;
  const failure = Promise.withResolvers<never>();
  // It is waited for only once the service runs.
  failure.promise.catch(expected);
  // Kill after a slow stop, too: a hanging worker would outlive its parent.
  process.once('exit', () => fleet.kill());

  /** Once a worker has listened, it is replaced when it ends, even while others are still starting. */
  async function startAndKeep(worker: Worker, serving: Serving): Promise<number> {
    const sendsWebhooks = fleet.sendsWebhooks(worker);
    const port = await listening(worker, settled, { ...serving, sendsWebhooks });
    replaceWhenItDies(worker, serving, port);
    return port;
  }

  function replaceWhenItDies(worker: Worker, serving: Serving, port: number): void {
    worker.on('exit', (code, signal) => {
      if (fleet.isStopping || retiring.delete(worker)) return;
      log.error(`Worker ${worker.process.pid} ended (${signal ?? `exit code ${code}`}) and is replaced.`);
      setTimeout(() => startAnother(serving, port), restartAfterMs);
    });
  }

  function startAnother(serving: Serving, port: number): void {
    if (fleet.isStopping) return;
    // A free port that was picked is free again once nobody has it; the next ones must not pick another.
    if (fleet.workers.size === 0) settled = { ...config, PORT: port };
    const next = fleet.fork();
    replaceWhenItDies(next, serving, port);
    // A worker that cannot start exits by itself, and is replaced in its turn.
    listening(next, settled, { ...serving, sendsWebhooks: fleet.sendsWebhooks(next) }).catch((error) => {
      if (fleet.isStopping) return;
      log.error(error);
      if (error.code === 'EACCES') failure.reject(portLost(port));
    });
  }

  async function replaceInRounds(): Promise<void> {
    for (; rounds > 0; rounds--) await replaceEach();
  }

  async function replaceEach(): Promise<void> {
    if (!start) return;
    for (const old of [...fleet.workers]) {
      if (fleet.isStopping) return;
      const next = fleet.fork();
      fleet.handOver(old, next);
      try {
        await start(next);
      } catch (error) {
        if (fleet.isStopping) return;
        next.process.kill('SIGKILL');
        log.error(`Workers are not replaced, because a new one cannot start: ${(error as Error).message}`);
        return;
      }
      if (fleet.isStopping) return;
      if (!old.isDead()) {
        retiring.add(old);
        await retire(old, Math.max(shortestRetirementMs, config.DRAIN_SECONDS * 1000));
      }
    }
    log.info('All workers are replaced.');
  }

  const first = Array.from({ length: config.WORKERS }, () => fleet.fork());
  return {
    async listen(connection, account) {
      const serving = { connection, account };
      const [port] = await Promise.all(first.map((worker) => startAndKeep(worker, serving)));
      start = (worker) => startAndKeep(worker, serving);
      return {
        port: port!,
        measure: () => fleet.measure(),
        drain: () => fleet.drain(),
        cut: () => fleet.kill(),
        close: () => fleet.close(),
      };
    },
    failed: failure.promise,
    replace() {
      // One more round for all that is asked for meanwhile.
      rounds = Math.min(rounds + 1, 2);
      if (rounds === 1) void replaceInRounds();
    },
    kill: () => fleet.kill(),
  };
}

/** Resolves when the worker has ended. */
async function retire(worker: Worker, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), timeoutMs + retirementGraceMs);
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  tell(worker, { kind: 'retire', timeoutMs });
  await ended;
  clearTimeout(timer);
}

/** A port below 1024 that all workers have left stays closed, since nobody is root any more. */
function portLost(port: number): Error {
  return new UsageError(`All workers ended, and only root may open port ${port} again. Start Stamm again.`);
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
