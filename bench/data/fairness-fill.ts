// Gives one tenant as much to read as it may store: many sites with visits, fat rows, a long journal and a full bin.
import { randomUUIDv7 } from 'node:crypto';
import { hashToken, makeToken } from '../../server/access/secrets.ts';
import { writeMissingWords } from '../../server/engine/write/search-words.ts';
import { resources } from '../../server/resources/index.ts';
import { type BenchDatabase, settle } from '../postgres.ts';
import { customerCount, fixedId, siteColumns, tenantCount } from './tenants.ts';

const sites = 40_000;
const fatCustomers = 300;
/** Of 32 characters, with which a customer is about as large as a body may be. */
const partsOfFatCustomer = 2500;
const wordyCustomers = 70;
const deletedSites = 5000;

/** The most words that a search takes, each of which fits the names of the wordy customers. */
export const manyWords = Array.from({ length: 19 }, (_, index) => `a${String.fromCharCode(97 + index)}`);

/** Returns the cookie of a person there. */
export async function fillTenant(database: BenchDatabase, tenant: number): Promise<string> {
  const { owner } = database;
  const tenantId = fixedId(tenant);
  await insertSites(database, tenant);
  await insertCustomers(database, tenantId, {
    count: fatCustomers,
    name: `'Groß ' || number`,
    street: `(SELECT string_agg(md5(random()::text || part || number), '')
      FROM generate_series(1, ${partsOfFatCustomer}) AS part)`,
  });
  const words = manyWords.join(' ');
  await insertCustomers(database, tenantId, {
    count: wordyCustomers,
    name: `'${words} ${words} ' || number`,
    street: `'${words}'`,
  });
  await writeMissingWords(owner, resources);
  await fillJournal(database, tenantId);
  await fillBin(database, tenantId);
  const cookie = await signIn(database, tenantId);
  await owner.query('VACUUM ANALYZE');
  await settle(database);
  return cookie;
}

/** Each is visited every second week, on one of the five working days. */
async function insertSites({ owner }: BenchDatabase, tenant: number): Promise<void> {
  const columns = {
    ...siteColumns(`(index * ${tenantCount} + ${tenant})`),
    attending_intervals: `json_build_array(json_build_object('frequency', 'WEEKLY', 'interval', 2, 'byDay',
      json_build_array((ARRAY['MONDAY','TUESDAY','WEDNESDAY','THURSDAY','FRIDAY'])[1 + index % 5])))`,
    attending_intervals_is_known: 'true',
  };
  await owner.query(
    `INSERT INTO site (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM generate_series(1, $1::bigint) AS index`,
    [sites],
  );
}

async function insertCustomers(
  { owner }: BenchDatabase,
  tenantId: string,
  { count, name, street }: { count: number; name: string; street: string },
): Promise<void> {
  await owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number,
       address_zip_code, address_city, status)
     SELECT $1, uuidv7(), ${name}, ${street}, '1', '20095', 'Hamburg', 'ACTIVE'
     FROM generate_series(1, $2::bigint) AS number`,
    [tenantId, count],
  );
}

/** An entry for each object, the fat ones first. */
async function fillJournal({ owner }: BenchDatabase, tenantId: string): Promise<void> {
  await owner.query(
    `INSERT INTO journal (tenant_id, position, resource, resource_id, action, version, actor)
     SELECT $1, row_number() OVER (ORDER BY resource, size DESC, id), resource, id, 'CREATED', 1, 'key …none'
     FROM (SELECT 'customer' AS resource, id, length(address_street_name) AS size FROM customer WHERE tenant_id = $1
       UNION ALL SELECT 'site', id, 0 FROM site WHERE tenant_id = $1) AS stored`,
    [tenantId],
  );
  await owner.query(
    `UPDATE journal_head SET last_position = (SELECT max(position) FROM journal WHERE tenant_id = $1) WHERE tenant_id = $1`,
    [tenantId],
  );
}

async function fillBin({ owner }: BenchDatabase, tenantId: string): Promise<void> {
  const columns = siteColumns(`(number * ${customerCount})`);
  const content = Object.keys(columns).filter((name) => name !== 'tenant_id' && name !== 'id');
  await owner.query(
    `INSERT INTO deleted_object (tenant_id, resource, id, root_id, version, actor, content, search_text)
     SELECT $1, 'site', id, id, 1, 'key …none', row_to_json(kept), 'standort ' || number || ' ballindamm 17a hamburg'
     FROM (SELECT number, uuidv7() AS id FROM generate_series(1, $2::bigint) AS number) AS made,
       LATERAL (SELECT now() AS created_at, now() AS updated_at,
         ${content.map((name) => `${columns[name]} AS ${name}`).join(', ')}) AS kept`,
    [tenantId, deletedSites],
  );
}

async function signIn({ owner }: BenchDatabase, tenantId: string): Promise<string> {
  const [personId, token] = [randomUUIDv7(), makeToken()];
  await owner.query(
    `INSERT INTO person (tenant_id, id, name, email, role, password_hash) VALUES ($1, $2, 'A', 'a@a.test', 'VERWALTUNG', '')`,
    [tenantId, personId],
  );
  await owner.query(
    `INSERT INTO session (tenant_id, id, person_id, token_hash, address, user_agent) VALUES ($1, $2, $3, $4, '', '')`,
    [tenantId, randomUUIDv7(), personId, hashToken(token)],
  );
  return `stamm_session=${token}`;
}
