// One tenant does all that it can to keep the service from others: what another tenant notices of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { fillTenant, manyWords } from '../data/fairness-fill.ts';
import type { AttackOrder } from '../load/attacker.ts';
import { countServed, describeStatuses, type LoadReport, runOwnLoad } from '../load/load.ts';
import { canReadProcesses, watchMemory } from '../machine.ts';
import { startOwn, stopProcess } from '../processes.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { type Prepared, prepareService } from '../service.ts';
import { formatMb, formatMs, formatRatio } from '../statistics.ts';

const attacker = 0;
const neighbour = 1;
const neighbourPerSecond = 20;
/** An attack begins before the neighbour's requests and ends after them. */
const marginSeconds = 2;

const mostRatio = 3;

interface Attack {
  name: string;
  start(prepared: Prepared, cookie: string, seconds: number): Promise<{ stop(): Promise<string> }>;
}

interface Measured {
  name: string;
  alone: LoadReport;
  during: LoadReport;
  /** The p50 during the attack, in ratio to the one before it; infinite if the neighbour was refused anything. */
  ratio: number;
  mostBytes: number;
  /** What the attacker got. */
  answers: string;
}

export const fairness: Scenario = {
  name: 'fairness',
  title: 'Fairness',
  async measure(bench) {
    // With the limits that a service has by default.
    const prepared = await prepareService(bench, 'fairness', { RATE_LIMIT_PER_MINUTE: '' });
    const cookie = await fillTenant(prepared.database, attacker);
    const requestsFile = await prepared.writeRequests('neighbour', [
      { method: 'GET', path: '/api/v1/customers?limit=1', key: prepared.tenants.keys[neighbour]! },
    ]);
    const order = { origin: prepared.service.origin, requestsFile, connections: 4 };
    const runNeighbour = (seconds: number) =>
      runOwnLoad({ ...order, ratePerSecond: neighbourPerSecond, maxConnections: 64, seconds });
    await runNeighbour(bench.options.warmUpSeconds);
    const measured: Measured[] = [];
    for (const attack of attacks) {
      bench.say(`${attack.name} …`);
      measured.push(await measureAttack(bench, prepared, cookie, attack, runNeighbour));
      bench.say(`${formatRatio(measured.at(-1)!.ratio)}; the attacker got: ${measured.at(-1)!.answers}`);
    }
    return report(measured);
  },
};

async function measureAttack(
  { options }: Bench,
  prepared: Prepared,
  cookie: string,
  attack: Attack,
  runNeighbour: (seconds: number) => Promise<LoadReport>,
): Promise<Measured> {
  const { seconds } = options;
  const alone = await runNeighbour(seconds);
  // Each attack has the whole of its rate limit.
  await prepared.database.owner.query('DELETE FROM request_window');
  const memory = watchMemory(prepared.service.pid);
  const attacking = await attack.start(prepared, cookie, seconds + 2 * marginSeconds);
  await sleep(marginSeconds * 1000);
  const during = await runNeighbour(seconds);
  const answers = await attacking.stop();
  const { mostBytes } = memory.stop();
  // What the attack has left behind must not count for the next one.
  await sleep(marginSeconds * 1000);
  const isServed = countServed(during) === during.answers && during.broken + during.unsent === 0;
  const ratio = isServed ? during.latency.p50 / alone.latency.p50 : Number.POSITIVE_INFINITY;
  return { name: attack.name, alone, during, ratio, mostBytes, answers };
}

/** As many requests as the connections can send. */
function flood(name: string, path: string, connections: number, key = ''): Attack {
  return {
    name,
    async start({ service: { origin }, tenants, writeRequests }, _cookie, seconds) {
      const request = { method: 'GET', path: `/api/v1${path}`, key: key || tenants.keys[attacker]! } as const;
      const requestsFile = await writeRequests('attack', [request]);
      const flooding = runOwnLoad({ origin, requestsFile, connections, seconds });
      flooding.catch(() => {});
      return { stop: async () => describeStatuses(await flooding) };
    },
  };
}

function hold(name: string, kind: AttackOrder['kind']): Attack {
  return {
    name,
    async start({ service: { origin }, tenants }, cookie) {
      const order: AttackOrder = { kind, origin, key: tenants.keys[attacker]!, cookie };
      const child = startOwn('load/attacker.ts', order);
      return {
        async stop() {
          await stopProcess(child);
          return '–';
        },
      };
    },
  };
}

/** Few connections: the generator, which shares the machine, reads what they get. */
const readers = 10;

const attacks: readonly Attack[] = [
  flood('lists of 500 fat rows with the total', '/customers?limit=500&count=true&sort=-createdAt', readers),
  flood('lists of 500 sites with the total', '/sites?limit=500&count=true', readers),
  flood('visits', '/visits?from=2026-11-16&until=2026-11-20&limit=500&include=site,customer', readers),
  flood('changes with data', '/changes?limit=1000&include=data', readers),
  flood('searches of the bin', '/deleted?q=ballindamm&limit=200', readers),
  flood('exports as XLSX', '/sites.xlsx', readers),
  flood('exports as NDJSON', '/sites.ndjson', readers),
  flood('list searches with typing errors', '/sites?q=Stnadort%20123%20Balindamm', readers),
  flood('searches for 19 words', `/search?q=${manyWords.join('%20')}`, readers),
  flood('attention lists', '/attention?limit=500&count=true', readers),
  flood('1,100 connections with a bad key', '/sites', 1100, 'bad'),
  hold('500 unfinished bodies by key and 500 by session', 'unfinished bodies'),
  hold('40 readers that do not read', 'stalled readers'),
  hold('4 imports that trickle', 'trickling imports'),
  hold('an all-or-nothing import of 100,000 lines', 'large import'),
];

function report(measured: readonly Measured[]): Outcome {
  return {
    tables: [
      {
        columns: ['While another tenant sends', 'p50', 'p99', 'alone: p50', 'in ratio', 'memory', 'it got'],
        rows: measured.map(({ name, alone, during, ratio, mostBytes, answers }) => [
          name,
          formatMs(during.latency.p50),
          formatMs(during.latency.p99),
          formatMs(alone.latency.p50),
          formatRatio(ratio),
          canReadProcesses ? formatMb(mostBytes) : '–',
          answers,
        ]),
      },
    ],
    charts: [],
    goals: measured.map((one) => ({
      wanted: `p50 at most ${mostRatio} times as long: ${one.name}`,
      measured: Number.isFinite(one.ratio) ? formatRatio(one.ratio) : describeStatuses(one.during),
      isMet: one.ratio <= mostRatio,
    })),
    notes: [
      `The neighbour reads a page of one customer ${neighbourPerSecond} times per second. The attackers share the machine with the service, whose limits are the default ones.`,
    ],
    figures: { fairness: measured },
  };
}
