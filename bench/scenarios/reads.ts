import { buildListQuery, parseListRequest } from '../../server/engine/read/list-query.ts';
import { selectObjects } from '../../server/engine/read/representation.ts';
import { site } from '../../server/resources/site.ts';
import { pageSize, siteCount, storeSites } from '../data/stored-sites.ts';
import { tenantCount } from '../data/tenants.ts';
import { demandStatus, rateOf, runFullLoad } from '../load/load.ts';
import { hasPgbench, runPages } from '../load/pgbench.ts';
import type { Request } from '../load/requests.ts';
import { type Contender, runRounds } from '../rounds.ts';
import { type Bench, barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { type Prepared, prepareService, startBareServer } from '../service.ts';
import { formatRateSpread, formatRatioSpread, ratiosOf, type Spread } from '../statistics.ts';

const readName = 'Stamm, GET /sites/{id}';
const listName = `Stamm, list page of ${pageSize}`;
const bareReadName = 'bare node:http, as many bytes as a site';
const bareListName = 'bare node:http, as many bytes as a page';
const pgbenchListName = 'pgbench, the same list statement';

export const reads: Scenario = {
  name: 'reads',
  title: 'Reading',
  async measure(bench) {
    const { options, say } = bench;
    const prepared = await prepareService(bench, 'reads');
    const { pages, sites } = await storeSites(prepared);
    const contenders = await listContenders(bench, prepared, sites, pages);
    say(`Warming up for ${options.warmUpSeconds} s …`);
    await load(
      bench,
      prepared.service.origin,
      await prepared.writeRequests('warm-up', [...sites, ...pages]),
      {
        seconds: options.warmUpSeconds,
      },
    );
    for (const { run } of contenders) await run();
    return report(await runRounds(bench, contenders), options.connections);
  },
};

async function load(
  { options }: Bench,
  origin: string,
  requestsFile: string,
  { seconds = options.seconds } = {},
) {
  const answers = await runFullLoad({ origin, requestsFile, connections: options.connections, seconds });
  demandStatus('Reading', answers, 200);
  return rateOf(answers);
}

async function listContenders(
  bench: Bench,
  { database, service, writeRequests }: Prepared,
  sites: Request[],
  pages: Request[],
): Promise<Contender[]> {
  const bare = await startBareServer();
  const siteFile = await writeRequests('sites', sites);
  const pageFile = await writeRequests('pages', pages);
  const bareFile = async (name: string, sample: Request) =>
    writeRequests(name, [{ ...sample, path: `/${await answerLength(service.origin, sample)}` }]);
  const bareSiteFile = await bareFile('bare-site', sites[0]!);
  const barePageFile = await bareFile('bare-page', pages[0]!);
  return [
    { name: readName, run: () => load(bench, service.origin, siteFile) },
    { name: bareReadName, run: () => load(bench, bare.origin, bareSiteFile) },
    { name: listName, run: () => load(bench, service.origin, pageFile) },
    { name: bareListName, run: () => load(bench, bare.origin, barePageFile) },
    ...(hasPgbench
      ? [{ name: pgbenchListName, run: () => runPages(database, listStatement(), pgbenchOptions(bench)) }]
      : []),
  ];
}

/** The statement for the first page of a list: one row more than the page shows whether another follows. */
function listStatement(): { text: string; rows: number } {
  const { list } = parseListRequest(site, [], { limit: String(pageSize) });
  const { text } = buildListQuery(site, '', list, selectObjects(site, 'subject'));
  return { text, rows: pageSize + 1 };
}

function pgbenchOptions({ options: { connections, seconds }, postgres: { workDir } }: Bench) {
  return { connections, seconds, workDir };
}

async function answerLength(origin: string, { path, key }: Request): Promise<number> {
  const answer = await fetch(origin + path, { headers: { ApiKey: key } });
  if (answer.status !== 200) throw new Error(`Reading: ${path} was answered with ${answer.status}.`);
  return (await answer.arrayBuffer()).byteLength;
}

function report(rates: Map<string, Spread>, connections: number): Outcome {
  const ratios = new Map([
    [readName, ratiosOf(rates.get(readName)!, rates.get(bareReadName)!)],
    [listName, ratiosOf(rates.get(listName)!, rates.get(bareListName)!)],
  ]);
  const pgbenchPages = rates.get(pgbenchListName);
  return {
    tables: [
      {
        columns: [
          `Reads at ${connections} connections`,
          'per second',
          'in ratio to the bare server',
          'in ratio to pgbench',
        ],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          ratios.has(name) ? formatRatioSpread(ratios.get(name)!) : '',
          name === listName && pgbenchPages ? formatRatioSpread(ratiosOf(rate, pgbenchPages)) : '',
        ]),
      },
    ],
    charts: [
      {
        title: `Reads at ${connections} connections`,
        unit: '/s',
        bars: barsOf(rates),
      },
    ],
    goals: [],
    notes: [
      `${siteCount.toLocaleString('en-US')} sites of ${tenantCount} tenants. The service has its usual number of processes, the bare server one; every answer was 200.`,
    ],
    figures: { rates: Object.fromEntries(rates), ratios: Object.fromEntries(ratios) },
  };
}
