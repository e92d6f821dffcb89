import path from 'node:path';
import { bigTenant, fillSites, fillTenants, smallestSites, smallTenants } from '../growth-fill.ts';
import { prepareGrowthRequests } from '../growth-requests.ts';
import { countServed, type LoadReport, runOwnLoad } from '../load.ts';
import type { BenchDatabase } from '../postgres.ts';
import { type Request, writeRequests } from '../requests.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';
import { formatMs, formatRatio, median } from '../statistics.ts';

const sizes = [smallestSites, 1_000_000, 10_000_000];
/** Modest for each, so that a machine of two cores is at ease. */
const ratePerSecond = { search: 20, other: 100 };
const mostGrowth = 1.5;

/** Of one kind of request at one size of the table: medians of the rounds. */
interface Measured {
  what: string;
  p50: number;
  p99: number;
  /** Share of the requests that were refused or not answered. */
  refused: number;
}

interface Stage {
  sites: number;
  measured: Measured[];
}

export const growth: Scenario = {
  name: 'growth',
  title: 'As the data grows',
  async measure(bench) {
    const { options, postgres, say } = bench;
    const database = await postgres.createDatabase('bench_growth');
    const keys = await fillTenants(database);
    const stages: Stage[] = [];
    let filled = 0;
    for (const sites of listSizes(options.sites)) {
      say(`Filling up to ${sites.toLocaleString('en-US')} sites …`);
      const startedAt = performance.now();
      await fillSites(database, filled, sites);
      filled = sites;
      say(`… in ${Math.round((performance.now() - startedAt) / 1000)} s`);
      stages.push({ sites, measured: await measureStage(bench, database, keys) });
    }
    return report(stages);
  },
};

/** The largest wanted one comes last, also where it is none of the usual ones. */
function listSizes(largest: number): number[] {
  return [...sizes.filter((size) => size < largest), largest];
}

async function measureStage(
  bench: Bench,
  database: BenchDatabase,
  keys: ReadonlyMap<number, string>,
): Promise<Measured[]> {
  const { options, postgres, say } = bench;
  const requests = new Map<string, Request[]>();
  for (const [who, tenants] of [
    ['largest tenant', [bigTenant]],
    ['small tenants', smallTenants],
  ] as const) {
    for (const [what, list] of await prepareGrowthRequests(database, tenants, keys))
      requests.set(`${what}, ${who}`, list);
  }
  const service = await startStamm({ DATABASE_URL: database.url }, postgres.workDir);
  const write = (list: Request[]) => writeRequests(path.join(postgres.workDir, 'growth.tsv'), list);
  const order = { origin: service.origin, connections: 8 };
  const everything = [...requests.values()].flatMap((list) => list.slice(0, 50));
  await runOwnLoad({ ...order, requestsFile: await write(everything), seconds: options.warmUpSeconds });
  const measured: Measured[] = [];
  for (const [what, list] of requests) {
    const one = await measureRequests(what, { ...order, requestsFile: await write(list) }, options);
    say(`${what}: ${describe(one)}`);
    measured.push(one);
  }
  await service.stop();
  return measured;
}

async function measureRequests(
  what: string,
  order: { origin: string; connections: number; requestsFile: string },
  { rounds, seconds }: Bench['options'],
): Promise<Measured> {
  const rate = what.startsWith('search') ? ratePerSecond.search : ratePerSecond.other;
  const reports: LoadReport[] = [];
  for (let round = 0; round < rounds; round++)
    reports.push(await runOwnLoad({ ...order, seconds: Math.ceil(seconds / 2), ratePerSecond: rate }));
  const served = reports.reduce((sum, report) => sum + countServed(report), 0);
  const asked = reports.reduce((sum, { answers, broken, unsent }) => sum + answers + broken + unsent, 0);
  return {
    what,
    p50: median(reports.map(({ latency }) => latency.p50)),
    p99: median(reports.map(({ latency }) => latency.p99)),
    refused: 1 - served / asked,
  };
}

function describe({ p50, p99, refused }: Measured): string {
  const share = refused > 0 ? `, ${(refused * 100).toFixed(1)} % refused` : '';
  return `${formatMs(p50)}, ${formatMs(p99)}${share}`;
}

function report(stages: readonly Stage[]): Outcome {
  const first = stages[0]!;
  const last = stages.at(-1)!;
  const growthOf = (index: number, of: 'p50' | 'p99') =>
    last.measured[index]![of] / first.measured[index]![of];
  const worst = Math.max(...first.measured.map((_, index) => growthOf(index, 'p99')));
  const isAnswered = stages.every(({ measured }) => measured.every(({ refused }) => refused === 0));
  return {
    tables: [
      {
        columns: [
          'p50, p99 at a fixed rate',
          ...stages.map(({ sites }) => `${sites.toLocaleString('en-US')} sites`),
          'p50 grows',
          'p99 grows',
        ],
        rows: first.measured.map(({ what }, index) => [
          what,
          ...stages.map(
            ({ measured }) => `${formatMs(measured[index]!.p50)}, ${formatMs(measured[index]!.p99)}`,
          ),
          formatRatio(growthOf(index, 'p50')),
          formatRatio(growthOf(index, 'p99')),
        ]),
      },
    ],
    charts: [
      {
        title: `p99 with ${last.sites.toLocaleString('en-US')} sites in ratio to that with ${first.sites.toLocaleString('en-US')}`,
        unit: '×',
        bars: last.measured.map(({ what }, index) => ({ label: what, value: growthOf(index, 'p99') })),
      },
    ],
    goals: [
      {
        wanted: `p99 grows by less than ${mostGrowth} times from the smallest to the largest`,
        measured: `${formatRatio(worst)} at most${isAnswered ? '' : ', and some were refused'}`,
        isMet: worst < mostGrowth && isAnswered,
      },
    ],
    notes: [
      `${ratePerSecond.other} requests a second, ${ratePerSecond.search} for searches. 5,000 tenants; the largest has a tenth of all sites, ${smallTenants.length} small ones keep their 200 sites, and the rest grows. Rows and journal are filled by SQL, their indexes built afterwards.`,
    ],
    figures: { stages },
  };
}
