import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { createTenant } from '../../server/access/tenants.ts';
import { readBusiness } from '../../server/commands/demo/business.ts';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { attentionChecksOf } from '../../server/engine/attention/attention-checks.ts';
import { findAttentionOf } from '../../server/engine/attention/attention-findings.ts';
import { buildCheck } from '../../server/engine/definition/validation.ts';
import { parseStored } from '../../server/engine/write/merge-patch.ts';
import { resources } from '../../server/resources/index.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const checkout = path.resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(path.join(tmpdir(), 'stamm-demo-'));
// PostgreSQL runs as another user where the tests run as root.
await chmod(folder, 0o755);
const dataDir = path.join(folder, 'data');

function startDemo(settings: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ['server/main.ts', 'demo'], {
    cwd: checkout,
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'silent', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What a demo prints until it is ready, or all of it if it ends before that. */
async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  await new Promise<void>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Stop with Ctrl-C or SIGTERM.')) resolve();
      });
    }
    child.once('close', () => resolve());
  });
  return output;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}

const running = startDemo({ DATA_DIR: dataDir });
const printed = await outputOf(running);
after(async () => {
  await stop(running);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});
const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
const owner = new pg.Client(postgres.connection);
await owner.connect();
after(async () => {
  await owner.end();
  await postgres.close();
});

const tables = [...resources.map(({ table }) => table), 'tenant', 'api_key', 'journal'];

async function countRows(client: pg.Client): Promise<Record<string, number>> {
  const counts = tables.map((name) => `(SELECT count(*)::integer FROM ${name}) AS ${name}`);
  return (await client.query(`SELECT ${counts.join(', ')}`)).rows[0];
}

function printedAfter(label: string): string {
  return new RegExp(`${label} +(\\S.*)`).exec(printed)![1]!;
}

async function get(url: string): Promise<string> {
  const headers = { apikey: printedAfter('API key') };
  const response = await fetch(`${printedAfter('API base')}${url}`, { headers });
  assert.equal(response.status, 200);
  return response.text();
}

test('the demo says where it is, whose data it has, and the key', () => {
  assert.match(printed, /Stamm is running/);
  assert.match(printedAfter('Tenant'), /^Grün & Gut Raumbegrünung GmbH, [0-9a-f-]{36}$/);
  assert.match(printedAfter('API key'), /^stamm_\w{36}$/);
});

test('the printed curl line works as it is printed', async () => {
  const line = /^ +(curl .*)$/m.exec(printed)![1]!;
  const { stdout } = await promisify(execFile)('sh', ['-c', line]);
  const { data } = JSON.parse(stdout);
  assert.ok(data.length > 0);
  assert.ok(data.every((site: { address: { city: string } }) => site.address.city === 'Ahrensburg'));
});

test('there is a whole business', async () => {
  const expected = {
    ...{ customers: 40, sites: 120, 'contact-persons': 80, contracts: 49, employees: 8, products: 60 },
    ...{ containers: 402, plants: 901 },
  };
  for (const [collection, total] of Object.entries(expected)) {
    assert.equal(JSON.parse(await get(`/${collection}?limit=1&count=true`)).total, total, collection);
  }
});

test('every object is one that the API would take, and has an external id', async () => {
  for (const definition of resources) {
    const check = buildCheck(definition);
    const lines = (await get(`/${definition.collection}.ndjson`)).split('\n').slice(0, -1);
    for (const line of lines) {
      const { fieldErrors, ignoredFields, value } = check(parseStored(line));
      assert.deepEqual([fieldErrors, ignoredFields], [[], []], line);
      assert.ok(value.externalId, line);
    }
  }
});

test('every object has its entry in the journal', async () => {
  const { rows: entries } = await owner.query(
    `SELECT resource, action, origin, count(*)::integer AS count FROM journal WHERE origin = 'demo' GROUP BY 1, 2, 3 ORDER BY 1`,
  );
  const counts = await countRows(owner);
  const expected = resources
    .filter(({ table }) => counts[table]! > 0)
    .map(({ name, table }) => ({ resource: name, action: 'CREATED', origin: 'demo', count: counts[table] }));
  assert.deepEqual(
    entries,
    expected.sort((one, other) => (one.resource < other.resource ? -1 : 1)),
  );
});

test('the attention list has something of each kind, and nothing by accident', async () => {
  const found: Record<string, number> = {};
  for (const definition of resources) {
    const { rows } = await owner.query(`SELECT tenant_id, id FROM ${definition.table}`);
    for (const row of rows) {
      for (const { code, resource, field } of await findAttentionOf(
        owner,
        attentionChecksOf(definition),
        row,
        'en',
        console,
      )) {
        const entry = `${code} ${resource}.${field}`;
        found[entry] = (found[entry] ?? 0) + 1;
      }
    }
  }
  assert.deepEqual(found, {
    'unresolved_reference site.contactPersonId': 1,
    'unresolved_reference site.contractId': 1,
    'unresolved_reference site.assignedEmployeeId': 1,
    'unresolved_reference site.serviceRecordRecipientId': 1,
    'unresolved_reference plant.productId': 1,
    'unresolved_reference plant.containerId': 1,
    'unresolved_reference container.productId': 1,
    'unknown_shape site.openingHours': 3,
    'unknown_shape site.attendingIntervals': 2,
    'half_position site.address.location': 2,
    'half_position customer.address.location': 1,
    'no_position site.address.location': 1,
    'closed_visit site.attendingIntervals': 1,
    'no_employee site.assignedEmployeeId': 1,
    'validity_ended site.validUntil': 3,
    'probable_duplicate customer.companyName': 2,
  });
});

