// Hours of mixed work at a steady rate: what grows with requests, and what must not.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { creationPath, fixedId, siteBody } from '../data/tenants.ts';
import { readFootprint } from '../machine.ts';
import { drawLines, type Line } from '../plot-lines.ts';
import type { BenchDatabase } from '../postgres.ts';
import type { Bench, Goal, Outcome, Scenario } from '../scenario.ts';
import { type Prepared, prepareService } from '../service.ts';
import { formatMb, median } from '../statistics.ts';

const clients = 8;
const samples = 120;
/** Sites that upserts, changes and reads name. */
const knownSites = 2000;
const importLines = 200;

interface Sample {
  minutes: number;
  requests: number;
  /** Of the requests, those that the service was too busy for. */
  refused: number;
  memory: number;
  descriptors: number;
  connections: number;
  tables: number;
  indexes: number;
}

interface Call {
  method: string;
  path: string;
  body?: unknown;
}

const siteOf = (number: number) => ({
  ...siteBody(number, fixedId(0)),
  externalId: `soak-${number}`,
  attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['MONDAY'], interval: 2 }],
});
const ownPath = (number: number) => `/api/v1/sites/by-external-id/soak-${number}`;

/** Of a hundred requests, which one comes at each place: what an ERP, a shop and a nightly run send. */
function callAt(number: number): Call {
  const place = number % 100;
  const known = (number * 7919) % knownSites;
  if (place < 25)
    return { method: 'POST', path: creationPath, body: { ...siteOf(number), externalId: `new-${number}` } };
  if (place < 35) return { method: 'DELETE', path: `/api/v1/sites/by-external-id/new-${number - 25}` };
  if (place < 50)
    return { method: 'PUT', path: ownPath(known), body: { ...siteOf(known), comment: `Besuch ${number}` } };
  if (place < 60) return { method: 'PATCH', path: ownPath(known), body: { comment: `Notiz ${number}` } };
  if (place < 85) return { method: 'GET', path: ownPath(known) };
  if (place < 90) return { method: 'GET', path: '/api/v1/sites?limit=50&sort=-updatedAt' };
  if (place < 93) return { method: 'GET', path: `/api/v1/search?q=Standort%20${known}` };
  if (place < 96) return { method: 'GET', path: '/api/v1/changes?after=now&limit=100' };
  if (place === 96) return { method: 'GET', path: '/api/v1/attention?limit=50' };
  if (place === 97)
    return { method: 'GET', path: '/api/v1/visits?from=2026-11-16&until=2026-11-16&limit=50' };
  if (place === 98) return { method: 'GET', path: '/api/v1/employees.csv' };
  const lines = Array.from({ length: importLines }, (_, index) => {
    const data = { ...siteOf((known + index) % knownSites), comment: `Lauf ${number}` };
    return JSON.stringify({ type: 'site', action: 'merge', data });
  });
  return { method: 'POST', path: '/api/v1/import', body: lines.join('\n') };
}

const expected = new Set([200, 201, 204, 404]);
/** What a busy service says to a client that should come back. */
const isBusy = (status: number, text: string) =>
  status === 429 || (status === 500 && /"code":"(overloaded|outcome_unknown)"/.test(text));

