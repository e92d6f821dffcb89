// The pages of the office with 500 and with 50,000 sites, which came through the import. One person looks at them, one
// page after the other: also right after a change.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addPerson } from '../../server/access/people.ts';
import { hashPassword } from '../../server/features/sign-in/passwords.ts';
import { createTenants, fixedId } from '../data/tenants.ts';
import { type BenchDatabase, settle } from '../postgres.ts';
import type { Bench, Outcome, Scenario } from '../scenario.ts';
import { startStamm } from '../stamm-process.ts';
import { formatMs, formatRatio, median } from '../statistics.ts';

const sizes = [500, 50_000] as const;
const linesPerRequest = 2000;
const sitesPerCustomer = 10;
const mostGrowth = 2;
const password = 'drei Tulpen am Fenster';
const cities = ['Hamburg', 'Berlin', 'Köln', 'München', 'Leipzig', 'Bremen', 'Kiel', 'Essen', 'Ulm', 'Jena'];
const rooms = ['Lobby', 'Empfang', 'Kantine', 'Atrium', 'Praxis', 'Kanzlei', 'Foyer', 'Bibliothek'];

const afterChange = 'attention after a change';

/** The requests of each page, below /app. A search knows the name of the last site, so it finds one. */
const pagesOf = (sites: number): Record<string, readonly string[]> => ({
  'list of sites': ['/sites?limit=50&sort=name'],
  'list of customers': ['/customers?limit=50&sort=name'],
  'sort by address': ['/sites?limit=50&sort=zipCode'],
  'filter by town': ['/sites?limit=50&city=Kiel'],
  'search for a name': [`/sites?limit=50&q=Haus%20${sites - 1}`],
  'search everywhere': [`/search?q=Haus%20${sites - 1}`],
  'select all': ['/sites?limit=50&count=true'],
  attention: ['/attention?limit=50'],
  [afterChange]: ['/attention?limit=50', '/attention/counts', '/attention/overview'],
  overview: [
    '/attention/overview',
    '/counts',
    '/history?limit=8',
    '/visit-sums?from=2026-11-19&until=2026-11-19',
  ],
});

export const office: Scenario = {
  name: 'office',
  title: 'Pages of the office at 50,000 sites',
  async measure(bench) {
    const database = await bench.postgres.createDatabase('bench_office');
    const { keys } = await createTenants(database, sizes.length);
    const { origin } = await startStamm({ DATABASE_URL: database.url }, bench.postgres.workDir);
    const cookies: string[] = [];
    for (const [tenant, sites] of sizes.entries()) {
      bench.say(`Importing ${sites.toLocaleString('en-US')} sites …`);
      await importSites(origin, keys[tenant]!, sites);
      cookies.push(await enter(database, origin, tenant));
    }
    await settle(database);
    const change = (index: number) => changeSite(origin, keys[index]!);
    return report(await measurePages(bench, origin, cookies, change));
  },
};

async function importSites(origin: string, key: string, sites: number): Promise<void> {
  const lines = Array.from({ length: sites / sitesPerCustomer }, (_, number) => customerLine(number));
  for (let number = 0; number < sites; number++) lines.push(siteLine(number));
  for (let start = 0; start < lines.length; start += linesPerRequest) {
    const answer = await fetch(`${origin}/api/v1/import`, {
      method: 'POST',
      headers: { ApiKey: key, 'Content-Type': 'application/x-ndjson' },
      body: lines.slice(start, start + linesPerRequest).join('\n'),
    });
    const last = (await answer.text()).trim().split('\n').at(-1)!;
    if (JSON.parse(last).summary?.failed !== 0) throw new Error(`An import ended with ${last}`);
  }
}

function addressOf(number: number): object {
  const streetName = `${cities[(number * 7) % cities.length]}er Straße`;
  const zipCode = String(10_000 + ((number * 37) % 80_000));
  return {
    streetName,
    houseNumber: String(1 + (number % 180)),
    zipCode,
    city: cities[number % cities.length],
  };
}

function customerLine(number: number): string {
  const data = { externalId: `K-${number}`, companyName: `Betrieb ${number}`, address: addressOf(number) };
  return JSON.stringify({ type: 'customer', data });
}

