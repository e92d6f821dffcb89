import { demandStatus, type LoadReport, rateOf, runFullLoad } from '../load.ts';
import { canReadProcesses, readProcessorMs } from '../machine.ts';
import { settle } from '../postgres.ts';
import { findProgram } from '../processes.ts';
import { startHaproxy, startRedis } from '../programs.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { checkCreations, type Prepared, prepareService } from '../service.ts';
import { startStamm } from '../stamm-process.ts';
import { formatRateSpread, formatRatioSpread, median, ratiosOf, type Spread } from '../statistics.ts';
import { storeSites } from '../stored-sites.ts';

const mostNodes = 3;

export const nodes: Scenario = {
  name: 'nodes',
  title: 'More than one node',
  async measure(bench) {
    const haproxy = findProgram('haproxy');
    const redis = findProgram('redis-server') ?? findProgram('valkey-server');
    const missing = [!haproxy && 'haproxy', !redis && 'redis-server'].filter(Boolean);
    if (!haproxy || !redis) return describeAbsence(`Not measured: ${missing.join(' and ')} not installed.`);
    const deployment = await deploy(bench, haproxy, redis);
    const comparisons: Comparison[] = [];
    for (const work of await listWorks(deployment.prepared))
      comparisons.push(await compare(bench, deployment, work));
    return report(bench.options.connections, comparisons);
  },
};

function describeAbsence(note: string): Outcome {
  return { tables: [], charts: [], goals: [], notes: [note], figures: {} };
}

interface Deployment {
  prepared: Prepared;
  /** The proxy's addresses of one node, of two, and so on. */
  origins: string[];
  /** The processes of each part. */
  pids: Record<Part, number[]>;
}

const parts = ['nodes', 'postgres', 'others'] as const;
type Part = (typeof parts)[number];

async function deploy(bench: Bench, haproxy: string, redis: string): Promise<Deployment> {
  const { postgres } = bench;
  const counter = await startRedis(redis);
  const settings = { WORKERS: '1', REDIS_URL: counter.url };
  const prepared = await prepareService(bench, 'nodes', settings);
  const services = [prepared.service];
  while (services.length < mostNodes)
    services.push(await startStamm({ DATABASE_URL: prepared.database.url, ...settings }, postgres.workDir));
  const origins = services.map(({ origin }) => origin);
  const lists = origins.map((_, index) => origins.slice(0, index + 1));
  const proxy = await startHaproxy(haproxy, postgres.workDir, lists);
  return {
    prepared,
    origins: proxy.origins,
    pids: {
      nodes: services.map(({ pid }) => pid),
      postgres: [postgres.pid],
      others: [proxy.pid, counter.pid],
    },
  };
}

interface Work {
  name: string;
  requestsFile: string;
  /** Runs `load`, and fails unless it did what it should. */
  check(load: () => Promise<LoadReport>, connections: number): Promise<LoadReport>;
}

async function listWorks(prepared: Prepared): Promise<Work[]> {
  const { database, creations, writeRequests } = prepared;
  const { sites } = await storeSites(prepared);
  return [
    {
      name: 'Creations',
      requestsFile: creations,
      async check(load, connections) {
        await settle(database);
        return checkCreations(database, connections, load);
      },
    },
    {
      name: 'Reads of a site',
      requestsFile: await writeRequests('sites', sites),
      async check(load) {
        const answers = await load();
        demandStatus('Reading', answers, 200);
        return answers;
      },
    },
  ];
}

/** For how many microseconds each part had a processor, for one request. */
type Times = Record<Part, number>;

interface Comparison {
  work: string;
  /** By what was compared, one node behind the proxy first. */
  rates: Map<string, Spread>;
  times: Map<string, Times>;
}

async function compare(
  bench: Bench,
  { prepared, origins, pids }: Deployment,
  { name: work, requestsFile, check }: Work,
): Promise<Comparison> {
  const { connections, seconds, warmUpSeconds } = bench.options;
  const times = new Map<string, Times[]>();
  const contender = (name: string, origin: string): Contender => ({
    name,
    async run() {
      const answers = await check(async () => {
        const before = readTimes(pids);
        const loaded = await runFullLoad({ origin, requestsFile, connections, seconds });
        times.set(name, [...(times.get(name) ?? []), timesBetween(before, readTimes(pids), loaded.answers)]);
        return loaded;
      }, connections);
      return rateOf(answers);
    },
  });
  bench.say(`${work}: warming up for ${warmUpSeconds} s …`);
  await runFullLoad({ origin: origins.at(-1)!, requestsFile, connections, seconds: warmUpSeconds });
  const contenders = [
    ...origins.map((origin, index) => contender(`${countNodes(index + 1)} behind HAProxy`, origin)),
    contender(`${countNodes(1)} without HAProxy`, prepared.service.origin),
  ];
  const rates = await runRounds(bench, contenders);
  return { work, rates, times: new Map([...times].map(([name, all]) => [name, medianTimes(all)])) };
}

function countNodes(count: number): string {
  return `Stamm, ${count} ${count === 1 ? 'node' : 'nodes'}`;
}

function timesBy(read: (part: Part) => number): Times {
  return Object.fromEntries(parts.map((part) => [part, read(part)])) as Times;
}

function readTimes(pids: Deployment['pids']): Times {
  return timesBy((part) => pids[part].reduce((sum, pid) => sum + readProcessorMs(pid) * 1000, 0));
}

function timesBetween(before: Times, after: Times, requests: number): Times {
  return timesBy((part) => (after[part] - before[part]) / requests);
}

function medianTimes(rounds: readonly Times[]): Times {
  return timesBy((part) => median(rounds.map((times) => times[part])));
}

function report(connections: number, comparisons: readonly Comparison[]): Outcome {
  return {
    tables: comparisons.map(({ work, rates, times }) => {
      const [one] = rates.values();
      return {
        columns: [
          `${work} at ${connections} connections`,
          'per second',
          'in ratio to one node',
          'a request takes of nodes',
          'of PostgreSQL',
          'of HAProxy and Redis',
        ],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          rate === one ? '' : formatRatioSpread(ratiosOf(rate, one!)),
          ...parts.map((part) => formatTime(times.get(name)![part])),
        ]),
      };
    }),
    charts: comparisons.map(({ work, rates }) => ({
      title: `${work} with one node and with more`,
      unit: '/s',
      bars: barsOf(rates),
    })),
    goals: [],
    notes: [
      'One process a node, one PostgreSQL, and one Redis that counts requests. All of them share the cores of one machine: what a further node brings shows only where cores are left. What a request takes is time of a processor, and tells for how many requests a core of each part is enough.',
    ],
    figures: Object.fromEntries(
      comparisons.map(({ work, rates, times }) => [
        work,
        { rates: Object.fromEntries(rates), microseconds: Object.fromEntries(times) },
      ]),
    ),
  };
}

function formatTime(microseconds: number): string {
  return canReadProcesses ? `${Math.round(microseconds)} µs` : 'not measured';
}
