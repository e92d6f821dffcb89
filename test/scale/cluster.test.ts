// Guarantees that exist on a Citus cluster only. CITUS_URL names its coordinator. "npm run test:scale" runs all API
// tests on it too, before this file, because a crashed worker concerns everybody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { checkDistribution } from '../../server/commands/doctor-database.ts';
import { findUndistributed, findWorkerTables } from '../../server/database/citus/distribution.ts';
import { openDatabase } from '../../server/database/database.ts';
import { findTableParts, runOn } from '../helpers/cluster.ts';
import type { TestServer } from '../helpers/postgres.ts';
import { startService, type Tenant, validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const skip = process.env.CITUS_URL ? false : 'CITUS_URL names no Citus cluster';
const service = skip ? undefined! : await startService();
const { workers }: TestServer = JSON.parse(process.env.STAMM_TEST_POSTGRES!);
const nodes = workers.map((worker) => ({ ...worker, database: service?.connection.database }));

function create(tenant: Tenant, body: object = {}) {
  return service.post('/customer', { ...validCustomer, ...body }, { headers: { apikey: tenant.key } });
}

async function createTenants(count: number): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (let made = 0; made < count; made++) tenants.push(await service.createTenant(`Betrieb ${made}`));
  return tenants;
}

/** The worker that Citus names for a tenant. */
async function workerOf({ tenantId }: Tenant): Promise<pg.ClientConfig> {
  const [part] = await findTableParts(service.owner, 'journal_head', tenantId);
  return part!.node;
}

/** Ids are random, and so is the worker of each tenant: makes tenants until every worker has one. */
async function createSpreadTenants(count: number): Promise<Tenant[]> {
  const tenants = await createTenants(count);
  const used = new Set<number>();
  for (const tenant of tenants) used.add((await workerOf(tenant)).port!);
  while (used.size < nodes.length) {
    assert.ok(tenants.length < 100, 'all tenants are on the same worker');
    const [tenant] = await createTenants(1);
    tenants.push(tenant!);
    used.add((await workerOf(tenant!)).port!);
  }
  return tenants;
}

/** The shards of a table on a worker. */
async function shardsOn(node: pg.ClientConfig, table: string): Promise<string[]> {
  const parts = await findTableParts(service.owner, table);
  return parts.find((part) => part.node.port === node.port)?.names ?? [];
}

test('every table of a tenant is distributed by tenant, and all shards of a tenant belong together', {
  skip,
}, async () => {
  assert.deepEqual(await findUndistributed(service.owner), []);
  const [finding, ...others] = await checkDistribution(service.owner);
  assert.deepEqual([finding!.status, others], ['ok', []], finding!.message);
  const { rows } = await service.owner.query<{ name: string; colocationid: number; key: string }>(
    `SELECT relname AS name, colocationid, column_to_column_name(logicalrelid, partkey) AS key
     FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid`,
  );
  assert.deepEqual(rows.map(({ name }) => name).sort(), (await findWorkerTables(service.owner)).sort());
  assert.equal(new Set(rows.map(({ colocationid }) => colocationid)).size, 1);
  assert.ok(rows.every(({ key }) => key === 'tenant_id'));
  for (const table of ['customer', 'site', 'journal', 'search_word', 'recorded_request']) {
    assert.ok(
      rows.some(({ name }) => name === table),
      table,
    );
  }
});

test('the first connection finds the workers, also one beside the pool, as commands open it', {
  skip,
}, async () => {
  const database = openDatabase(service.serviceConnection, { maxConnections: 1 });
  const client = await database.connect();
  assert.equal(database.isDistributed, true);
  await client.end();
  await database.close();
});

test('the rows of a tenant are on one worker, and tenants are spread over the workers', {
  skip,
}, async () => {
  const tenants = await createSpreadTenants(8);
  for (const tenant of tenants) assert.equal((await create(tenant)).statusCode, 201);
  const placesOf = new Map<string, Set<number>>(tenants.map(({ tenantId }) => [tenantId, new Set()]));
  for (const node of nodes) {
    for (const table of ['customer', 'journal', 'journal_head', 'search_word']) {
      for (const shard of await shardsOn(node, table)) {
        for (const { tenant_id } of await runOn(node, `SELECT DISTINCT tenant_id FROM ${shard}`)) {
          placesOf.get(tenant_id)?.add(node.port!);
        }
      }
    }
  }
  for (const places of placesOf.values()) assert.equal(places.size, 1);
  assert.equal(new Set([...placesOf.values()].flatMap((places) => [...places])).size, nodes.length);
});

