// Creations that are written together, and what becomes of those that cannot be.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openDatabase } from '../../../server/database/database.ts';
import type { Row } from '../../../server/engine/definition/validation.ts';
import type { Intent } from '../../../server/engine/write/intent.ts';
import { buildRequestWrites } from '../../../server/engine/write/requests.ts';
import { prepareWriting } from '../../../server/engine/write/resource.ts';
import type { ApiError } from '../../../server/errors.ts';
import { parseJson } from '../../../server/http/json-body.ts';
import { customer } from '../../../server/resources/customer.ts';
import { resources } from '../../../server/resources/index.ts';
import { startService, validCustomer } from '../../helpers/service.ts';

const service = await startService();
const { tenantId } = service.tenant;
const writing = prepareWriting(resources);
const written = writing.resources.find(({ definition }) => definition === customer)!;
const valid = written.check(parseJson(Buffer.from(JSON.stringify(validCustomer))));

function creationOf(columns: Row = {}): Intent {
  const row = { ...valid.row, ...columns };
  return {
    resource: written,
    tenantId,
    author: { actor: 'test', requestId: undefined },
    name: undefined,
    sent: row,
    mayRevive: true,
    mayWait: false,
    decide: () => ({ ...valid, row }),
  };
}

function openQueue(maxConnections: number) {
  const database = openDatabase(service.serviceConnection, { maxConnections });
  const requests = buildRequestWrites(database, writing);
  const create = (creation: Intent) =>
    requests.write(creation, performance.now() + database.requestDeadlineMs);
  return { database, create };
}

test('a stored row is answered before it is known why its neighbour was refused', async () => {
  const customerNumber = randomUUID().slice(0, 30);
  await service.createCustomer({ customerNumber });
  const { database, create } = openQueue(1);
  const isWriting = once(database.pool, 'acquire');
  const stored = create(creationOf());
  const refused = create(creationOf({ customer_number: customerNumber }));
  const isRefused = assert.rejects(refused, (error: ApiError) => error.code === 'conflict');
  await isWriting;
  // Next in line for the only connection: finding out why has to wait for it.
  const connection = await database.pool.connect();
  assert.equal((await stored).what, 'created');
  assert.equal(await Promise.race([refused, nextTurn('waits')]), 'waits');
  connection.release();
  await isRefused;
  await database.close();
});

test('after a batch that failed as a whole, a tenant has its rows written one after the other', async () => {
  const { database, create } = openQueue(10);
  let inUse = 0;
  let mostInUse = 0;
  database.pool.on('acquire', () => {
    mostInUse = Math.max(mostInUse, ++inUse);
  });
  database.pool.on('release', () => inUse--);
  // PostgreSQL cannot store it, and validation refuses it long before.
  const unstorable = creationOf({ comment: '\u0000' });
  const creations = [...Array.from({ length: 20 }, () => creationOf()), unstorable];
  const outcomes = await Promise.allSettled(creations.map(create));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    creations.map((creation) => (creation === unstorable ? 'rejected' : 'fulfilled')),
  );
  const ids = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []));
  const { rows } = await service.owner.query('SELECT FROM customer WHERE id = ANY ($1)', [ids]);
  assert.equal(rows.length, 20);
  assert.equal(mostInUse, 1);
  await database.close();
});
