import pg from 'pg';
import { createApiKey } from '../../server/auth/api-keys.ts';
import { createTenant } from '../../server/auth/tenants.ts';
import { type Database, openDatabase } from '../../server/database/database.ts';
import { migrate } from '../../server/database/migrations.ts';
import { openServiceLogin } from '../../server/database/service-login.ts';
import { seeTenants } from '../../server/database/transactions.ts';
import { createDatabase, dropDatabase, findWorkers } from '../../test/cluster.ts';
import { demandStatus, rateOf, runFullLoad } from '../load.ts';
import { canReadProcesses, readProcessorMs } from '../machine.ts';
import { endLater } from '../processes.ts';
import { type Request, writeRequests } from '../requests.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';
import { formatRate, median } from '../statistics.ts';
import { creationPath, siteBody, tenantCount } from '../tenants.ts';

const sitesPerTenant = 200;
const statementCount = 1000;

export const citus: Scenario = {
  name: 'citus',
  title: 'A Citus cluster',
  async measure(bench) {
    const address = process.env.CITUS_URL;
    if (!address) return describeAbsence('Not measured: CITUS_URL names no Citus cluster.');
    if (!canReadProcesses) return describeAbsence('Not measured: only Linux tells the time of processes.');
    const single = await deploySingle(bench);
    const cluster = await deployCluster(bench, address);
    const costs = await measureRequests(bench, [single, cluster]);
    bench.say('The same statement, routed by Citus and delegated …');
    return report(costs, await measureStatements(bench, cluster));
  },
};

function describeAbsence(note: string): Outcome {
  return { tables: [], charts: [], goals: [], notes: [note], figures: {} };
}

const parts = ['node', 'coordinator', 'workers'] as const;
type Part = (typeof parts)[number];
/** How long each part had a processor for one request or statement, in microseconds. */
type Times = Record<Part, number>;

interface Deployment {
  name: string;
  connection: pg.ClientConfig;
  origin: string;
  tenants: { id: string; key: string; siteId: string }[];
  pids: Record<Part, number[]>;
  /** A file of requests of each kind. */
  files: Map<string, string>;
}

async function deploySingle(bench: Bench): Promise<Deployment> {
  const { connection, url } = await bench.postgres.createDatabase('bench_citus');
  return deploy(bench, 'PostgreSQL', connection, url, { coordinator: [bench.postgres.pid], workers: [] });
}

async function deployCluster(bench: Bench, address: string): Promise<Deployment> {
  const { host, port, user = '', password = '', database } = new pg.Client({ connectionString: address });
  const coordinator = { host, port, user, password, database: database ?? 'postgres' };
  const servers = { connection: coordinator, workers: await findWorkers(coordinator) };
  await dropDatabase(servers, 'bench_citus');
  await createDatabase(servers, 'bench_citus', 'template0');
  endLater(() => dropDatabase(servers, 'bench_citus'));
  const connection = { ...coordinator, database: 'bench_citus' };
  await migrate(connection);
  const url = new URL(address);
  url.pathname = '/bench_citus';
  return deploy(bench, 'Citus', connection, url.href, {
    coordinator: [await findServerPid(coordinator)],
    workers: await Promise.all(servers.workers.map(findServerPid)),
  });
}

/** All servers run on this machine. */
async function findServerPid(connection: pg.ClientConfig): Promise<number> {
  return withClient(connection, async (client) => {
    const { rows } = await client.query<{ file: string }>(`SELECT pg_read_file('postmaster.pid') AS file`);
    return Number.parseInt(rows[0]!.file, 10);
  });
}

