// The processes of a run, and their end: the newest first, at the end, after a failure and on Ctrl-C.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

const endings: (() => Promise<unknown>)[] = [];

export function endLater(end: () => Promise<unknown>): void {
  endings.push(end);
}

async function endDownTo(count: number): Promise<void> {
  const failures: unknown[] = [];
  // One that fails must not keep the others from ending.
  while (endings.length > count) await endings.pop()!().catch((error) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
}

/** Every process that `work` starts has ended when this returns. */
export async function runScoped<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = endings.length;
  try {
    return await work();
  } finally {
    await endDownTo(before);
  }
}

let isEnding = false;

/** Whether somebody has asked for the end: what fails from then on fails because of it. */
export function isInterrupted(): boolean {
  return isEnding;
}

/** Exits with the code that a shell gives to an interrupted program. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, async () => {
      if (isEnding) return;
      isEnding = true;
      process.stderr.write('\nEnding what was started …\n');
      await endDownTo(0).catch((error) => process.stderr.write(`${error}\n`));
      process.exit(130);
    });
  }
}

const stopTimeoutMs = 25_000;

/** Asks a process to end, and ends it if it does not. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

/** Our own programs run beside this one, never in it: what they measure shares no event loop with anything. */
export function startOwn(file: string, order: unknown): ChildProcess {
  const program = path.join(import.meta.dirname, file);
  const child = fork(program, [JSON.stringify(order)], { execArgv: ['--no-warnings'] });
  endLater(() => stopProcess(child));
  return child;
}

/** Runs one of our own programs and resolves with the one message that it sends. */
export async function runOwn<Report>(file: string, order: unknown, seconds: number): Promise<Report> {
  const child = startOwn(file, order);
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
  let report: Report | undefined;
  child.once('message', (message) => {
    report = message as Report;
  });
  const [code, signal] = await once(child, 'exit');
  clearTimeout(timer);
  if (report === undefined)
    throw new Error(`${file} ended without a report (${signal ?? `exit code ${code}`}).`);
  return report;
}

/** Runs a program of the machine to its end and resolves with what it printed. */
export async function runProgram(
  command: string,
  words: readonly string[],
  { env = {}, seconds }: { env?: Record<string, string>; seconds: number },
): Promise<string> {
  const child = spawn(command, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  endLater(() => stopProcess(child));
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    Array.fromAsync(child.stdout.setEncoding('utf8')),
    Array.fromAsync(child.stderr.setEncoding('utf8')),
    once(child, 'close'),
  ]);
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${command} failed (${signal ?? `exit code ${code}`}): ${stderr.join('')}`);
  return stdout.join('');
}

/** Where a program of the machine is; Debian keeps PostgreSQL's own out of the path. */
export function findProgram(name: string): string | undefined {
  const isInPath = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
  if (isInPath) return name;
  const places = ['/usr/sbin', ...globSync('/usr/lib/postgresql/*/bin').sort().reverse()];
  return places.map((place) => path.join(place, name)).find((file) => existsSync(file));
}
