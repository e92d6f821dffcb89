import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition, Field } from '../api/definitions.ts';
import {
  findLocalErrors,
  parseNumber,
  startValues,
  toNewBody,
  toPatch,
  toTime,
  toValues,
} from './form-values.ts';

function field(name: string, kind: Field['kind'], more: Partial<Field> = {}): Field {
  return {
    name,
    path: name,
    kind,
    title: { de: name, en: name },
    isRequired: false,
    description: '',
    ...more,
  };
}

const definition: Definition = {
  name: 'thing',
  collection: 'things',
  path: '/thing',
  title: { de: 'Ding', en: 'Thing' },
  plural: { de: 'Dinge', en: 'Things' },
  nameField: 'name',
  description: '',
  fields: [
    field('name', 'text', { isRequired: true }),
    field('address', 'group', {
      fields: [
        field('houseNumber', 'text', { path: 'address.houseNumber', isRequired: true, isBlankAllowed: true }),
        field('location', 'group', {
          path: 'address.location',
          fields: [field('lat', 'double', { path: 'address.location.lat' })],
        }),
      ],
    }),
    field('fee', 'decimal'),
    field('hasKey', 'flag', { isRequired: true }),
    field('unit', 'text', { default: 'H87' }),
    field('comment', 'text'),
    field('hours', 'list'),
    field('ownerId', 'uuid', { reference: { resources: ['owner'], isOwner: true } }),
  ],
  uniqueFields: [],
  requiredOneOf: [],
  dateOrders: [],
  searchedBy: { names: [], fields: [], codes: [], phones: [], through: [] },
  careFields: [],
  sorts: [],
  filters: [{ name: 'ownerId', path: 'ownerId', kind: 'several' }],
  emptiable: [],
};

test('numbers are read as the language writes them, and stay exact', () => {
  assert.equal(parseNumber('24,90', ','), '24.90');
  assert.equal(parseNumber('1.234,5', ','), '1234.5');
  assert.equal(parseNumber('1.234', ','), '1234');
  assert.equal(parseNumber('24.90', ','), '24.90');
  assert.equal(parseNumber('1,234.5', '.'), '1234.5');
  assert.equal(parseNumber('007', ','), '7');
  assert.equal(parseNumber('-0,5', ','), '-0.5');
  assert.equal(parseNumber('12345678901234567890,123', ','), '12345678901234567890.123');
  for (const text of ['', 'zwölf', '1,2,3', '1e5', '--1', '.'])
    assert.equal(parseNumber(text, ','), undefined);
});

test('a decimal is sent with every digit that was typed', () => {
  const values = { ...startValues(definition, ',', {}), name: 'x', fee: '12345678901234567890,10' };
  assert.match(JSON.stringify(toNewBody(definition, values, ',')), /"fee":12345678901234567890\.10[,}]/);
});

test('a new object has its defaults, what it was begun with, and nothing that was left empty', () => {
  const values = startValues(definition, ',', { ownerId: 'abc', strange: 'x' });
  assert.deepEqual(
    JSON.parse(JSON.stringify(toNewBody(definition, { ...values, name: 'x', comment: '  ' }, ','))),
    {
      name: 'x',
      address: { houseNumber: '' },
      hasKey: false,
      unit: 'H87',
      hours: [],
      ownerId: 'abc',
    },
  );
});

test('a patch holds what was changed, and null for what was cleared', () => {
  const stored = { name: 'x', address: { houseNumber: '1', location: { lat: 1.5 } }, fee: 2, hasKey: true };
  const before = toValues(definition, stored, ',');
  assert.equal(before['address.location.lat'], '1,5');
  assert.deepEqual(toPatch(definition, before, before, ','), {});
  const now = { ...before, 'address.location.lat': '', 'address.houseNumber': '', fee: '2,5' };
  assert.deepEqual(JSON.parse(JSON.stringify(toPatch(definition, before, now, ','))), {
    address: { houseNumber: '', location: { lat: null } },
    fee: 2.5,
  });
});

test('the form finds an invalid number, an incomplete time and days in the wrong order, and sends numbers as typed', () => {
  const values = startValues(definition, ',', {});
  const errors = findLocalErrors(
    definition,
    { ...values, fee: 'viel', hours: [{ dayOfWeek: 'MONDAY', opens: '8', closes: '17:00' }] },
    ',',
  );
  assert.deepEqual(
    [...errors],
    [
      ['fee', 'form.number'],
      ['hours', 'form.times'],
    ],
  );
  const body = toNewBody(definition, { ...values, fee: ' viel ' }, ',');
  assert.equal(JSON.parse(JSON.stringify(body)).fee, 'viel');
  const backwards = [{ frequency: 'WEEKLY', startDate: '2026-03-02', endDate: '2026-03-01' }];
  assert.deepEqual(
    [...findLocalErrors(definition, { ...values, hours: backwards }, ',')],
    [['hours', 'form.days']],
  );
  const strange = [{ rhythmus: '14-tägig' }, { opens: 8 }, { endDate: 'x', startDate: 'y' }, null];
  assert.equal(findLocalErrors(definition, { ...values, hours: strange }, ',').size, 0);
});

test('times are understood as offices type them', () => {
  const read = {
    '8': '08:00',
    '830': '08:30',
    '8:30': '08:30',
    '8.30': '08:30',
    '1730': '17:30',
    '24': '24:00',
  };
  for (const [typed, time] of Object.entries(read)) assert.equal(toTime(typed), time);
  for (const typed of ['25', '8:75', '24:30', 'früh', '']) assert.equal(toTime(typed), typed);
});
