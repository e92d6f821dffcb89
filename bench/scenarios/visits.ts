// What a day of visits costs a business with 10,000 sites, beside pages of its list of sites. And whether a week costs as
// much per visit in a business with 50,000 sites as in one with 2,500.

import { siteColumns, tenantCount } from '../data/tenants.ts';
import { settle } from '../postgres.ts';
import { runRounds } from '../rounds.ts';
import { barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { type Prepared, prepareService } from '../service.ts';
import { formatRateSpread, formatRatioSpread, ratiosOf, type Spread } from '../statistics.ts';

/** By tenant. */
const siteCounts = [10_000, 2500, 50_000];
const weekName = (count: number) => `Stamm, visits of a week, ${count.toLocaleString('en-US')} sites`;
const dayName = 'Stamm, a day of visits, all pages';
const pageName = 'Stamm, a list page of 50 sites';
/** A working day without a holiday anywhere in Germany. */
const day = '2026-11-17';
const week = { from: '2026-11-16', until: '2026-11-22' };
const mostPages = 30;
const leastRatio = 0.5;

export const visits: Scenario = {
  name: 'visits',
  title: 'Visits of a day',
  async measure(bench) {
    const { options, say } = bench;
    const prepared = await prepareService(bench, 'visits');
    await storeSites(prepared);
    const found = await readVisits(prepared, 0, { from: day, until: day });
    say(`${found.toLocaleString('en-US')} visits on the day; warming up for ${options.warmUpSeconds} s …`);
    const contenders = [
      { name: dayName, run: () => ratePerSecond(options.seconds, () => readDay(prepared)) },
      { name: pageName, run: () => ratePerSecond(options.seconds, () => readPage(prepared)) },
      ...siteCounts.map((count, tenant) => ({
        name: weekName(count),
        run: () => ratePerSecond(options.seconds, () => readVisits(prepared, tenant, week)),
      })),
    ];
    await ratePerSecond(options.warmUpSeconds / 2, () => readDay(prepared));
    await ratePerSecond(options.warmUpSeconds / 2, () => readPage(prepared));
    return report(await runRounds(bench, contenders), found);
  },
};

/** Each is visited every second week, on one of the five working days. */
async function storeSites({ database }: Prepared): Promise<void> {
  for (const [tenant, count] of siteCounts.entries()) await storeSitesOf(database, tenant, count);
  await database.owner.query('VACUUM ANALYZE site');
  await settle(database);
}

async function storeSitesOf(database: Prepared['database'], tenant: number, count: number): Promise<void> {
  const columns = {
    ...siteColumns(`(number * ${tenantCount} + ${tenant})`),
    attending_intervals: `json_build_array(json_build_object('frequency', 'WEEKLY', 'interval', 2, 'byDay',
      json_build_array((ARRAY['MONDAY','TUESDAY','WEDNESDAY','THURSDAY','FRIDAY'])[1 + number % 5])))`,
    attending_intervals_is_known: 'true',
  };
  await database.owner.query(
    `INSERT INTO site (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM generate_series(0, $1::bigint - 1) AS number`,
    [count],
  );
}

/** One day. */
async function readDay(prepared: Prepared): Promise<number> {
  await readVisits(prepared, 0, { from: day, until: day });
  return 1;
}

/** How many there are. */
async function readVisits(
  prepared: Prepared,
  tenant: number,
  days: { from: string; until: string },
): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ ...days, limit: '500', ...(cursor && { cursor }) });
    const page: { data: unknown[]; nextCursor: string | null } = await read(
      prepared,
      `/visits?${query}`,
      tenant,
    );
    count += page.data.length;
    cursor = page.nextCursor;
  } while (cursor);
  return count;
}

async function readPage(prepared: Prepared): Promise<number> {
  await read(prepared, '/sites?limit=50');
  return 1;
}

/** A page without a visit may run out of time. A retry goes on behind it. */
const mostTries = 20;

async function read<Answer>({ service, tenants }: Prepared, path: string, tenant = 0): Promise<Answer> {
  const headers = { ApiKey: tenants.keys[tenant]! };
  for (let tries = 1; ; tries++) {
    const answer = await fetch(`${service.origin}/api/v1${path}`, { headers });
    const body = (await answer.json()) as Answer & { code?: string };
    if (answer.status === 200) return body;
    if (body.code !== 'overloaded' || tries === mostTries)
      throw new Error(`${path} was answered with ${answer.status}.`);
  }
}

/** One after the other: what one reader waits for. */
async function ratePerSecond(seconds: number, work: () => Promise<number>): Promise<number> {
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < seconds * 1000) count += await work();
  return count / ((performance.now() - start) / 1000);
}

function report(rates: Map<string, Spread>, found: number): Outcome {
  const pagesPerDay = ratiosOf(rates.get(pageName)!, rates.get(dayName)!);
  const weeks = ratiosOf(rates.get(weekName(50_000))!, rates.get(weekName(2500))!);
  return {
    tables: [
      {
        columns: ['One reader', 'per second', 'list pages in the same time'],
        rows: [...rates].map(([name, rate]) => [
          name,
          formatRateSpread(rate),
          name === dayName ? formatRatioSpread(pagesPerDay) : '',
        ]),
      },
    ],
    charts: [{ title: 'One reader', unit: '/s', bars: barsOf(new Map([...rates].slice(0, 2))) }],
    goals: [
      {
        wanted: `a day costs at most ${mostPages} list pages`,
        measured: formatRatioSpread(pagesPerDay),
        isMet: pagesPerDay.median <= mostPages,
      },
      {
        wanted: `a week of 50,000 sites brings at least ${leastRatio} times the visits per second of one of 2,500`,
        measured: formatRatioSpread(weeks),
        isMet: weeks.median >= leastRatio,
      },
    ],
    notes: [`10,000 sites of one business, ${found.toLocaleString('en-US')} visits on the day.`],
    figures: { rates: Object.fromEntries(rates), pagesPerDay, weeks },
  };
}
