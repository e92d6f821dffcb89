// Room for imports: no tenant, and no client that sends nothing, keeps others from importing.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { ImportLimits } from '../../../server/features/import/session/limits.ts';
import { untilLocked } from '../../helpers/locks.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer } from '../../helpers/service.ts';
import { patienceMs, until } from '../../helpers/waiting.ts';
import { type ImportTarget, openImport, refusedImport, sendImport } from './import-client.ts';

const anyLine = { type: 'customer', data: validCustomer };

async function startLimited(importLimits: Partial<ImportLimits> = {}) {
  const service = await startService({
    importLimits: { waitMs: patienceMs, idleMs: patienceMs, slowAfterMs: patienceMs, ...importLimits },
  });
  const port = await listen(service.app);
  const target: ImportTarget = { port, key: service.tenant.key };
  async function countCustomers(): Promise<number> {
    const { rows } = await service.owner.query('SELECT count(*)::integer AS count FROM customer');
    return rows[0].count;
  }
  async function newTarget(): Promise<ImportTarget> {
    return { port, key: (await service.createTenant()).key };
  }
  /** Connections of all-or-nothing imports that wait for their next line. */
  async function openTransactions(): Promise<number> {
    const { rowCount } = await service.owner.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction' AND query = 'RELEASE SAVEPOINT part'`,
    );
    return rowCount!;
  }
  return { ...service, port, target, countCustomers, newTarget, openTransactions };
}

/** An import that has a place and sends nothing more. */
async function beginImport(target: ImportTarget) {
  const opened = openImport(target);
  opened.send(anyLine);
  assert.equal((await opened.next()).status, 201);
  return opened;
}

/** An import with a line, and whether its answer has begun. */
function askForImport(target: ImportTarget) {
  const opened = openImport(target);
  opened.send(anyLine);
  opened.end();
  let hasBegun = false;
  opened.response.then(
    () => {
      hasBegun = true;
    },
    () => {},
  );
  return { opened, hasBegun: () => hasBegun };
}

test('an import starts and ends while other imports of another tenant run and wait', async () => {
  const { target, newTarget } = await startLimited();
  const first = await beginImport(target);
  const second = askForImport(target);
  const third = askForImport(target);
  const { summary } = await sendImport(await newTarget(), [anyLine]);
  assert.equal(summary.created, 1);
  assert.deepEqual([second.hasBegun(), third.hasBegun()], [false, false]);
  first.end();
  for (const { opened } of [{ opened: first }, second, third]) {
    assert.equal((await opened.rest()).at(-1).summary.created, 1);
  }
});

/** Asks for three imports beside one that runs: the first answer is a refusal, and then the two others wait. */
async function askForThree(target: ImportTarget) {
  const further = [1, 2, 3].map(() => openImport(target));
  for (const opened of further) opened.send(anyLine);
  const { refused, message } = await Promise.race(
    further.map(async (opened) => ({ refused: opened, message: await opened.response })),
  );
  const [first, second] = further.filter((opened) => opened !== refused);
  return { message, waiting: [first!, second!] as const };
}

test('two imports of a tenant wait, and a third is refused', async () => {
  const { target } = await startLimited();
  const running = await beginImport(target);
  const { message, waiting } = await askForThree(target);
  assert.deepEqual([message.statusCode, message.headers['retry-after']], [429, '10']);
  const body = JSON.parse((await Array.fromAsync(message)).join(''));
  assert.equal(body.code, 'too_many_imports');
  for (const opened of [running, ...waiting]) opened.end();
  for (const opened of waiting) assert.equal((await opened.rest()).at(-1).summary.created, 1);
});

test('an import whose client leaves while it waits is not run', async () => {
  const { app, target, countCustomers } = await startLimited();
  const running = await beginImport(target);
  const countConnections = promisify(app.server.getConnections.bind(app.server));
  const { message, waiting } = await askForThree(target);
  message.destroy();
  const [leaving, staying] = waiting;
  leaving.request.destroy();
  await until('the service knows that it left', async () => (await countConnections()) === 2);
  for (const opened of [running, staying]) opened.end();
  assert.equal((await staying.rest()).at(-1).summary.created, 1);
  assert.equal(await countCustomers(), 2);
});

test('a complete import whose client leaves while it waits is not run, however long it is', async () => {
  const { target, countCustomers } = await startLimited({ waitingPerTenant: 3, askClientAfterMs: 0 });
  const running = await beginImport(target);
  const further = [1, 1, 3000, 3000].map((lines) => {
    const opened = openImport(target);
    for (let line = 0; line < lines; line += 1) opened.send(anyLine);
    opened.end();
    return opened;
  });
  // The first answer refuses one of them, and then the other three wait.
  await Promise.race(further.map(({ response }) => response));
  const left = further.map(
    ({ request }) => new Promise((resolve) => request.once('close', resolve).destroy()),
  );
  await Promise.all(left);
  running.end();
  await running.rest();
  // Behind all that wait, as soon as there is room in the queue.
  await until('another import', async () => {
    const { opened } = askForImport(target);
    if ((await opened.response).statusCode === 429) return false;
    assert.equal((await opened.rest()).at(-1).summary.created, 1);
    return true;
  });
  assert.equal(await countCustomers(), 2);
});

