// `npm run faults`: every fault in rounds, or faults drawn by a seed, and what became of requests and rows in one table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Round } from './helpers/matrix.ts';

const root = path.resolve(import.meta.dirname, '../..');
const everyFile = globSync(['test/faults/matrix/*.test.ts', 'test/faults/{patroni,citus}.test.ts'], {
  cwd: root,
});
const kindOf = (file: string) => path.basename(file, '.test.ts');
const kinds = everyFile.map(kindOf).sort().join(', ');

const usage = `npm run faults -- [--rounds N] [--only NAME] [--seed S]

  --rounds N   How often to try each fault, 1 to 100; 3 unless set. With --seed: how many faults to draw, up to 10,000.
  --only NAME  Only faults whose name contains this, such as "killed" or "Patroni".
               With --seed: one of ${kinds}.
  --seed S     Draws faults, their moments and their lengths. The same seed draws the same.
`;

const longestRoundMs = 600_000;

interface Options {
  rounds: number;
  only: string | undefined;
  seed: string | undefined;
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: { rounds: { type: 'string' }, only: { type: 'string' }, seed: { type: 'string' } },
    });
    const { seed, only } = values;
    if (seed !== undefined && only !== undefined && !everyFile.some((file) => kindOf(file) === only))
      throw new Error(`--only takes one of ${kinds} with --seed.`);
    const rounds = Number(values.rounds ?? (seed === undefined ? 3 : 100));
    const most = seed === undefined ? 100 : 10_000;
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > most)
      throw new Error(`--rounds takes 1 to ${most}.`);
    return { rounds, only, seed };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(1);
  }
}

/** The tests of `npm run test:all`, with more rounds, one after the other. They end what they started. */
async function runTests(report: string, { rounds, only, seed }: Options): Promise<number> {
  const isDrawn = seed !== undefined;
  const files = everyFile.filter((file) => !isDrawn || only === undefined || kindOf(file) === only);
  // Drawn faults are spread over the files; each file draws from its own.
  const roundsOfFile = isDrawn ? Math.ceil(rounds / files.length) : rounds;
  const words = ['--test', '--test-global-setup=test/helpers/postgres.ts', '--test-concurrency=1'];
  words.push(`--test-timeout=${Math.min(roundsOfFile * longestRoundMs, 2 ** 31 - 1)}`);
  if (only !== undefined && !isDrawn) words.push(`--test-name-pattern=${only.replace(/[^\w\s]/g, '\\$&')}`);
  const child = spawn(process.execPath, [...words, ...files], {
    cwd: root,
    env: {
      ...process.env,
      STAMM_FAULT_ROUNDS: String(roundsOfFile),
      STAMM_FAULT_REPORT: report,
      ...(isDrawn && { STAMM_FAULT_SEED: seed }),
    },
    stdio: 'inherit',
  });
  // Ctrl-C reaches the tests as well, which end what they started before this process ends.
  process.on('SIGINT', () => {}).on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

const counts = ['confirmed', 'unclear', 'lost', 'doubled', 'invented', 'gaps', 'disorder'] as const;

function printTable(rounds: readonly Round[]): void {
  const rows = [...Map.groupBy(rounds, ({ fault }) => fault)].map(([fault, all]) => {
    const silences = all.map(({ silenceMs }) => (silenceMs / 1000).toFixed(1));
    const sums = counts.map((name) => String(all.reduce((sum, round) => sum + round[name], 0)));
    return [
      fault,
      String(all.length),
      ...sums,
      silences.sort((one, other) => Number(one) - Number(other)).at(-1)!,
    ];
  });
  const sum = [
    'all',
    String(rounds.length),
    ...counts.map((name) => String(rounds.reduce((all, round) => all + round[name], 0))),
    '',
  ];
  const table = [['fault', 'rounds', '201', ...counts.slice(1), 'longest without a 201, s'], ...rows, sum];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  process.stdout.write(`\n${lines.join('\n')}\n`);
}

const options = readOptions();
const folder = await mkdtemp(path.join(tmpdir(), 'stamm-faults-'));
const report = path.join(folder, 'rounds.ndjson');
try {
  process.exitCode = await runTests(report, options);
  const lines = (await readFile(report, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  if (lines.length > 0) printTable(lines.map((line) => JSON.parse(line)));
} finally {
  await rm(folder, { recursive: true });
}