async function withClient<Result>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function deploy(
  bench: Bench,
  name: string,
  connection: pg.ClientConfig,
  url: string,
  servers: Omit<Deployment['pids'], 'node'>,
): Promise<Deployment> {
  const { workDir } = bench.postgres;
  const service = await startStamm({ DATABASE_URL: url, WORKERS: '1' }, workDir);
  const { origin, pid } = service;
  const tenants = await withClient(connection, async (owner) => {
    const made: Deployment['tenants'] = [];
    for (let number = 0; number < tenantCount; number++) {
      const id = await createTenant(owner, `Betrieb ${number}`);
      made.push({ id, key: (await createApiKey(owner, id))!, siteId: '' });
    }
    return made;
  });
  const works = new Map<string, Request[]>(kinds.map(({ work }) => [work, []]));
  for (const tenant of tenants) {
    const customerId = await storeSites(origin, tenant);
    for (let number = 0; number < sitesPerTenant; number++)
      for (const { work, request } of kinds) works.get(work)!.push(request(tenant.key, customerId, number));
  }
  const files = new Map<string, string>();
  for (const [work, requests] of works) {
    const file = `${workDir}/citus-${name}-${work.replaceAll(' ', '-')}.tsv`;
    files.set(work, await writeRequests(file, shuffle(requests)));
  }
  return { name, connection, origin, tenants, files, pids: { node: [pid], ...servers } };
}

/** Tenants in turn, as they would come. */
function shuffle(requests: readonly Request[]): Request[] {
  return requests.map(
    (_, index) =>
      requests[(index % tenantCount) * (requests.length / tenantCount) + Math.floor(index / tenantCount)]!,
  );
}

