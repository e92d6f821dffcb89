// The cost of a request does not grow with the data. PostgreSQL reports how it carried out each statement, those inside
// functions too. None may read a whole table, or many more rows than it answers with.
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { before, test } from 'node:test';
import { nodesOf, type PlanNode, reportPlans, rowsRead } from '../../../bench/plan-reports.ts';
import { writeMissingWords } from '../../../server/engine/write/search-words.ts';
import { resources } from '../../../server/resources/index.ts';
import { skipOnCluster } from '../../helpers/cluster.ts';
import { createTestDatabase, startService, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const connection = await createTestDatabase();
const service = await startService({ connection });
const { owner, tenant } = service;
/**
 * Two thirds of all sites belong to one business, spread over its customers; the others have a few each. They are so many
 * that a plan which suits the average business reads far too much of the large one.
 */
const sites = 30_000;
/** The others belong to other tenants. */
const ownSites = (sites * 2) / 3;
const otherTenants = 400;
const ownCustomers = 1000;
const customerId = randomUUIDv7();
let plans: PlanNode[] = [];

const skip = skipOnCluster('the test reads the plans of its own server, and workers do not report theirs');

before(async () => {
  if (skip) return;
  await owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number, address_zip_code, address_city, status)
     SELECT tenant_id, id, 'Kunde', 'Weg', '1', '20095', 'Hamburg', 'ACTIVE' FROM unnest($1::uuid[], $2::uuid[]) AS made (tenant_id, id)`,
    [
      [
        ...Array.from({ length: ownCustomers }, () => tenant.tenantId),
        ...Array.from({ length: otherTenants }, () => randomUUIDv7()),
      ],
      [customerId, ...Array.from({ length: ownCustomers - 1 + otherTenants }, () => randomUUIDv7())],
    ],
  );
  await owner.query(
    `INSERT INTO site (tenant_id, id, external_id, customer_id, name, address_street_name, address_house_number, address_zip_code,
       address_city, needs_appointment, has_key, opening_hours, opening_hours_is_known, time_zone, updated_at, address_location_lat, address_location_lng)
     SELECT customer.tenant_id, gen_random_uuid(), 'ext-' || number, customer.id, 'Filiale ' || number || ' Jungfernstieg', 'Weg', '1',
       (20000 + number % 900)::text, CASE WHEN number % 4 = 0 THEN 'Hamburg' WHEN number % 20 = 1 THEN 'Ulm' ELSE 'Ort ' || number % 400 END, true, false, '[]', true, 'Europe/Berlin',
       now() - number * interval '1 minute', 53, 10
     FROM generate_series(1, $2::integer) AS number
     JOIN (SELECT *, row_number() OVER (ORDER BY tenant_id = $1 DESC) AS place FROM customer) AS customer
       ON customer.place = CASE WHEN number % 3 > 0 THEN 1 + number % $4::integer ELSE 1 + $4 + number % $3::integer END`,
    [tenant.tenantId, sites, otherTenants, ownCustomers],
  );
  await owner.query("UPDATE customer SET external_id = 'K-1' WHERE id = $1", [customerId]);
  await writeMissingWords(owner, resources);
  await owner.query(
    `INSERT INTO journal (tenant_id, position, resource, resource_id, action, version, actor)
     SELECT tenant_id, row_number() OVER (PARTITION BY tenant_id), 'site', id, 'CREATED', 1, 'test' FROM site;
     UPDATE journal_head AS head SET last_position = (SELECT max(position) FROM journal WHERE journal.tenant_id = head.tenant_id)
     WHERE tenant_id IN (SELECT tenant_id FROM journal);
     ANALYZE`,
  );
  await reportPlans(owner);
  await owner.query(`ALTER DATABASE ${connection.database} SET client_min_messages = 'log'`);
  // Connections that are made from now on report their plans; the pool makes them after these have gone.
  service.database.pool.on('connect', (client) => {
    client.on('notice', ({ message = '' }) => {
      const report = /plan:\n(\{[\s\S]*)$/.exec(message);
      if (report) plans.push(JSON.parse(report[1]!).Plan);
    });
  });
  const { pool } = service.database;
  let left = pool.totalCount;
  pool.on('remove', () => left--);
  await owner.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await until('these have gone', () => left <= 0);
  await until('a request works', async () => (await service.get('/sites?limit=1')).statusCode === 200);
});

/** More than a page holds, and far less than the business or all of them together have. */
const mostRows = 600;
/** A search finds all that match, and reads little more. */
const rowsBesideMatches = 1100;

/** Sends the request until PostgreSQL settles for a plan, and holds each plan to the rules. */
async function assertBounded(
  send: () => Promise<{ statusCode: number; body: string }>,
  indexes: readonly string[],
  most = mostRows,
  isExpected = (status: number) => status < 300,
) {
  const used = new Set<string>();
  for (let round = 0; round < 8; round++) {
    plans = [];
    const answer = await send();
    assert.ok(isExpected(answer.statusCode), answer.body);
    assert.ok(plans.length > 0, 'PostgreSQL reports its plans');
    for (const node of plans.flatMap(nodesOf)) {
      const { 'Node Type': type, 'Relation Name': table = '', 'Index Name': index } = node;
      if (index) used.add(index);
      if (!type.includes('Scan') || (!table && !index)) continue;
      assert.notEqual(type, 'Seq Scan', `all of ${table} is read`);
      const rows = rowsRead(node);
      assert.ok(rows <= most, `${type} ${index ?? table} reads ${rows} rows`);
    }
  }
  for (const index of indexes) assert.ok(used.has(index), `${index} is used: ${[...used].join(', ')}`);
}

const nextPage = async (query: string) => {
  const { nextCursor } = (await service.get(`/sites?${query}`)).json();
  return (await service.get(`/sites?${query}&cursor=${nextCursor}`)).json().nextCursor;
};

/** Each request, and the indexes that answer it. */
const requests: Record<
  string,
  { path: string | (() => Promise<string>); indexes: string[]; matches?: number }
> = {
  'one site': {
    path: async () => `/sites/${(await service.get('/sites?limit=1')).json().data[0].id}`,
    indexes: ['site_pkey', 'api_key_by_hash'],
  },
  'a page of sites': { path: '/sites', indexes: ['site_pkey'] },
  'a page by name': { path: '/sites?sort=name', indexes: ['site_by_name'] },
  'a page by change': { path: '/sites?sort=-updatedAt', indexes: ['site_by_update'] },
  'a later page': {
    path: async () => `/sites?limit=500&cursor=${await nextPage('limit=500')}`,
    indexes: ['site_pkey'],
  },
  'a later page by name': {
    path: async () => `/sites?limit=500&sort=name&cursor=${await nextPage('limit=500&sort=name')}`,
    indexes: ['site_by_name'],
  },
  'the sites of a customer': { path: `/sites?customerId=${customerId}`, indexes: ['site_by_customer'] },
  'the sites of a place': { path: '/sites?city=Ort%2011', indexes: ['site_by_city'] },
  'the sites of a large place': { path: '/sites?city=Hamburg', indexes: ['site_by_city'] },
  'the sites of a smaller place': { path: '/sites?city=Ulm', indexes: ['site_by_city'] },
  'the sites of a zip code': { path: '/sites?zipCode=20010', indexes: ['site_by_zip_code'] },
  'a site by its external id': { path: '/sites?externalId=ext-10', indexes: ['site_external_id_unique'] },
  'sites by many external ids': {
    path: `/sites?externalId=${Array.from({ length: 100 }, (_, index) => `ext-${index + 1}`)}`,
    indexes: ['site_external_id_unique'],
  },
  "the sites of a customer's external id": {
    path: '/sites?customerExternalId=K-1',
    indexes: ['site_by_customer', 'customer_external_id_unique'],
  },
  'the sites of a contract that is not there': {
    path: '/sites?contractExternalId=V-1',
    indexes: ['site_waiting_for_contract'],
  },
  'a page of sites with external ids': { path: '/sites?include=externalIds', indexes: ['site_pkey'] },
  'a page of sites with their customers': {
    path: '/sites?include=customer,contactPerson,serviceRecordRecipient',
    indexes: ['site_pkey', 'customer_pkey'],
  },
  'what changed lately': {
    path: `/sites?sort=updatedAt&updatedSince=${new Date(Date.now() - 3_600_000).toISOString()}`,
    indexes: ['site_by_update'],
  },
  'a search for one of many': { path: '/sites?q=filiale%2019990', indexes: ['search_word_pkey'] },
  'a search for a part of a word': {
    path: '/sites?q=fernstieg',
    indexes: ['search_word_pkey'],
    matches: ownSites,
  },
  'a search with typing errors': { path: '/sites?q=jugnfernsteig', indexes: ['search_word_pkey'] },
  'a search for what all are called': {
    path: '/sites?q=jungfernstieg',
    indexes: ['search_word_pkey'],
    matches: ownSites,
  },
  'the first changes': { path: '/changes', indexes: ['journal_pkey'] },
  'later changes': { path: '/changes?after=1500', indexes: ['journal_pkey'] },
};

for (const [what, { path, indexes, matches = 0 }] of Object.entries(requests)) {
  test(`${what}: as many rows are read as there are to answer`, { skip }, async () => {
    const address = typeof path === 'string' ? path : await path();
    const most = address.includes('q=') ? matches + rowsBesideMatches : mostRows;
    await assertBounded(() => service.get(address), indexes, most);
  });
}

test('a creation: as many rows are read as are written', { skip }, async () => {
  await assertBounded(() => service.post('/customer/site', validSite(customerId)), ['customer_pkey']);
  // Writing finds the head of the journal by its key: a scan may come to read all heads.
  const scans = plans.flatMap(nodesOf).filter(({ 'Node Type': type }) => type.includes('Scan'));
  assert.ok(!scans.some(({ 'Relation Name': table }) => table === 'journal_head'));
});

test('a refused creation: as many rows are read as explain it', { skip }, async () => {
  const { externalId } = (await service.get('/sites?limit=1')).json().data[0];
  const taken = { ...validSite(customerId), externalId };
  const indexes = ['customer_pkey', 'site_external_id_unique'];
  await assertBounded(
    () => service.post('/customer/site', taken),
    indexes,
    mostRows,
    (status) => status === 409,
  );
});
