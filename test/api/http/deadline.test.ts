// A request that waits for several things in a row has one deadline for all of them.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import { type Held, holdTable, untilLocked } from '../../helpers/locks.ts';
import { createPerson, routesBelow } from '../../helpers/office.ts';
import { createTestDatabase, startService, type TestService } from '../../helpers/service.ts';
import { startWatch } from '../../helpers/waiting.ts';

/** PostgreSQL ends a statement after 0.95 of it: a slow machine must have sent the statement within the rest. */
const deadlineMs = 10_000;
/** Between the half that is left of a deadline and a deadline of its own. `startWatch` deducts the machine's delays. */
const longestSecondWaitMs = 0.75 * deadlineMs;
const connection = await createTestDatabase();
const service = await startService({ connection, REQUEST_DEADLINE_MS: deadlineMs });

async function holdLock(statement: string, values: readonly unknown[]): Promise<Held> {
  const holder = new pg.Client(connection);
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query(statement, [...values]);
  return { release: () => holder.end() };
}

function holdCustomer(id: string): Promise<Held> {
  const { tenantId } = service.tenant;
  return holdLock('SELECT FROM customer WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [tenantId, id]);
}

/** Half of the deadline is over when this returns. A second wait with a deadline of its own would take twice the rest. */
function untilHalfTime(): Promise<void> {
  return untilLocked(service.owner, 1, deadlineMs / 2);
}

/** Everything that answers with a page of records, entries or events; the other collections are like customers. */
const listPaths =
  /^\/(api\/v1|app)\/(customers(\.\w+)?|changes|deleted|search|visits|attention|history|audit|requests|imports)$/;

const listedTables = [
  'customer',
  'site',
  'journal',
  'deleted_object',
  'audit_entry',
  'recorded_request',
  'import_run',
];

/** The database is there: it answered other statements, and ended this one itself. */
function assertOverloaded(answer: LightMyRequestResponse): void {
  assert.deepEqual([answer.statusCode, answer.json().code], [500, 'overloaded'], answer.body);
  assert.equal(answer.headers['retry-after'], '1');
}

test('while its tables are locked every list is overloaded, and none is an empty page', async () => {
  const busy = await startService({ REQUEST_DEADLINE_MS: 1000 });
  const isList = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' && !path.includes(':');
  const lists = [
    ...routesBelow(busy.app, '/api/v1/').filter(isList),
    ...routesBelow(busy.app, '/app/').filter(isList),
  ].filter(({ path }) => listPaths.test(path));
  assert.ok(lists.length > 15, `${lists.length} lists`);
  /** One after the other: several reads of a tenant would wait for each other, and get 429. */
  async function askForAll({ tenant, cookie }: Asker, some: readonly { path: string }[]): Promise<void> {
    for (const { path } of some) {
      const headers = path.startsWith('/app/') ? { cookie } : { apikey: tenant.key };
      const answer = await busy.app.inject({ method: 'GET', url: `${path}${queryOf(path)}`, headers });
      assert.equal(answer.headers['retry-after'], '1', `${path}: ${answer.body}`);
      assert.deepEqual([answer.statusCode, answer.json().code], [500, 'overloaded'], path);
    }
  }
  const askers = await Promise.all(Array.from({ length: 4 }, () => createAsker(busy)));
  const held = await Promise.all(listedTables.map((table) => holdTable(busy.owner, table)));
  try {
    await Promise.all(
      askers.map((asker, place) =>
        askForAll(
          asker,
          lists.filter((_, index) => index % askers.length === place),
        ),
      ),
    );
  } finally {
    for (const { release } of held) await release();
  }
});

type Asker = Awaited<ReturnType<typeof createAsker>>;

async function createAsker(busy: TestService) {
  const tenant = await busy.createTenant();
  const { cookie } = await createPerson(busy, { tenantId: tenant.tenantId });
  return { tenant, cookie };
}

function queryOf(path: string): string {
  if (path.endsWith('/search')) return '?q=hotel';
  return path.endsWith('/visits') ? '?from=2026-01-05&until=2026-01-05' : '';
}

test('a change that waits for its row and then for the journal fails in time and stores nothing', async () => {
  const id = await service.createCustomer({ comment: 'first' });
  // The first change of a process compiles code and prepares statements.
  assert.equal((await service.patch(`/customers/${id}`, { comment: 'before' })).statusCode, 200);
  const row = await holdCustomer(id);
  const journal = await holdLock('SELECT FROM journal_head WHERE tenant_id = $1 FOR UPDATE', [
    service.tenant.tenantId,
  ]);
  const changing = service.patch(`/customers/${id}`, { comment: 'after' });
  await untilHalfTime();
  const watch = startWatch();
  await row.release();
  const answer = await changing;
  const secondWaitMs = watch();
  await journal.release();
  assertOverloaded(answer);
  assert.ok(secondWaitMs < longestSecondWaitMs, `the second wait took ${Math.round(secondWaitMs)} ms`);
  assert.equal((await service.get(`/customers/${id}`)).json().comment, 'before');
  assert.equal((await service.patch(`/customers/${id}`, { comment: 'after' })).statusCode, 200);
});

test('a change whose body comes late, and which then waits for its row, is known to be refused', async () => {
  const id = await service.createCustomer({ comment: 'first' });
  assert.equal((await service.patch(`/customers/${id}`, { comment: 'before' })).statusCode, 200);
  const row = await holdCustomer(id);
  const body = Readable.from(
    (async function* () {
      yield '{"comment":';
      // The usual limit of a statement ends after the request's deadline then.
      await sleep(deadlineMs / 5);
      yield '"after"}';
    })(),
  );
  const answer = await service.app.inject({
    method: 'PATCH',
    url: `/api/v1/customers/${id}`,
    headers: { apikey: service.tenant.key, 'content-type': 'application/json' },
    payload: body,
  });
  await row.release();
  assertOverloaded(answer);
  assert.equal((await service.get(`/customers/${id}`)).json().comment, 'before');
});

test('a search that waits twice for its table, for exact words and then for similar ones, fails in time', async () => {
  const hold = () => holdTable(service.owner, 'customer', service.tenant.tenantId);
  const first = await hold();
  const searching = service.get('/search?types=customer&q=Alsterblck');
  await untilLocked(service.owner, 1);
  // PostgreSQL grants this lock after the search's first statement and before its second.
  const locking = hold();
  await untilLocked(service.owner, 2, deadlineMs / 2);
  const watch = startWatch();
  await first.release();
  const second = await locking;
  const answer = await searching;
  const secondWaitMs = watch();
  await second.release();
  assertOverloaded(answer);
  assert.ok(secondWaitMs < longestSecondWaitMs, `the second wait took ${Math.round(secondWaitMs)} ms`);
});

test('a list that waits for a connection and then for its table is answered in time', async () => {
  const sites = await holdTable(service.owner, 'site');
  const customers = await holdTable(service.owner, 'customer');
  // More than there are connections: these take them all, and those wait.
  const first = Array.from({ length: 60 }, () => service.get('/sites'));
  const second = Array.from({ length: 10 }, () => service.get('/customers'));
  await untilHalfTime();
  const watch = startWatch();
  await sites.release();
  const answers = await Promise.all(second);
  const secondWaitMs = watch();
  await customers.release();
  // 429 for those that waited for other lists of their tenant.
  for (const answer of answers) if (answer.statusCode !== 429) assertOverloaded(answer);
  assert.ok(secondWaitMs < longestSecondWaitMs, `the second wait took ${Math.round(secondWaitMs)} ms`);
  await Promise.all(first);
  assert.equal((await service.get('/customers')).statusCode, 200);
});
