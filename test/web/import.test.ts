// The shared rules on the real definitions, as the web app and the command line get them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Definition } from '../../core/definition/definition.ts';
import {
  columnsOf,
  findDefinition,
  guessColumns,
  guessDefinition,
  matchTitles,
  missingColumns,
} from '../../core/table/columns.ts';
import { contradictionsIn, guessesIn, isLeftOut, nameKey, toLine } from '../../core/table/import-lines.ts';
import { buildNameSearch, planLines } from '../../core/table/table-import.ts';
import { describeDefinition } from '../../server/engine/definition/description.ts';
import { resources } from '../../server/resources/index.ts';

const own = resources.map(describeDefinition);
/** As the web app gets them. */
const definitions: Definition[] = JSON.parse(JSON.stringify(own));

function definitionOf(name: string): Definition {
  return definitions.find((definition) => definition.name === name)!;
}

describe('the import of a file', () => {
  test('makes of any cells the same line in the web app and at the command line', () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.double({ noNaN: true }).map(String),
      fc.constantFrom('ja', '1.234,5', '31.12.2026', 'aktiv', "'=1", '[{"a":1.10}]', '', ' '),
    );
    for (const [index, definition] of definitions.entries()) {
      const [webColumns, serverColumns] = [columnsOf(definition), columnsOf(own[index]!)];
      const cells = fc.array(cell, { minLength: webColumns.length, maxLength: webColumns.length });
      fc.assert(
        fc.property(cells, fc.constantFrom(',', '.'), (row, mark) => {
          assert.equal(
            toLine({ type: definition.name, columns: webColumns, mark }, row),
            toLine({ type: own[index]!.name, columns: serverColumns, mark }, row),
          );
        }),
        { numRuns: 50 },
      );
    }
  });

  test('knows every title of a template in both languages, each for one field, and the resource by them', () => {
    for (const definition of definitions) {
      for (const language of ['de', 'en'] as const) {
        const columns = columnsOf(definition);
        const titles = columns.map((column) => column.titles[language]);
        const paths = columns.map(({ path }) => path);
        for (const match of [matchTitles, guessColumns]) {
          assert.deepEqual(
            match(definition, titles).map((column) => column?.path),
            paths,
          );
        }
        assert.equal(guessDefinition(definitions, titles)?.name, definition.name);
        assert.equal(findDefinition(definitions, titles)?.name, definition.name);
      }
    }
  });

  test('calls members by all of their titles, and abbreviations by their capitals', () => {
    const titleOf = (name: string, path: string) =>
      columnsOf(definitionOf(name)).find((column) => column.path === path)?.titles;
    assert.deepEqual(titleOf('site', 'address.location.lat'), {
      de: 'Adresse Position Breitengrad',
      en: 'Address location latitude',
    });
    assert.equal(titleOf('product', 'vatRate')?.en, 'VAT rate');
    assert.deepEqual(titleOf('site', 'customerExternalId'), {
      de: 'Kunde externe ID',
      en: 'Customer external id',
    });
  });

  test('guesses what offices call things', () => {
    const titles = ['KdNr', 'Kunde', 'Str.', 'Hausnr.', 'Postleitzahl', 'Stadt', 'Tel.', 'Umsatz', 'Fehler'];
    assert.deepEqual(
      guessColumns(definitionOf('customer'), titles).map((column) => column?.path),
      [
        ...['customerNumber', 'companyName', 'address.streetName', 'address.houseNumber', 'address.zipCode'],
        ...['address.city', 'phone', undefined, undefined],
      ],
    );
    assert.equal(guessDefinition(definitions, titles)?.name, 'customer');
    assert.equal(findDefinition(definitions, titles), undefined, 'the command line does not guess');
  });

  test('guesses the titles of other programs, of all resources', () => {
    const guessed: Record<string, [title: string, path: string][]> = {
      customer: [
        ['Debitor', 'customerNumber'],
        ['Name 1', 'companyName'],
        ['Straße/Hausnr.', 'address.streetName+houseNumber'],
        ['PLZ/Ort', 'address.zipCode+city'],
        ['Tel.', 'phone'],
        ['E-Mail-Adresse', 'email'],
      ],
      'contact-person': [
        ['Kd-Nr.', 'customerId.name'],
        ['Ansprechpartner', 'firstName+lastName'],
        ['Handynummer', 'mobile'],
        ['Abteilung', 'role'],
      ],
      contract: [
        ['Kundennr', 'customerId.name'],
        ['Vertragsbeginn', 'startDate'],
        ['Laufzeit bis', 'endDate'],
        ['Zahlweise', 'billingInterval'],
        ['Vertragsart', 'type'],
      ],
      employee: [
        ['Pers.-Nr.', 'employeeNumber'],
        ['Mitarbeiter', 'firstName+lastName'],
      ],
      product: [
        ['Art.-Nr.', 'articleNumber'],
        ['Artikelbezeichnung', 'name'],
        ['Warengruppe', 'kind'],
        ['VK netto', 'netPrice'],
        ['MwSt %', 'vatRate'],
      ],
      site: [
        ['Auftraggeber', 'customerId.name'],
        ['Objekt', 'name'],
        ['Schlüssel vorh.', 'hasKey'],
        ['Turnus', 'attendingIntervals'],
        ['Betreuer', 'assignedEmployeeId.name'],
      ],
      container: [
        ['Objekt', 'siteId.name'],
        ['Ø', 'diameterInCm'],
        ['Inventar-Nr.', 'labelCode'],
        ['Liter', 'volumeInLitres'],
      ],
      plant: [
        ['Einsatzort', 'siteId.name'],
        ['Pflanzenart', 'botanicalName'],
        ['Etage', 'floor'],
        ['Stk.', 'quantity'],
        ['Pflanzdatum', 'plantedOn'],
      ],
    };
    for (const [name, pairs] of Object.entries(guessed)) {
      const titles = pairs.map(([title]) => title);
      assert.deepEqual(
        guessColumns(definitionOf(name), titles).map((column) => column?.path),
        pairs.map(([, path]) => path),
        name,
      );
    }
  });

  test('takes two fields from one cell, a value for all rows, and what a person chose for a name', () => {
    const site = definitionOf('site');
    const columns = guessColumns(site, ['Objekt', 'Kunde', 'Straße/Hausnr.', 'PLZ/Ort']);
    assert.deepEqual(
      missingColumns(site, columns).map((some) => some.map(({ path }) => path)),
      [['needsAppointment'], ['hasKey']],
    );
    const names = new Map([
      [nameKey('customerId.name', 'Möller'), ['0192'] as readonly string[]],
      [nameKey('customerId.name', 'Alt'), 'skip' as const],
      [nameKey('customerId.name', '?'), 'empty' as const],
    ]);
    const plan = { type: 'site', columns, mark: undefined, names, fixed: { hasKey: true } };
    const line = (customer: string) =>
      JSON.parse(toLine(plan, ['Foyer', customer, 'Weg 3 b', '26122 Oldenburg'])).data;
    assert.deepEqual(line('moeller'), {
      hasKey: true,
      name: 'Foyer',
      customerId: '0192',
      address: { streetName: 'Weg', houseNumber: '3 b', zipCode: '26122', city: 'Oldenburg' },
    });
    assert.equal('customerId' in line('?'), false);
    assert.deepEqual(
      ['Alt', 'moeller'].map((customer) => isLeftOut(plan, ['Foyer', customer, '', ''])),
      [true, false],
    );
  });

  test('rejects a row whose number and name belong to different objects', () => {
    const site = definitionOf('site');
    const columns = guessColumns(site, ['Objekt', 'Kunden-Nr.', 'Firma']);
    const rows = [
      ['Foyer', 'K-1', 'Blau AG'],
      ['Foyer', 'K-1', 'Gruen GMBH'],
      ['Foyer', 'K-1', 'Grün'],
      ['Foyer', 'K-1', ''],
      ['Foyer', '', 'Blau AG'],
    ];
    const search = buildNameSearch(columns);
    for (const row of rows) search.push(row);
    assert.deepEqual(
      search.end().map(({ name, rows }) => [name, rows]),
      [
        ['K-1', 4],
        ['Blau AG', 1],
        ['Gruen GMBH', 0],
        ['Grün', 0],
      ],
    );
    const ids: [string, string[]][] = [
      ['K-1', ['g']],
      // Two customers have this name.
      ['Grün GmbH', ['h', 'g']],
      ['Blau AG', ['b']],
    ];
    const names = new Map(ids.map(([name, found]) => [nameKey('customerId.name', name), found]));
    const plan = { type: 'site', columns, mark: undefined, names };
    assert.deepEqual(
      rows.map((row) => [JSON.parse(toLine(plan, row)).data.customerId, contradictionsIn(plan, row)]),
      [
        ['K-1 ≠ Blau AG', ['customerId']],
        ['g', []],
        ['g', []],
        ['g', []],
        ['b', []],
      ],
    );
  });

  test('the other name in a row decides where the first one is unknown or means several, and it is shown', () => {
    const definition = definitionOf('site');
    const columns = guessColumns(definition, ['Objekt', 'Kunde', 'Kd-Nr.']);
    const ids: [string, string[]][] = [
      ['K-1', ['a']],
      ['K-2', ['b']],
      ['Praxis Nord', ['a', 'b', 'c']],
      ['Blau AG', ['d', 'e']],
    ];
    const names = new Map(ids.map(([name, found]) => [nameKey('customerId.name', name), found]));
    const facts = { shortZips: new Set<string>(), monthFirst: new Set<number>() };
    const plan = (refused: string[]) =>
      planLines({
        ...{ definition, columns, facts, names, refused: new Set(refused) },
        ...{ table: { thousandsMark: undefined, onlyYes: [] }, language: 'de' },
      });
    const rows = [
      ['Foyer', 'Praxis Nord', 'K-2'],
      ['Foyer', 'Praxis', 'K-1'],
      ['Foyer', 'Blau AG', 'K-1'],
      ['Foyer', 'Praxis', 'K-9'],
    ];
    const read = (refused: string[]) =>
      rows.map((row) => [
        JSON.parse(toLine(plan(refused), row)).data.customerId,
        guessesIn(plan(refused), row).get(1)?.shown,
      ]);
    assert.deepEqual(read([]), [
      ['b', 'K-2'],
      ['a', 'K-1'],
      ['Blau AG', undefined],
      ['Praxis', undefined],
    ]);
    assert.deepEqual(
      read(['otherName customerId.name']).map(([customerId]) => customerId),
      ['Praxis Nord', 'Praxis', 'Blau AG', 'Praxis'],
    );
  });

  test('takes house number and salutation from columns that hold more than their title says', () => {
    const customer = definitionOf('customer');
    const columns = guessColumns(customer, ['Firma', 'Straße', 'PLZ', 'Ort']);
    assert.deepEqual(missingColumns(customer, columns), []);
    const address = (street: string) =>
      JSON.parse(toLine({ type: 'customer', columns, mark: undefined }, ['A', street, '="01067"', 'Dresden']))
        .data.address;
    assert.deepEqual(address('Am Lindenplatz 4-6'), {
      streetName: 'Am Lindenplatz',
      houseNumber: '4-6',
      zipCode: '01067',
      city: 'Dresden',
    });
    assert.equal(address('Postfach 1234').houseNumber, '');
    const withNumbers = guessColumns(customer, ['Firma', 'Straße', 'Hausnr.', 'PLZ', 'Ort']);
    assert.equal(withNumbers[1]?.path, 'address.streetName');
    const person = definitionOf('contact-person');
    const line = (title: string) => {
      const plan = { type: 'contact-person', columns: guessColumns(person, [title]), mark: undefined };
      return JSON.parse(toLine(plan, ['Frau Dr. Petersen'])).data;
    };
    assert.deepEqual(line('Vorname und Nachname'), { lastName: 'Dr. Petersen', salutation: 'MRS' });
  });

  test('an empty cell says no where all others say yes, but not in the row of a stored object', () => {
    const columns = guessColumns(definitionOf('site'), ['Id', 'Objekt', 'Schlüssel', 'Termin nötig']);
    const plan = { type: 'site', columns, mark: undefined, onlyYes: [false, false, true, false] };
    const data = (id: string) => JSON.parse(toLine(plan, [id, 'Foyer', null, null])).data;
    assert.deepEqual(data(''), { name: 'Foyer', hasKey: false });
    assert.equal(data('0192').hasKey, null);
  });

  test('fills each field once, and prefers its own title to a guess', () => {
    const titles = ['Notiz', 'Bemerkung', 'Comment', 'Tel.', 'Tel'];
    assert.deepEqual(
      guessColumns(definitionOf('customer'), titles).map((column) => column?.path),
      [undefined, 'comment', undefined, 'phone', undefined],
    );
    assert.deepEqual(
      matchTitles(definitionOf('customer'), titles).map((column) => column?.path),
      [undefined, 'comment', 'comment', undefined, undefined],
    );
  });

  test('says what every row needs and no column brings', () => {
    const titles = ['Name', 'Straße', 'Ort', 'Kunde externe ID', 'Breitengrad'];
    const site = definitionOf('site');
    assert.deepEqual(
      missingColumns(site, guessColumns(site, titles)).map((some) => some.map(({ path }) => path)),
      [['address.zipCode'], ['needsAppointment'], ['hasKey']],
    );
  });
});