function siteLine(number: number): string {
  const data = {
    externalId: `S-${number}`,
    customerExternalId: `K-${Math.floor(number / sitesPerCustomer)}`,
    name: `${rooms[number % rooms.length]} Haus ${number}`,
    address: addressOf(number),
    needsAppointment: number % 3 === 0,
    hasKey: number % 2 === 0,
  };
  return JSON.stringify({ type: 'site', data });
}

/** Returns the cookie of a person's session. */
async function enter({ owner }: BenchDatabase, origin: string, tenant: number): Promise<string> {
  const email = `${randomUUID()}@stamm.example`;
  const passwordHash = await hashPassword(password);
  await owner.query("SELECT set_config('stamm.tenants', $1, false)", [fixedId(tenant)]);
  await addPerson(owner, fixedId(tenant), {
    ...{ email, passwordHash },
    name: 'Anke Petersen',
    role: 'VERWALTUNG',
    employeeId: null,
  });
  const answer = await fetch(`${origin}/app/session`, {
    method: 'POST',
    headers: { origin, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const session = answer.headers.getSetCookie().find((cookie) => cookie.includes('stamm_session='));
  if (!session) throw new Error(`The sign-in was answered with ${answer.status}.`);
  return session.split(';')[0]!;
}

let changes = 0;

async function changeSite(origin: string, key: string): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/sites/by-external-id/S-7`, {
    method: 'PATCH',
    headers: { ApiKey: key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ comment: `Besuch ${++changes}` }),
  });
  await answer.text();
  if (!answer.ok) throw new Error(`A change was answered with ${answer.status}.`);
}

/** Milliseconds of each page by size. Sizes are asked in turn, so that a busy moment meets both. */
async function measurePages(
  { options, say }: Bench,
  origin: string,
  cookies: readonly string[],
  change: (index: number) => Promise<void>,
) {
  const measured = new Map<string, number[]>();
  for (const page of Object.keys(pagesOf(0))) {
    const times = cookies.map((): number[] => []);
    const look = async (index: number) => {
      if (page === afterChange) await change(index);
      const start = performance.now();
      for (const path of pagesOf(sizes[index]!)[page]!) await read(`${origin}/app${path}`, cookies[index]!);
      return performance.now() - start;
    };
    for (const index of cookies.keys()) await look(index);
    // The service reads the rest beside the requests.
    if (page === afterChange) {
      for (const index of cookies.keys()) await look(index);
      await sleep(restMs);
    }
    const until = performance.now() + options.seconds * 1000;
    while (performance.now() < until || times[0]!.length < options.rounds)
      for (const index of cookies.keys()) times[index]!.push(await look(index));
    measured.set(page, times.map(median));
    say(`${page}: ${measured.get(page)!.map(formatMs).join(', ')}`);
  }
  return measured;
}

const restMs = 10_000;
const mostRetries = 20;

/** As the web app does, asks again when the service says that it was too busy. */
async function read(address: string, cookie: string): Promise<void> {
  for (let retry = 0; ; retry++) {
    const answer = await fetch(address, { headers: { cookie } });
    const text = await answer.text();
    if (answer.status === 200) return;
    const wait = answer.headers.get('retry-after');
    if (!wait || retry === mostRetries)
      throw new Error(`${address} was answered with ${answer.status}: ${text}`);
    await sleep(Number(wait) * 1000);
  }
}

function report(measured: ReadonlyMap<string, readonly number[]>): Outcome {
  const rows = [...measured].map(([page, [small = 0, large = 0]]) => ({
    page,
    small,
    large,
    ratio: large / small,
  }));
  const worst = rows.toSorted((one, other) => other.ratio - one.ratio)[0]!;
  return {
    tables: [
      {
        columns: ['Page, half of the answers within', '500 sites', '50,000 sites', 'ratio'],
        rows: rows.map(({ page, small, large, ratio }) => [
          ...[page, formatMs(small), formatMs(large), formatRatio(ratio)],
        ]),
      },
    ],
    charts: [],
    goals: [
      {
        wanted: `each page takes at most ${mostGrowth} times as long with 50,000 sites`,
        measured: `${formatRatio(worst.ratio)} (${worst.page})`,
        isMet: worst.ratio <= mostGrowth,
      },
    ],
    notes: [
      'Two businesses in one database, filled by POST /import. One person, one request after the other; a page is all its requests.',
    ],
    figures: { pages: rows },
  };
}
