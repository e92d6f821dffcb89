// Tenants, keys and customers with computable ids: pgbench and the service write the same rows.
import { createApiKey } from '../../server/access/api-keys.ts';
import { writeMissingWords } from '../../server/engine/write/search-words.ts';
import { customer } from '../../server/resources/customer.ts';
import type { Request } from '../load/requests.ts';
import type { BenchDatabase } from '../postgres.ts';

export const tenantCount = 20;
export const customerCount = 1000;
/** Distinct bodies; number n belongs to customer n modulo 1,000 and to tenant n modulo 20. */
export const bodyCount = 10_000;

/** Ids end with a number of twelve digits; the first one. */
export const firstIdNumber = 100_000_000_000;
export const idPrefix = '00000000-0000-7000-8000-';

export function fixedId(number: number): string {
  return `${idPrefix}${firstIdNumber + number}`;
}

/** The same as an SQL expression. */
export function fixedIdSql(number: string): string {
  return `('${idPrefix}' || (${firstIdNumber} + ${number}))::uuid`;
}

export interface Tenants {
  /** The key of each tenant. */
  keys: string[];
}

/** Tenants from number 0 on, each with its key. */
export async function createTenants({ owner }: BenchDatabase, count = tenantCount): Promise<Tenants> {
  await owner.query(
    `WITH made AS (
       INSERT INTO tenant (tenant_id, name)
       SELECT ${fixedIdSql('number')}, 'Betrieb ' || number FROM generate_series(0, $1::bigint - 1) AS number
       RETURNING tenant_id)
     INSERT INTO journal_head (tenant_id) SELECT tenant_id FROM made`,
    [count],
  );
  const keys: string[] = [];
  for (let number = 0; number < count; number++) keys.push((await createApiKey(owner, fixedId(number)))!);
  return { keys };
}

export async function createCustomers({ owner }: BenchDatabase): Promise<void> {
  await owner.query(
    `INSERT INTO customer (tenant_id, id, company_name, address_street_name, address_house_number,
       address_zip_code, address_city, status)
     SELECT ${fixedIdSql(`number % ${tenantCount}`)}, ${fixedIdSql('number')}, 'Kunde ' || number,
       'Ballindamm', '17a', '20095', 'Hamburg', 'ACTIVE'
     FROM generate_series(0, ${customerCount} - 1) AS number`,
  );
  await writeMissingWords(owner, [customer]);
  await owner.query('ANALYZE');
}

const address = { streetName: 'Ballindamm', houseNumber: '17a', zipCode: '20095', city: 'Hamburg' };
const location = { lat: 53.5503, lng: 9.9928 };

export function siteBody(number: number, customerId = fixedId(number % customerCount)) {
  return {
    customerId,
    name: `Standort ${number}`,
    address: { ...address, location },
    needsAppointment: true,
    hasKey: false,
  };
}

/** What the service stores for such a body: each column, and its value for the body with the number `number`. */
export function siteColumns(number: string): Record<string, string> {
  return {
    tenant_id: fixedIdSql(`${number} % ${tenantCount}`),
    id: 'uuidv7()',
    customer_id: fixedIdSql(`${number} % ${customerCount}`),
    name: `'Standort ' || ${number}`,
    address_street_name: `'${address.streetName}'`,
    address_house_number: `'${address.houseNumber}'`,
    address_zip_code: `'${address.zipCode}'`,
    address_city: `'${address.city}'`,
    address_location_lat: String(location.lat),
    address_location_lng: String(location.lng),
    needs_appointment: 'true',
    has_key: 'false',
    opening_hours: `'[]'`,
    opening_hours_is_known: 'true',
    time_zone: `'Europe/Berlin'`,
  };
}

export const creationPath = '/api/v1/customer/site';

export function creationRequest(number: number, key: string, customerId?: string): Request {
  return { method: 'POST', path: creationPath, key, body: siteBody(number, customerId) };
}

/** Creations of all customers of all tenants. */
export function creationRequests({ keys }: Tenants): Request[] {
  return Array.from({ length: bodyCount }, (_, number) =>
    creationRequest(number, keys[number % tenantCount]!),
  );
}

/** Fails where what pgbench inserts and what the service stores for the same body are not the same. */
export async function checkSameRows({ owner }: BenchDatabase): Promise<void> {
  const { rows } = await owner.query(
    `SELECT name, count(DISTINCT to_jsonb(site) - ARRAY['id', 'created_at', 'updated_at']) AS kinds
     FROM site GROUP BY name ORDER BY kinds DESC LIMIT 1`,
  );
  if (rows[0] && Number(rows[0].kinds) !== 1)
    throw new Error(`The rows with the name "${rows[0].name}" differ: the comparison would not be fair.`);
}