/** An empty database as a setting, and a connection to look into it. */
async function emptyDatabase() {
  const connection = await createTestDatabase();
  const { user, password, host, port, database } = connection;
  const client = new pg.Client(connection);
  await client.connect();
  const place = new URLSearchParams({ host: host!, port: String(port) });
  return { client, DATABASE_URL: `postgres://${user}:${password}@localhost/${database}?${place}` };
}

test('there are calls, changes, a bin and deliveries to look at', async () => {
  const { data: deleted } = JSON.parse(await get('/deleted'));
  assert.deepEqual(
    deleted.map(({ data }: { data: { companyName: string } }) => data.companyName),
    ['Blumenladen Osterstraße'],
  );
  const { rows } = await owner.query(
    `SELECT (SELECT count(*)::integer FROM journal WHERE action = 'CHANGED') AS changes,
       (SELECT count(*)::integer FROM webhook) AS webhooks`,
  );
  assert.deepEqual(rows, [{ changes: 3, webhooks: 1 }]);
  await until('the calls to be recorded', async () => {
    const { rows: calls } = await owner.query('SELECT status FROM recorded_request WHERE status = 400');
    return calls.length >= 2;
  });
});

test('a second demo goes on with its data, with a new password and key', async () => {
  const { client, DATABASE_URL } = await emptyDatabase();
  const settings = { DATABASE_URL, DATA_DIR: dataDir };
  const first = startDemo(settings);
  assert.match(await outputOf(first), /Stamm is running/);
  await stop(first);
  assert.equal(first.exitCode, 0);
  const counts = await countRows(client);
  assert.equal(counts.tenant, 1);

  const second = startDemo(settings);
  const output = await outputOf(second);
  assert.match(output, /Stamm is running/);
  const key = /API key +(\S+)/.exec(output)![1]!;
  const base = /API base +(\S+)/.exec(output)![1]!;
  const answer = await fetch(`${base}/customers?limit=1`, { headers: { apikey: key } });
  assert.equal(answer.status, 200);
  const password = /Password +(\S.*)/.exec(output)![1]!.trim();
  const { origin } = new URL(base);
  const signedIn = await fetch(`${origin}/app/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'demo@stamm.example', password }),
  });
  assert.equal(signedIn.status, 200, await signedIn.text());
  await stop(second);
  assert.deepEqual(await countRows(client), { ...counts, api_key: 2 });
  await client.end();
});

test('a demo is refused by a database with another business, and changes nothing in it', async () => {
  const { client, DATABASE_URL } = await emptyDatabase();
  await createTenant(client, 'Echte Gärtnerei GmbH');
  const counts = await countRows(client);
  const refused = startDemo({ DATABASE_URL, DATA_DIR: dataDir });
  const output = await outputOf(refused);
  assert.equal(refused.exitCode, 1);
  assert.match(output, /^This database already holds a business, and the demo changes nothing in it\. .*\n$/);
  assert.ok(output.includes(`DATA_DIR=${dataDir}-demo npm run demo`), output);
  assert.deepEqual(await countRows(client), counts);
  await client.end();
});

test('a demo that finds its port taken leaves nothing that would keep the next one from starting', async () => {
  const { client, DATABASE_URL } = await emptyDatabase();
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  const refused = startDemo({ DATABASE_URL, PORT: String(port) });
  assert.match(await outputOf(refused), new RegExp(`^Port ${port} .* is taken`));
  squatter.close();
  assert.equal(refused.exitCode, 1);
  assert.deepEqual(new Set(Object.values(await countRows(client))), new Set([0]));
  await client.end();
});

test('the API would take the business on any day, and no more sites have ended on it', () => {
  for (const day of ['2026-01-01', '2028-02-29', '2031-07-15', '2032-12-31']) {
    const business = readBusiness(Temporal.PlainDate.from(day));
    for (const { type, data } of business) {
      const check = buildCheck(resources.find(({ name }) => name === type)!);
      assert.deepEqual(check(parseStored(JSON.stringify(data))).fieldErrors, [], `${day} ${data.externalId}`);
    }
    const ended = business.filter(
      ({ type, data }) => type === 'site' && data.validUntil && String(data.validUntil) < day,
    );
    assert.deepEqual(
      ended.map(({ data }) => data.externalId),
      ['ST-10008-4', 'ST-10016-2', 'ST-10030-3'],
      day,
    );
    for (const { plantedOn, removedOn } of business.map(({ data }) => data))
      assert.ok(!removedOn || (String(plantedOn) < String(removedOn) && String(removedOn) < day), day);
  }
});

test('a demo that was interrupted before it stored anything starts again', async () => {
  const { client, DATABASE_URL } = await emptyDatabase();
  await createTenant(client, 'Grün & Gut Raumbegrünung GmbH');
  const again = startDemo({ DATABASE_URL, DATA_DIR: dataDir });
  assert.match(await outputOf(again), /Stamm is running/);
  assert.equal((await countRows(client)).tenant, 1);
  assert.ok((await countRows(client)).site! > 0);
  await stop(again);
  await client.end();
});
