// Imports whose client, database or neighbours misbehave.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { askAllNodes } from '../../helpers/cluster.ts';
import { endLocked, untilLocked } from '../../helpers/locks.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { patienceMs, until } from '../../helpers/waiting.ts';
import { type ImportTarget, openImport, sendImport } from './import-client.ts';

const { app, owner, tenant, post } = await startService({
  importLimits: { waitMs: patienceMs },
});
const port = await listen(app);
const target: ImportTarget = { port, key: tenant.key };
const anyLine = { type: 'customer', data: validCustomer };
const customerLine = (externalId: string, more: object = {}) => ({
  type: 'customer',
  data: { ...validCustomer, externalId, ...more },
});

async function countCustomers(client = owner): Promise<number> {
  const { rows } = await client.query('SELECT count(*)::integer AS count FROM customer');
  return rows[0].count;
}

async function importConnections(): Promise<number> {
  const locks = await askAllNodes(
    owner,
    `SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation
     JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relname = 'journal_head' AND nspname LIKE 'pg_temp%' AND mode = 'RowExclusiveLock'`,
  );
  return locks.length;
}

test('a connection that is cut ends all or nothing with nothing', async () => {
  const before = await countCustomers();
  const opened = openImport({ ...target, query: '?mode=all-or-nothing' });
  for (let line = 0; line < 2000; line++) opened.send(anyLine);
  await until('the transaction is open', async () => (await importConnections()) === 1);
  opened.request.destroy();
  await until('the transaction has ended', async () => (await importConnections()) === 0);
  assert.equal(await countCustomers(), before);
});

test('a client that sends and does not read is not read from either, and loses nothing', async () => {
  const arrived = once(app.server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const socket = connect({ host: '127.0.0.1', port });
  socket.pause();
  const head = `POST /api/v1/import HTTP/1.1\r\nHost: x\r\nApiKey: ${tenant.key}\r\nContent-Type: application/x-ndjson\r\n`;
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  const lines = `{"type":"x","data":"${'x'.repeat(200)}"}\n`.repeat(1000);
  const packet = `${lines.length.toString(16)}\r\n${lines}\r\n`;
  const [request, response] = await arrived;
  let sent = 0;
  await until('the service waits for its reader, and the sender for the service', () => {
    assert.ok(sent < 500_000, 'the service reads on and on');
    for (; !socket.writableNeedDrain; sent += 1000) socket.write(packet);
    return response.writableNeedDrain && request.readableLength >= request.readableHighWaterMark;
  });
  socket.write('0\r\n\r\n');
  let text = '';
  for await (const bytes of socket.resume()) {
    text = text.slice(-1000) + bytes;
    if (text.endsWith('0\r\n\r\n')) break;
  }
  const { lines: answered, failed } = JSON.parse(/\{"summary":(.*)\}/.exec(text)![1]!);
  assert.deepEqual([answered, failed], [sent, sent]);
});

test('an import may take longer than other requests, as long as something moves', async () => {
  const slow = await startService();
  Object.assign(slow.app.server, { connectionsCheckingInterval: 50 });
  const slowTarget = { port: await listen(slow.app), key: slow.tenant.key };
  const opened = openImport(slowTarget);
  const timeoutMs = 1000;
  let [line, isPast] = [0, false];
  for (const startedAt = performance.now(); !isPast; isPast = performance.now() > startedAt + 2 * timeoutMs) {
    opened.send(anyLine);
    line += 1;
    assert.equal((await opened.next()).line, line);
    // Once it is known for an import; until then it is a request like any other.
    Object.assign(slow.app.server, { requestTimeout: timeoutMs, headersTimeout: timeoutMs });
  }
  opened.end();
  assert.equal((await opened.rest())[0].summary.created, line);
});

test('of lines that are written side by side, none is stored after one that a dead connection loses', async () => {
  const doomed = await startService();
  const doomedTarget = { port: await listen(doomed.app), key: doomed.tenant.key };
  const held = await doomed.createCustomer({ externalId: 'held' });
  await doomed.owner.query('BEGIN');
  await doomed.owner.query('SELECT FROM customer WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
    doomed.tenant.tenantId,
    held,
  ]);
  const opened = openImport(doomedTarget);
  // Its owner is locked only when it is written: what others may not touch is known by then.
  opened.send({ type: 'site', data: validSite(held) });
  await untilLocked(doomed.owner);
  opened.send({ type: 'customer', action: 'merge', data: { id: held, comment: 'second' } });
  await untilLocked(doomed.owner, 2);
  await endLocked(doomed.owner, 1);
  await untilLocked(doomed.owner, 1);
  await doomed.owner.query('ROLLBACK');
  const [first, second, last] = await opened.rest();
  assert.deepEqual([first.line, first.status], [1, 500]);
  assert.deepEqual([second.line, second.status], [2, 500]);
  assert.deepEqual([last.summary.lines, last.summary.code], [2, 'database_unavailable']);
  const { rows } = await doomed.owner.query('SELECT comment FROM customer');
  assert.deepEqual(rows, [{ comment: null }]);
});

