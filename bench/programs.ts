// Programs beside the service and PostgreSQL, from the machine's packages: a Redis, and a proxy in front of nodes.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endLater, findFreePort, stopProcess } from './processes.ts';

export async function startRedis(program: string): Promise<{ pid: number; url: string }> {
  const port = await findFreePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const pid = await startProgram(program, words, [port]);
  return { pid, url: `redis://127.0.0.1:${port}` };
}

/** One address for each list of nodes. */
export async function startHaproxy(
  program: string,
  workDir: string,
  lists: readonly string[][],
): Promise<{ pid: number; origins: string[] }> {
  const ports: number[] = [];
  const parts = ['defaults', 'mode http', 'http-reuse always'];
  for (const side of ['connect', 'client', 'server']) parts.push(`timeout ${side} 60s`);
  for (const origins of lists) {
    const port = await findFreePort();
    parts.push(`listen nodes${ports.length}`, `bind 127.0.0.1:${port}`, 'balance roundrobin');
    parts.push(...origins.map((origin, index) => `server node${index} ${new URL(origin).host}`));
    ports.push(port);
  }
  const file = path.join(workDir, 'haproxy.cfg');
  await writeFile(file, `${parts.join('\n')}\n`);
  const pid = await startProgram(program, ['-db', '-f', file], ports);
  return { pid, origins: ports.map((port) => `http://127.0.0.1:${port}`) };
}

async function startProgram(
  program: string,
  words: readonly string[],
  ports: readonly number[],
): Promise<number> {
  const child = spawn(program, words, { stdio: 'ignore' });
  endLater(() => stopProcess(child));
  const deadline = performance.now() + 10_000;
  for (const port of ports) {
    while (!(await isListening(port))) {
      if (child.exitCode !== null || performance.now() > deadline)
        throw new Error(`${program} did not start.`);
      await sleep(20);
    }
  }
  return child.pid!;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
