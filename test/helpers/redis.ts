// A Redis of the machine that a test starts, stops, and lets come back.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { redis as redisProgram } from './programs.ts';

export async function startRedis(port: number, directory: string): Promise<ChildProcess> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
  const child = spawn(redisProgram!, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const chunk of child.stdout!) {
    if (/ready to accept connections/i.test(String(chunk))) break;
  }
  return child;
}

export async function stopRedis(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
