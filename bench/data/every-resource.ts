// Bodies of every resource that name each other by external ids, as the first synchronisation of a business sends them.
import type { Definition } from '../../server/engine/definition/definition.ts';
import { externalIdName } from '../../server/engine/definition/fields.ts';

const names = ['Name', 'Other', 'Third'] as const;

/** A value of the field that names an object: the objects of a first word differ from those of another, texts also by number. */
export function nameOf(
  { nameField, fields }: Definition,
  word: (typeof names)[number],
  number: number,
): string {
  return fields[nameField]!.schema.format === 'date'
    ? `2026-12-0${names.indexOf(word) + 1}`
    : `${word} ${number}`;
}

/** Each object names those of the same number: all references by their external ids, in any order of arrival. */
export function bodyOf(definition: Definition, number: number): Record<string, unknown> {
  const { name, nameField, fields, uniqueFields, example } = definition;
  const references = Object.entries(fields).flatMap(([field, { reference }]) =>
    reference ? [[externalIdName(field), `${reference.resources[0]}-${number}`]] : [],
  );
  const unique = uniqueFields.map((field) => [field, `N-${number}`]);
  return {
    ...example,
    ...Object.fromEntries([...references, ...unique]),
    [nameField]: nameOf(definition, 'Name', number),
    externalId: `${name}-${number}`,
  };
}

export function upsertPath({ name, collection }: Definition, number: number): string {
  return `/${collection}/by-external-id/${name}-${number}`;
}
