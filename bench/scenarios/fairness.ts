// One tenant does all that it can to keep the service from others: what another tenant notices of it.
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashToken, makeToken } from '../../server/auth/secrets.ts';
import { writeMissingWords } from '../../server/engine/sql/search-words.ts';
import { resources } from '../../server/resources/index.ts';
import type { AttackOrder } from '../attacker.ts';
import { countServed, describeStatuses, type LoadReport, runOwnLoad } from '../load.ts';
import { canReadProcesses, watchMemory } from '../machine.ts';
import { settle } from '../postgres.ts';
import { startOwn, stopProcess } from '../processes.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { type Prepared, prepareService } from '../service.ts';
import { formatMb, formatMs, formatRatio } from '../statistics.ts';
import { fixedId, siteColumns, tenantCount } from '../tenants.ts';

const attacker = 0;
const neighbour = 1;
const sitesOfAttacker = 40_000;
const fatCustomers = 300;
const neighbourPerSecond = 20;
/** An attack begins before the neighbour's requests and ends after them. */
const marginSeconds = 2;

interface Attack {
  name: string;
  /** Whether it may keep all cores busy: its requests are within the rate limit, and each is real work. */
  isWork: boolean;
  start(prepared: Prepared, cookie: string, seconds: number): Promise<{ stop(): Promise<string> }>;
}

interface Measured {
  name: string;
  isWork: boolean;
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
    const cookie = await fill(prepared);
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

/** Gives the attacker much to read, and answers with the cookie of a person there. */
async function fill({ database: { owner }, database }: Prepared): Promise<string> {
  const tenantId = fixedId(attacker);
  const columns = siteColumns(`(index * ${tenantCount} + ${attacker})`);
  await owner.query(
    `INSERT INTO site (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM generate_series(1, $1::bigint) AS index`,
    [sitesOfAttacker],
  );
  await owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number,
       address_zip_code, address_city, status)
     SELECT $1, uuidv7(), 'Groß ' || number, (SELECT string_agg(md5(random()::text || part || number), '')
         FROM generate_series(1, 2500) AS part), '1', '20095', 'Hamburg', 'ACTIVE'
     FROM generate_series(1, $2::bigint) AS number`,
    [tenantId, fatCustomers],
  );
  await writeMissingWords(owner, resources);
  const [personId, token] = [randomUUIDv7(), makeToken()];
  await owner.query(
    `INSERT INTO person (tenant_id, id, name, email, role, password_hash) VALUES ($1, $2, 'A', 'a@a.test', 'VERWALTUNG', '')`,
    [tenantId, personId],
  );
  await owner.query(
    `INSERT INTO session (tenant_id, id, person_id, token_hash, address, user_agent) VALUES ($1, $2, $3, $4, '', '')`,
    [tenantId, randomUUIDv7(), personId, hashToken(token)],
  );
  await owner.query('VACUUM ANALYZE');
  await settle(database);
  return `stamm_session=${token}`;
}

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
  return { name: attack.name, isWork: attack.isWork, alone, during, ratio, mostBytes, answers };
}

/** As many requests as the connections can send. */
function flood(name: string, path: string, connections: number, { isWork = true, key = '' } = {}): Attack {
  return {
    name,
    isWork,
    async start({ service: { origin }, tenants, writeRequests }, _cookie, seconds) {
      const request = { method: 'GET', path, key: key || tenants.keys[attacker]! } as const;
      const requestsFile = await writeRequests('attack', [request]);
      const flooding = runOwnLoad({ origin, requestsFile, connections, seconds });
      flooding.catch(() => {});
      return { stop: async () => describeStatuses(await flooding) };
    },
  };
}

function hold(name: string, kind: AttackOrder['kind'], isWork = false): Attack {
  return {
    name,
    isWork,
    async start({ service: { origin }, tenants }, cookie) {
      const order: AttackOrder = { kind, origin, key: tenants.keys[attacker]!, cookie };
      const child = startOwn('attacker.ts', order);
      return {
        async stop() {
          await stopProcess(child);
          return '–';
        },
      };
    },
  };
}

const attacks: readonly Attack[] = [
  hold('500 unfinished bodies by key and 500 by session', 'unfinished bodies'),
  flood('60 lists of 500 with the total', '/api/v1/sites?count=true&limit=500', 60),
  flood('60 lists of fat rows', '/api/v1/customers?limit=500', 60),
  flood('60 attention lists', '/api/v1/attention?limit=500&count=true', 60),
  flood('60 searches with typing errors', '/api/v1/sites?q=Stnadort%20123%20Balindamm', 60),
  flood('1,100 connections with a bad key', '/api/v1/sites', 1100, { isWork: false, key: 'bad' }),
  hold('40 readers that do not read', 'stalled readers'),
  hold('4 imports that trickle', 'trickling imports'),
  hold('an all-or-nothing import of 100,000 lines', 'large import', true),
];

function mostRatio({ isWork }: Measured): number {
  return isWork ? 10 : 3;
}

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
      wanted: `p50 at most ${mostRatio(one)} times as long: ${one.name}`,
      measured: Number.isFinite(one.ratio) ? formatRatio(one.ratio) : describeStatuses(one.during),
      isMet: one.ratio <= mostRatio(one),
    })),
    notes: [
      `The neighbour reads a page of one customer ${neighbourPerSecond} times per second. The attackers share the machine with the service, whose limits are the default ones.`,
      'Where a tenant works within its rate limit and keeps all cores busy, 10 times is the goal, otherwise 3.',
    ],
    figures: { fairness: measured },
  };
}
