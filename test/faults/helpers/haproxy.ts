// Debian's HAProxy in a folder of its own, with the settings that Stamm ships.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '../../helpers/free-port.ts';
import { haproxy } from '../../helpers/programs.ts';
import { until } from '../../helpers/waiting.ts';
import { cleanUpLater } from './process.ts';

export interface HAProxy {
  origin: string;
  /** Waits until it takes a node for up or down. */
  untilNode(port: number, status: 'UP' | 'DOWN'): Promise<void>;
}

interface Entry {
  port: number;
  servers: readonly string[];
}

/** packaging/haproxy.cfg with other addresses, reduced to these entries. */
export async function shippedSettings(entries: Record<string, Entry>): Promise<string> {
  const shipped = await readFile(path.join(import.meta.dirname, '../../../packaging/haproxy.cfg'), 'utf8');
  const [common, ...sections] = shipped.split(/^(?=listen )/m);
  const adapted = sections.map((section) => {
    const [, name] = /^listen (\w+)/.exec(section)!;
    const entry = entries[name!];
    if (!entry) return '';
    const settings = section.replaceAll(/^ {2}(bind|server) .*\n/gm, '').trimEnd();
    const servers = entry.servers.map((server) => `  server ${server}\n`);
    return `${settings}\n  bind 127.0.0.1:${entry.port}\n${servers.join('')}`;
  });
  return [common, ...adapted].join('');
}

export async function startHAProxy(nodePorts: readonly number[]): Promise<HAProxy> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-haproxy-'));
  cleanUpLater(() => rm(folder, { recursive: true, force: true }));
  const port = await findFreePort();
  const socket = path.join(folder, 'stats.sock');
  const configuration = `global\n  stats socket ${socket} mode 600\n${await shippedSettings({
    stamm: { port, servers: nodePorts.map((nodePort) => `node-${nodePort} 127.0.0.1:${nodePort} check`) },
  })}`;
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
    const line = lines.find((one) => one.startsWith(`stamm,node-${nodePort},`));
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
