import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineResource } from './definition.ts';
import { type Fields, text } from './fields.ts';

function define(fields: Fields, more: { uniqueFields?: string[]; nameField?: string } = {}) {
  return defineResource({
    name: 'vehicle',
    table: 'vehicle',
    path: '/vehicle',
    collection: 'vehicles',
    title: 'Vehicle',
    de: 'Fahrzeug',
    plural: { en: 'Vehicles', de: 'Fahrzeuge' },
    description: 'A van.',
    nameField: 'name',
    fields: { name: text({ de: 'Name', maxLength: 60, description: 'Name.' }), ...fields },
    example: { externalId: 'CAR-1' },
    ...more,
  });
}

const plate = { de: 'Kennzeichen', description: 'Licence plate.' };
const refusal = /^Error: vehicle: "plate" is indexed and needs a maxLength of at most 600/;

test('a text filter without maxLength is refused', () => {
  assert.throws(() => define({ plate: text({ ...plate, filter: 'whole' }) }), refusal);
  assert.doesNotThrow(() => define({ plate: text({ ...plate, filter: 'whole', maxLength: 600 }) }));
  assert.doesNotThrow(() => define({ plate: text({ ...plate, filter: 'start' }) }));
  assert.doesNotThrow(() => define({ plate: text(plate) }));
});

test('a unique text and the text that lists sort by need a maxLength that an index entry holds', () => {
  for (const field of [
    text(plate),
    text({ ...plate, maxLength: 601 }),
    text({ ...plate, filter: 'start' }),
  ]) {
    assert.throws(() => define({ plate: field }, { uniqueFields: ['plate'] }), refusal);
    assert.throws(() => define({ plate: field }, { nameField: 'plate' }), refusal);
  }
});
