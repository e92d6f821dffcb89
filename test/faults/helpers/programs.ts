// Starts programs of the machine, each in its own folder and on loopback, and ends them by pid.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { type Account, findAccount } from '../../../server/database/embedded/programs.ts';
import { redis } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { cleanUpLater } from './process.ts';

/** PostgreSQL and what starts it refuse root. */
export const unprivileged: Account = process.getuid?.() === 0 ? findAccount('postgres', 'nobody') : undefined;

export interface Program {
  pid: number;
  hasEnded(): boolean;
  kill(): Promise<void>;
}

/** Resolves when all the ports are open. Output goes to a file in `folder`. */
export async function startProgram(
  folder: string,
  command: readonly string[],
  ports: readonly number[],
): Promise<Program> {
  const name = path.basename(command[0]!);
  const output = openSync(path.join(folder, `${name}.log`), 'a');
  const child: ChildProcess = spawn(command[0]!, command.slice(1), {
    ...unprivileged,
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', output, output],
  });
  const ended = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
  }
  cleanUpLater(kill);
  for (const port of ports) {
    await until(`${name} listens`, async () => {
      if (hasEnded()) throw new Error(`${name} ended: see ${folder}`);
      return isListening(port);
    });
  }
  return { pid: child.pid!, hasEnded, kill };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });
}

export function startRedis(folder: string, port: number): Promise<Program> {
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return startProgram(folder, [redis!, ...words], [port]);
}
