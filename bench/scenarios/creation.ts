import {
  closedLoopGenerator,
  demandStatus,
  type LoadReport,
  rateOf,
  runFullLoad,
  undisturbedP99,
} from '../load.ts';
import { preparePeer } from '../peer.ts';
import { inserter, measureInsertsAtRate, runInserts, runOwnInserts } from '../pgbench.ts';
import { countRows, settle } from '../postgres.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { createAndCheck, type Prepared, prepareService, startBareServer, warmUp } from '../service.ts';
import {
  formatMs,
  formatPercent,
  formatRate,
  formatRateSpread,
  formatRatio,
  formatRatioSpread,
  type Latency,
  median,
  medianLatency,
  ratiosOf,
} from '../statistics.ts';
import { checkSameRows } from '../tenants.ts';

/** The shares of the best rate at which latency is measured; at the last of them beside pgbench. */
const loads = [0.3, 0.5, 0.7];
const usualLoad = loads.at(-1)!;

/** What pgbench inserts a second on the machine for which the goals in milliseconds were set. */
const insertsWhereGoalsWereSet = 7000;

/**
 * So long each works before it counts: in the first seconds after a checkpoint PostgreSQL writes every page as a whole
 * once, for whoever touches it first. In service that is every five minutes, and not in every round.
 */
const leadSeconds = 3;

export const creation: Scenario = {
  name: 'creation',
  title: 'Creating sites',
  async measure(bench) {
    const prepared = await prepareService(bench, 'creation');
    const contenders = await listContenders(bench, prepared);
    await warmUp(prepared, bench);
    // The others need less time to come to speed, and the first round's rows are compared with the service's.
    for (const { run } of contenders.slice(1)) await run();
    await checkSameRows(prepared.database);
    const rounds: LatencyRound[] = [];
    const rates = await runRounds(bench, contenders, async (ofRound) => {
      rounds.push(await measureAtRates(bench, prepared, ofRound.get('Stamm')!, ofRound.get('pgbench')!));
    });
    const latencies = { ...summarizeRounds(rounds), ...(await measureAlone(bench, prepared)) };
    return report(bench.options.connections, rates, latencies);
  },
};

async function listContenders({ options, postgres }: Bench, prepared: Prepared): Promise<Contender[]> {
  const { seconds, connections } = options;
  const bare = await startBareServer();
  const runAt = async (name: string, origin: string, requestsFile: string) => {
    const answers = await runFullLoad({ origin, requestsFile, connections, seconds });
    demandStatus(name, answers, 201);
    return rateOf(answers);
  };
  const contenders: Contender[] = [
    {
      name: 'Stamm',
      async run() {
        await settle(prepared.database);
        await createAndCheck(prepared, { connections, seconds: leadSeconds });
        return rateOf(await createAndCheck(prepared, { connections, seconds }));
      },
    },
    {
      name: 'pgbench',
      async run() {
        await settle(prepared.database);
        const insertFor = (length: number) =>
          runInserts(prepared.database, { connections, seconds: length, workDir: postgres.workDir });
        await insertFor(leadSeconds);
        const before = await countRows(prepared.database);
        const { rows, seconds: took } = await insertFor(seconds);
        const after = await countRows(prepared.database);
        if (after.sites - before.sites !== rows)
          throw new Error(`pgbench: ${rows} inserts, but ${after.sites - before.sites} rows.`);
        return rows / took;
      },
    },
    { name: 'bare node:http', run: () => runAt('The bare server', bare.origin, prepared.creations) },
  ];
  if (options.peer) {
    const { origin, key } = options.peer;
    const requestsFile = await prepared.writeRequests('peer', await preparePeer(origin, key));
    contenders.push({ name: 'peer', run: () => runAt('The peer', origin, requestsFile) });
  }
  return contenders;
}

interface LatencyAtRate {
  load: number;
  ratePerSecond: number;
  all: Latency;
  /** Of what met no slow moment of the processors, and how much of all that is. */
  undisturbedP99: number;
  undisturbedShare: number;
}

interface Latencies {
  ours: LatencyAtRate[];
  /** Of pgbench at as large a share of its own best as the largest of ours. */
  pgbench: { ratePerSecond: number; latency: Latency } | undefined;
  alone: Latency;
  singleInsert: Latency;
}

/** One round at shares of its own best rates: a machine that gets slower from round to round has less to do then. */
interface LatencyRound {
  /** By share. */
  ours: ReadonlyMap<number, LoadReport>;
  bestRate: number;
  pgbench: { ratePerSecond: number; latency: Latency } | undefined;
}