test('an import that waits too long for its place is refused', async () => {
  const { target } = await startLimited({ waitMs: 100 });
  const running = await beginImport(target);
  const { status, body } = await refusedImport(target, JSON.stringify(anyLine));
  assert.deepEqual([status, body.code], [429, 'too_many_imports']);
  running.end();
  await running.rest();
});

test('a tenant has one import over all processes', async () => {
  const here = await startLimited();
  const there = await startService({ connection: here.connection, importLimits: { waitMs: 300 } });
  const elsewhere = { port: await listen(there.app), key: here.tenant.key };
  const running = await beginImport(here.target);
  const { status, body } = await refusedImport(elsewhere, JSON.stringify(anyLine));
  assert.deepEqual([status, body.code], [429, 'too_many_imports']);
  running.end();
  await running.rest();
  await until('the place is free', async () => {
    const next = askForImport(elsewhere).opened;
    const { statusCode } = await next.response;
    next.request.destroy();
    return statusCode === 200;
  });
});

test('slow imports of any number of tenants give way to another tenant', async () => {
  const { target, newTarget, countCustomers } = await startLimited({ places: 2, slowAfterMs: 100 });
  const slow = [await beginImport(target), await beginImport({ ...(await newTarget()), query: '' })];
  const { summary } = await sendImport(await newTarget(), [anyLine]);
  assert.equal(summary.created, 1);
  const [last] = await slow[0]!.rest();
  assert.deepEqual([last.summary.code, last.summary.created], ['import_too_slow', 1]);
  slow[1]!.end();
  assert.equal((await slow[1]!.rest())[0].summary.code, undefined, 'only one had to give way');
  assert.equal(await countCustomers(), 3);
});

test('an import that has had its place for long gives way to a tenant that has waited', async () => {
  const limits = { places: 2, slowAfterMs: patienceMs, longAfterMs: 100, waitMs: 10_000 };
  const { target, newTarget } = await startLimited(limits);
  const long = [await beginImport(target), await beginImport(await newTarget())];
  const { summary } = await sendImport(await newTarget(), [anyLine]);
  assert.equal(summary.created, 1);
  assert.equal((await long[0]!.rest())[0].summary.code, 'import_too_slow');
  long[1]!.request.destroy();
});

test('an import ends that gets blank lines only, keeps its results and frees its place', async () => {
  const { target, countCustomers } = await startLimited({ idleMs: 300 });
  const opened = openImport(target);
  opened.send(anyLine);
  opened.send({ type: 'site', data: { customerExternalId: 'NOT-YET' } });
  assert.equal((await opened.next()).status, 201);
  const trickle = setInterval(() => opened.request.write(' \n'), 50);
  const [withoutOwner, last] = await opened.rest();
  clearInterval(trickle);
  assert.deepEqual([withoutOwner.line, withoutOwner.status, withoutOwner.code], [2, 424, 'import_idle']);
  assert.deepEqual([last.summary.code, last.summary.created], ['import_idle', 1]);
  assert.equal(await countCustomers(), 1);
  assert.equal((await sendImport(target, [anyLine])).summary.created, 1);
});

test('a client that neither sends nor reads loses its place', async () => {
  const { port, target } = await startLimited({ idleMs: 300 });
  const socket = connect({ host: '127.0.0.1', port }).pause();
  const head = `POST /api/v1/import HTTP/1.1\r\nHost: x\r\nApiKey: ${target.key}\r\nContent-Type: application/x-ndjson\r\n`;
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  const line = `${JSON.stringify(anyLine)}\n`;
  socket.write(`${line.length.toString(16)}\r\n${line}\r\n`);
  assert.equal((await sendImport(target, [anyLine])).summary.created, 1);
  socket.destroy();
});

test('all or nothing ends that gets no complete line, stores nothing and says so', async () => {
  const { target, countCustomers } = await startLimited({ idleMs: 300 });
  const opened = openImport({ ...target, query: '?mode=all-or-nothing' });
  opened.send(anyLine);
  const trickle = setInterval(() => opened.request.write(' '), 50);
  const [{ summary }, ...more] = await opened.rest();
  clearInterval(trickle);
  assert.deepEqual(more, []);
  const { code, lines, created, notStored } = summary;
  assert.deepEqual([code, lines, created, notStored], ['import_idle', 1, 0, 1]);
  assert.equal(await countCustomers(), 0);
});

