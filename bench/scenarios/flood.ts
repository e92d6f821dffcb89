// One tenant sends as much as it can on many connections, another one single requests: what the second notices.
import { demandStatus, describeStatuses, type LoadReport, runFullLoad, runOwnLoad } from '../load/load.ts';
import type { Bench, Chart, Goal, Table } from '../scenario.ts';
import { prepareService, writeTenantCreations } from '../service.ts';
import { formatMs, formatRatio, type Latency } from '../statistics.ts';

const singlesPerSecond = 20;
/** The flood begins before the single requests and ends after them. */
const marginSeconds = 1;

export interface Flood {
  limit: string;
  without: Latency;
  during: Latency;
  answersToFlood: string;
}

/** Once without a limit, and once with the default one, which rejects most of the flood. */
export async function measureFlood(bench: Bench): Promise<Flood[]> {
  return [
    await floodWithLimit(bench, 'no rate limit', 'flood', {}),
    await floodWithLimit(bench, 'default rate limit', 'flood_limited', { RATE_LIMIT_PER_MINUTE: '' }),
  ];
}

async function floodWithLimit(
  bench: Bench,
  limit: string,
  name: string,
  settings: Record<string, string>,
): Promise<Flood> {
  const { connections, seconds, warmUpSeconds } = bench.options;
  const prepared = await prepareService(bench, name, settings);
  const { origin } = prepared.service;
  const single = {
    origin,
    requestsFile: await writeTenantCreations(prepared, 1),
    connections: 4,
    ratePerSecond: singlesPerSecond,
  };
  const flood = { origin, requestsFile: await writeTenantCreations(prepared, 0), connections };
  bench.say(`One tenant floods (${limit}) …`);
  await runFullLoad({ ...flood, seconds: warmUpSeconds });
  const without = await runSingles({ ...single, seconds });
  const flooding = runFullLoad({ ...flood, seconds: seconds + 2 * marginSeconds });
  await new Promise((resolve) => setTimeout(resolve, marginSeconds * 1000));
  const [during, flooded] = await Promise.all([runSingles({ ...single, seconds }), flooding]);
  await prepared.service.stop();
  return {
    limit,
    without: without.latency,
    during: during.latency,
    answersToFlood: describeStatuses(flooded),
  };
}

async function runSingles(order: Parameters<typeof runOwnLoad>[0]): Promise<LoadReport> {
  const answers = await runOwnLoad(order);
  demandStatus('Single requests', answers, 201);
  return answers;
}

export function floodTables(floods: readonly Flood[]): { table: Table; chart: Chart; goals: Goal[] } {
  const ratio = ({ during, without }: Flood) => during.p50 / without.p50;
  return {
    table: {
      columns: [
        'Single requests while another tenant floods',
        'p50',
        'p99',
        'without: p50',
        'p99',
        'p50 in ratio',
        'the flood got',
      ],
      rows: floods.map((flood) => [
        flood.limit,
        formatMs(flood.during.p50),
        formatMs(flood.during.p99),
        formatMs(flood.without.p50),
        formatMs(flood.without.p99),
        formatRatio(ratio(flood)),
        flood.answersToFlood,
      ]),
    },
    chart: {
      title: 'Single requests (p50) while another tenant floods',
      unit: 'ms',
      bars: floods.flatMap(({ limit, without, during }) => [
        { label: `${limit}, no flood`, value: without.p50 },
        { label: `${limit}, flood`, value: during.p50 },
      ]),
    },
    goals: floods.map((flood) => ({
      wanted: `a flood slows others by at most 2 times (${flood.limit})`,
      measured: formatRatio(ratio(flood)),
      isMet: ratio(flood) <= 2,
    })),
  };
}
