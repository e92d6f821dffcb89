// A search finds and counts all that match, or says that it does not.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { get, owner, tenant } = service;

interface Stored {
  companyName: string;
  words: string[];
}

const kinds = ['Foyer', 'Atrium', 'Kanzlei'];
const streets = ['Ballindamm', 'Mühlenkamp'];
/** More than are compared by their texts. */
const customers = Array.from({ length: 2400 }, (_, number): Stored & { address: object } => {
  const address = {
    streetName: streets[number % 2]!,
    houseNumber: String(number % 40),
    zipCode: number % 3 === 0 ? '80331' : '22303',
    city: 'Hamburg',
  };
  const companyName = `${kinds[number % 3]} ${number}`;
  return { companyName, address, words: [companyName, ...Object.values(address)].join(' ').split(' ') };
});
customers.sort((one, other) => (one.companyName < other.companyName ? -1 : 1));

before(async () => {
  const lines = customers.map(({ companyName, address }) => ({
    type: 'customer',
    data: { companyName, address },
  }));
  const { summary } = await sendImport({ port: await listen(service.app), key: tenant.key }, lines);
  assert.equal(summary.created, customers.length);
});

/** Each asked word begins one of the object's. */
function expected(q: string): string[] {
  const asked = q.toLowerCase().split(' ');
  const isFound = ({ words }: Stored) =>
    asked.every((word) => words.some((own) => own.toLowerCase().startsWith(word)));
  return customers.filter(isFound).map(({ companyName }) => companyName);
}

/** All pages of a search, in the order of the names. */
async function page(path: string): Promise<{ names: string[]; totals: unknown[]; truncated: unknown[] }> {
  const found = { names: [] as string[], totals: [] as unknown[], truncated: [] as unknown[] };
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await get(`${path}&limit=500&count=true${cursor && `&cursor=${cursor}`}`);
    assert.equal(response.statusCode, 200, response.body);
    const body = response.json();
    found.names.push(...body.data.map((item: Stored) => item.companyName));
    found.totals.push(body.total);
    found.truncated.push(body.truncated);
    cursor = body.nextCursor;
  }
  return found;
}

const searches = [
  'hamburg',
  '80331',
  'foyer hamburg',
  'foyer 80331 ballindamm',
  'mühlenkamp 17',
  'kanzlei 1007',
  '1',
  '1 2',
  'h m 2 1',
  'atrium 80331',
];

for (const q of searches) {
  test(`all matches of "${q}" are counted and paged through`, async () => {
    const names = expected(q).toSorted();
    for (const sort of ['name', 'createdAt', '-updatedAt']) {
      const found = await page(`/customers?q=${encodeURIComponent(q)}&sort=${sort}`);
      assert.deepEqual(found.names.toSorted(), names, sort);
      assert.deepEqual(new Set(found.totals), new Set([names.length]));
      assert.deepEqual(new Set(found.truncated), new Set([undefined]));
    }
  });
}

test('a search within a filter counts what both leave', async () => {
  const { names, totals } = await page('/customers?q=foyer&city=Hamburg&status=ACTIVE&sort=name');
  assert.equal(names.length, customers.length / 3);
  assert.equal(totals[0], names.length);
  assert.equal((await get('/customers?q=foyer&city=Kiel&count=true')).json().total, 0);
});

test('a file holds all matches', async () => {
  const { body } = await get('/customers.ndjson?q=hamburg');
  assert.equal(body.split('\n').length - 1, customers.length);
});

test('a search with too many matches says so, and files of it are rejected', async () => {
  // More than are read for a word.
  await owner.query(
    `INSERT INTO search_word (tenant_id, resource, word, id)
     SELECT $1, 'customer:detail', 'zz' || number, id
     FROM generate_series(1, 100) AS number, (SELECT id FROM customer WHERE tenant_id = $1 LIMIT 1001) AS known`,
    [tenant.tenantId],
  );
  const found = await page('/customers?q=zz&sort=name');
  assert.deepEqual([found.totals[0], found.truncated[0]], [null, true]);
  assert.ok(found.names.length > 0 && found.names.length <= 1000);
  assert.equal('truncated' in (await get('/customers?q=foyer&count=true')).json(), false);
  assert.deepEqual((await get('/customers?q=zz&limit=1')).json().truncated, true);
  const person = await createPerson(service);
  for (const [language, message] of [
    ['en', 'Too many matches. Add a word, or use a filter instead.'],
    ['de', 'Zu viele Treffer. Bitte genauer suchen oder stattdessen filtern.'],
  ]) {
    const headers = { 'accept-language': language };
    for (const rejected of [
      await get('/customers.csv?q=zz', { headers }),
      await get('/customers.ndjson?q=zz', { headers }),
      await get('/customers.xlsx?q=zz', { headers }),
      await person.call('GET', '/tables/customers.csv?q=zz', undefined, { headers }),
    ]) {
      assert.equal(rejected.statusCode, 400, rejected.body.slice(0, 200));
      const [{ field, code, message: text }] = rejected.json().errors;
      assert.deepEqual([field, code, text], ['q', 'too_many_matches', message]);
    }
  }
  // A further word narrows it down.
  const narrowed = await page('/customers?q=zz5%20kanzlei%201007&sort=name');
  assert.equal(narrowed.truncated[0], undefined);
});
