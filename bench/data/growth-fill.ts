// Millions of sites with distinct values, filled in by SQL. Of 5,000 tenants, number 0 has a tenth of all sites. Twenty
// keep their size of the smallest table, to separate the effect of others from their own growth.
import { createApiKey } from '../../server/access/api-keys.ts';
import { selectWords, wordColumns, writeMissingWords } from '../../server/engine/write/search-words.ts';
import { customer } from '../../server/resources/customer.ts';
import { site } from '../../server/resources/site.ts';
import type { BenchDatabase } from '../postgres.ts';
import { fixedId, fixedIdSql, siteColumns } from './tenants.ts';

export const smallestSites = 10_000;
export const tenantCount = 5000;
export const bigTenant = 0;
/** Numbers of the tenants that stay small. */
export const smallTenants = Array.from({ length: 20 }, (_, index) => index + 1);
export const cities = 'Hamburg,Berlin,Köln,München,Leipzig,Bremen,Kiel,Essen,Ulm,Jena'.split(',');

const customersOfTenant = 20;
const firstCustomer = 1_000_000;
const rowsOfStatement = 250_000;

const kinds =
  'Lobby,Empfang,Kantine,Dachgarten,Atrium,Praxis,Kanzlei,Filiale,Werkhalle,Innenhof,Foyer,Bibliothek';
/** Three of the 64 make a name, so that names are about as alike as in a telephone book. */
const parts = [
  'bach,berg,burg,dorf,feld,furt,gard,haus,heim,hof,kamp,kirch,land,lein,mann,markt,mühl,naum,ober,ried,rode,sand',
  'schau,schmidt,schul,see,stein,tal,thal,wald,wang,weber,weg,weil,wied,winkel,wolf,zell,zimmer,acker,adler,alten',
  'birk,blum,brand,braun,buch,busch,dahl,eber,eich,erlen,fisch,frei,fuchs,gold,grün,hart,hirsch,jung,kaiser,klein',
  'krug,lang',
].join(',');

export function customerId(tenant: number, index: number): string {
  return fixedId(firstCustomer + tenant * customersOfTenant + (index % customersOfTenant));
}

