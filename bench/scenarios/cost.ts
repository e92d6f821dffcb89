import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from '../processes.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';
import { formatMb, formatMs, median } from '../statistics.ts';

export const cost: Scenario = {
  name: 'cost',
  title: 'Start and size',
  async measure(bench) {
    return report({ ...(await measureStarts(bench)), ...(await measureInstall()) });
  },
};

/** With its own PostgreSQL, which the first start sets up, and with compiled code cached, as `npm start` does it. */
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

/** What `npm ci` installs, and what `npm prune --omit=dev` leaves of it. */
async function measureInstall() {
  const folder = realpathSync(path.resolve(import.meta.dirname, '../../node_modules'));
  const lock = JSON.parse(readFileSync(path.join(folder, '../package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, { dev?: boolean }>);
  const development = packages
    .filter(([place, { dev }]) => dev && place.startsWith('node_modules/'))
    .map(([place]) => path.join(folder, '..', place))
    .filter((place) => existsSync(place));
  const cache = path.join(folder, '.cache');
  const installBytes = (await diskUse([folder])) - (existsSync(cache) ? await diskUse([cache]) : 0);
  return { installBytes, productionBytes: installBytes - (await diskUse(development)) };
}

async function diskUse(places: readonly string[]): Promise<number> {
  const output = await runProgram('du', ['-skc', ...places], { seconds: 60 });
  return Number.parseInt(output.trim().split('\n').at(-1)!, 10) * 1024;
}

function report(
  measured: Awaited<ReturnType<typeof measureStarts>> & Awaited<ReturnType<typeof measureInstall>>,
): Outcome {
  const rows = [
    ['first start, database set up', formatMs(measured.firstStartMs)],
    ['later starts', formatMs(measured.laterStartMs)],
    ['packages that npm ci installs', formatMb(measured.installBytes)],
    ['packages that npm prune --omit=dev leaves', formatMb(measured.productionBytes)],
  ];
  const notes = ['Start times run from the start of the process until /readyz answers.'];
  return {
    tables: [{ columns: ['Cost', ''], rows }],
    charts: [],
    goals: [],
    notes,
    figures: { ...measured },
  };
}
