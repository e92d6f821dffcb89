// Finds the fields in which duplicates differ, and the record that gives each of them by default.
import { type Definition, type Entity, type Field, leavesOf, valueAt } from '../api/definitions.ts';
import { plainText } from '../records/value.tsx';
import { addressParts, isAddress } from '../tables/columns.ts';

/** A reference that has not arrived has its external id as value. */
function valueOfField(field: Field, record: Entity): unknown {
  return record[field.name] ?? (field.reference && pendingName(field, record));
}

export function pendingName({ name }: Field, record: Entity): unknown {
  return record[name.replace(/Id$/, 'ExternalId')];
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** A group such as an address is one field. */
export function differingFields(definition: Definition, records: readonly Entity[]): Field[] {
  return definition.fields.filter((field) => {
    const values = records.map((record) => JSON.stringify(valueOfField(field, record)) ?? '');
    return field.twinOf === undefined && new Set(values).size > 1;
  });
}

/** The first record that has a value. */
export function defaultChoices(fields: readonly Field[], records: readonly Entity[]): Record<string, string> {
  return Object.fromEntries(
    fields.map((field) => {
      const source = records.find((record) => !isEmpty(valueOfField(field, record))) ?? records[0]!;
      return [field.name, source.id];
    }),
  );
}

/** A group in one line. */
export function plainValue(field: Field, record: Entity): string {
  const leaves = leavesOf([field]).filter(({ path }) => !isAddress(field) || path.split('.').length > 2);
  const texts = [
    ...(isAddress(field) ? addressParts(record[field.name]) : []),
    ...leaves.map((leaf) => plainText(leaf, valueAt(record, leaf.path), record)),
  ];
  return texts.filter(Boolean).join(', ') || '–';
}
