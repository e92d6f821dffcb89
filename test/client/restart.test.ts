// The client while the service is stopped and started again, as every update does.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createStamm, type ImportLine, StammError } from '../../client/src/index.ts';
import {
  makePreparedDataDir,
  type Prepared,
  type StammProcess,
  startStamm,
} from '../faults/helpers/process.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

let prepared: Prepared;
let port: string;
let service: StammProcess;

before(async () => {
  prepared = await makePreparedDataDir();
  port = String(await findFreePort());
  await start();
});

async function start(): Promise<void> {
  service = await startStamm({ DATA_DIR: prepared.dataDir, PORT: port });
}

const openClient = () => createStamm({ baseUrl: `http://127.0.0.1:${port}`, apiKey: prepared.key });

const customerLine = (externalId: string): ImportLine => ({
  type: 'customer',
  action: 'create',
  data: { ...validCustomer, externalId },
});

/** Lines that come to a halt in the middle at their first opening, until the service has stopped. */
function openLines(prefix: string, count: number) {
  const { promise: stopped, resolve: goOn } = Promise.withResolvers<void>();
  let openings = 0;
  async function* open() {
    const isFirst = ++openings === 1;
    for (let number = 1; number <= count; number += 1) {
      yield customerLine(`${prefix}-${number}`);
      if (isFirst && number === count / 2) await stopped;
    }
  }
  return { open, goOn, openings: () => openings };
}

async function countImported(prefix: string): Promise<number> {
  const ids = await Array.fromAsync(openClient().customers.list({ limit: 500 }), (one) => one.externalId);
  assert.equal(new Set(ids).size, ids.length);
  return ids.filter((id) => id?.startsWith(prefix)).length;
}

test('an import goes on after a restart of the service, and stores each line once', async () => {
  const lines = openLines('F', 400);
  const results = new Map<number, number>();
  const run = openClient().import(lines.open);
  for (;;) {
    const { done, value } = await run.next();
    if (done) {
      assert.deepEqual([value.lines, value.created + value.unchanged, value.failed], [400, 400, 0]);
      assert.equal(value.code, undefined);
      break;
    }
    assert.ok(!results.has(value.line), `line ${value.line} has two results`);
    results.set(value.line, value.status);
    if (results.size === 100) {
      await service.stop();
      lines.goOn();
      await start();
    }
  }
  assert.deepEqual([...new Set(results.values())], [201]);
  assert.equal(results.size, 400);
  assert.ok(lines.openings() > 1);
  assert.equal(await countImported('F'), 400);
});

test('an import whose lines cannot be opened again throws, and says how far it got', async () => {
  const lines = openLines('G', 400);
  const run = openClient().import(lines.open());
  const statuses: number[] = [];
  const error = await (async () => {
    for await (const { status } of run) {
      statuses.push(status);
      if (statuses.length === 100) await service.stop();
    }
  })().catch((error) => error);
  lines.goOn();
  assert.ok(error instanceof StammError, String(error));
  assert.deepEqual([error.status, error.code], [424, 'import_stopped']);
  await start();
  const stored = statuses.filter((status) => status === 201).length;
  assert.equal(await countImported('G'), stored);
  assert.equal((error.details.summary as { created: number }).created, stored);
});

test('a follower goes on after a restart of the service', async () => {
  const stamm = openClient();
  const abort = new AbortController();
  const places: string[] = [];
  const cursor = { load: () => undefined, save: (place: string) => void places.push(place) };
  const following = { cursor, after: 'now', pollSeconds: 0.01, signal: abort.signal };
  const seen: string[] = [];
  const follower = (async () => {
    for await (const change of stamm.changes.follow(following)) {
      seen.push(change.externalId ?? '');
      if (change.externalId === 'after') abort.abort();
    }
  })();
  await until('the place is kept', () => places.length > 0);
  await stamm.customers.create({ ...validCustomer, externalId: 'before' });
  await until('the first change', () => seen.length > 0);
  await service.stop();
  await start();
  await openClient().customers.create({ ...validCustomer, externalId: 'after' });
  await follower;
  assert.deepEqual(seen, ['before', 'after']);
});
