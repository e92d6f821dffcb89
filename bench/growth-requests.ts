// Requests of the large and the small tenants while the table grows.
import { encodeCursor } from '../server/engine/read/list-query.ts';
import { cities, customerId } from './data/growth-fill.ts';
import { creationRequest, firstIdNumber, fixedId, idPrefix } from './data/tenants.ts';
import type { Request } from './load/requests.ts';
import type { BenchDatabase } from './postgres.ts';

/** As many as are asked in a round, or fewer, so that each of them is asked in every round. */
const sampleSize = 400;
const pageSize = 50;
const changesSize = 100;

interface Sample {
  tenant: number;
  id: string;
  name: string;
  /** Its place in the list of its tenant: 0 is the first, 1 the last. */
  depth: number;
  /** As many letters of its second word as it takes to match no more than a page of sites. */
  beginning: string;
}

async function sampleSites({ owner }: BenchDatabase, tenants: readonly number[]): Promise<Sample[]> {
  const { rows } = await owner.query<Omit<Sample, 'tenant'> & { tenant_id: string }>(
    `SELECT tenant_id, id, name, depth, beginning FROM (
       SELECT tenant_id, id, name, percent_rank() OVER (PARTITION BY tenant_id ORDER BY id) AS depth,
         fold(split_part(name, ' ', 2)) AS word
       FROM site WHERE tenant_id = ANY ($1)
       ORDER BY hashtext(id::text) LIMIT $2) AS placed,
     LATERAL (
       SELECT left(placed.word, letters) AS beginning FROM generate_series(1, length(placed.word)) AS letters
       WHERE letters = length(placed.word) OR (SELECT count(*) FROM (
         SELECT FROM search_word AS known
         WHERE known.tenant_id = placed.tenant_id AND known.resource = 'site'
           AND known.word >= left(placed.word, letters) AND known.word < end_of_words(left(placed.word, letters))
         LIMIT $3 + 1) AS begun) <= $3
       ORDER BY letters LIMIT 1) AS typed`,
    [tenants.map(fixedId), sampleSize, pageSize],
  );
  return rows.map(({ tenant_id, ...site }) => ({
    ...site,
    tenant: Number(tenant_id.slice(idPrefix.length)) - firstIdNumber,
  }));
}

async function readHeads({ owner }: BenchDatabase, tenants: readonly number[]): Promise<Map<number, number>> {
  const heads = new Map<number, number>();
  for (const tenant of tenants) {
    const { rows } = await owner.query('SELECT last_position FROM journal_head WHERE tenant_id = $1', [
      fixedId(tenant),
    ]);
    heads.set(tenant, Number(rows[0].last_position));
  }
  return heads;
}

const sortById = { name: 'createdAt', expression: 'subject.id', type: 'uuid', isDescending: false };

/** Searches by somebody who knows a name such as "Lobby Bachmühlwald". */
const searches: Record<string, (site: Sample) => string> = {
  'search for a name': ({ name }) => name,
  'search for a beginning': ({ beginning }) => beginning,
  'search for a common word': ({ name }) => name.split(' ')[0]!,
  'search with a typing error': ({ name }) => name.slice(0, -4) + name.slice(-3),
};

/** Requests by what they are, for tenants whose keys are known. */
export async function prepareGrowthRequests(
  database: BenchDatabase,
  tenants: readonly number[],
  keys: ReadonlyMap<number, string>,
): Promise<Map<string, Request[]>> {
  const sites = await sampleSites(database, tenants);
  const heads = await readHeads(database, tenants);
  const get = (tenant: number, path: string): Request => ({
    method: 'GET',
    path: `/api/v1${path}`,
    key: keys.get(tenant)!,
  });
  // Deep, but with a whole page behind it also in the list of a small tenant.
  const deepSites = sites.filter(({ depth }) => depth > 0.4 && depth < 0.6);
  return new Map([
    ['read', sites.map(({ tenant, id }) => get(tenant, `/sites/${id}`))],
    [
      'filtered list',
      sites.map(({ tenant }, index) =>
        get(tenant, `/sites?limit=${pageSize}&city=${encodeURIComponent(cities[index % cities.length]!)}`),
      ),
    ],
    ...Object.entries(searches).map(([what, wordsOf]): [string, Request[]] => [
      what,
      sites.map((site) => get(site.tenant, `/sites?q=${encodeURIComponent(wordsOf(site))}`)),
    ]),
    [
      'page deep in the list',
      deepSites.map(({ tenant, id }) =>
        get(tenant, `/sites?limit=${pageSize}&cursor=${encodeCursor(sortById, { id, sort_value: id })}`),
      ),
    ],
    [
      'changes',
      sites.map(({ tenant, depth }) =>
        get(tenant, `/changes?limit=${changesSize}&after=${Math.floor((heads.get(tenant)! * depth) / 2)}`),
      ),
    ],
    [
      'creation',
      sites.map(({ tenant }, index) => creationRequest(index, keys.get(tenant)!, customerId(tenant, index))),
    ],
  ]);
}
