// The first synchronisation of a business fills tables that were empty when statements were planned. Each object must
// cost as much as the first: PostgreSQL reads a few rows for it, not all that came before.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { bodyOf, nameOf, upsertPath } from '../../../bench/data/every-resource.ts';
import type { Definition } from '../../../server/engine/definition/definition.ts';
import { resources } from '../../../server/resources/index.ts';
import { skipOnCluster } from '../../helpers/cluster.ts';
import { countRowsRead, type RowsRead } from '../../helpers/rows-read.ts';
import { startService, type TestService } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const objects = 300;
const atOnce = 32;
const skip = skipOnCluster('workers count the rows that they read for themselves');

/** A write of a site looks up five references, twice. */
const mostRows = 20;
/** A deletion also removes words, and looks for what belongs to the object. */
const mostRowsOfDeletion = 40;

function assertFew(what: string, read: RowsRead, objects: number, most = mostRows): void {
  const total = [...read.values()].reduce((sum, rows) => sum + rows, 0);
  const perObject = (rows: number) => (rows / objects).toFixed(1);
  const worst = [...read].slice(0, 4).map(([name, rows]) => `${name} ${perObject(rows)}`);
  assert.ok(total < most * objects, `${what}: ${perObject(total)} rows per object: ${worst.join(', ')}`);
}

type Write = (service: TestService, resource: Definition, numbers: readonly number[]) => Promise<void>;

function oneByOne(
  send: (
    service: TestService,
    resource: Definition,
    number: number,
  ) => Promise<{ statusCode: number; body: string }>,
  status = 201,
): Write {
  return async (service, resource, numbers) => {
    const left = numbers.values();
    const sendRest = async () => {
      for (const number of left) {
        const { statusCode, body } = await send(service, resource, number);
        assert.equal(statusCode, status, body);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, sendRest));
  };
}

function imported(action: string, query = ''): Write {
  return async ({ app, tenant: { key } }, resource, numbers) => {
    if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const lines = numbers.map((number) => ({ type: resource.name, action, data: bodyOf(resource, number) }));
    const { results, summary } = await sendImport({ port, key, query }, lines);
    assert.equal(summary.created, numbers.length, JSON.stringify(results.at(-1)));
  };
}

const ways: Record<string, Write> = {
  POST: oneByOne((service, resource, number) => service.post(resource.path, bodyOf(resource, number))),
  'POST with an Idempotency-Key': oneByOne((service, resource, number) =>
    service.post(resource.path, bodyOf(resource, number), {
      headers: { 'idempotency-key': `${resource.name}-${number}` },
    }),
  ),
  PUT: oneByOne((service, resource, number) =>
    service.put(upsertPath(resource, number), bodyOf(resource, number)),
  ),
  PATCH: oneByOne((service, resource, number) =>
    service.patch(upsertPath(resource, number), bodyOf(resource, number)),
  ),
  'import with merge': imported('merge'),
  'import with replace': imported('replace'),
  'import with create': imported('create'),
  'import of all or nothing': imported('merge', '?mode=all-or-nothing'),
};

const numbers = Array.from({ length: objects }, (_, index) => index + 1);

for (const [way, write] of Object.entries(ways)) {
  test(`a first synchronisation by ${way} reads a few rows per object`, { skip }, async (context) => {
    const service = await startService();
    context.after(service.close);
    const countRead = await countRowsRead(service);
    for (const resource of resources) {
      await write(service, resource, numbers);
      assertFew(`${way} ${resource.name}`, await countRead(), objects);
    }
  });
}

const laterWays: Record<string, Write> = {
  PUT: oneByOne(
    (service, resource, number) =>
      service.put(upsertPath(resource, number), {
        ...bodyOf(resource, number),
        [resource.nameField]: nameOf(resource, 'Other', number),
      }),
    200,
  ),
  PATCH: oneByOne(
    (service, resource, number) =>
      service.patch(upsertPath(resource, number), {
        [resource.nameField]: nameOf(resource, 'Third', number),
      }),
    200,
  ),
  DELETE: oneByOne((service, resource, number) => service.delete(upsertPath(resource, number)), 204),
};

/** Each with as many objects as it has to read at least, if that is not what it answers with. */
const reads: [path: string, objects?: number][] = [
  ...resources.flatMap(({ name, collection, nameField }): [string][] => [
    [`/${collection}?limit=20`],
    [`/${collection}?limit=20&sort=${nameField}&include=externalIds`],
    [`/${collection}?limit=20&sort=-updatedAt`],
    [`/${collection}?limit=20&q=217`],
    [`/${collection}?externalId=${name}-7`],
    [`/${collection}/by-external-id/${name}-7`],
  ]),
  ['/sites?customerExternalId=customer-7'],
  ['/plants?siteExternalId=site-7'],
  ['/customers?count=true', objects],
  ['/changes?limit=20'],
  ['/search?q=217', resources.length],
  ['/visits?from=2026-11-18&until=2026-11-18', objects],
  // Each of its checks reads all objects of a resource.
  ['/attention?limit=20', objects * resources.length],
  ['/deleted?limit=20'],
];

test('what was planned before the first row reads a few rows per object after the last', {
  skip,
}, async (context) => {
  const service = await startService();
  context.after(service.close);
  const everyConnection = Array.from({ length: service.database.pool.options.max! });
  for (const [path] of reads) await Promise.all(everyConnection.map(() => service.get(path)));
  for (const resource of resources) await ways['import with merge']!(service, resource, numbers);
  const countRead = await countRowsRead(service);
  for (const [path, needed] of reads) {
    const answers = [await service.get(path), await service.get(path)];
    const answered = needed ?? Math.max(answers[0]!.json().data?.length ?? 1, 1);
    assertFew(path, await countRead(), answers.length * answered);
  }
  const some = numbers.slice(0, 64);
  for (const [way, write] of Object.entries(laterWays)) {
    // What belongs to others is deleted before them.
    for (const resource of resources.toReversed()) {
      await write(service, resource, some);
      const most = way === 'DELETE' ? mostRowsOfDeletion : mostRows;
      assertFew(`${way} of a known ${resource.name}`, await countRead(), some.length, most);
    }
  }
});
