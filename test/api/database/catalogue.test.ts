import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { findWorkerTables } from '../../../server/database/citus/distribution.ts';
import { serviceRole } from '../../../server/database/connections.ts';
import {
  bareName,
  type Definition,
  ownersOf,
  reservedWords,
  uniqueColumnsOf,
  uniqueGroupsOf,
} from '../../../server/engine/definition/definition.ts';
import { parseListRequest, sortNamesOf } from '../../../server/engine/read/list-query.ts';
import { matchingIds } from '../../../server/engine/read/search.ts';
import { customer } from '../../../server/resources/customer.ts';
import { resources } from '../../../server/resources/index.ts';
import { expectedColumns, expectedIndexes, migrationSkeleton } from '../../../tools/migration-skeleton.ts';
import { startService } from '../../helpers/service.ts';

const { owner, database, tenant, createCustomer } = await startService();

/** The list of migrations, and look-ups before the tenant is known. */
const sharedTables = [
  'schema_migration',
  'service_login',
  'background_work',
  'backup_folder',
  'sign_in_name',
  'setup_link',
  'sign_in_attempt',
  'passkey_challenge',
];

async function tenantTables(): Promise<{ name: string; enabled: boolean; forced: boolean; owner: string }[]> {
  const { rows } = await owner.query(
    `SELECT relname AS name, relrowsecurity AS enabled, relforcerowsecurity AS forced, pg_get_userbyid(relowner) AS owner
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> ALL ($1)`,
    [sharedTables],
  );
  assert.ok(rows.length >= 4);
  return rows;
}

test('row-level security is enabled and forced on every tenant table', async () => {
  for (const table of await tenantTables()) {
    assert.deepEqual([table.enabled, table.forced], [true, true], table.name);
  }
});

test('the role that requests run as owns nothing and bypasses nothing', async () => {
  const { rows } = await database.pool.query('SELECT current_user AS name');
  assert.equal(rows[0].name, serviceRole);
  const role = await owner.query('SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = $1', [
    serviceRole,
  ]);
  assert.deepEqual(role.rows, [{ rolsuper: false, rolbypassrls: false }]);
  for (const table of await tenantTables()) assert.notEqual(table.owner, serviceRole, table.name);
});

test('that role has no right on tables of no tenant: functions that do one thing are the only way', async () => {
  const { rows } = await owner.query(
    `SELECT name, privilege FROM unnest($1::text[]) AS name,
       unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS privilege
     WHERE has_table_privilege($2, name, privilege) OR has_table_privilege('public', name, privilege)`,
    [sharedTables, serviceRole],
  );
  // A login that may only serve looks there whether somebody else has migrated.
  assert.deepEqual(rows, [{ name: 'schema_migration', privilege: 'SELECT' }]);
});