for (const query of ['?mode=all-or-nothing', '?dryRun=true']) {
  test(`a transaction that is open for too long is undone (${query})`, async () => {
    const { target, countCustomers, openTransactions } = await startLimited({ transactionMs: 500 });
    const opened = openImport({ ...target, query });
    const sending = setInterval(() => opened.send(anyLine), 20);
    const { summary } = (await opened.rest()).at(-1);
    clearInterval(sending);
    assert.equal(summary.code, 'import_expired');
    assert.equal(await openTransactions(), 0);
    assert.equal(await countCustomers(), 0);
  });
}

test('each line by itself has no transaction that could be too old', async () => {
  const { target } = await startLimited({ transactionMs: 1 });
  const opened = openImport(target);
  for (let line = 1; line <= 5; line++) {
    opened.send(anyLine);
    assert.equal((await opened.next()).status, 201);
  }
  opened.end();
  assert.equal((await opened.rest())[0].summary.code, undefined);
});

/** Shorter than a statement may take: nobody but the service can end one that waits for a row. */
const shortWaitMs = 20_000;

for (const mode of ['each', 'all-or-nothing']) {
  test(`a client that leaves during a write stops its import and frees its place (${mode})`, async () => {
    const service = await startLimited({ waitMs: shortWaitMs });
    const { target, owner, countCustomers } = service;
    const held = await service.createCustomer({ externalId: 'HELD' });
    await owner.query('BEGIN');
    await owner.query('SELECT FROM customer WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
      service.tenant.tenantId,
      held,
    ]);
    const opened = openImport({ ...target, query: `?mode=${mode}` });
    opened.send({ type: 'customer', data: { ...validCustomer, externalId: 'HELD', comment: 'x' } });
    // Far more than a write takes, so that the end of the input is nowhere near when the client leaves.
    for (let line = 0; line < 20_000; line++) opened.send(anyLine);
    await untilLocked(owner);
    opened.request.destroy();
    assert.equal((await sendImport(target, [anyLine])).summary.created, 1, 'while the row is held');
    await owner.query('ROLLBACK');
    const stored = await countCustomers();
    assert.ok(mode === 'each' ? stored < 10_000 : stored === 2, `${stored} are stored`);
  });
}

test('a client that has sent everything and leaves stops its all-or-nothing import', async () => {
  const service = await startLimited({ waitMs: shortWaitMs });
  const { port, target, owner } = service;
  const held = await service.createCustomer({ externalId: 'HELD' });
  await owner.query('BEGIN');
  await owner.query('SELECT FROM customer WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
    service.tenant.tenantId,
    held,
  ]);
  const socket = connect({ host: '127.0.0.1', port });
  const line = JSON.stringify({
    type: 'customer',
    data: { ...validCustomer, externalId: 'HELD', comment: 'x' },
  });
  const head = `POST /api/v1/import?mode=all-or-nothing HTTP/1.1\r\nHost: x\r\nApiKey: ${target.key}\r\n`;
  socket.write(`${head}Content-Type: application/x-ndjson\r\nContent-Length: ${line.length}\r\n\r\n${line}`);
  await untilLocked(owner);
  socket.destroy();
  assert.equal((await sendImport(target, [anyLine])).summary.created, 1, 'while the row is held');
  await owner.query('ROLLBACK');
  const { rows } = await owner.query(`SELECT comment FROM customer WHERE external_id = 'HELD'`);
  assert.equal(rows[0].comment, null);
});

test('of very many errors all or nothing lists 10,000 and counts the rest', async () => {
  const { target, countCustomers } = await startLimited();
  const lines = [anyLine, ...Array.from({ length: 30_000 }, () => '{}'), anyLine];
  const { results, summary } = await sendImport({ ...target, query: '?mode=all-or-nothing' }, lines);
  assert.equal(results.length, 10_000);
  assert.deepEqual([results[0].line, results.at(-1).line, results[0].status], [2, 10_001, 400]);
  const counts = {
    lines: 30_002,
    created: 0,
    replaced: 0,
    unchanged: 0,
    deleted: 0,
    failed: 30_000,
    notStored: 2,
  };
  assert.deepEqual(summary, { ...counts, unlistedErrors: 20_000 });
  assert.equal(await countCustomers(), 0);
});

test('without room for its results, all or nothing stores nothing and says so', async () => {
  const { target, countCustomers, logLines } = await startLimited();
  const { TMPDIR } = process.env;
  process.env.TMPDIR = '/nowhere';
  try {
    const { results, summary } = await sendImport({ ...target, query: '?mode=all-or-nothing' }, [anyLine]);
    assert.deepEqual([results, summary.code, summary.notStored], [[], 'internal_error', 1]);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  assert.equal(await countCustomers(), 0);
  assert.ok(logLines.some((line) => line.includes('import failed')));
});
