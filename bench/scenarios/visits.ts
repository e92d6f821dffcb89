// What a day of visits costs a business with 10,000 sites, beside pages of its list of sites.

import { siteColumns, tenantCount } from '../data/tenants.ts';
import { settle } from '../postgres.ts';
import { runRounds } from '../rounds.ts';
import { barsOf, type Outcome, type Scenario } from '../scenario.ts';
import { type Prepared, prepareService } from '../service.ts';
import { formatRateSpread, formatRatioSpread, ratiosOf, type Spread } from '../statistics.ts';

const siteCount = 10_000;
const dayName = 'Stamm, a day of visits, all pages';
const pageName = 'Stamm, a list page of 50 sites';
/** A working day without a holiday anywhere in Germany. */
const day = '2026-11-17';
const mostPages = 30;

export const visits: Scenario = {
  name: 'visits',
  title: 'Visits of a day',
  async measure(bench) {
    const { options, say } = bench;
    const prepared = await prepareService(bench, 'visits');
    await storeSites(prepared);
    const found = await readDay(prepared);
    say(`${found.toLocaleString('en-US')} visits on the day; warming up for ${options.warmUpSeconds} s …`);
    const contenders = [
      { name: dayName, run: () => ratePerSecond(options.seconds, () => readDay(prepared)) },
      { name: pageName, run: () => ratePerSecond(options.seconds, () => readPage(prepared)) },
    ];
    await ratePerSecond(options.warmUpSeconds / 2, () => readDay(prepared));
    await ratePerSecond(options.warmUpSeconds / 2, () => readPage(prepared));
    return report(await runRounds(bench, contenders), found);
  },
};

/** All sites belong to the first tenant. Each is visited every second week, on one of the five working days. */
async function storeSites({ database }: Prepared): Promise<void> {
  const columns = {
    ...siteColumns(`(number * ${tenantCount})`),
    attending_intervals: `json_build_array(json_build_object('frequency', 'WEEKLY', 'interval', 2, 'byDay',
      json_build_array((ARRAY['MONDAY','TUESDAY','WEDNESDAY','THURSDAY','FRIDAY'])[1 + number % 5])))`,
    attending_intervals_is_known: 'true',
  };
  await database.owner.query(
    `INSERT INTO site (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM generate_series(0, $1::bigint - 1) AS number`,
    [siteCount],
  );
  await database.owner.query('VACUUM ANALYZE site');
  await settle(database);
}

async function readDay(prepared: Prepared): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ from: day, until: day, limit: '500', ...(cursor && { cursor }) });
    const page: { data: unknown[]; nextCursor: string | null } = await read(prepared, `/visits?${query}`);
    count += page.data.length;
    cursor = page.nextCursor;
  } while (cursor);
  return count;
}

function readPage(prepared: Prepared): Promise<unknown> {
  return read(prepared, '/sites?limit=50');
}

async function read<Answer>({ service, tenants }: Prepared, path: string): Promise<Answer> {
  const answer = await fetch(`${service.origin}/api/v1${path}`, { headers: { ApiKey: tenants.keys[0]! } });
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}.`);
  return (await answer.json()) as Answer;
}

/** One after the other: what one reader waits for. */
async function ratePerSecond(seconds: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < seconds * 1000; count++) await work();
  return count / ((performance.now() - start) / 1000);
}

function report(rates: Map<string, Spread>, found: number): Outcome {
  const pagesPerDay = ratiosOf(rates.get(pageName)!, rates.get(dayName)!);
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
    charts: [{ title: 'One reader', unit: '/s', bars: barsOf(rates) }],
    goals: [
      {
        wanted: `a day costs at most ${mostPages} list pages`,
        measured: formatRatioSpread(pagesPerDay),
        isMet: pagesPerDay.median <= mostPages,
      },
    ],
    notes: [
      `${siteCount.toLocaleString('en-US')} sites of one business, ${found.toLocaleString('en-US')} visits on the day.`,
    ],
    figures: { rates: Object.fromEntries(rates), pagesPerDay },
  };
}