test('functions that run with the rights of the owner are for that role only, and find our tables first', async () => {
  const { rows } = await owner.query<{ name: string; settings: string[]; is_public: boolean }>(
    `SELECT proname AS name, proconfig AS settings, has_function_privilege('public', pg_proc.oid, 'EXECUTE') AS is_public
     FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
  );
  assert.ok(rows.length > 10);
  for (const { name, settings, is_public } of rows) {
    assert.ok(settings.includes('search_path=public, pg_temp'), name);
    assert.equal(is_public, false, name);
  }
});

test('every policy for that role compares tenant_id with the tenants of the transaction', async () => {
  const { rows } = await owner.query(
    `SELECT tablename, qual, with_check FROM pg_policies WHERE schemaname = 'public' AND roles @> ARRAY[$1::name]`,
    [serviceRole],
  );
  assert.equal(rows.length, (await tenantTables()).length);
  // Citus takes no sub-select in a policy.
  const onWorkers = process.env.CITUS_URL ? await findWorkerTables(owner) : [];
  for (const { tablename, qual, with_check } of rows) {
    const compared = onWorkers.includes(tablename)
      ? /^\s*CASE\s+WHEN \(tenant_id = \(NULLIF\(current_setting\('stamm.tenants'::text, true\), ''::text\)\)::uuid\)/
      : /^\s*CASE\s+WHEN \(tenant_id = ANY \(\( SELECT current_tenants\(\)/;
    assert.match(qual, compared, tablename);
    assert.equal(with_check, null, `${tablename}: what may be seen and what may be written are the same`);
  }
});

test('every primary key, unique constraint and foreign key begins with tenant_id', async () => {
  const { rows } = await owner.query(
    `SELECT conrelid::regclass::text AS table, conname AS name, attname AS first_column
     FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
     WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f') AND conrelid::regclass::text <> ALL ($1)
     UNION ALL
     SELECT indrelid::regclass::text, indexrelid::regclass::text, coalesce(attname, '(expression)')
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
     WHERE indisunique AND relnamespace = 'public'::regnamespace AND indrelid::regclass::text <> ALL ($1)`,
    [sharedTables],
  );
  assert.ok(rows.length > 10);
  for (const row of rows) assert.equal(row.first_column, 'tenant_id', `${row.table}: ${row.name}`);
});

test('no sequence is shared over tenants', async () => {
  const { rows } = await owner.query(
    `SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`,
  );
  assert.deepEqual(rows, []);
});

test('without a tenant nothing is seen and nothing can be written', async () => {
  for (const table of await tenantTables()) {
    const { rows } = await database.pool.query(`SELECT count(*)::integer AS count FROM ${table.name}`);
    assert.equal(rows[0].count, 0, table.name);
  }
  await assert.rejects(
    database.pool.query(`INSERT INTO tenant (tenant_id, name) VALUES (gen_random_uuid(), 'x')`),
    /row-level security/,
  );
});

test('without a tenant, or with another, nothing is found by the search', async () => {
  await createCustomer({ companyName: 'Hotel Alsterblick' });
  const search = {
    text: `SELECT unnest(ids) FROM ${matchingIds(customer, '$2', { wanted: 10, isTolerant: true })}`,
    values: [tenant.tenantId, ['hotel']],
  };
  assert.equal((await database.queryInTenants([tenant.tenantId], search)).rowCount, 1);
  assert.equal((await database.queryInTenants([randomUUIDv7()], search)).rowCount, 0);
  assert.equal((await database.pool.query(search)).rowCount, 0);
});

/** Every resource has these beside its fields. */
const commonColumns = ['tenant_id', 'id', 'version', 'created_at', 'updated_at'];

async function readColumns(table: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string; column: string }>(
    `SELECT attname AS name,
       concat_ws(' ', attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' END) AS column
     FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table],
  );
  return rows.filter(({ name }) => !commonColumns.includes(name)).map(({ column }) => column);
}

async function assertColumns(definition: Definition): Promise<void> {
  const expected = expectedColumns(definition).map(({ name, type, isRequired }) =>
    isRequired ? `${name} ${type} NOT NULL` : `${name} ${type}`,
  );
  assert.deepEqual((await readColumns(definition.table)).sort(), expected.sort(), definition.name);
}

async function readConstraints(table: string, type: 'u' | 'f'): Promise<string[]> {
  const { rows } = await owner.query<{ definition: string }>(
    'SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = $1::regclass AND contype = $2',
    [table, type],
  );
  return rows.map(({ definition }) => definition).sort();
}

async function assertConstraints(definition: Definition): Promise<void> {
  const groups = [...uniqueColumnsOf(definition).map((column) => [column]), ...uniqueGroupsOf(definition)];
  const unique = groups.map((group) => `UNIQUE (tenant_id, ${group.map(({ name }) => name).join(', ')})`);
  assert.deepEqual(await readConstraints(definition.table, 'u'), unique.sort(), definition.name);
  const owners = ownersOf(definition).map(
    ({ column, table }) => `FOREIGN KEY (tenant_id, ${column.name}) REFERENCES ${table}(tenant_id, id)`,
  );
  assert.deepEqual(await readConstraints(definition.table, 'f'), owners.sort(), definition.name);
}

/** Columns or expressions of each index, with its condition if it is partial. */
async function readIndexes(table: string): Promise<string[]> {
  const { rows } = await owner.query<{ index: string }>(
    `SELECT concat_ws(' WHERE ', string_agg(pg_get_indexdef(indexrelid, place, true)
         || CASE WHEN indkey[place - 1] = 0 AND indcollation[place - 1] = '"C"'::regcollation THEN ' COLLATE "C"' ELSE '' END,
         ', ' ORDER BY place),
       pg_get_expr(indpred, indrelid)) AS index
     FROM pg_index, generate_series(1, indnkeyatts) AS place
     WHERE indrelid = $1::regclass AND indisvalid GROUP BY indexrelid, indrelid, indpred`,
    [table],
  );
  return rows.map(({ index }) => index);
}

async function assertIndexes(definition: Definition): Promise<void> {
  const indexes = await readIndexes(definition.table);
  const assertIndex = (columns: string, ...alternatives: string[]) =>
    assert.ok(
      [columns, ...alternatives].some((index) => indexes.includes(index)),
      `${definition.table} has no index (${columns})`,
    );
  for (const { column, isPartial } of expectedIndexes(definition)) {
    const columns = `tenant_id, ${column}, id`;
    if (isPartial) assertIndex(columns, `${columns} WHERE (${column} IS NOT NULL)`);
    else assertIndex(columns);
  }
  for (const sort of sortNamesOf(definition)) {
    const { expression } = parseListRequest(definition, [], { sort }).list.sort;
    const column = expression.replaceAll(/subject\.(\w+)/g, (_, name) => bareName(name));
    assertIndex(column === 'id' ? 'tenant_id, id' : `tenant_id, ${column}, id`);
  }
}

test('each table has exactly the columns of its definition', async () => {
  for (const definition of resources) await assertColumns(definition);
});

test('each unique field of a definition is a unique constraint, and each owner a foreign key', async () => {
  for (const definition of resources) await assertConstraints(definition);
});

test('a column is quoted if PostgreSQL reserves its name', async () => {
  const { rows } = await owner.query<{ word: string }>(
    `SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T') ORDER BY word`,
  );
  // An older PostgreSQL reserves fewer.
  const words: string[] = rows.map(({ word }) => word);
  assert.deepEqual(
    words.filter((word) => !reservedWords.has(word)),
    [],
  );
});

test('each filter and each sort order of a definition has an index', async () => {
  for (const definition of resources) await assertIndexes(definition);
});

test('the migration that is printed for a resource makes a table that matches its definition', async () => {
  await owner.query('BEGIN');
  await owner.query(`DROP TABLE ${resources.map(({ table }) => table).join(', ')} CASCADE`);
  for (const definition of resources) {
    await owner.query(migrationSkeleton(definition));
    await assertColumns(definition);
    await assertConstraints(definition);
    await assertIndexes(definition);
  }
  await owner.query('ROLLBACK');
});
