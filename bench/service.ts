// A service with tenants and customers on a database of its own: what most scenarios begin with.
import { once } from 'node:events';
import path from 'node:path';
import { createCustomers, createTenants, creationRequests, type Tenants } from './data/tenants.ts';
import { demandStatus, type LoadReport, runFullLoad, runOwnLoad } from './load/load.ts';
import { type Request, writeRequests } from './load/requests.ts';
import { type BenchDatabase, countRows, type RowCounts } from './postgres.ts';
import { startOwn } from './processes.ts';
import type { Bench } from './scenario.ts';
import { type StammProcess, startStamm } from './stamm-process.ts';

export interface Prepared {
  database: BenchDatabase;
  tenants: Tenants;
  service: StammProcess;
  /** A file of creations over all customers of all tenants. */
  creations: string;
  writeRequests(name: string, requests: readonly Request[]): Promise<string>;
}

export async function prepareService(
  { postgres }: Bench,
  name: string,
  settings: Record<string, string> = {},
): Promise<Prepared> {
  const database = await postgres.createDatabase(`bench_${name}`);
  const tenants = await createTenants(database);
  await createCustomers(database);
  const service = await startStamm({ DATABASE_URL: database.url, ...settings }, postgres.workDir);
  const write = (file: string, requests: readonly Request[]) =>
    writeRequests(path.join(postgres.workDir, `${name}-${file}.tsv`), requests);
  const creations = await write('creations', creationRequests(tenants));
  return { database, tenants, service, creations, writeRequests: write };
}

/** A file of creations of one tenant only. */
export function writeTenantCreations({ tenants, writeRequests }: Prepared, tenant: number): Promise<string> {
  const requests = creationRequests(tenants).filter(({ key }) => key === tenants.keys[tenant]);
  return writeRequests(`tenant-${tenant}`, requests);
}

export async function startBareServer(): Promise<{ origin: string }> {
  const child = startOwn('load/bare-server.ts', {});
  const [{ port }] = await once(child, 'message');
  return { origin: `http://127.0.0.1:${port}` };
}

/** Rounds begin with compiled code and filled caches; answers before that do not count. */
export async function warmUp({ service, creations }: Prepared, { options, say }: Bench): Promise<void> {
  const { connections, warmUpSeconds: seconds } = options;
  say(`Warming up for ${seconds} s …`);
  await runFullLoad({ origin: service.origin, requestsFile: creations, connections, seconds });
}

/** Creates at full load or at a rate, and checks what became of it. */
export function createAndCheck(
  { database, service, creations }: Prepared,
  load: { connections: number; seconds: number; ratePerSecond?: number; isOwn?: boolean },
): Promise<LoadReport> {
  const order = { origin: service.origin, requestsFile: creations, ...load };
  const run = load.isOwn || load.ratePerSecond !== undefined ? runOwnLoad : runFullLoad;
  return checkCreations(database, load.connections, () => run(order));
}

/** Runs a load of creations. Fails unless each answer was 201 and stands for a row and a journal entry. */
async function checkCreations(
  database: BenchDatabase,
  connections: number,
  load: () => Promise<LoadReport>,
): Promise<LoadReport> {
  const before = await countRows(database);
  const report = await load();
  demandStatus('Creation', report, 201);
  // wrk ends without waiting for the last answer of each connection, but their rows are written.
  const mostUnread = report.generator === 'wrk' ? connections : 0;
  demandRows(before, await countRows(database), report.answers, mostUnread);
  return report;
}

/** Fails unless each answer stands for one row and one entry of the journal. */
export function demandRows(before: RowCounts, after: RowCounts, answers: number, mostUnread: number): void {
  const sites = after.sites - before.sites;
  const entries = after.entries - before.entries;
  if (sites < answers || sites > answers + mostUnread || entries !== sites)
    throw new Error(`Creation: ${answers} answers, but ${sites} rows and ${entries} journal entries.`);
}
