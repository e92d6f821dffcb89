// Every way to write an object keeps its words, and a write that leaves its words alone touches none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldText } from '../../../core/search-match.ts';
import { fillMissingWords } from '../../../server/engine/write/search-words.ts';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { resources } from '../../../server/resources/index.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const { owner, post, patch, put } = service;
const port = await listen(service.app);

async function assertWords(): Promise<void> {
  const findings = await checkConsistency(owner, resources);
  assert.deepEqual(findings.find(({ check }) => check === 'words')!.examples, []);
}

/** Which transaction wrote each word: a word that is written again has another one. */
async function wordsOf(id: string): Promise<Record<string, string>> {
  const { rows } = await owner.query<{ word: string; writer: string }>(
    'SELECT word, xmin::text AS writer FROM search_word WHERE id = $1 ORDER BY word',
    [id],
  );
  return Object.fromEntries(rows.map(({ word, writer }) => [word, writer]));
}

async function importLines(lines: object[], mode = 'each'): Promise<void> {
  const target = { port, key: service.tenant.key, query: `?mode=${mode}` };
  const { results } = await sendImport(target, lines);
  assert.deepEqual(
    results.filter(({ status }) => status === 'error'),
    [],
  );
}

test('each way to write an object keeps its words', async () => {
  const customerId = await service.createCustomer({ externalId: 'w1', companyName: 'Hotel Hotel Elbblick' });
  await assertWords();
  const { id: siteId } = (await post('/customer/site', validSite(customerId))).json();
  assert.equal(
    (await patch(`/customers/${customerId}`, { companyName: 'Pension Elbblick' })).statusCode,
    200,
  );
  await assertWords();
  const upsert = { ...validCustomer, companyName: 'Gasthof Elbblick' };
  assert.equal((await put('/customers/by-external-id/w1', upsert)).statusCode, 200);
  await assertWords();
  assert.equal((await patch('/customers/by-external-id/w1', { companyName: 'Motel' })).statusCode, 200);
  await assertWords();
  for (const [mode, name] of [
    ['each', 'Rezeption'],
    ['all-or-nothing', 'Empfang'],
  ]) {
    await importLines(
      [
        { type: 'customer', data: { ...validCustomer, externalId: 'w1', companyName: `Haus ${name}` } },
        { type: 'customer', data: { ...validCustomer, externalId: `new ${mode}`, companyName: name } },
        {
          type: 'site',
          data: {
            ...validSite(customerId),
            customerId: undefined,
            customerExternalId: 'w1',
            name,
            externalId: 's1',
          },
        },
      ],
      mode,
    );
    await assertWords();
  }
  assert.equal((await service.delete(`/sites/${siteId}`)).statusCode, 204);
  await assertWords();
  assert.equal((await service.delete('/customers/by-external-id/w1?cascade=true')).statusCode, 200);
  await assertWords();
  assert.deepEqual(await wordsOf(customerId), {});
});

test('a write that leaves the words alone touches none, and one that changes a word touches only that', async () => {
  const body = { ...validCustomer, externalId: 'still', companyName: 'Hotel Alsterblick' };
  const id = await service.createCustomer(body);
  const words = await wordsOf(id);
  assert.ok(words.hotel);
  await patch(`/customers/${id}`, { comment: 'Hotel' });
  await put('/customers/by-external-id/still', { ...body, comment: 'again' });
  await importLines([{ type: 'customer', data: { ...body, comment: 'imported' } }]);
  const { version } = (await service.get(`/customers/${id}`)).json();
  assert.equal(version, 4);
  assert.deepEqual(await wordsOf(id), words);
  await patch(`/customers/${id}`, { companyName: 'Hotel Elbblick' });
  const { alsterblick, ...kept } = words;
  const { elbblick, ...rest } = await wordsOf(id);
  assert.ok(alsterblick && elbblick);
  assert.deepEqual(rest, kept);
});

test('a service writes the words that a restore left out, and stops when none is left', async () => {
  const { tenantId, key } = await service.createTenant();
  const headers = { apikey: key };
  for (let count = 0; count < 3; count++)
    await service.createCustomer({ companyName: `Gärtnerei ${count}` }, { headers });
  await owner.query('DELETE FROM search_word WHERE tenant_id = $1', [tenantId]);
  await owner.query(`INSERT INTO missing_words (tenant_id, resource) VALUES ($1, 'customer'), ($1, 'site')`, [
    tenantId,
  ]);
  await fillMissingWords(service.database, resources);
  await assertWords();
  const { rowCount } = await owner.query('SELECT FROM missing_words');
  assert.equal(rowCount, 0);
  const { data } = (await service.get('/customers?q=ballindamm', { headers })).json();
  assert.equal(data.length, 3);
});

test('the database and the web app fold every letter alike', async () => {
  const texts = [
    // Latin of Europe, Turkey and Vietnam, and the accents that follow their letter.
    ...[
      [0x20, 0x24f],
      [0x300, 0x36f],
      [0x1e00, 0x1eff],
    ].flatMap(([first = 0, last = 0]) =>
      Array.from({ length: last - first + 1 }, (_, place) => `a${String.fromCodePoint(first + place)}b`),
    ),
    'ŞİMŞEK Işık',
    'Müller Mueller MÜLLER Straße STRAẞE',
    'Łódź Ångström Đoković Þór'.normalize('NFD'),
    'Œuvre Æble ﬁn Əliyev\u00a0AG ΟΔΟΣ οδος',
  ];
  const { rows } = await owner.query<{ folded: string; knowsCase: boolean }>(
    `SELECT fold(text) AS folded, lower('Ɓ') = 'ɓ' AS "knowsCase" FROM unnest($1::text[]) WITH ORDINALITY AS sent (text, place) ORDER BY place`,
    [texts],
  );
  assert.deepEqual(
    // In a database with the locale C, letters that are in no list keep their case.
    rows.map(({ folded, knowsCase }) =>
      knowsCase ? folded : folded.replace(/[^\0-\x7f]/g, (letter) => letter.toLowerCase()),
    ),
    texts.map(foldText),
  );
  assert.deepEqual(['Aydın', 'ŞİMŞEK', 'Łódź', 'Nguyễn', 'Müller', 'Mueller'].map(foldText), [
    'aydin',
    'simsek',
    'lodz',
    'nguyen',
    'muller',
    'muller',
  ]);
});
