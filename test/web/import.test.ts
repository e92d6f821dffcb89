// The web app keeps rules of its own for the cells and titles of a file, since it shares no code with the server.
// They are the command line's.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Fastify from 'fastify';
import { guardText, unguardText } from '../../server/crud/csv.ts';
import { columnsOf as serverColumns } from '../../server/crud/definition.ts';
import { toFieldValue } from '../../server/import/csv-cells.ts';
import { csvColumnsOf, guessResource, matchTitles } from '../../server/import/csv-columns.ts';
import { resources } from '../../server/resources/index.ts';
import { definitionRoutes } from '../../server/routes/definitions.ts';
import type { Definition } from '../../web/src/api/definition.ts';
import * as cells from '../../web/src/import/cells.ts';
import * as columns from '../../web/src/import/columns.ts';

const app = Fastify();
await app.register(definitionRoutes, { resources });
const definitions: Definition[] = (await app.inject('/definitions')).json();

const samples: (string | null)[] = [
  ...['a;=1', "a,'+1,-2", '\t=1', "'\t'=1", "a\r\n''@x", 'a;＝1', '[1,-2]', "[1,'-2]"],
  ...[
    null,
    '',
    ' ',
    'x',
    'ja',
    'NEIN',
    'wahr',
    '0',
    '1',
    '12',
    '-3',
    '+4',
    '007',
    '1,5',
    '1.5',
    '1.234',
    '1,234',
  ],
  ...['1.234,50', '1,234.50', '12.345.678', '1e3', '1,', '.5', '5 %', '31.12.2026', '1.2.2026', '2026-12-31'],
  ...[
    '31.12.26',
    'aktiv',
    'ACTIVE',
    ' Aktiv ',
    'Hydroculture',
    "'=1+1",
    "'t Hoekje",
    '=1',
    '[{"a":1.10}]',
    '[1',
    '{}',
  ],
  ...['0198C0DE-0000-7000-8000-000000000001', ' text ', '53,5503', '9.992'],
];

describe('the import of the web app', () => {
  test('has the columns and titles of the command line', () => {
    for (const [index, definition] of definitions.entries()) {
      const own = columns.columnsOf(definition).map(({ path, titles }) => ({ path, titles }));
      const theirs = csvColumnsOf(resources[index]!).map(({ path, titles }) => ({
        path: path.join('.'),
        titles,
      }));
      assert.deepEqual(own, theirs);
    }
  });

  test('understands every cell as the command line does', () => {
    for (const [index, definition] of definitions.entries()) {
      const own = new Map(columns.columnsOf(definition).map(({ path, field }) => [path, field]));
      for (const { path, field } of serverColumns(resources[index]!.fields)) {
        for (const sample of samples) {
          // A required choice without a value is refused by both; the web app leaves it out, and "required" says more.
          if (sample === null && field.choiceTitles) continue;
          for (const mark of [',', '.'] as const) {
            const place = `${definition.name} ${path.join('.')} ${JSON.stringify(sample)} ${mark}`;
            const mine = JSON.stringify(cells.toFieldValue(own.get(path.join('.'))!, sample, mark));
            const theirs = JSON.stringify(toFieldValue(field, sample, mark));
            // Within lists a number may be written in another way, as long as it is the same.
            if (field.kind === 'list' && mine) assert.deepEqual(JSON.parse(mine), JSON.parse(theirs), place);
            else assert.equal(mine, theirs, place);
          }
        }
      }
    }
  });

  test('guards texts that look like formulas alike', () => {
    for (const sample of samples.filter((one) => one !== null)) {
      assert.equal(cells.guardText(sample), guardText(sample));
      assert.equal(cells.unguardText(sample), unguardText(sample));
    }
  });

  test('knows every title that the command line knows, and guesses the same resource', () => {
    for (const [index, definition] of definitions.entries()) {
      const resource = resources[index]!;
      for (const language of ['de', 'en'] as const) {
        const titles = csvColumnsOf(resource).map((column) => column.titles[language]);
        const own = columns.matchTitles(definition, titles).map((column) => column?.path);
        assert.deepEqual(
          own,
          matchTitles(resource, titles).map((column) => column?.path.join('.')),
        );
        assert.equal(
          columns.guessDefinition(definitions, titles)?.name,
          guessResource(resources, titles)?.name,
        );
      }
    }
  });

  test('guesses what offices call things', () => {
    const customer = definitions.find(({ name }) => name === 'customer')!;
    const titles = ['KdNr', 'Kunde', 'Str.', 'Hausnr.', 'Postleitzahl', 'Stadt', 'Tel.', 'Umsatz', 'Fehler'];
    assert.deepEqual(
      columns.matchTitles(customer, titles).map((column) => column?.path),
      [
        ...['customerNumber', 'companyName', 'address.streetName', 'address.houseNumber', 'address.zipCode'],
        ...['address.city', 'phone', undefined, undefined],
      ],
    );
    assert.equal(columns.guessDefinition(definitions, titles)?.name, 'customer');
  });

  test('says what every row needs and no column brings', () => {
    const site = definitions.find(({ name }) => name === 'site')!;
    const titles = ['Name', 'Straße', 'Ort', 'Kunde externe Id', 'Breitengrad'];
    const missing = columns.missingColumns(site, columns.matchTitles(site, titles));
    assert.deepEqual(
      missing.map((some) => some.map(({ path }) => path)),
      [['address.zipCode'], ['needsAppointment'], ['hasKey']],
    );
  });
});
