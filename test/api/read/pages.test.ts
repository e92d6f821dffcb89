// Every list of the API and the web app: page after page it brings each entry once, and only its last page is empty.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resources } from '../../../server/resources/index.ts';
import { family } from '../../helpers/accepted-bodies.ts';
import { createPerson, routesBelow } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const port = await listen(service.app);
const { tenantId, key } = await service.createTenant();
const person = await createPerson(service, { tenantId });
const headers = { apikey: key };

const families = 12;
const lines = Array.from({ length: families }, (_, place) =>
  fc.sample(family(`#${place}`), { seed: place, numRuns: 1 }),
).flat(2);
const { results } = await sendImport(
  { port, key },
  lines.map((line) => JSON.stringify(line)),
);
const ids = Object.fromEntries(lines.map(({ type }, place) => [type, results[place]!.id as string]));
// The bin, and a history of one object.
for (const place of [0, 1, 2, 3]) {
  const externalId = encodeURIComponent(`product #${place}`);
  await service.delete(`/products/by-external-id/${externalId}`, { headers });
  await service.patch(`/employees/${ids.employee}`, { lastName: `Version ${place}` }, { headers });
}

/** Filters that find little, and orders. */
const queries: Record<string, readonly string[]> = {
  '/changes': ['resource=product', 'resource=employee&include=data', 'excludeOrigin=erp'],
  '/deleted': ['q=zzzz', 'resource=product'],
  '/attention': ['count=true', 'code=no_position', 'resource=product'],
  '/audit': ['event=KEY_CREATED', 'event=SIGNED_IN'],
  ...Object.fromEntries(
    resources.map(({ collection }) => [`/${collection}`, ['sort=-name', 'q=a', 'q=zzzz&count=true']]),
  ),
};
const required: Record<string, string> = { '/visits': 'from=2026-11-01&until=2026-12-31' };
const cursorNames: Record<string, string> = {
  '/changes': 'after',
  '/history': 'before',
  '/history/:resource/:id': 'before',
  '/webhooks/:id/deliveries': 'before',
};

const lists = (['/api/v1', '/app'] as const).flatMap((prefix) =>
  routesBelow(service.app, `${prefix}/`)
    .filter(({ method, path }) => method === 'GET' && !/\.(csv|ndjson|xlsx)$|\/live$/.test(path))
    .map(({ path }) => ({ prefix, path: path.slice(prefix.length) })),
);

async function read(prefix: string, path: string, parameters: readonly string[]) {
  const url = `${path.replace(':resource', 'employee').replace(':id', ids.employee!)}?${parameters.filter(Boolean).join('&')}`;
  return prefix === '/app' ? person.call('GET', url) : service.get(url, { headers });
}

interface Page {
  data: unknown[];
  nextCursor: string | null;
  hasMore?: boolean;
}

/** The sizes of all pages. */
async function walk(prefix: string, path: string, parameters: readonly string[]): Promise<number[]> {
  const sizes: number[] = [];
  for (let cursor = ''; ; ) {
    const response = await read(prefix, path, [...parameters, cursor]);
    assert.equal(response.statusCode, 200, `${path}?${parameters}: ${response.body.slice(0, 200)}`);
    const { data, nextCursor, hasMore = nextCursor !== null }: Page = response.json();
    sizes.push(data.length);
    if (!hasMore) return sizes;
    assert.ok(data.length > 0, `${path}?${parameters}: an empty page that is not the last`);
    cursor = `${cursorNames[path] ?? 'cursor'}=${encodeURIComponent(nextCursor!)}`;
  }
}

const walked = new Set<string>();

for (const { prefix, path } of lists)
  test(`GET ${prefix}${path} has no empty page but the last`, async () => {
    const begin = [required[path] ?? ''];
    const first = await read(prefix, path, begin);
    // Other routes return one object, or need what this business does not have.
    if (first.statusCode !== 200 || !Object.hasOwn(first.json(), 'nextCursor')) return;
    walked.add(`${prefix}${path}`);
    const takesLimit = (await read(prefix, path, [...begin, 'limit=2'])).statusCode === 200;
    for (const query of ['', ...(queries[path] ?? [])]) {
      const sum = (sizes: readonly number[]) => sizes.reduce((one, other) => one + other, 0);
      const whole = await walk(prefix, path, [...begin, query, takesLimit ? 'limit=200' : '']);
      if (!takesLimit || path === '/audit' || path === '/requests') continue;
      const small = await walk(prefix, path, [...begin, query, 'limit=2']);
      assert.equal(sum(small), sum(whole), `${path}?${query}: ${small}`);
      assert.ok(
        small.slice(0, -1).every((size) => size > 0),
        `${path}?${query}: ${small}`,
      );
    }
  });

test('every list that the document describes was read', async () => {
  const { paths, components } = JSON.parse((await service.app.inject({ url: '/openapi.json' })).body);
  const nameOf = ({ name = '', $ref = '' }) => name || components.parameters[$ref.split('/').at(-1)!].name;
  const described = Object.keys(paths).filter((path) =>
    (paths[path].get?.parameters ?? []).some((parameter: object) =>
      ['cursor', 'after'].includes(nameOf(parameter)),
    ),
  );
  assert.ok(described.length > resources.length, String(described));
  assert.deepEqual(
    described.filter((path) => !walked.has(path)),
    [],
  );
  for (const path of ['/history', '/history/:resource/:id', '/audit', '/requests', '/deleted', '/attention'])
    assert.ok(walked.has(`/app${path}`), path);
});
