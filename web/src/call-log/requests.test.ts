import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Definition, type Field, leavesOf } from '../../../core/definition/definition.ts';
import { toBodyLines } from './body-lines.ts';
import { isRepaired, ownerNamesOf, toCorrection } from './correction.ts';
import { axisTop, toBuckets } from './hour-buckets.ts';

describe('the chart of requests', () => {
  const count = (hour: string, requests: number) => ({
    hour,
    requests,
    refusals: 1,
    failures: 0,
    unrecorded: 0,
  });

  test('has a bar for every hour, also for those without a call', () => {
    const from = new Date('2026-11-15T06:00:00Z');
    const buckets = toBuckets(
      [count('2026-11-15T07:00:00.000Z', 5)],
      from,
      new Date('2026-11-15T08:30:00Z'),
      false,
    );
    assert.deepEqual(
      buckets.map(({ requests }) => requests),
      [0, 5, 0],
    );
  });

  test('adds up the hours of a day', () => {
    const from = new Date(2026, 10, 13, 9);
    const hours = [
      count(new Date(2026, 10, 14, 0).toISOString(), 2),
      count(new Date(2026, 10, 14, 23).toISOString(), 3),
    ];
    const buckets = toBuckets(hours, from, new Date(2026, 10, 15, 1), true);
    assert.deepEqual(
      buckets.map(({ requests, refusals }) => [requests, refusals]),
      [
        [0, 0],
        [5, 2],
        [0, 0],
      ],
    );
  });

  test('has a round number at its top', () => {
    assert.deepEqual(
      [0, 3, 5, 11, 20, 21, 99, 101, 4567].map(axisTop),
      [4, 4, 5, 20, 20, 40, 100, 200, 5000],
    );
  });
});

describe('a recorded body', () => {
  test('is shown line by line with the field of each, and numbers as they were written', () => {
    assert.deepEqual(toBodyLines('{"name":"x","address":{"zip":1.50},"list":[{}]}'), [
      { text: '{', depth: 0, path: '' },
      { text: '"name": "x",', depth: 1, path: 'name' },
      { text: '"address": {', depth: 1, path: 'address' },
      { text: '"zip": 1.50', depth: 2, path: 'address.zip' },
      { text: '},', depth: 1, path: '' },
      { text: '"list": [', depth: 1, path: 'list' },
      { text: '{}', depth: 2, path: 'list.0' },
      { text: ']', depth: 1, path: '' },
      { text: '}', depth: 0, path: '' },
    ]);
  });

  test('fills a form with values of any type', () => {
    const field = (path: string, kind: Field['kind'], more: Partial<Field> = {}): Field => ({
      name: path.split('.').at(-1)!,
      path,
      kind,
      title: { de: path, en: path },
      isRequired: false,
      description: '',
      ...more,
    });
    const definition = {
      fields: [
        field('customerId', 'uuid', { reference: { resources: ['customer'], isOwner: true } }),
        field('name', 'text'),
        field('fee', 'decimal'),
        field('validFrom', 'date'),
        field('hasKey', 'flag'),
        field('hours', 'list'),
        field('status', 'choice', { choices: [{ value: 'ACTIVE', title: { de: 'Aktiv', en: 'Active' } }] }),
        field('timeZone', 'text', { default: 'Europe/Berlin' }),
        field('address', 'group', { fields: [field('address.zipCode', 'text')] }),
      ],
    } as unknown as Definition;
    const body = `{"customerExternalId":"E-1","name":{"a":1},"fee":10.10,"validFrom":"31.12.2026","hasKey":"ja","hours":[{"n":2}],
      "status":"AKTIV","address":{"zipCode":20095},"other":1}`;
    assert.deepEqual(toCorrection(definition, body, new Map([['customerId', 'id of E-1']])), {
      customerId: 'id of E-1',
      name: '{"a":"1"}',
      fee: '10.10',
      validFrom: '2026-12-31',
      hours: [{ n: 2 }],
      timeZone: 'Europe/Berlin',
      address: { zipCode: '20095' },
    });
    const isFine = (path: string, code: string, sent: unknown, shown: unknown) =>
      isRepaired(leavesOf(definition.fields).find((leaf) => leaf.path === path)!, { code, sent, shown }, ',');
    assert.equal(isFine('address.zipCode', 'type', 20095, '20095'), true);
    assert.equal(isFine('name', 'type', { a: 1 }, '{"a":1}'), false);
    assert.equal(isFine('validFrom', 'invalid_date', '31.12.2026', '2026-12-31'), true);
    assert.equal(isFine('validFrom', 'invalid_date', '31.02.2026', '31.02.2026'), false);
    assert.equal(isFine('validFrom', 'date_order', '2026-12-31', '2026-12-31'), false);
    assert.equal(isFine('fee', 'type', '12,50 €', '12,50 €'), true);
    assert.equal(isFine('fee', 'type', 'zwölf', 'zwölf'), false);
    assert.deepEqual([...ownerNamesOf(definition)], [['customerExternalId', 'customerId']]);
  });
});
