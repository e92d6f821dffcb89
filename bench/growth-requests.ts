// What is asked of the large and the small tenants while the table grows.
import { encodeCursor } from '../server/crud/reads.ts';
import { cities, customerId } from './growth-fill.ts';
import type { BenchDatabase } from './postgres.ts';
import type { Request } from './requests.ts';
import { creationRequest, firstIdNumber, fixedId, idPrefix } from './tenants.ts';

const sampleSize = 1000;
const pageSize = 50;
const changesSize = 100;

interface Sample {
  tenant: number;
  id: string;
  name: string;
  /** Its place in the list of its tenant: 0 is the first, 1 the last. */
  depth: number;
}

async function sampleSites({ owner }: BenchDatabase, tenants: readonly number[]): Promise<Sample[]> {
  const { rows } = await owner.query<Omit<Sample, 'tenant'> & { tenant_id: string }>(
    `SELECT tenant_id, id, name, depth FROM (
       SELECT tenant_id, id, name, percent_rank() OVER (PARTITION BY tenant_id ORDER BY id) AS depth
       FROM site WHERE tenant_id = ANY ($1)) AS placed
     ORDER BY hashtext(id::text) LIMIT $2`,
    [tenants.map(fixedId), sampleSize],
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

const sortById = { name: 'createdAt', column: 'id', type: 'uuid', isDescending: false };

/** What is looked for by somebody who knows a name such as "Lobby Bachmühlwald". */
const searches: Record<string, (name: string) => string> = {
  'search for a name': (name) => name,
  'search for a beginning': (name) => name.split(' ')[1]!.slice(0, 7),
  'search for a common word': (name) => name.split(' ')[0]!,
  'search with a typing error': (name) => name.slice(0, -4) + name.slice(-3),
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
      sites.map(({ tenant, name }) => get(tenant, `/sites?q=${encodeURIComponent(wordsOf(name))}`)),
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