/** Returns whether the service was too busy. */
async function send(origin: string, key: string, { method, path: url, body }: Call): Promise<boolean> {
  const isImport = typeof body === 'string';
  const answer = await fetch(origin + url, {
    method,
    headers: {
      ApiKey: key,
      ...(body !== undefined && { 'Content-Type': isImport ? 'application/x-ndjson' : 'application/json' }),
    },
    ...(body !== undefined && { body: isImport ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (isBusy(answer.status, text)) return true;
  if (!expected.has(answer.status))
    throw new Error(`${method} ${url}: ${answer.status} ${text.slice(0, 300)}`);
  return false;
}

async function takeSample(
  { owner }: BenchDatabase,
  pid: number,
  startedAt: number,
  { requests, refused }: Pick<Sample, 'requests' | 'refused'>,
): Promise<Sample> {
  const { rows } = await owner.query(
    `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())::int AS connections,
       sum(pg_table_size(oid))::float8 AS tables, sum(pg_indexes_size(oid))::float8 AS indexes
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const { residentBytes, descriptors } = readFootprint(pid);
  const minutes = (performance.now() - startedAt) / 60_000;
  return { minutes, requests, refused, memory: residentBytes, descriptors, ...rows[0] };
}

/** Each client sends when its next request is due; one that is late does not catch up. */
async function run(bench: Bench, { database, service, tenants }: Prepared): Promise<Sample[]> {
  const { minutes, soakRate } = bench.options;
  const key = tenants.keys[0]!;
  for (let number = 0; number < knownSites; number++)
    await send(service.origin, key, { method: 'PUT', path: ownPath(number), body: siteOf(number) });
  const startedAt = performance.now();
  const lengthMs = minutes * 60_000;
  const taken: Sample[] = [];
  let next = 0;
  let refused = 0;
  const isOver = () => performance.now() - startedAt >= lengthMs;
  const client = async () => {
    while (!isOver()) {
      const due = performance.now() + (1000 * clients) / soakRate;
      if (await send(service.origin, key, callAt(next++))) refused++;
      await sleep(Math.max(0, due - performance.now()));
    }
  };
  const watch = async () => {
    for (let index = 0; index <= samples; index++) {
      await sleep(Math.max(0, startedAt + (index * lengthMs) / samples - performance.now()));
      taken.push(await takeSample(database, service.pid, startedAt, { requests: next, refused }));
      if (index % 10 === 0) bench.say(describeSample(taken.at(-1)!));
    }
  };
  await Promise.all([watch(), ...Array.from({ length: clients }, client)]);
  return taken;
}

function describeSample({
  minutes,
  requests,
  memory,
  descriptors,
  connections,
  tables,
  indexes,
}: Sample): string {
  return `${minutes.toFixed(1)} min: ${requests} requests, ${formatMb(memory)}, ${descriptors} descriptors, ${connections} connections, tables ${formatMb(tables)}, indexes ${formatMb(indexes)}`;
}

type Figure = 'memory' | 'descriptors' | 'connections' | 'tables' | 'indexes';

/** From the second quarter, in which everything has been used once, to the last one. */
function growthOf(taken: readonly Sample[], figure: Figure) {
  const quarter = (index: number) =>
    taken.slice((index * taken.length) / 4, ((index + 1) * taken.length) / 4);
  const middle = (index: number, name: Figure | 'requests') => median(quarter(index).map((one) => one[name]));
  const [before, after] = [middle(1, figure), middle(3, figure)];
  const requests = middle(3, 'requests') - middle(1, 'requests');
  return { before, after, ratio: after / before, perMillion: ((after - before) / requests) * 1_000_000 };
}

const steady: readonly { figure: Figure; most: number }[] = [
  { figure: 'memory', most: 1.15 },
  { figure: 'descriptors', most: 1.1 },
  { figure: 'connections', most: 1.1 },
];

function report(taken: readonly Sample[]): Outcome {
  const bytes = (figure: Figure) => ['memory', 'tables', 'indexes'].includes(figure);
  const write = (figure: Figure, value: number) =>
    bytes(figure) ? formatMb(value) : String(Math.round(value));
  const figures: Figure[] = ['memory', 'descriptors', 'connections', 'tables', 'indexes'];
  const rows = figures.map((figure) => {
    const { before, after, perMillion } = growthOf(taken, figure);
    return [figure, write(figure, before), write(figure, after), write(figure, perMillion)];
  });
  const goals: Goal[] = steady.map(({ figure, most }) => {
    const { ratio } = growthOf(taken, figure);
    return {
      wanted: `${figure}: last quarter to second, at most ${most}`,
      measured: ratio.toFixed(2),
      isMet: ratio <= most,
    };
  });
  const { minutes, requests, refused } = taken.at(-1)!;
  return {
    tables: [{ columns: ['', 'second quarter', 'last quarter', 'per million requests'], rows }],
    charts: [],
    goals,
    notes: [
      `${Math.round(minutes)} minutes, ${requests.toLocaleString('en-US')} requests, of which ${refused.toLocaleString('en-US')} came to a busy service; an import of ${importLines} lines is one.`,
    ],
    figures: { samples: taken },
  };
}

function linesOf(taken: readonly Sample[]): Line[] {
  const megabytes = (figure: Figure) => taken.map((one) => one[figure] / 1_000_000);
  const plain = (figure: Figure) => taken.map((one) => one[figure]);
  return [
    { title: 'Memory of the service, MB', values: megabytes('memory') },
    { title: 'File descriptors of the service', values: plain('descriptors') },
    { title: 'Connections to PostgreSQL', values: plain('connections') },
    { title: 'Tables, MB', values: megabytes('tables') },
    { title: 'Indexes, MB', values: megabytes('indexes') },
  ];
}

export const soak: Scenario = {
  name: 'soak',
  title: 'Hours of mixed work',
  isOnRequest: true,
  async measure(bench) {
    const prepared = await prepareService(bench, 'soak');
    const taken = await run(bench, prepared);
    await prepared.service.stop();
    await mkdir(bench.options.resultsDir, { recursive: true });
    await writeFile(
      path.join(bench.options.resultsDir, 'soak.svg'),
      drawLines(linesOf(taken), taken.at(-1)!.minutes),
    );
    return report(taken);
  },
};
