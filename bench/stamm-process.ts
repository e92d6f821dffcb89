// The service as a real process with its default settings, but for the rate limit, which would end every measurement.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../server/config.ts';
import { findFreePort } from '../test/helpers/free-port.ts';
import { endLater, stopProcess } from './processes.ts';

const checkout = path.resolve(import.meta.dirname, '..');
const startTimeoutMs = 180_000;

export interface StammProcess {
  origin: string;
  pid: number;
  /** From the start of the process until /readyz answers. */
  readyAfterMs: number;
  stop(): Promise<void>;
}

/** `settings` come on top of the defaults; DATABASE_URL or DATA_DIR must be among them. */
export async function startStamm(settings: Record<string, string>, workDir: string): Promise<StammProcess> {
  const port = await findFreePort();
  const { PATH = '', HOME = '/' } = process.env;
  const errorFile = path.join(workDir, `service-${port}.log`);
  // The log is written as always; its destination is not measured.
  const outputs = [openSync('/dev/null', 'w'), openSync(errorFile, 'w')] as const;
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['server/main.ts', 'serve'], {
    cwd: checkout,
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE: path.join(workDir, 'compile-cache'),
      HOST: '127.0.0.1',
      PORT: String(port),
      RATE_LIMIT_PER_MINUTE: '1000000000',
      // The PostgreSQL is the one that the service would bring itself, and on the same machine.
      WORKERS: String(readConfig({}).WORKERS),
      ...settings,
    },
    stdio: ['ignore', ...outputs],
  });
  for (const output of outputs) closeSync(output);
  const stop = () => stopProcess(child);
  endLater(stop);
  const origin = `http://127.0.0.1:${port}`;
  while (!(await isReady(origin))) {
    if (child.exitCode !== null || performance.now() - startedAt > startTimeoutMs)
      throw new Error(`The service did not start: ${readFileSync(errorFile, 'utf8')}`);
    await sleep(5);
  }
  return { origin, pid: child.pid!, readyAfterMs: performance.now() - startedAt, stop };
}

async function isReady(origin: string): Promise<boolean> {
  const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.status === 200;
}
