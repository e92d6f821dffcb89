import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  canReadProcesses,
  processTree,
  readProportionalBytes,
  readResidentBytes,
  watchMemory,
} from '../machine.ts';
import { runProgram } from '../processes.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { createAndCheck, prepareService } from '../service.ts';
import { startStamm } from '../stamm-process.ts';
import { formatMb, formatMs, median } from '../statistics.ts';

const restSeconds = 3;

interface Cost {
  firstStartMs: number;
  laterStartMs: number;
  /** Of each process of the service, the one that owns the port first. */
  restBytes: number[];
  loadBytes: number;
  postgresRestBytes: number;
  postgresLoadBytes: number;
  installBytes: number;
  productionBytes: number;
}

export const cost: Scenario = {
  name: 'cost',
  title: 'Memory, start and size',
  async measure(bench) {
    bench.say('Starting it for the first time, and again …');
    const starts = await measureStarts(bench);
    bench.say('Memory at rest and under load …');
    const memory = await measureMemory(bench);
    return report({ ...starts, ...memory, ...(await measureInstall()) });
  },
};

/** As `npm start` does it: with its own PostgreSQL, which the first start sets up, and with compiled code cached. */
async function measureStarts({ options, postgres }: Bench) {
  const settings = {
    DATA_DIR: path.join(postgres.workDir, 'first-start'),
    NODE_COMPILE_CACHE: path.join(postgres.workDir, 'first-compile-cache'),
  };
  const start = async () => {
    const service = await startStamm(settings, postgres.workDir);
    await service.stop();
    return service.readyAfterMs;
  };
  const firstStartMs = await start();
  const later: number[] = [];
  for (let round = 0; round < options.rounds; round++) later.push(await start());
  return { firstStartMs, laterStartMs: median(later) };
}

async function measureMemory(bench: Bench) {
  const { options, postgres } = bench;
  const prepared = await prepareService(bench, 'cost');
  const { pid } = prepared.service;
  const readPostgres = () =>
    processTree(postgres.pid).reduce((sum, process) => sum + readProportionalBytes(process), 0);
  await sleep(restSeconds * 1000);
  const restBytes = processTree(pid).map(readResidentBytes);
  const postgresRestBytes = readPostgres();
  const memory = watchMemory(pid);
  const { connections, seconds, warmUpSeconds } = options;
  const loading = createAndCheck(prepared, { connections, seconds: seconds + warmUpSeconds });
  await sleep((seconds + warmUpSeconds) * 900);
  const postgresLoadBytes = readPostgres();
  await loading;
  return { restBytes, loadBytes: memory.stop().mostBytes, postgresRestBytes, postgresLoadBytes };
}

/** What npm installs, and how much of it only those need who work on the code. */
async function measureInstall() {
  const folder = realpathSync(path.resolve(import.meta.dirname, '../../node_modules'));
  const lock = JSON.parse(readFileSync(path.join(folder, '.package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, { dev?: boolean }>);
  const development = packages
    .filter(([, { dev }]) => dev)
    .map(([place]) => path.join(path.dirname(folder), place))
    .filter((place) => existsSync(place));
  const cache = path.join(folder, '.cache');
  const cacheBytes = existsSync(cache) ? await diskUse([cache]) : 0;
  const installBytes = (await diskUse([folder])) - cacheBytes;
  return { installBytes, productionBytes: installBytes - (await diskUse(development)) };
}

async function diskUse(places: readonly string[]): Promise<number> {
  const output = await runProgram('du', ['-skc', ...places], { seconds: 60 });
  return Number.parseInt(output.trim().split('\n').at(-1)!, 10) * 1024;
}

function report(measured: Cost): Outcome {
  const restBytes = measured.restBytes.reduce((sum, bytes) => sum + bytes, 0);
  const each = measured.restBytes.map(formatMb).join(' + ');
  const memory = (text: string) => (canReadProcesses ? text : 'not measured');
  return {
    tables: [
      {
        columns: ['Cost', ''],
        rows: [
          ['memory of the service at rest', memory(`${formatMb(restBytes)} (${each})`)],
          ['memory of the service under load, at most', memory(formatMb(measured.loadBytes))],
          ['memory of PostgreSQL at rest', memory(formatMb(measured.postgresRestBytes))],
          ['memory of PostgreSQL under load', memory(formatMb(measured.postgresLoadBytes))],
          ['first start, database set up', formatMs(measured.firstStartMs)],
          ['later starts', formatMs(measured.laterStartMs)],
          ['installed, with what development needs', formatMb(measured.installBytes)],
          ['installed, without', formatMb(measured.productionBytes)],
        ],
      },
    ],
    charts: [
      {
        title: 'Memory',
        unit: 'MB',
        bars: [
          { label: 'Stamm at rest', value: restBytes / 1e6 },
          { label: 'Stamm under load', value: measured.loadBytes / 1e6 },
          { label: 'PostgreSQL at rest', value: measured.postgresRestBytes / 1e6, isReference: true },
          { label: 'PostgreSQL under load', value: measured.postgresLoadBytes / 1e6, isReference: true },
        ],
      },
    ],
    goals: [],
    notes: [
      'Start times run from the start of the process until /readyz answers. Memory of the service is what is resident, the process that owns the port first; that of PostgreSQL counts shared pages once, and it may have served other scenarios before.',
    ],
    figures: { ...measured },
  };
}