async function measureAtRates(
  { options, postgres, say, untilQuiet }: Bench,
  prepared: Prepared,
  bestRate: number,
  bestInsertRate: number,
): Promise<LatencyRound> {
  const { seconds, connections } = options;
  const ours = new Map<number, LoadReport>();
  for (const load of loads) {
    await untilQuiet();
    const ratePerSecond = bestRate * load;
    const answers = await createAndCheck(prepared, { connections, seconds, ratePerSecond });
    ours.set(load, answers);
    const { p50, p99 } = answers.latency;
    say(`at ${formatRate(ratePerSecond)} /s (${formatPercent(load)}): ${formatMs(p50)}, ${formatMs(p99)}`);
  }
  await untilQuiet();
  const ratePerSecond = bestInsertRate * usualLoad;
  const order = { connections, seconds, workDir: postgres.workDir };
  const latency = await measureInsertsAtRate(prepared.database, order, ratePerSecond);
  return { ours, bestRate, pgbench: latency && { ratePerSecond, latency } };
}

function summarizeRounds(rounds: readonly LatencyRound[]): Pick<Latencies, 'ours' | 'pgbench'> {
  const inserts = rounds.flatMap(({ pgbench }) => pgbench ?? []);
  return {
    ours: loads.map((load) => {
      const ours = rounds.map((round) => round.ours.get(load)!);
      return {
        load,
        ratePerSecond: median(rounds.map(({ bestRate }) => bestRate)) * load,
        all: medianLatency(ours.map(({ latency }) => latency)),
        undisturbedP99: undisturbedP99(ours),
        undisturbedShare: median(ours.map(({ undisturbed, latency }) => undisturbed.count / latency.count)),
      };
    }),
    pgbench:
      inserts.length > 0
        ? {
            ratePerSecond: median(inserts.map(({ ratePerSecond }) => ratePerSecond)),
            latency: medianLatency(inserts.map(({ latency }) => latency)),
          }
        : undefined,
  };
}

async function measureAlone(
  { options: { seconds }, untilQuiet }: Bench,
  prepared: Prepared,
): Promise<Pick<Latencies, 'alone' | 'singleInsert'>> {
  await untilQuiet();
  const alone = await createAndCheck(prepared, { connections: 1, seconds, isOwn: true });
  const singleInserts = await runOwnInserts(prepared.database.connection, { connections: 1, seconds });
  return { alone: alone.latency, singleInsert: singleInserts.latency! };
}

function latencyRows({ ours, pgbench, alone, singleInsert }: Latencies): string[][] {
  const row = (name: string, { p50, p99 }: Latency, undisturbed = '') => [
    name,
    formatMs(p50),
    formatMs(p99),
    undisturbed,
  ];
  return [
    ...ours.map(({ load, ratePerSecond, all, undisturbedP99, undisturbedShare }) =>
      row(
        `Stamm at ${formatRate(ratePerSecond)} /s (${formatPercent(load)})`,
        all,
        `${formatMs(undisturbedP99)} (${formatPercent(undisturbedShare)} of all)`,
      ),
    ),
    ...(pgbench
      ? [
          row(
            `pgbench at ${formatRate(pgbench.ratePerSecond)} /s (${formatPercent(usualLoad)} of its own)`,
            pgbench.latency,
          ),
        ]
      : []),
    row('Stamm, one connection', alone),
    row('single insert, one connection', singleInsert),
  ];
}

function report(
  connections: number,
  rates: Awaited<ReturnType<typeof runRounds>>,
  latencies: Latencies,
): Outcome {
  const { all, undisturbedP99 } = latencies.ours.at(-1)!;
  const ours = rates.get('Stamm')!;
  const inserts = rates.get('pgbench')!;
  const toPgbench = ratiosOf(ours, inserts);
  const insertsMeanwhile = (all.p99 / 1000) * inserts.median;
  return {
    tables: [
      {
        columns: [`Durable creations at ${connections} connections`, 'a second', 'Stamm in ratio to it'],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          name === 'Stamm' ? '' : formatRatioSpread(ratiosOf(ours, rate)),
        ]),
      },
      {
        columns: ['Latency', 'p50', 'p99', 'p99 of what met no slow moment of the processors'],
        rows: latencyRows(latencies),
      },
    ],
    charts: [
      {
        title: `Durable creations at ${connections} connections`,
        unit: '/s',
        bars: barsOf(rates),
      },
    ],
    goals: [
      {
        wanted: 'at least 1.2 times pgbench',
        measured: formatRatio(toPgbench.median),
        isMet: toPgbench.median >= 1.2,
      },
      { wanted: 'p99 at 70 % under 25 ms', measured: formatMs(all.p99), isMet: all.p99 < 25 },
      {
        wanted: 'the same without slow moments of the processors',
        measured: formatMs(undisturbedP99),
        isMet: undisturbedP99 < 25,
      },
    ],
    notes: [
      `Load: ${closedLoopGenerator}; rows straight into PostgreSQL: ${inserter}; latency at a rate: the own open-loop generator.`,
      `The p99 at ${formatPercent(usualLoad)} is as long as pgbench takes for ${Math.round(insertsMeanwhile)} rows; where it makes ${formatRate(insertsWhereGoalsWereSet)} a second, that is ${formatMs((insertsMeanwhile / insertsWhereGoalsWereSet) * 1000)}.`,
      'Every answer was 201, and there are as many rows and journal entries as answers.',
    ],
    figures: { rates: Object.fromEntries(rates), latencies },
  };
}
