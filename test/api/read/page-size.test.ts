// A page ends at about 4 MB, however large its rows are, and the cursor goes on where it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { startService, validSite } from '../../helpers/service.ts';

const service = await startService({ BODY_LIMIT_BYTES: 8 * 1024 * 1024 });
const customerId = await service.createCustomer();
const pageBytes = 4 * 1024 * 1024;

/** Text that PostgreSQL cannot compress, or not at all where it is all alike. */
function fill(length: number, isAlike: boolean): string {
  if (isAlike) return 'x'.repeat(length);
  return Buffer.from(crypto.getRandomValues(new Uint8Array(Math.min(length, 60_000))))
    .toString('base64')
    .padEnd(length, '-')
    .slice(0, length);
}

const rowCount = 100;
const ids: string[] = [];
for (let row = 0; row < rowCount; row++) {
  const large = fill(80_000, row % 2 === 0);
  // One in a list and one in a text, which PostgreSQL measures in different ways.
  const place = { streetName: large, houseNumber: '1', zipCode: '20095', city: 'Hamburg' };
  const body = row % 4 < 2 ? { openingHours: [{ note: large }] } : { address: place };
  const answer = await service.post('/customer/site', { ...validSite(customerId), ...body });
  assert.equal(answer.statusCode, 201);
  ids.push(answer.json().id);
}

interface Page {
  data: { id: string }[];
  nextCursor: string | null;
  total?: number;
}

async function readAll(path: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.nextCursor) {
    const answer = await service.get(`${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    assert.equal(answer.statusCode, 200, answer.body.slice(0, 1000));
    assert.ok(Buffer.byteLength(answer.body) <= pageBytes + 1000, 'the page ends in time');
    pages.push(answer.json());
  }
  return pages;
}

for (const sort of ['createdAt', 'name', '-updatedAt']) {
  test(`fat rows by ${sort} are all on some page, each once, and the pages are as large as may be`, async () => {
    const pages = await readAll(`/sites?limit=500&count=true&sort=${sort}`);
    const found = pages.flatMap(({ data }) => data.map(({ id }) => id));
    assert.deepEqual(sort.startsWith('-') ? found.reverse() : found, ids);
    assert.equal(pages.length, Math.ceil((rowCount * 80_400) / pageBytes));
    assert.ok(pages.every(({ total }) => total === rowCount));
  });
}

test('a page of few fat rows ends at its limit', async () => {
  const [first] = await readAll('/sites?limit=10');
  assert.equal(first!.data.length, 10);
});

test('an export has fat rows all, too', async () => {
  const answer = await service.get('/sites.ndjson');
  const lines = answer.body.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).id),
    ids,
  );
});

test('a row that is larger than a page is a page of its own', async () => {
  const { key } = await service.createTenant();
  const options = { headers: { apikey: key } };
  const customer = await service.createCustomer({}, options);
  for (let row = 0; row < 3; row++) {
    const hours = { openingHours: [{ note: fill(5_000_000, true) }] };
    const answer = await service.post('/customer/site', { ...validSite(customer), ...hours }, options);
    assert.equal(answer.statusCode, 201);
  }
  const page: Page = (await service.get('/sites', options)).json();
  assert.equal(page.data.length, 1);
  const next = `/sites?cursor=${encodeURIComponent(page.nextCursor!)}`;
  assert.equal((await service.get(next, options)).json().data.length, 1);
});

test('changes and the history end at the same size', async () => {
  for (let turn = 0; turn < 30; turn++) {
    const answer = await service.patch(`/sites/${ids[0]}`, {
      openingHours: [{ turn, note: fill(150_000, false) }],
    });
    assert.equal(answer.statusCode, 200);
  }
  const changes: string[] = [];
  for (let after = '0', hasMore = true; hasMore; ) {
    const answer = await service.get(`/changes?limit=1000&after=${after}`);
    assert.ok(Buffer.byteLength(answer.body) <= pageBytes + 1000);
    const page = answer.json();
    changes.push(...page.data.map(({ cursor }: { cursor: string }) => cursor));
    ({ nextCursor: after, hasMore } = page);
  }
  assert.deepEqual(
    changes.map(Number),
    Array.from({ length: rowCount + 31 }, (_, index) => index + 1),
  );

  const person = await createPerson(service);
  const history = await person.call('GET', `/history/site/${ids[0]}?limit=200`);
  assert.ok(Buffer.byteLength(history.body) <= pageBytes + 1000);
  const { data, nextCursor } = history.json();
  assert.equal(nextCursor, data.at(-1).cursor);
  assert.ok(data.length > 5 && data.length < 31);
});
