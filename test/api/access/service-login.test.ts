// Requests use a login that can do what stamm_service may and nothing else, in any statement.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import pg from 'pg';
import { serviceRole } from '../../../server/database/connections.ts';
import { openDatabase } from '../../../server/database/database.ts';
import { openServiceLogin } from '../../../server/database/service-login.ts';
import { createTestDatabase, startService, validCustomer } from '../../helpers/service.ts';

const service = await startService();
const { database, owner, connection, tenant } = service;
const other = await service.createTenant('Blatt & Co.');
await service.createCustomer({}, { headers: { apikey: other.key } });

async function namesOf(client: pg.ClientBase): Promise<{ session: string; current: string }> {
  const { rows } = await client.query('SELECT session_user AS session, current_user AS current');
  return rows[0];
}

const attempts: Record<string, string> = {
  'read after leaving the role': 'RESET ROLE; SELECT * FROM customer',
  'take the role of the owner': `SET ROLE ${connection.user}`,
  'become the owner': `SET SESSION AUTHORIZATION ${connection.user}`,
  'become the owner after leaving the role': `RESET ROLE; SET SESSION AUTHORIZATION ${connection.user}`,
  'run a program': `COPY (SELECT 1) TO PROGRAM 'cat >/dev/null'`,
  'run a program after leaving the role': `RESET ROLE; COPY (SELECT 1) TO PROGRAM 'cat >/dev/null'`,
  'read a file': `SELECT pg_read_file('/etc/passwd')`,
  'read password hashes': 'SELECT * FROM pg_authid',
  'read its own password': 'SELECT * FROM service_login',
  'rise to a superuser': 'RESET ROLE; ALTER ROLE CURRENT_USER SUPERUSER',
  'make a role': 'CREATE ROLE intruder LOGIN',
  'join a role': `RESET ROLE; GRANT pg_read_all_data TO CURRENT_USER`,
  'make a table': 'CREATE TABLE public.intruder ()',
  'turn row-level security off': 'ALTER TABLE customer DISABLE ROW LEVEL SECURITY',
  'read past row-level security': 'SET row_security = off; SELECT * FROM customer',
  'end other connections': `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${connection.user}'`,
};

for (const [what, open] of Object.entries({
  'of the pool': async () => database.pool.connect(),
  'beside the pool, as imports use it': async () => database.connect(),
})) {
  describe(`a connection ${what}`, () => {
    test('belongs to a login of its own', async () => {
      const client = await open();
      const { session, current } = await namesOf(client);
      assert.match(session, /^stamm_app_[0-9a-f]{12}$/);
      assert.equal(current, serviceRole);
      await end(client);
    });

    for (const [attempt, sql] of Object.entries(attempts)) {
      test(`cannot ${attempt}`, async () => {
        const client = await open();
        // 42501 is insufficient privilege; RLS that would hide rows is reported under the same code.
        await assert.rejects(client.query(sql), { code: '42501' });
        await end(client);
      });
    }

    test("sees no other tenant's rows", async () => {
      const client = await open();
      assert.equal((await client.query('SELECT FROM customer')).rowCount, 0);
      await client.query(`BEGIN; SET LOCAL stamm.tenants = '${tenant.tenantId}'`);
      const { rows } = await client.query('SELECT DISTINCT tenant_id FROM customer');
      assert.ok(!rows.some((row) => row.tenant_id === other.tenantId));
      await end(client);
    });
  });
}

/** What a connection was used for must not reach the next test. */
async function end(client: pg.Client | pg.PoolClient): Promise<void> {
  if ('release' in client) client.release(true);
  else await client.end();
}

/** A database whose login nobody else uses: copies of one database share theirs. */
async function createDatabaseWithOwnLogin(): Promise<{ connection: pg.ClientConfig; name: string }> {
  const connection = await createTestDatabase();
  const name = `stamm_app_${randomUUID().slice(0, 8)}`;
  await asAdmin(connection, 'UPDATE service_login SET name = $1', [name]);
  return { connection, name };
}

async function asAdmin(connection: pg.ClientConfig, sql: string, values: unknown[] = []) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await client.query(sql, values);
  } finally {
    await client.end();
  }
}

