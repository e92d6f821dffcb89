// What PostgreSQL reads for each request of `growth`, as it tells itself: the plans that keep the figures there flat.
import { readFileSync, statSync } from 'node:fs';
import { bigTenant, fillSites, fillTenants } from '../growth-fill.ts';
import { prepareGrowthRequests } from '../growth-requests.ts';
import { nodesOf, type PlanNode, reportPlans, rowsRead } from '../plan-reports.ts';
import type { Request } from '../requests.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';

const mostSites = 1_000_000;
/** After so many executions PostgreSQL has settled for a plan. */
const executions = 7;

/** A search reads a thousand entries of each word, and everything else what it answers. */
const mostRows = 2500;

/** One way in which a statement reads a table. */
interface Scan {
  kind: string;
  condition: string;
  rows: number;
}

export const plans: Scenario = {
  name: 'plans',
  title: 'What is read',
  async measure({ options, postgres, say }: Bench) {
    const sites = Math.min(options.sites, mostSites);
    say(`Filling ${sites.toLocaleString('en-US')} sites …`);
    const database = await postgres.createDatabase('bench_plans');
    const keys = await fillTenants(database);
    await fillSites(database, 0, sites);
    await reportPlans(database.owner);
    const service = await startStamm({ DATABASE_URL: database.url }, postgres.workDir);
    const requests = await prepareGrowthRequests(database, [bigTenant], keys);
    const scansOf = new Map<string, Scan[]>();
    for (const [what, list] of requests) {
      for (const request of list.slice(0, executions - 1)) await send(service.origin, request);
      const { size } = statSync(postgres.logFile);
      await send(service.origin, list[executions - 1]!);
      scansOf.set(what, scansIn(readFileSync(postgres.logFile).subarray(size).toString()));
    }
    return report(sites, scansOf);
  },
};

async function send(origin: string, { method, path, key, body }: Request): Promise<void> {
  const answer = await fetch(origin + path, {
    method,
    headers: { apikey: key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
}

/** Requests are recorded now and then, which is not the question here. */
const isRecord = (table: string) => table.startsWith('recorded_request') || table.startsWith('request_hour');

function scansIn(log: string): Scan[] {
  const reports = [...log.matchAll(/ plan:\n((?:\t.*\n)+)/g)].map(
    ([, report]) => JSON.parse(report!).Plan as PlanNode,
  );
  const scans = new Map<string, Scan>();
  for (const node of reports.flatMap(nodesOf)) {
    const {
      'Node Type': type,
      'Relation Name': table,
      'Index Name': index,
      'Index Cond': condition = '',
    } = node;
    if (!type.includes('Scan') || !(table || index) || isRecord(table ?? '')) continue;
    const kind = `${type} ${index ?? table}`;
    const scan = scans.get(kind) ?? {
      kind,
      condition: shorten(condition),
      rows: 0,
    };
    scan.rows += rowsRead(node);
    scans.set(kind, scan);
  }
  return [...scans.values()];
}

/** Without the types and values, which differ from request to request. */
function shorten(condition: string): string {
  return condition
    .replaceAll(/'[^']*'/g, '…')
    .replaceAll(/::[a-z ]+(\[\])?/g, '')
    .replaceAll('|', '\\|');
}

function report(sites: number, scansOf: ReadonlyMap<string, readonly Scan[]>): Outcome {
  const all = [...scansOf.values()].flat();
  const mostRead = Math.max(...all.map(({ rows }) => rows));
  return {
    tables: [
      {
        columns: ['Request', 'is answered by', 'with', 'rows'],
        rows: [...scansOf].flatMap(([what, scans]) =>
          scans.map(({ kind, condition, rows }, index) => [
            index === 0 ? what : '',
            kind,
            condition && `\`${condition}\``,
            Math.round(rows).toLocaleString('en-US'),
          ]),
        ),
      },
    ],
    charts: [],
    goals: [
      {
        wanted: `no more than ${mostRows.toLocaleString('en-US')} rows are read for a request in one way`,
        measured: `${Math.round(mostRead).toLocaleString('en-US')} at most`,
        isMet: mostRead <= mostRows,
      },
    ],
    notes: [
      `${sites.toLocaleString('en-US')} sites of 5,000 tenants; requests of the largest, which has a tenth of them, as PostgreSQL reports them (auto_explain). Rows are those that were read for one request. test/api/plans.test.ts holds the same requests to it.`,
    ],
    figures: { scans: Object.fromEntries(scansOf) },
  };
}
