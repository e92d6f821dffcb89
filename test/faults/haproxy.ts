// Debian's HAProxy in a folder of its own, in front of nodes that it asks whether they are ready.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '../free-port.ts';
import { haproxy } from '../programs.ts';
import { until } from '../waiting.ts';
import { cleanUpLater } from './process.ts';

export interface HAProxy {
  origin: string;
  /** Waits until it takes a node for up or down. */
  untilNode(port: number, status: 'UP' | 'DOWN'): Promise<void>;
}

export async function startHAProxy(nodePorts: readonly number[]): Promise<HAProxy> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-haproxy-'));
  cleanUpLater(() => rm(folder, { recursive: true, force: true }));
  const port = await findFreePort();
  const socket = path.join(folder, 'stats.sock');
  const servers = nodePorts.map((nodePort) => `  server node-${nodePort} 127.0.0.1:${nodePort} check`);
  const configuration = `
global
  stats socket ${socket} mode 600
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  timeout check 30s
frontend web
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  option httpchk GET /readyz
  default-server inter 500ms fall 1 rise 1
${servers.join('\n')}
`;
  const file = path.join(folder, 'haproxy.cfg');
  await writeFile(file, configuration);
  const child = spawn(haproxy!, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const output = text(child.stderr);
  const ended = once(child, 'exit');
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  cleanUpLater(async () => {
    child.kill('SIGKILL');
    await ended;
  });

  async function statusOf(nodePort: number): Promise<string | undefined> {
    if (hasEnded) assert.fail(`HAProxy ended: ${await output}`);
    const asking = connect(socket);
    asking.end('show stat\n');
    const table = await text(asking).catch(() => '');
    const [head = '', ...lines] = table.trim().split('\n');
    const column = head.split(',').indexOf('status');
    const line = lines.find((one) => one.startsWith(`nodes,node-${nodePort},`));
    return line?.split(',')[column];
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    untilNode: (nodePort, status) =>
      until(`HAProxy takes ${nodePort} for ${status}`, async () =>
        Boolean((await statusOf(nodePort))?.startsWith(status)),
      ),
  };
}