test('a database that dies half-way is a 500 for what was under way, and never a false 201', async () => {
  const doomed = await startService();
  const doomedTarget = { port: await listen(doomed.app), key: doomed.tenant.key };
  for (const mode of ['each', 'all-or-nothing']) {
    const before = await countCustomers(doomed.owner);
    const opened = openImport({ ...doomedTarget, query: `?mode=${mode}` });
    opened.send(anyLine);
    if (mode === 'each') assert.equal((await opened.next()).status, 201);
    else await until('it has begun', () => isBetweenLines(doomed.owner));
    await endConnections(doomed.owner);
    opened.send(anyLine);
    const answers = await opened.rest();
    const stored = mode === 'each' ? 1 : 0;
    assert.deepEqual(
      answers.slice(0, -1).map(({ line, status, code }) => [line, status, code]),
      [[2, 500, 'database_unavailable']],
    );
    assert.equal(answers.at(-1).summary.notStored, mode === 'each' ? 0 : 1);
    assert.equal(answers.at(-1).summary.code, 'database_unavailable');
    assert.equal(answers.at(-1).summary.created, stored);
    assert.equal((await countCustomers(doomed.owner)) - before, stored);
    opened.request.destroy();
  }
  const { results } = await sendImport(doomedTarget, [anyLine]);
  assert.equal(results[0].status, 201, 'it recovers without a restart');
  assert.ok(doomed.logLines.some((line) => line.includes('import failed')));
});

/** Whether an import has written a part of its transaction and waits for more lines. */
async function isBetweenLines(client: typeof owner): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction' AND query = 'RELEASE SAVEPOINT part'`,
  );
  return rowCount === 1;
}

async function endConnections(client: typeof owner): Promise<void> {
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
}

test('what the database refuses in one line is not blamed on its neighbours', async () => {
  await owner.query(
    `ALTER TABLE customer ADD CONSTRAINT refuse CHECK (comment IS DISTINCT FROM 'poison') NOT VALID`,
  );
  const lines = Array.from({ length: 20 }, (_, index) =>
    customerLine(`POISON-${index}`, index === 13 ? { comment: 'poison' } : {}),
  );
  for (const query of ['?mode=each', '?mode=all-or-nothing']) {
    const { results, summary } = await sendImport({ ...target, query }, lines);
    const { message: _message, ...poisoned } = results.find(({ line }) => line === 14);
    assert.deepEqual(poisoned, {
      line: 14,
      status: 500,
      type: 'customer',
      externalId: 'POISON-13',
      code: 'internal_error',
    });
    assert.equal(summary.failed, 1);
  }
  assert.equal((await sendImport(target, lines)).summary.unchanged, 19);
});

test('two imports of the same objects in opposite order end with one of each', async () => {
  const lines = Array.from({ length: 400 }, (_, index) => customerLine(`BOTH-${index}`));
  const both = await Promise.all([
    sendImport(target, lines),
    sendImport(
      target,
      lines.toReversed().map((line) => ({ ...line, data: { ...line.data, comment: 'x' } })),
    ),
  ]);
  assert.deepEqual(
    both.map(({ summary }) => summary.failed),
    [0, 0],
  );
  const { rows } = await owner.query(
    `SELECT count(*)::integer AS count FROM customer WHERE external_id LIKE 'BOTH-%'`,
  );
  assert.equal(rows[0].count, 400);
});

test('the journal stays without gaps and in order beside other writers', async () => {
  const lines = Array.from({ length: 1000 }, () => anyLine);
  /** One after the other, while the imports run. */
  async function createSingly(): Promise<number[]> {
    const statuses: number[] = [];
    while (statuses.length < 30) statuses.push((await post('/customer', validCustomer)).statusCode);
    return statuses;
  }
  const [each, together, statuses] = await Promise.all([
    sendImport(target, lines),
    // After the other one, since they are of the same tenant.
    sendImport({ ...target, query: '?mode=all-or-nothing' }, lines),
    createSingly(),
  ]);
  assert.equal(each.summary.created + together.summary.created, 2000);
  assert.deepEqual(new Set(statuses), new Set([201]));
  const { rows } = await owner.query(
    `SELECT count(*) AS entries, max(position) AS last, head.last_position,
       count(*) FILTER (WHERE action = 'CREATED' AND resource = 'customer')::integer AS created
     FROM journal JOIN journal_head AS head USING (tenant_id) GROUP BY head.last_position`,
  );
  assert.equal(rows.length, 1);
  assert.deepEqual(rows[0], {
    ...rows[0],
    last: rows[0].entries,
    last_position: rows[0].entries,
    created: await countCustomers(),
  });
});
