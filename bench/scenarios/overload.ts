import { describeStatuses, type LoadReport, rateOf, runOwnLoad } from '../load/load.ts';
import { canReadProcesses, watchMemory } from '../machine.ts';
import { countRows } from '../postgres.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { createAndCheck, type Prepared, prepareService, warmUp } from '../service.ts';
import { formatMb, formatMs, formatPercent, formatRate, type Latency } from '../statistics.ts';
import { type Flood, floodTables, measureFlood } from './flood.ts';

const overloadFactor = 2;
/** Load at which the service is at ease: what "normal" means before and after. */
const easyLoad = 0.5;
const overloadSeconds = 15;
const recoverySeconds = 12;
/** A due request that finds none of these free waits in the generator, as in a client's pool. */
const maxConnections = 8000;

interface Overload {
  bestRate: number;
  offeredRate: number;
  before: Latency;
  during: LoadReport;
  createdRate: number;
  mostBytes: number;
  /** Seconds until a second's p99 is normal again; undefined if it was not so in time. */
  recoveredAfter: number | undefined;
}

export const overload: Scenario = {
  name: 'overload',
  title: 'Overload',
  async measure(bench) {
    const prepared = await prepareService(bench, 'overload');
    await warmUp(prepared, bench);
    const overloaded = await measureOverload(bench, prepared);
    await prepared.service.stop();
    return report(overloaded, await measureFlood(bench));
  },
};

async function measureOverload({ options, say }: Bench, prepared: Prepared): Promise<Overload> {
  const { connections, seconds } = options;
  const { service, creations, database } = prepared;
  // With the same generator as the overload, because it shares the machine with the service.
  const bestRate = rateOf(await createAndCheck(prepared, { connections, seconds, isOwn: true }));
  const order = { origin: service.origin, requestsFile: creations, connections };
  const easyRate = bestRate * easyLoad;
  const before = await runOwnLoad({ ...order, seconds, ratePerSecond: easyRate });
  const offeredRate = bestRate * overloadFactor;
  say(
    `Best rate ${formatRate(bestRate)} /s; offering ${formatRate(offeredRate)} /s for ${overloadSeconds} s …`,
  );
  const rowsBefore = await countRows(database);
  const memory = watchMemory(service.pid);
  const during = await runOwnLoad({
    ...order,
    seconds: overloadSeconds,
    ratePerSecond: offeredRate,
    maxConnections,
  });
  const after = await runOwnLoad({ ...order, seconds: recoverySeconds, ratePerSecond: easyRate });
  const { mostBytes } = memory.stop();
  const created = during.statuses[201] ?? 0;
  const rows = (await countRows(database)).sites - rowsBefore.sites;
  // A request without a 201 may have been written; one with a 201 must have been.
  const answered = created + (after.statuses[201] ?? 0);
  if (rows < answered)
    throw new Error(`Overload: ${answered} creations were answered, but ${rows} rows are there.`);
  return {
    bestRate,
    offeredRate,
    before: before.latency,
    during,
    createdRate: created / during.seconds,
    mostBytes,
    recoveredAfter: findRecovery(after, before.latency.p99),
  };
}

/** The first second of three whose p99 is within twice the usual one. A later slow one is the machine's own. */
function findRecovery({ p99BySecond }: LoadReport, usualP99: number): number | undefined {
  const isNormal = (second: number) => p99BySecond[second]! <= usualP99 * 2;
  return [...p99BySecond.keys()]
    .slice(0, -2)
    .find((second) => [second, second + 1, second + 2].every(isNormal));
}

function report(overloaded: Overload, floods: readonly Flood[]): Outcome {
  const { bestRate, offeredRate, before, during, createdRate, mostBytes, recoveredAfter } = overloaded;
  const kept = createdRate / bestRate;
  const { refusals, firstRefusals } = during;
  const recovery = recoveredAfter === undefined ? `not within ${recoverySeconds} s` : `${recoveredAfter} s`;
  const describeRefusals = ({ count, p50, p99 }: Latency) =>
    count === 0 ? 'none' : `${formatMs(p50)}, ${formatMs(p99)} after sending`;
  const flooded = floodTables(floods);
  return {
    tables: [
      {
        columns: [`${overloadFactor} times the best rate for ${overloadSeconds} s`, ''],
        rows: [
          ['best rate', `${formatRate(bestRate)} /s`],
          ['offered', `${formatRate(offeredRate)} /s`],
          ['created', `${formatRate(createdRate)} /s (${formatPercent(kept)} of the best)`],
          ['answers', describeStatuses(during)],
          [
            'p50, p99 of what was created',
            `${formatMs(during.latency.p50)}, ${formatMs(during.latency.p99)}`,
          ],
          ['p50, p99 of refusals', describeRefusals(refusals)],
          ['the same in the first second, in which connections are opened', describeRefusals(firstRefusals)],
          ['p99 at half of the best rate before', formatMs(before.p99)],
          ['time until p99 is at most twice that again', recovery],
          ['most memory of all processes', canReadProcesses ? formatMb(mostBytes) : 'not measured'],
        ],
      },
      flooded.table,
    ],
    charts: [flooded.chart],
    goals: [
      {
        wanted: 'at least 80 % of the best throughput',
        measured: formatPercent(kept),
        isMet: kept >= 0.8,
      },
      ...flooded.goals,
    ],
    notes: [
      'All with the own generator, which shares the machine. Latencies of creations count from when they were due; what was not sent found no free connection among ' +
        `${maxConnections.toLocaleString('en-US')}.`,
    ],
    figures: { overload: overloaded, floods },
  };
}
