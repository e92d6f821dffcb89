import { copyRows, importAndCheck, runImport } from '../load/import-load.ts';
import { demandStatus, runOwnLoad } from '../load/load.ts';
import { canReadProcesses, watchMemory } from '../machine.ts';
import { settle } from '../postgres.ts';
import { runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { type Prepared, prepareService, writeTenantCreations } from '../service.ts';
import {
  formatMb,
  formatMs,
  formatRate,
  formatRateSpread,
  formatRatio,
  formatRatioSpread,
  type Latency,
  ratiosOf,
  type Spread,
} from '../statistics.ts';

/** Lines of a round; the import whose memory is watched may have more. */
const mostLinesOfRound = 200_000;
const singlesPerSecond = 50;
const mostBytesWanted = 300_000_000;

interface Long {
  lines: number;
  rate: number;
  mostBytes: number;
  mostBytesOfOne: number;
}

export const importing: Scenario = {
  name: 'import',
  title: 'Importing sites',
  async measure(bench) {
    const { options, say } = bench;
    const prepared = await prepareService(bench, 'import');
    const rates = await compareWithCopy(bench, prepared);
    say(`Importing ${options.lines.toLocaleString('en-US')} lines, watching memory …`);
    const memory = watchMemory(prepared.service.pid);
    const { seconds } = await importAndCheck(prepared, { tenant: 0, prefix: 'L', lines: options.lines });
    const long: Long = { lines: options.lines, rate: options.lines / seconds, ...memory.stop() };
    say('Single creations of one tenant beside imports of two others …');
    return report(rates, long, await measureFairness(bench, prepared));
  },
};

async function compareWithCopy(bench: Bench, prepared: Prepared): Promise<Map<string, Spread>> {
  const { options, postgres, say } = bench;
  const lines = Math.min(options.lines, mostLinesOfRound);
  let round = 0;
  const contenders = [
    {
      name: 'Stamm, POST /import',
      async run() {
        await settle(prepared.database);
        const prefix = `I${++round}-`;
        return lines / (await importAndCheck(prepared, { tenant: 0, prefix, lines })).seconds;
      },
    },
    {
      name: 'COPY',
      async run() {
        await settle(prepared.database);
        const order = { workDir: postgres.workDir, tenant: 0, prefix: `C${++round}-`, lines };
        return lines / (await copyRows(prepared.database, order)).seconds;
      },
    },
  ];
  say(`Warming up with ${lines.toLocaleString('en-US')} lines …`);
  await contenders[0]!.run();
  return runRounds(bench, contenders);
}

interface Fairness {
  without: Latency;
  during: Latency;
  importRate: number;
}

async function measureFairness({ options }: Bench, prepared: Prepared): Promise<Fairness> {
  const { seconds } = options;
  const order = {
    origin: prepared.service.origin,
    requestsFile: await writeTenantCreations(prepared, 2),
    connections: 4,
    ratePerSecond: singlesPerSecond,
    seconds,
  };
  const without = await runOwnLoad(order);
  // They begin before the single creations and end after them.
  const imports = [1, 3].map((tenant) =>
    runImport(prepared, { tenant, prefix: 'X', lines: Number.MAX_SAFE_INTEGER, seconds: seconds + 3 }),
  );
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const [during, ...imported] = await Promise.all([runOwnLoad(order), ...imports]);
  demandStatus('Single creations', without, 201);
  demandStatus('Single creations beside imports', during, 201);
  const importRate = imported.reduce((sum, { sent, seconds: took }) => sum + sent / took, 0);
  return { without: without.latency, during: during.latency, importRate };
}

function report(rates: Map<string, Spread>, long: Long, { without, during, importRate }: Fairness): Outcome {
  const ours = rates.get('Stamm, POST /import')!;
  const ratio = ratiosOf(ours, rates.get('COPY')!);
  const memory = canReadProcesses
    ? `${formatMb(long.mostBytesOfOne)}, all processes ${formatMb(long.mostBytes)}`
    : 'not measured';
  return {
    tables: [
      {
        columns: ['Sites with external ids', 'lines per second', 'in ratio to COPY'],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          rate === ours ? formatRatioSpread(ratio) : '',
        ]),
      },
      {
        columns: ['Single creations of another tenant', 'p50', 'p99', 'p50 in ratio to alone'],
        rows: [
          ['alone', formatMs(without.p50), formatMs(without.p99), ''],
          [
            `beside two imports (${formatRate(importRate)} lines/s)`,
            formatMs(during.p50),
            formatMs(during.p99),
            formatRatio(during.p50 / without.p50),
          ],
        ],
      },
    ],
    charts: [
      {
        title: 'Import beside COPY into the same table',
        unit: 'lines/s',
        bars: barsOf(rates),
      },
    ],
    goals: [
      { wanted: 'at least half of COPY', measured: formatRatio(ratio.median), isMet: ratio.median >= 0.5 },
      {
        wanted: `under 300 MB over ${long.lines.toLocaleString('en-US')} lines`,
        measured: `largest process ${memory}`,
        isMet: canReadProcesses && long.mostBytesOfOne < mostBytesWanted,
      },
    ],
    notes: ['COPY reads a file on the server. Each line of an import has become a row and a journal entry.'],
    figures: { rates: Object.fromEntries(rates), long, without, during, importRate },
  };
}
