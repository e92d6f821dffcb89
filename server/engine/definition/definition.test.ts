import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentRecord } from '../write/statement-parts.ts';
import { buildRead } from '../write/statements.ts';
import { defineResource } from './definition.ts';
import { type Fields, group, owner, text } from './fields.ts';

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

const anyText = text({ de: 'Text', description: 'Any text.' });

test('a field whose column every table or statement has is refused', () => {
  const sql = sentRecord(define({})) + buildRead(define({})).text;
  const recordColumns = sql.match(/\b[a-z_]+(?= (?:uuid|text|integer|json)\b)/g)!;
  const ownColumns = new Set(['name', 'external_id']);
  const names = [...new Set([...recordColumns, 'created_at', 'updated_at', 'is_same', 'external_id_holder'])];
  assert.ok(names.includes('actor') && names.includes('changes') && names.includes('place'), names.join());
  for (const column of names.filter((name) => !ownColumns.has(name))) {
    const field = column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const message = new RegExp(
      `^Error: vehicle: "${field}" needs another name: the column ${column} is taken`,
    );
    assert.throws(() => define({ [field]: anyText }), message);
  }
  assert.throws(() => define({ resolvedCustomerId: anyText }), /is taken/);
  assert.doesNotThrow(() => define({ actorName: anyText }));
});

test('two fields with the same column are refused', () => {
  const address = group({ de: 'Anschrift', description: 'Address.', fields: { city: anyText } });
  assert.throws(() => define({ address, addressCity: anyText }), /"addressCity" needs another name/);
  const customerId = owner('customer', { de: 'Kunde', description: 'Customer.' });
  assert.throws(
    () => define({ customerId, customerExternalId: anyText }),
    /"customerExternalId" needs another/,
  );
});
