import { checkSameRows } from '../data/tenants.ts';
import { closedLoopGenerator, demandStatus, rateOf, runFullLoad } from '../load/load.ts';
import { inserter, measureInsertsAtRate, runInserts, runOwnInserts } from '../load/pgbench.ts';
import { preparePeer } from '../peer.ts';
import { countRows, settle } from '../postgres.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { createAndCheck, type Prepared, prepareService, startBareServer, warmUp } from '../service.ts';
import {
  formatMs,
  formatPercent,
  formatRateSpread,
  formatRatio,
  formatRatioSpread,
  type Latency,
  medianLatency,
  ratiosOf,
} from '../statistics.ts';

/** The share of the best rate at which latency is measured. */
const usualLoad = 0.7;

/** Load before each slice that does not count: after a checkpoint PostgreSQL logs each page it touches as a whole. */
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
      rounds.push(await measureAtUsualLoad(bench, prepared, ofRound));
    });
    return report(bench.options.connections, rates, rounds, await measureAlone(bench, prepared));
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

/** Both at the usual share of their own best rate in the same round. */
interface LatencyRound {
  ours: Latency;
  /** undefined without pgbench, whose schedule it is. */
  pgbench: Latency | undefined;
}

async function measureAtUsualLoad(
  { options, postgres, say }: Bench,
  prepared: Prepared,
  bestRates: ReadonlyMap<string, number>,
): Promise<LatencyRound> {
  const { seconds, connections } = options;
  const ratePerSecond = bestRates.get('Stamm')! * usualLoad;
  const { latency: ours } = await createAndCheck(prepared, { connections, seconds, ratePerSecond });
  const order = { connections, seconds, workDir: postgres.workDir };
  const pgbench = await measureInsertsAtRate(prepared.database, order, bestRates.get('pgbench')! * usualLoad);
  say(`at ${formatPercent(usualLoad)}: Stamm ${formatMs(ours.p50)}, ${formatMs(ours.p99)}`);
  return { ours, pgbench };
}

interface Alone {
  ours: Latency;
  singleInsert: Latency;
}

async function measureAlone({ options: { seconds } }: Bench, prepared: Prepared): Promise<Alone> {
  const ours = await createAndCheck(prepared, { connections: 1, seconds, isOwn: true });
  const inserts = await runOwnInserts(prepared.database.connection, { connections: 1, seconds });
  return { ours: ours.latency, singleInsert: inserts.latency! };
}

/** One row: ours beside what it is compared with. */
function latencyRow(name: string, ours: readonly Latency[], reference: readonly Latency[]): string[] {
  const [mine, its] = [medianLatency(ours), medianLatency(reference)];
  const isKnown = reference.length > 0;
  return [
    name,
    `${formatMs(mine.p50)}, ${formatMs(mine.p99)}`,
    isKnown ? `${formatMs(its.p50)}, ${formatMs(its.p99)}` : 'not measured',
    isKnown ? `${formatRatio(mine.p50 / its.p50)}, ${formatRatio(mine.p99 / its.p99)}` : '',
  ];
}

function report(
  connections: number,
  rates: Awaited<ReturnType<typeof runRounds>>,
  rounds: readonly LatencyRound[],
  alone: Alone,
): Outcome {
  const ours = rates.get('Stamm')!;
  const toPgbench = ratiosOf(ours, rates.get('pgbench')!);
  return {
    tables: [
      {
        columns: [`Durable creations at ${connections} connections`, 'per second', 'Stamm in ratio to it'],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          name === 'Stamm' ? '' : formatRatioSpread(ratiosOf(ours, rate)),
        ]),
      },
      {
        columns: ['Latency: p50, p99', 'Stamm', 'pgbench', 'in ratio'],
        rows: [
          latencyRow(
            `at ${formatPercent(usualLoad)} of the own best rate`,
            rounds.map((round) => round.ours),
            rounds.flatMap((round) => round.pgbench ?? []),
          ),
          latencyRow('one connection, beside single inserts', [alone.ours], [alone.singleInsert]),
        ],
      },
    ],
    charts: [{ title: `Durable creations at ${connections} connections`, unit: '/s', bars: barsOf(rates) }],
    goals: [
      {
        wanted: 'at least 1.2 times pgbench',
        measured: formatRatio(toPgbench.median),
        isMet: toPgbench.median >= 1.2,
      },
    ],
    notes: [
      `Load: ${closedLoopGenerator}; rows straight into PostgreSQL: ${inserter}; latency at a rate: the own open-loop generator.`,
      'Every answer was 201, and there are as many rows and journal entries as answers.',
    ],
    figures: { rates: Object.fromEntries(rates), rounds, alone },
  };
}
