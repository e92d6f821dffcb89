import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rateOf } from '../load.ts';
import { settle } from '../postgres.ts';
import { endLater, findFreePort, findProgram, stopProcess } from '../processes.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { createAndCheck, prepareService, warmUp } from '../service.ts';
import { startStamm } from '../stamm-process.ts';
import { formatRateSpread, formatRatioSpread, ratiosOf } from '../statistics.ts';

export const nodes: Scenario = {
  name: 'nodes',
  title: 'More than one node',
  async measure(bench) {
    const haproxy = findProgram('haproxy');
    const redis = findProgram('redis-server') ?? findProgram('valkey-server');
    const missing = [!haproxy && 'haproxy', !redis && 'redis-server'].filter(Boolean);
    if (!haproxy || !redis) return describeAbsence(`Not measured: ${missing.join(' and ')} not installed.`);
    const redisUrl = await startRedis(redis);
    return compareNodes(bench, haproxy, { WORKERS: '1', REDIS_URL: redisUrl });
  },
};

function describeAbsence(note: string): Outcome {
  return { tables: [], charts: [], goals: [], notes: [note], figures: {} };
}

async function compareNodes(
  bench: Bench,
  haproxy: string,
  settings: Record<string, string>,
): Promise<Outcome> {
  const { options, postgres, say } = bench;
  const { connections, seconds, rounds } = options;
  const prepared = await prepareService(bench, 'nodes', settings);
  const second = await startStamm({ DATABASE_URL: prepared.database.url, ...settings }, postgres.workDir);
  const origins = [prepared.service.origin, second.origin];
  const [behindOne, behindTwo] = await startHaproxy(haproxy, postgres.workDir, [
    origins.slice(0, 1),
    origins,
  ]);
  const behind = (origin: string) => ({ ...prepared, service: { ...prepared.service, origin } });
  const contender = (name: string, origin: string): Contender => ({
    name,
    async run() {
      await settle(prepared.database);
      return rateOf(await createAndCheck(behind(origin), { connections, seconds }));
    },
  });
  await warmUp(behind(behindTwo!), bench);
  const rates = await runRounds(
    [
      contender('Stamm, one node behind HAProxy', behindOne!),
      contender('Stamm, two nodes behind HAProxy', behindTwo!),
      contender('Stamm, one node without HAProxy', prepared.service.origin),
    ],
    rounds,
    say,
  );
  const [one] = rates.values();
  return {
    tables: [
      {
        columns: [`Creations at ${connections} connections`, 'a second', 'in ratio to one node'],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          rate === one ? '' : formatRatioSpread(ratiosOf(rate, one!)),
        ]),
      },
    ],
    charts: [
      {
        title: 'Creations with one node and with two',
        unit: '/s',
        bars: barsOf(rates),
      },
    ],
    goals: [],
    notes: [
      'One process a node, one PostgreSQL, and one Redis that counts requests. All of them share the cores of one machine: what a further node brings shows only where cores are left.',
    ],
    figures: { rates: Object.fromEntries(rates) },
  };
}

async function startRedis(program: string): Promise<string> {
  const port = await findFreePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  await startProgram(program, words, [port]);
  return `redis://127.0.0.1:${port}`;
}

/** One address for each list of nodes. */
async function startHaproxy(program: string, workDir: string, lists: readonly string[][]): Promise<string[]> {
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
  await startProgram(program, ['-db', '-f', file], ports);
  return ports.map((port) => `http://127.0.0.1:${port}`);
}

async function startProgram(
  program: string,
  words: readonly string[],
  ports: readonly number[],
): Promise<void> {
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
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
