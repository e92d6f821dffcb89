import path from 'node:path';
import { bigTenant, fillSites, fillTenants, smallestSites, smallTenants } from '../data/growth-fill.ts';
import { prepareGrowthRequests } from '../growth-requests.ts';
import { countServed, describeStatuses, type LoadReport, runOwnLoad } from '../load/load.ts';
import { type Request, writeRequests } from '../load/requests.ts';
import type { BenchDatabase } from '../postgres.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';
import { formatMs, formatRatio, median } from '../statistics.ts';

const sizes = [smallestSites, 1_000_000, 10_000_000];
/** Modest for each, so that a machine of two cores is at ease. */
const ratePerSecond = 100;
const connections = 8;
const mostGrowth = 1.5;

/** Of one kind of request at one size of the table: medians of the rounds. */
interface Measured {
  what: string;
  p50: number;
  p99: number;
  /** Share of the requests that were refused or not answered. */
  refused: number;
  /** What became of the requests of each round. */
  statuses: string[];
}

interface Stage {
  sites: number;
  measured: Measured[];
}

/** A database of one size with a service of its own, and the requests by what they are. */
interface Filled {
  sites: number;
  origin: string;
  requestFiles: ReadonlyMap<string, string>;
}

export const growth: Scenario = {
  name: 'growth',
  title: 'As the data grows',
  async measure(bench) {
    const filled: Filled[] = [];
    for (const sites of listSizes(bench.options.sites)) filled.push(await fill(bench, sites));
    const stages: Stage[] = filled.map(({ sites }) => ({ sites, measured: [] }));
    for (const what of filled[0]!.requestFiles.keys()) {
      const measured = await measureInTurn(bench, filled, what);
      bench.say(`${what}: ${measured.map(describe).join('; ')}`);
      measured.forEach((one, index) => {
        stages[index]!.measured.push(one);
      });
    }
    return report(stages);
  },
};

/** The largest wanted one comes last, also where it is none of the usual ones. */
function listSizes(largest: number): number[] {
  return [...sizes.filter((size) => size < largest), largest];
}

async function fill({ options, postgres, say }: Bench, sites: number): Promise<Filled> {
  say(`Filling ${sites.toLocaleString('en-US')} sites …`);
  const startedAt = performance.now();
  const database = await postgres.createDatabase(`bench_growth_${sites}`);
  const keys = await fillTenants(database);
  await fillSites(database, 0, sites);
  say(`… in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  const service = await startStamm({ DATABASE_URL: database.url }, postgres.workDir);
  const requests = await prepareRequests(database, keys);
  const write = (name: string, list: readonly Request[]) =>
    writeRequests(path.join(postgres.workDir, `growth-${sites}-${name}.tsv`), list);
  const requestFiles = new Map<string, string>();
  for (const [what, list] of requests) {
    requestFiles.set(what, await write(what.replaceAll(/\W/g, '-'), list));
  }
  const everything = [...requests.values()].flatMap((list) => list.slice(0, 50));
  const requestsFile = await write('everything', everything);
  const { origin } = service;
  await runOwnLoad({ origin, connections, requestsFile, seconds: options.warmUpSeconds });
  return { sites, origin, requestFiles };
}

async function prepareRequests(database: BenchDatabase, keys: ReadonlyMap<number, string>) {
  const requests = new Map<string, Request[]>();
  for (const [who, tenants] of [
    ['largest tenant', [bigTenant]],
    ['small tenants', smallTenants],
  ] as const) {
    for (const [what, list] of await prepareGrowthRequests(database, tenants, keys))
      requests.set(`${what}, ${who}`, list);
  }
  return requests;
}

/** The same request at each size in turn, so that a busy moment of the machine meets all of them. */
async function measureInTurn({ options }: Bench, filled: readonly Filled[], what: string) {
  const seconds = Math.ceil(options.seconds / 2);
  const reports: LoadReport[][] = filled.map(() => []);
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, { origin, requestFiles }] of filled.entries()) {
      const requestsFile = requestFiles.get(what)!;
      reports[index]!.push(await runOwnLoad({ origin, connections, requestsFile, seconds, ratePerSecond }));
    }
  }
  return reports.map((some) => summarize(what, some));
}

function summarize(what: string, reports: readonly LoadReport[]): Measured {
  const served = reports.reduce((sum, report) => sum + countServed(report), 0);
  const asked = reports.reduce((sum, { answers, broken, unsent }) => sum + answers + broken + unsent, 0);
  return {
    what,
    p50: median(reports.map(({ latency }) => latency.p50)),
    p99: median(reports.map(({ latency }) => latency.p99)),
    refused: 1 - served / asked,
    statuses: reports.map(describeStatuses),
  };
}

function describe({ p50, p99, refused, statuses }: Measured): string {
  const refusals = refused > 0 ? ` (${statuses.join('; ')})` : '';
  return `${formatMs(p50)}, ${formatMs(p99)}${refusals}`;
}

function report(stages: readonly Stage[]): Outcome {
  const first = stages[0]!;
  const last = stages.at(-1)!;
  const growthOf = (index: number, of: 'p50' | 'p99') =>
    last.measured[index]![of] / first.measured[index]![of];
  const isAnswered = stages.every(({ measured }) => measured.every(({ refused }) => refused === 0));
  const goal = (wanted: string, of: 'p50' | 'p99') => {
    const worst = Math.max(...first.measured.map((_, index) => growthOf(index, of)));
    const rest = isAnswered ? '' : ', some were not served';
    return {
      wanted,
      measured: `${formatRatio(worst)} at most${rest}`,
      isMet: worst < mostGrowth && isAnswered,
    };
  };
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
      goal(`p99 grows by less than ${mostGrowth} times from the smallest to the largest`, 'p99'),
      goal('p50 likewise', 'p50'),
    ],
    notes: [
      `${ratePerSecond} requests per second. 5,000 tenants; the largest has a tenth of all sites, ${smallTenants.length} small ones keep their 200 sites, and the rest grows. The sizes are measured in turn, each in a database and by a service of its own. Rows and journal are filled by SQL, their indexes built afterwards.`,
    ],
    figures: { stages },
  };
}