test('processes that start together agree on one login', async () => {
  const { connection, name } = await createDatabaseWithOwnLogin();
  const logins = await Promise.all(Array.from({ length: 8 }, () => openServiceLogin(connection)));
  for (const { client, obstacle } of logins) assert.deepEqual([client.user, obstacle], [name, undefined]);
  const { rows } = await asAdmin(
    connection,
    `SELECT rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolpassword LIKE 'SCRAM-SHA-256$%' AS is_scram,
       (SELECT array_agg(roleid::regrole::text) FROM pg_auth_members WHERE member = pg_authid.oid) AS roles
     FROM pg_authid WHERE rolname = $1`,
    [name],
  );
  assert.deepEqual(rows, [
    {
      rolsuper: false,
      rolinherit: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
      is_scram: true,
      roles: [serviceRole],
    },
  ]);
});

test('a login that is missing on this server, or has another password, is made good at the next start', async () => {
  const { connection, name } = await createDatabaseWithOwnLogin();
  await openServiceLogin(connection);
  await asAdmin(connection, `ALTER ROLE ${name} PASSWORD 'other' NOLOGIN`);
  assert.equal((await openServiceLogin(connection)).client.user, name);
  await asAdmin(connection, `DROP ROLE ${name}`);
  assert.equal((await openServiceLogin(connection)).client.user, name);
});

test('a login that somebody gave more rights is not used', async () => {
  const { connection, name } = await createDatabaseWithOwnLogin();
  await openServiceLogin(connection);
  for (const [grant, revoke] of [
    [`ALTER ROLE ${name} CREATEDB`, `ALTER ROLE ${name} NOCREATEDB`],
    [`GRANT pg_read_all_data TO ${name}`, `REVOKE pg_read_all_data FROM ${name}`],
  ]) {
    await asAdmin(connection, grant!);
    const { client, obstacle } = await openServiceLogin(connection);
    assert.match(obstacle ?? '', /more rights/);
    assert.equal(client.user, connection.user);
    await asAdmin(connection, revoke!);
    assert.equal((await openServiceLogin(connection)).client.user, name);
  }
});

test('an address that names its owner in any way gets the login instead', async () => {
  const { connection: plain, name } = await createDatabaseWithOwnLogin();
  const { host, port, user, password, database } = plain as Record<string, string>;
  const place = `host=${encodeURIComponent(host!)}&port=${port}`;
  for (const connectionString of [
    `postgres://${user}:${password}@localhost/${database}?${place}`,
    `postgres://localhost/${database}?${place}&user=${user}&password=${password}`,
  ]) {
    const { client, obstacle } = await openServiceLogin({ connectionString });
    assert.equal(obstacle, undefined);
    const opened = openDatabase(client, { maxConnections: 1 });
    const { rows } = await opened.pool.query('SELECT session_user AS name, current_database() AS database');
    await opened.close();
    assert.deepEqual(rows, [{ name, database }]);
  }
});

test('an owner that may make no roles serves by itself, and says why', async () => {
  const { connection } = await createDatabaseWithOwnLogin();
  const landlord = `landlord_${randomUUID().slice(0, 8)}`;
  await asAdmin(connection, `CREATE ROLE ${landlord} LOGIN PASSWORD 'secret' IN ROLE ${serviceRole}`);
  await asAdmin(connection, `GRANT SELECT ON service_login TO ${landlord}`);
  await asAdmin(connection, `CREATE POLICY landlord ON service_login TO ${landlord} USING (true)`);
  try {
    const given = { ...connection, user: landlord, password: 'secret' };
    const { client, obstacle } = await openServiceLogin(given);
    assert.equal(client.user, landlord);
    assert.match(obstacle ?? '', /permission denied to create role/);
  } finally {
    await asAdmin(connection, `DROP OWNED BY ${landlord}; DROP ROLE ${landlord}`);
  }
});

test('a login that is only a member of the role is enough to serve, where somebody else migrates', async () => {
  const lesser = `lesser_${randomUUID().slice(0, 8)}`;
  await owner.query(`CREATE ROLE ${lesser} LOGIN PASSWORD 'secret' IN ROLE ${serviceRole}`);
  const given = { ...connection, user: lesser, password: 'secret' };
  const { client, obstacle } = await openServiceLogin(given);
  assert.deepEqual([client.user, obstacle], [lesser, undefined]);
  const opened = openDatabase(client, { maxConnections: 1 });
  assert.equal((await opened.queryInTenants([tenant.tenantId], { text: 'SELECT FROM tenant' })).rowCount, 1);
  await opened.close();
  await owner.query(`DROP ROLE ${lesser}`);
});

test('a database that does not answer is no reason to use another login', async () => {
  const { connection } = await createDatabaseWithOwnLogin();
  await assert.rejects(openServiceLogin({ ...connection, host: '/nowhere' }), /does not answer/);
});

test('requests work with that login', async () => {
  const response = await service.post('/customer', validCustomer);
  assert.equal(response.statusCode, 201);
});