/** Answers with the id of their customer. */
async function storeSites(origin: string, tenant: Deployment['tenants'][number]): Promise<string> {
  const send = async (path: string, type: string, body: string) => {
    const headers = { ApiKey: tenant.key, 'Content-Type': type };
    const answer = await fetch(`${origin}/api/v1${path}`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text.trim().split('\n');
  };
  const { customerId: _, needsAppointment: __, hasKey: ___, name: ____, ...place } = siteBody(0);
  const customer = JSON.stringify({ companyName: 'Hotel Alsterblick', address: place.address });
  const { id: customerId } = JSON.parse((await send('/customer', 'application/json', customer))[0]!);
  const lines = Array.from({ length: sitesPerTenant }, (_, number) =>
    JSON.stringify({ type: 'site', data: { ...siteBody(number, customerId), externalId: `S-${number}` } }),
  );
  const results = await send('/import', 'application/x-ndjson', `${lines.join('\n')}\n`);
  const { summary } = JSON.parse(results.at(-1)!);
  if (summary?.created !== lines.length) throw new Error(`Storing sites: ${results.at(-1)}`);
  tenant.siteId = JSON.parse(results[0]!).id;
  return customerId;
}

interface Kind {
  work: string;
  status: number;
  request(key: string, customerId: string, number: number): Request;
}

const kinds: readonly Kind[] = [
  {
    work: 'creation',
    status: 201,
    request: (key, customerId, number) => ({
      ...{ method: 'POST', path: creationPath, key },
      body: siteBody(number, customerId),
    }),
  },
  {
    work: 'upsert',
    status: 200,
    request: (key, customerId, number) => ({
      ...{ method: 'PUT', path: `/api/v1/sites/by-external-id/S-${number % 2}`, key },
      // Each one differs from the one before, so that it changes something.
      body: { ...siteBody(number, customerId), comment: `Stand ${number}` },
    }),
  },
  {
    work: 'list page of 50',
    status: 200,
    request: (key) => ({ method: 'GET', path: '/api/v1/sites?limit=50', key }),
  },
  {
    work: 'search for two words',
    status: 200,
    request: (key, _, number) => ({
      method: 'GET',
      path: `/api/v1/sites?q=standort%20${number}&limit=10`,
      key,
    }),
  },
];

interface Cost {
  work: string;
  deployment: string;
  rate: number;
  times: Times;
}

/** Deployments in turn, so that what the machine does meanwhile meets all of them. */
async function measureRequests(bench: Bench, deployments: readonly Deployment[]): Promise<Cost[]> {
  const { connections, rounds, seconds, warmUpSeconds } = bench.options;
  const costs: Cost[] = [];
  for (const { work, status } of kinds) {
    const found = new Map<string, { rate: number; times: Times }[]>();
    for (let round = 0; round <= rounds; round++) {
      for (const { name, origin, files, pids } of deployments) {
        const isWarmUp = round === 0;
        const before = readTimes(pids);
        const requestsFile = files.get(work)!;
        const load = await runFullLoad({
          ...{ origin, requestsFile, connections },
          seconds: isWarmUp ? warmUpSeconds : seconds,
        });
        demandStatus(`${name}, ${work}`, load, status);
        if (isWarmUp) continue;
        const times = timesBetween(before, readTimes(pids), load.answers);
        found.set(name, [...(found.get(name) ?? []), { rate: rateOf(load), times }]);
        bench.say(`round ${round}: ${work} on ${name}: ${formatRate(rateOf(load))} /s`);
      }
    }
    for (const [deployment, all] of found) {
      const rate = median(all.map((one) => one.rate));
      costs.push({ work, deployment, rate, times: medianTimes(all.map(({ times }) => times)) });
    }
  }
  return costs;
}

function timesBy(read: (part: Part) => number): Times {
  return Object.fromEntries(parts.map((part) => [part, read(part)])) as Times;
}

function readTimes(pids: Deployment['pids']): Times {
  return timesBy((part) => pids[part].reduce((sum, pid) => sum + readProcessorMs(pid) * 1000, 0));
}

function timesBetween(before: Times, after: Times, count: number): Times {
  return timesBy((part) => (after[part] - before[part]) / count);
}

function medianTimes(rounds: readonly Times[]): Times {
  return timesBy((part) => median(rounds.map((times) => times[part])));
}

/** Simple enough for Citus to route itself. */
const statement = 'SELECT id, name, version FROM site WHERE tenant_id = $1 AND id = $2';

/** One read of one row in a transaction of its tenant: planned by Citus, and as the service sends it. */
async function measureStatements(bench: Bench, cluster: Deployment): Promise<Map<string, Times>> {
  const login = await openServiceLogin(cluster.connection);
  const database = openDatabase(login.client, { maxConnections: 1 });
  const ways = new Map<string, (tenant: Deployment['tenants'][number]) => Promise<unknown>>([
    ['routed by Citus', (tenant) => route(database, tenant)],
    [
      'delegated to the worker',
      ({ id, siteId }) => database.queryInTenants([id], { text: statement, values: [id, siteId] }),
    ],
  ]);
  const found = new Map<string, Times[]>();
  try {
    for (let round = 0; round <= bench.options.rounds; round++) {
      for (const [way, run] of ways) {
        const before = readTimes(cluster.pids);
        for (let count = 0; count < statementCount; count++)
          await run(cluster.tenants[count % cluster.tenants.length]!);
        const times = timesBetween(before, readTimes(cluster.pids), statementCount);
        if (round > 0) found.set(way, [...(found.get(way) ?? []), times]);
      }
    }
  } finally {
    await database.close();
  }
  return new Map([...found].map(([way, rounds]) => [way, medianTimes(rounds)]));
}

async function route(database: Database, { id, siteId }: Deployment['tenants'][number]): Promise<void> {
  const client = await database.pool.connect();
  try {
    const sent = [
      client.query('BEGIN'),
      client.query(seeTenants([id])),
      client.query({ name: 'routed', text: statement, values: [id, siteId] }),
      client.query('COMMIT'),
    ];
    const [, , { rowCount }] = (await Promise.all(sent)) as [unknown, unknown, pg.QueryResult];
    if (rowCount !== 1) throw new Error('The routed statement found no row.');
  } finally {
    client.release();
  }
}

function report(costs: readonly Cost[], statements: ReadonlyMap<string, Times>): Outcome {
  return {
    tables: [
      {
        columns: [
          'A request takes',
          'of the node',
          'of PostgreSQL or the coordinator',
          'of the workers',
          'per second',
        ],
        rows: costs.map(({ work, deployment, rate, times }) => [
          `${work}, ${deployment}`,
          ...parts.map((part) => formatTime(times[part])),
          formatRate(rate),
        ]),
      },
      {
        columns: ['One read of one row takes', 'of the coordinator', 'of the workers'],
        rows: [...statements].map(([way, times]) => [
          way,
          formatTime(times.coordinator),
          formatTime(times.workers),
        ]),
      },
    ],
    charts: [],
    goals: [],
    notes: [
      `${tenantCount} tenants with ${sitesPerTenant} sites each before the first creation, one process of the service, all servers on this machine. Times are of a processor. The rates are of parts that share its cores, so they say nothing about several machines.`,
    ],
    figures: { costs, statements: Object.fromEntries(statements) },
  };
}

function formatTime(microseconds: number): string {
  return `${Math.round(microseconds)} µs`;
}