/** Tenants, their keys and customers; answers with the keys of those that are measured, by number. */
export async function fillTenants({ owner }: BenchDatabase): Promise<Map<number, string>> {
  await owner.query(
    `WITH made AS (
       INSERT INTO tenant (tenant_id, name)
       SELECT ${fixedIdSql('number')}, 'Betrieb ' || number FROM generate_series(0, ${tenantCount - 1}) AS number
       RETURNING tenant_id
     ), keys AS (
       INSERT INTO api_key (tenant_id, key_hash, last_four)
       SELECT tenant_id, sha256(tenant_id::text::bytea), 'none' FROM made
     )
     INSERT INTO journal_head (tenant_id) SELECT tenant_id FROM made`,
  );
  await owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number,
       address_zip_code, address_city, status)
     SELECT ${fixedIdSql(`number / ${customersOfTenant}`)}, ${fixedIdSql(`${firstCustomer} + number`)},
       'Kunde ' || number, 'Ballindamm', '17a', '20095', 'Hamburg', 'ACTIVE'
     FROM generate_series(0, ${tenantCount * customersOfTenant - 1}) AS number`,
  );
  await writeMissingWords(owner, [customer]);
  const keys = new Map<number, string>();
  for (const tenant of [bigTenant, ...smallTenants])
    keys.set(tenant, (await createApiKey(owner, fixedId(tenant)))!);
  return keys;
}

/** The tenant of site `number`, as SQL. */
const tenantOfSite = `CASE WHEN number % 10 = 0 THEN ${bigTenant}
  WHEN number < ${smallestSites} AND number % 10 <= 4 THEN 1 + number / 10 % ${smallTenants.length}
  ELSE ${smallTenants.length + 1} + number * 7919 % ${tenantCount - smallTenants.length - 1} END`;

function listColumns(): Record<string, string> {
  const name = [0, 6, 12].map((shift) => `parts[1 + (hash >> ${shift} & 63)]`).join(' || ');
  return {
    ...siteColumns('number'),
    tenant_id: fixedIdSql('tenant'),
    // Ids are in the order of the numbers, a second apart, all in the past.
    id: 'uuidv7(make_interval(secs => number - 100000000))',
    external_id: `'ERP-' || number`,
    customer_id: fixedIdSql(`${firstCustomer} + tenant * ${customersOfTenant} + hash % ${customersOfTenant}`),
    name: `(string_to_array('${kinds}', ','))[1 + hash % 12] || ' ' || initcap(${name})`,
    address_street_name: `initcap(parts[1 + (hash >> 18 & 63)]) || 'straße'`,
    address_house_number: '(1 + hash % 180)::text',
    address_zip_code: `lpad((hash % 99999)::text, 5, '0')`,
    address_city: `(string_to_array('${cities.join(',')}', ','))[1 + hash / 64 % ${cities.length}]`,
    updated_at: 'now() - make_interval(secs => 100000000 - number)',
  };
}

/** Adds the sites with these numbers, with their journal entries. Indexes are built afterwards, which is much quicker. */
export async function fillSites(database: BenchDatabase, from: number, to: number): Promise<void> {
  const { owner } = database;
  const indexes = await dropIndexes(database);
  const columns = listColumns();
  const values = Object.values(columns).join(', ');
  // Owners exist by construction: what the triggers of foreign keys do costs more than the row.
  await owner.query('SET session_replication_role = replica');
  await owner.query('ALTER TABLE search_word DROP CONSTRAINT search_word_pkey');
  for (let start = from; start < to; start += rowsOfStatement) {
    await owner.query(
      `WITH numbered AS (
         SELECT number, ${tenantOfSite} AS tenant, hashint8(number)::bigint & 16777215 AS hash,
           string_to_array('${parts}', ',') AS parts
         FROM generate_series($1::bigint, $2::bigint) AS number
       ), made AS (
         INSERT INTO site (${Object.keys(columns).join(', ')}) SELECT ${values} FROM numbered
         RETURNING tenant_id, id, external_id, ${wordColumns(site, 'site')}
       ), words AS (
         INSERT INTO search_word (tenant_id, resource, word, id) ${selectWords(site, 'made')}
       ), moved AS (
         UPDATE journal_head AS head SET last_position = last_position + added.entries
         FROM (SELECT tenant_id, count(*) AS entries FROM made GROUP BY tenant_id) AS added
         WHERE head.tenant_id = added.tenant_id
         RETURNING head.tenant_id, last_position - added.entries AS last_position
       )
       INSERT INTO journal (tenant_id, position, resource, resource_id, external_id, action, version, actor)
       SELECT made.tenant_id, moved.last_position + row_number() OVER (PARTITION BY made.tenant_id ORDER BY made.id),
         'site', made.id, made.external_id, 'CREATED', 1, 'key …none'
       FROM made JOIN moved USING (tenant_id)`,
      [start, Math.min(start + rowsOfStatement, to) - 1],
    );
  }
  await owner.query('SET session_replication_role = DEFAULT');
  await owner.query(`SET maintenance_work_mem = '512MB'`);
  for (const index of indexes) await owner.query(index);
  await owner.query('ALTER TABLE search_word ADD PRIMARY KEY (tenant_id, resource, word, id)');
  await owner.query('VACUUM ANALYZE');
  await owner.query('CHECKPOINT');
}

/** Those that stand for no constraint; answers with the statements that make them again. */
async function dropIndexes({ owner }: BenchDatabase): Promise<string[]> {
  const { rows } = await owner.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid IN ('site'::regclass, 'journal'::regclass)
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  for (const { name } of rows) await owner.query(`DROP INDEX ${name}`);
  return rows.map(({ definition }) => definition);
}
