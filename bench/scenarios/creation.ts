import { closedLoopGenerator, demandStatus, type LoadReport, rateOf, runFullLoad } from '../load.ts';
import { preparePeer } from '../peer.ts';
import { inserter, measureInsertsAtRate, runInserts, runOwnInserts } from '../pgbench.ts';
import { countRows, settle } from '../postgres.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { createAndCheck, type Prepared, prepareService, startBareServer, warmUp } from '../service.ts';
import {
  formatMs,
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

/** The share of the best rate at which latency is measured. */
const usualLoad = 0.7;

/**
 * So long each works before it counts: in the first seconds after a checkpoint PostgreSQL writes every page as a whole
 * once, for whoever touches it first. In service that is every five minutes, and not in every round.
 */
const leadSeconds = 3;

export const creation: Scenario = {
  name: 'creation',
  title: 'Creating sites',
  async measure(bench) {
    const { options, say } = bench;
    const { connections } = options;
    const prepared = await prepareService(bench, 'creation');
    const contenders = await listContenders(bench, prepared);
    await warmUp(prepared, bench);
    // The others need less time to come to speed, and the first round's rows are compared with the service's.
    for (const { run } of contenders.slice(1)) await run();
    await checkSameRows(prepared.database);
    const rates = await runRounds(contenders, options.rounds, say);
    const best = rates.get('Stamm')!.median;
    say(`Latency at ${Math.round(usualLoad * 100)} % of ${formatRate(best)} /s, and at one connection …`);
    const latencies = await measureLatencies(bench, prepared, {
      usual: best * usualLoad,
      pgbench: rates.get('pgbench')!.median * usualLoad,
    });
    return report(connections, rates, latencies);
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

interface Rates {
  usual: number;
  pgbench: number;
}

interface Latencies {
  rates: Rates;
  usual: Latency;
  /** Of what had nothing to do with a slow moment of the processors, and how much of all that is. */
  undisturbed: Latency;
  undisturbedShare: number;
  /** Of pgbench at as large a share of its own best. */
  pgbench: Latency | undefined;
  alone: Latency;
  singleInsert: Latency;
}

async function measureLatencies(
  { options, postgres }: Bench,
  prepared: Prepared,
  rates: Rates,
): Promise<Latencies> {
  const { seconds, connections, rounds } = options;
  const { database } = prepared;
  const ours: LoadReport[] = [];
  const pgbench: Latency[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await createAndCheck(prepared, { connections, seconds, ratePerSecond: rates.usual }));
    const order = { connections, seconds, workDir: postgres.workDir };
    const inserts = await measureInsertsAtRate(database, order, rates.pgbench);
    if (inserts) pgbench.push(inserts);
  }
  const alone = await createAndCheck(prepared, { connections: 1, seconds, isOwn: true });
  const inserts = await runOwnInserts(database.connection, { connections: 1, seconds });
  return {
    rates,
    usual: medianLatency(ours.map(({ latency }) => latency)),
    undisturbed: medianLatency(ours.map(({ undisturbed }) => undisturbed)),
    undisturbedShare: median(ours.map(({ undisturbed, latency }) => undisturbed.count / latency.count)),
    pgbench: pgbench.length > 0 ? medianLatency(pgbench) : undefined,
    alone: alone.latency,
    singleInsert: inserts.latency!,
  };
}

function report(
  connections: number,
  rates: Awaited<ReturnType<typeof runRounds>>,
  latencies: Latencies,
): Outcome {
  const { usual, undisturbed, alone, singleInsert } = latencies;
  const undisturbedPercent = `${Math.round(latencies.undisturbedShare * 100)} %`;
  const ours = rates.get('Stamm')!;
  const toPgbench = ratiosOf(ours, rates.get('pgbench')!);
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
        columns: ['Latency', 'p50', 'p99'],
        rows: [
          [
            `Stamm at ${formatRate(latencies.rates.usual)} /s (70 %)`,
            formatMs(usual.p50),
            formatMs(usual.p99),
          ],
          [
            `the ${undisturbedPercent} of them that met no slow moment of the processors`,
            formatMs(undisturbed.p50),
            formatMs(undisturbed.p99),
          ],
          ...(latencies.pgbench
            ? [
                [
                  `pgbench at ${formatRate(latencies.rates.pgbench)} /s (70 % of its own)`,
                  formatMs(latencies.pgbench.p50),
                  formatMs(latencies.pgbench.p99),
                ],
              ]
            : []),
          ['Stamm, one connection', formatMs(alone.p50), formatMs(alone.p99)],
          ['single insert, one connection', formatMs(singleInsert.p50), formatMs(singleInsert.p99)],
        ],
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
      { wanted: 'p99 at 70 % under 25 ms', measured: formatMs(usual.p99), isMet: usual.p99 < 25 },
      {
        wanted: 'the same without slow moments of the processors',
        measured: formatMs(undisturbed.p99),
        isMet: undisturbed.p99 < 25,
      },
    ],
    notes: [
      `Load: ${closedLoopGenerator}; rows straight into PostgreSQL: ${inserter}; latency at a rate: the own open-loop generator.`,
      'Every answer was 201, and there are as many rows and journal entries as answers.',
    ],
    figures: { rates: Object.fromEntries(rates), latencies },
  };
}
