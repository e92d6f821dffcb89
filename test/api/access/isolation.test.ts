import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type pg from 'pg';
import { createPerson } from '../../helpers/office.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { countRows } from '../../helpers/stored-rows.ts';

const service = await startService();
const { owner, database, post, createCustomer, createTenant, tenant } = service;
const other = await createTenant('Blatt & Co.');
const asOther = { headers: { apikey: other.key } };
const [ownCustomer, foreignCustomer] = [await createCustomer(), await createCustomer({}, asOther)];
const foreignSite: string = (await post('/customer/site', validSite(foreignCustomer), asOther)).json().id;

await createPerson(service);
await createPerson(service, { tenantId: other.tenantId });

const tables = [
  'tenant',
  'api_key',
  'ended_key_use',
  'request_window',
  'customer',
  'site',
  'person',
  'session',
];

/** Runs statements as the service does for a request of the first tenant. */
function asService<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  return database.inTenants([tenant.tenantId], work);
}

test("another tenant's customer cannot be given a site through the API", async () => {
  const before = await countRows(owner);
  const response = await post('/customer/site', validSite(foreignCustomer));
  assert.equal(response.statusCode, 400);
  assert.deepEqual(
    response.json().errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [['customerId', 'reference_not_found']],
  );
  assert.equal(await countRows(owner), before);
});

test("another tenant's customer is refused also while that tenant's own sites are written together with it", async () => {
  const before = await countRows(owner);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      post('/customer/site', validSite(foreignCustomer), index % 2 ? asOther : {}),
    ),
  );
  for (const [index, response] of responses.entries()) {
    assert.equal(response.statusCode, index % 2 ? 201 : 400, response.body);
    if (index % 2 === 0) assert.equal(response.json().errors[0].code, 'reference_not_found');
  }
  assert.equal(await countRows(owner), before + 10);
});

test('rows of two tenants that are written together stay apart', async () => {
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      post('/customer', { ...validCustomer, externalId: 'same' }, index % 2 ? asOther : {}),
    ),
  );
  const statuses = responses.map((response) => response.statusCode);
  assert.equal(statuses.filter((status) => status === 201).length, 2, 'each tenant has the id once');
  const { rows } = await owner.query(`SELECT tenant_id FROM customer WHERE external_id = 'same' ORDER BY 1`);
  assert.deepEqual(rows.map((row) => row.tenant_id).sort(), [tenant.tenantId, other.tenantId].sort());
  for (const [index, response] of responses.entries()) {
    if (response.statusCode !== 409) continue;
    const holder = await owner.query('SELECT tenant_id FROM customer WHERE id = $1', [response.json().id]);
    const asked = index % 2 ? other.tenantId : tenant.tenantId;
    assert.equal(holder.rows[0].tenant_id, asked, "a conflict never names another tenant's object");
  }
});

for (const table of tables) {
  test(`inside one tenant's transaction no row of another is seen, changed or deleted in ${table}`, async () => {
    const all = await owner.query(`SELECT tenant_id FROM ${table} WHERE tenant_id = $1`, [other.tenantId]);
    if (table !== 'ended_key_use') assert.ok(all.rowCount! > 0, 'there is something to hide');
    await asService(async (client) => {
      const { rows } = await client.query(`SELECT DISTINCT tenant_id FROM ${table}`);
      for (const row of rows) assert.equal(row.tenant_id, tenant.tenantId);
      const where = 'WHERE tenant_id = $1';
      const update = `/* test */ UPDATE ${table} SET tenant_id = tenant_id ${where}`;
      assert.equal((await client.query(update, [other.tenantId])).rowCount, 0);
      const deletion = await client.query(`/* test */ DELETE FROM ${table} ${where}`, [other.tenantId]);
      assert.equal(deletion.rowCount, 0);
    });
    const left = await owner.query(`SELECT tenant_id FROM ${table} WHERE tenant_id = $1`, [other.tenantId]);
    assert.equal(left.rowCount, all.rowCount);
  });
}

const columns =
  'tenant_id, id, company_name, address_street_name, address_house_number, address_zip_code, address_city, status';

test("inside one tenant's transaction no row can be written for another", async () => {
  const before = await countRows(owner);
  const values = [other.tenantId, randomUUID()];
  const insert = `/* test */ INSERT INTO customer (${columns}) VALUES ($1, $2, 'x', 'x', 'x', 'x', 'x', 'ACTIVE')`;
  await assert.rejects(
    asService((client) => client.query(insert, values)),
    /row-level security/,
  );
  const move = '/* test */ UPDATE customer SET tenant_id = $1 WHERE id = $2';
  await assert.rejects(
    asService((client) => client.query(move, [other.tenantId, ownCustomer])),
    /row-level security/,
  );
  assert.equal(await countRows(owner), before);
});

test("the foreign key itself refuses another tenant's customer as owner of a site", async () => {
  const copy = `INSERT INTO site (tenant_id, id, customer_id, name, address_street_name, address_house_number,
      address_zip_code, address_city, needs_appointment, has_key, opening_hours, opening_hours_is_known, time_zone)
    SELECT $1, gen_random_uuid(), customer_id, name, address_street_name, address_house_number,
      address_zip_code, address_city, needs_appointment, has_key, opening_hours, true, time_zone
    FROM site WHERE id = $2`;
  // The owner of the tables is not held back by row-level security: only the key stands in the way.
  await assert.rejects(owner.query(copy, [tenant.tenantId, foreignSite]), /foreign key/);
  await owner.query(copy, [other.tenantId, foreignSite]);
  await assert.rejects(
    owner.query('UPDATE site SET customer_id = $1 WHERE id = $2', [ownCustomer, foreignSite]),
    /foreign key/,
  );
});

test('a connection that has served one tenant shows nothing of it afterwards', async () => {
  await asService((client) => client.query('SELECT FROM customer'));
  const clients = await Promise.all(Array.from({ length: 10 }, () => database.pool.connect()));
  const counts = await Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query('SELECT count(*)::integer AS count FROM customer');
      client.release();
      return rows[0].count;
    }),
  );
  assert.deepEqual(counts, Array(10).fill(0));
});

test('the service cannot leave its role or widen its tenants by what a body says', async () => {
  const evil = `'); RESET ROLE; SET stamm.tenants = '${other.tenantId}'; --`;
  const response = await post('/customer', {
    ...validCustomer,
    companyName: evil.slice(0, 100),
    externalId: evil,
  });
  assert.equal(response.statusCode, 201);
  const { rows } = await owner.query('SELECT tenant_id, external_id FROM customer WHERE id = $1', [
    response.json().id,
  ]);
  assert.deepEqual(rows, [{ tenant_id: tenant.tenantId, external_id: evil }]);
});