test('a worker shows the service the rows of the tenant of its transaction, and none without one', {
  skip,
}, async () => {
  const tenants = await createTenants(8);
  for (const tenant of tenants) assert.equal((await create(tenant)).statusCode, 201);
  const own = tenants[0]!.tenantId;
  let visible = 0;
  for (const node of nodes) {
    const client = new pg.Client(node);
    await client.connect();
    try {
      for (const shard of await shardsOn(node, 'customer')) {
        await client.query('BEGIN; SET LOCAL ROLE stamm_service');
        assert.equal((await client.query(`SELECT FROM ${shard}`)).rowCount, 0);
        await client.query(`SET LOCAL stamm.tenants = '${own}'`);
        const { rows } = await client.query(`SELECT tenant_id FROM ${shard}`);
        assert.ok(rows.every(({ tenant_id }) => tenant_id === own));
        visible += rows.length;
        await client.query('ROLLBACK');
      }
    } finally {
      await client.end();
    }
  }
  assert.equal(visible, 1);
});

interface Load {
  confirmed: Map<string, Tenant>;
  /** Status and code of every other answer. */
  refused: string[];
  stop(): Promise<void>;
}

/** Each tenant creates one customer after the other. */
function startLoad(tenants: readonly Tenant[]): Load {
  let isStopping = false;
  const load: Load = { confirmed: new Map(), refused: [], stop };
  const senders = tenants.map(async (tenant) => {
    while (!isStopping) {
      const response = await create(tenant);
      if (response.statusCode === 201) load.confirmed.set(response.json().id, tenant);
      else load.refused.push(`${response.statusCode} ${response.json().code}`);
    }
  });
  async function stop(): Promise<void> {
    isStopping = true;
    await Promise.all(senders);
  }
  return load;
}

async function assertAllStored({ confirmed }: Load): Promise<void> {
  const { rows } = await service.owner.query<{ id: string }>('SELECT id FROM customer');
  const stored = new Set(rows.map(({ id }) => id));
  assert.deepEqual(
    [...confirmed.keys()].filter((id) => !stored.has(id)),
    [],
  );
  const { rows: gaps } = await service.owner.query(
    `SELECT head.tenant_id FROM journal_head AS head JOIN journal USING (tenant_id)
     GROUP BY head.tenant_id, head.last_position HAVING count(*) <> head.last_position`,
  );
  assert.deepEqual(gaps, []);
}

async function moreThan(load: Load, count: number): Promise<void> {
  const before = load.confirmed.size;
  await until('further creations', () => load.confirmed.size >= before + count);
}

/** Whether the others create or not. */
async function moreThanOf(tenant: Tenant, load: Load, count: number): Promise<void> {
  const countOwn = () => [...load.confirmed.values()].filter((one) => one === tenant).length;
  const before = countOwn();
  await until('further creations of the tenant', () => countOwn() >= before + count);
}

// PostgreSQL does not replicate into tables below row-level security, so a move copies rows and creations wait for it.
test('a shard that moves to another worker under load loses no creation and refuses none', {
  skip,
}, async () => {
  const tenants = await createTenants(6);
  const load = startLoad(tenants);
  await moreThan(load, 20);
  const { rows } = await service.owner.query<{ shard: string; port: number }>(
    `SELECT get_shard_id_for_distribution_column('journal_head', $1::uuid) AS shard, nodeport AS port
     FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
     WHERE shardid = get_shard_id_for_distribution_column('journal_head', $1::uuid)`,
    [tenants[0]!.tenantId],
  );
  const { shard, port } = rows[0]!;
  const other = nodes.find((node) => node.port !== port)!;
  await service.owner.query(
    `SELECT citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'block_writes')`,
    [shard, port, other.port],
  );
  await moreThanOf(tenants[0]!, load, 5);
  await load.stop();
  assert.deepEqual(load.refused, []);
  await assertAllStored(load);
});

test('a tenant that gets shards of its own goes on there', { skip }, async () => {
  const [tenant] = await createTenants(1);
  const first = await create(tenant!);
  await service.owner.query(
    `SELECT isolate_tenant_to_new_shard('journal_head', $1::uuid, 'CASCADE', shard_transfer_mode => 'block_writes')`,
    [tenant!.tenantId],
  );
  const second = await create(tenant!);
  assert.equal(second.statusCode, 201, second.body);
  const headers = { apikey: tenant!.key };
  const { data } = (await service.get('/customers', { headers })).json();
  assert.deepEqual(
    data.map(({ id }: { id: string }) => id),
    [first.json().id, second.json().id],
  );
});

test('a worker that crashes and comes back loses no confirmed creation', { skip }, async () => {
  const tenants = await createTenants(6);
  const worker = await workerOf(tenants[0]!);
  const load = startLoad(tenants);
  await moreThanOf(tenants[0]!, load, 5);
  // PostgreSQL restarts all of its processes after one of them was killed.
  await runOn(
    worker,
    `DO $$ BEGIN EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'kill -9 ' || pg_backend_pid()); END $$`,
  ).catch(() => {});
  await until('a refused creation', () => load.refused.length > 0);
  await until('the worker', () => runOn(worker, 'SELECT 1').then(Boolean, () => false));
  await moreThanOf(tenants[0]!, load, 20);
  await load.stop();
  assert.deepEqual(
    load.refused.filter((answer) => !/^500 (database_unavailable|overloaded|outcome_unknown)$/.test(answer)),
    [],
  );
  await assertAllStored(load);
});
